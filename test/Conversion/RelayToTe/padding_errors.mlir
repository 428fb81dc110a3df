// RUN: not fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te)' 2>&1 | FileCheck %s

// CHECK: error: 'relay.avg_pool1d' op pads data of type tensor<1x1x4xf32> to tensor<1x1x4611686018427387905xf32>, which is more than can be addressed
func.func @huge(%x: tensor<1x1x4xf32>) -> tensor<1x1x2xf32> attributes {relay.primitive} {
  %0 = relay.avg_pool1d %x {kernel = array<i64: 2>, dilation = array<i64: 4611686018427387903>, padding = array<i64: 2305843009213693951, 2305843009213693950>} : (tensor<1x1x4xf32>) -> tensor<1x1x2xf32>
  return %0 : tensor<1x1x2xf32>
}
