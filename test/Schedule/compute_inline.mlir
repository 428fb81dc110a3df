// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 8 serial
// CHECK-NEXT:  ^bb0
// CHECK-NEXT:    loop.load
// CHECK-NEXT:    arith.addf
// CHECK:         arith.mulf
// CHECK:         loop.store
// CHECK-NOT:   loop.for
te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "twice" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  %1 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<8xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  te.return %1 : tensor<8xf32>
}
te.schedule for @k {
  %s = te.stage "twice"
  te.compute_inline %s
}
