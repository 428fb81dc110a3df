// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-quantize-annotate{weight-bits=5}))' --verify-diagnostics

func.func @five_bits(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %w = relay.constant dense<1.0> : tensor<4x8xf32>
  // expected-error @+1 {{'relay.dense' op takes no weights of 5 bits; the bits of relay.dense are [8, 4]}}
  %0 = relay.dense %x, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
