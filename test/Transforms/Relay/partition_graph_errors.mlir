// RUN: fusion-opt %s --relay-partition-graph --verify-diagnostics

func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = relay.add %x, %x {relay.compiler = "npu", relay.region = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // expected-error @+1 {{'relay.exp' op uses a value of a region of "npu" that ends behind it; run relay-merge-compiler-regions}}
  %1 = relay.exp %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = relay.relu %0 {relay.compiler = "npu", relay.region = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %1, %2 : tensor<2xf32>, tensor<2xf32>
}
