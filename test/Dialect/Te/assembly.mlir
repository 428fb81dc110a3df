// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: te.kernel @row_sums(%arg0: tensor<4x8xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %0 = te.compute "sum" axes [4] reduce [8] init [0.000000e+00 : f32] {
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index, %[[R:.*]]: index):
// CHECK-NEXT:      %[[X:.*]] = te.load %arg0[%[[I]], %[[R]]] : tensor<4x8xf32> -> f32
// CHECK-NEXT:      te.yield %[[X]] : f32
// CHECK-NEXT:    } combine {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT:      te.yield %[[S]] : f32
// CHECK-NEXT:    } : tensor<4xf32>
// CHECK-NEXT:    te.return %0 : tensor<4xf32>
te.kernel @row_sums(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = te.compute "sum" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%i: index, %r: index):
    %1 = te.load %x[%i, %r] : tensor<4x8xf32> -> f32
    te.yield %1 : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    te.yield %1 : f32
  } : tensor<4xf32>
  te.return %0 : tensor<4xf32>
}

// CHECK:       te.schedule for @row_sums {
// CHECK-NEXT:    %[[S:.*]] = te.stage "sum"
// CHECK-NEXT:    %[[A:.*]]:2 = te.axes %[[S]]
// CHECK-NEXT:    %{{.*}}, %[[N:.*]] = te.split %[[A]]#1 by 4
// CHECK-NEXT:    te.unroll %[[N]]
// CHECK-NEXT:    te.parallel %[[A]]#0
te.schedule for @row_sums {
  %s = te.stage "sum"
  %a:2 = te.axes %s : !te.axis, !te.axis
  %o, %n = te.split %a#1 by 4
  te.unroll %n
  te.parallel %a#0
}

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    te.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-NEXT:    te.view %{{.*}} : tensor<32xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    te.call @row_sums(%{{.*}}) : (tensor<4x8xf32>) -> tensor<4xf32>
func.func @main() -> tensor<4xf32> {
  %0 = te.constant dense<1.0> : tensor<32xf32> : tensor<32xf32>
  %1 = te.view %0 : tensor<32xf32> -> tensor<4x8xf32>
  %2 = te.call @row_sums(%1) : (tensor<4x8xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Extents that the caller passes have names.
// CHECK-LABEL: te.kernel @open
// CHECK:         te.compute "y" axes [-1] reduce [] init [] {
// CHECK:           te.extent "n0"
// CHECK:         } combine {
// CHECK:         {te.names = ["n0"]}
te.kernel @open(%x: tensor<?xf32, #relay.dims<["n0"]>>) -> tensor<?xf32, #relay.dims<["n0"]>> attributes {te.extents = ["n0"]} {
  %0 = te.compute "y" axes [-1] reduce [] init [] {
  ^bb0(%i: index):
    %n = te.extent "n0"
    %c = arith.cmpi slt, %i, %n : index
    %a = te.load %x[%i] : tensor<?xf32, #relay.dims<["n0"]>> -> f32
    %b = arith.select %c, %a, %a : f32
    te.yield %b : f32
  } combine {} {te.names = ["n0"]} : tensor<?xf32, #relay.dims<["n0"]>>
  te.return %0 : tensor<?xf32, #relay.dims<["n0"]>>
}

// CHECK-LABEL: func.func @views
// CHECK:         te.view %{{.*}} : tensor<4x8xf32> -> tensor<32xf32>
// CHECK:         te.view %{{.*}} from 8 : tensor<4x8xf32> -> tensor<2x8xf32>
// CHECK:         te.view %{{.*}} from 0 : tensor<4x8xf32> -> tensor<3xf32>
func.func @views(%x: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<2x8xf32>, tensor<3xf32>) {
  %0 = te.view %x : tensor<4x8xf32> -> tensor<32xf32>
  %1 = te.view %x from 8 : tensor<4x8xf32> -> tensor<2x8xf32>
  %2 = te.view %x from 0 : tensor<4x8xf32> -> tensor<3xf32>
  return %0, %1, %2 : tensor<32xf32>, tensor<2x8xf32>, tensor<3xf32>
}
