// RUN: fusion import %s | FileCheck %s
// Calls are put in where they are called; composites are what they are made of.

module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  // CHECK-LABEL: func.func @main
  // CHECK-SAME:    relay.name = "x"
  // CHECK:         %[[Z:.*]] = relay.maximum
  // CHECK:         relay.tanh %[[Z]]
  // CHECK-NOT:     func.func
  func.func public @main(%arg0: tensor<4xf32> {jax.arg_info = "x"}) -> (tensor<4xf32> {jax.result_info = "y"}) {
    %0 = call @relu(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.composite "jax.tanh" %0 {composite_attributes = {exact = true}, decomposition = @squash} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @relu(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @squash(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
