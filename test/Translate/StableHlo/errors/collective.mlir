// RUN: not fusion import %s 2>&1 | FileCheck %s
// CHECK: stablehlo.all_gather: programs for several devices, and those that talk to their host while they run, are not supported
func.func @main(%x: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
