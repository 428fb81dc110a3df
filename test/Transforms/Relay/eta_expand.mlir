// RUN: fusion-opt %s --relay-eta-expand | FileCheck %s
// RUN: fusion-opt %s --relay-eta-expand=parameters=true | FileCheck %s --check-prefix=PARAMETERS

func.func @double(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.add %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @global
// CHECK-NEXT:    %[[F:.*]] = relay.fn {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<f32>):
// CHECK-NEXT:      %[[R:.*]] = relay.call @double(%[[A]])
// CHECK-NEXT:      relay.yield %[[R]]
// CHECK:         return %[[F]]
func.func @global() -> ((tensor<f32>) -> tensor<f32>) {
  %0 = relay.global @double : (tensor<f32>) -> tensor<f32>
  return %0 : (tensor<f32>) -> tensor<f32>
}

// Nothing to do: a call of a function is no value.
// CHECK-LABEL: func.func @no_change
// CHECK-NEXT:    relay.call @double
// CHECK-NEXT:    return
func.func @no_change(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.call @double(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @handed_on
// CHECK-NEXT:    relay.apply %arg1(%arg0)
// PARAMETERS-LABEL: func.func @handed_on
// PARAMETERS-NEXT:    %[[G:.*]] = relay.fn {
// PARAMETERS:           relay.apply %arg0
// PARAMETERS:         relay.apply %arg1(%[[G]])
func.func @handed_on(%f: (tensor<f32>) -> tensor<f32>, %g: ((tensor<f32>) -> tensor<f32>) -> tensor<f32>) -> tensor<f32> {
  %0 = relay.apply %g(%f) : ((tensor<f32>) -> tensor<f32>) -> tensor<f32>, ((tensor<f32>) -> tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
