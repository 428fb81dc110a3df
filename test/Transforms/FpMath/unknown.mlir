// RUN: not fusion-opt %s --relay-optimize 2>&1 | FileCheck %s

// CHECK: has a fusion.fp_math of "exact"; it must be "strict", "standard" or "fast"
module attributes {fusion.fp_math = "exact"} {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
