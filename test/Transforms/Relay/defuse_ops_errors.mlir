// RUN: fusion-opt %s --relay-defuse-ops --verify-diagnostics

func.func private @kernel(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  // expected-error @+1 {{'func.call' op stands in the kernel @kernel, which may call nothing}}
  %0 = func.call @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
