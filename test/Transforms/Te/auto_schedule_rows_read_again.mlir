// RUN: fusion-opt %s --te-schedule --split-input-file | FileCheck %s

// A row of an input that is read again is read in eight vectors on end, then stored.
// CHECK-LABEL: te.schedule for @again
// CHECK:         %[[Y:.*]] = te.stage "y"
// CHECK:         %[[I:.*]]:2 = te.axes %[[Y]]
// CHECK:         %{{.*}}, %[[V:.*]] = te.split %[[I]]#1 by 128
// CHECK-NEXT:    te.vectorize %[[V]]
te.kernel @again(%x: tensor<6x1024xf32>) -> tensor<6x1024xf32> {
  %0 = te.compute "sum" axes [6] reduce [1024] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x1024xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  %1 = te.compute "y" axes [6, 1024] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<6x1024xf32> -> f32
    %b = te.load %0[%i] : tensor<6xf32> -> f32
    %c = arith.subf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<6x1024xf32>
  te.return %1 : tensor<6x1024xf32>
}

// -----

// So many vectors as go into the row.
// CHECK-LABEL: te.schedule for @odd
// CHECK:         %[[Y:.*]] = te.stage "y"
// CHECK:         %[[I:.*]]:2 = te.axes %[[Y]]
// CHECK:         te.split %[[I]]#1 by 16
te.kernel @odd(%x: tensor<6x1008xf32>) -> tensor<6x1008xf32> {
  %0 = te.compute "sum" axes [6] reduce [1008] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x1008xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  %1 = te.compute "y" axes [6, 1008] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<6x1008xf32> -> f32
    %b = te.load %0[%i] : tensor<6xf32> -> f32
    %c = arith.subf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<6x1008xf32>
  te.return %1 : tensor<6x1008xf32>
}
