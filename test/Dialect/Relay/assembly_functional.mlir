// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @tuples
// CHECK-NEXT:    %[[T:.*]] = relay.tuple %arg0, %arg1 : (tensor<f32>, tensor<2xi8>) -> tuple<tensor<f32>, tensor<2xi8>>
// CHECK-NEXT:    relay.get %[[T]][1] : tuple<tensor<f32>, tensor<2xi8>> -> tensor<2xi8>
func.func @tuples(%x: tensor<f32>, %y: tensor<2xi8>) {
  %0 = relay.tuple %x, %y : (tensor<f32>, tensor<2xi8>) -> tuple<tensor<f32>, tensor<2xi8>>
  %1 = relay.get %0[1] : tuple<tensor<f32>, tensor<2xi8>> -> tensor<2xi8>
  return
}

// CHECK-LABEL: func.func @closures
// CHECK-NEXT:    %[[F:.*]] = relay.fn {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<f32>):
// CHECK:           relay.yield
// CHECK-NEXT:    } : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    relay.apply %[[F]](%arg0) : (tensor<f32>) -> tensor<f32>, (tensor<f32>) -> tensor<f32>
func.func @closures(%x: tensor<f32>) {
  %f = relay.fn {
  ^bb0(%a: tensor<f32>):
    %0 = relay.add %a, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %0 : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  %1 = relay.apply %f(%x) : (tensor<f32>) -> tensor<f32>, (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @control_flow
// CHECK-NEXT:    relay.if %arg0 {
// CHECK-NEXT:      relay.yield %arg1 : tensor<f32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %arg1 : tensor<f32>
// CHECK-NEXT:    } : (tensor<i1>) -> tensor<f32>
// CHECK-NEXT:    relay.while(%arg1) {
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<f32>):
// CHECK-NEXT:      relay.yield %arg0 : tensor<i1>
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%[[S:.*]]: tensor<f32>):
// CHECK-NEXT:      relay.yield %[[S]] : tensor<f32>
// CHECK-NEXT:    } : (tensor<f32>) -> tensor<f32>
func.func @control_flow(%c: tensor<i1>, %x: tensor<f32>) {
  %0 = relay.if %c {
    relay.yield %x : tensor<f32>
  } else {
    relay.yield %x : tensor<f32>
  } : (tensor<i1>) -> tensor<f32>
  %1 = relay.while(%x) {
  ^bb0(%s: tensor<f32>):
    relay.yield %c : tensor<i1>
  } do {
  ^bb0(%s: tensor<f32>):
    relay.yield %s : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @references
// CHECK-NEXT:    %[[R:.*]] = relay.ref.new %arg0 : tensor<f32> -> !relay.ref<tensor<f32>>
// CHECK-NEXT:    %[[V:.*]] = relay.ref.read %[[R]] : !relay.ref<tensor<f32>> -> tensor<f32>
// CHECK-NEXT:    relay.ref.write %[[R]], %[[V]] : !relay.ref<tensor<f32>>, tensor<f32>
func.func @references(%x: tensor<f32>) {
  %0 = relay.ref.new %x : tensor<f32> -> !relay.ref<tensor<f32>>
  %1 = relay.ref.read %0 : !relay.ref<tensor<f32>> -> tensor<f32>
  relay.ref.write %0, %1 : !relay.ref<tensor<f32>>, tensor<f32>
  return
}

// CHECK-LABEL: func.func private @types(!relay.adt<@List, [tensor<f32>]>, !relay.adt<@Nat>, !relay.var<"a">)
func.func private @types(!relay.adt<@List, [tensor<f32>]>, !relay.adt<@Nat>, !relay.var<"a">)
