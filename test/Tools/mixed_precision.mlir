// RUN: fusion explain %s --mixed-precision bf16 | FileCheck %s
// RUN: fusion explain %s --passes 'builtin.module(relay-to-mixed-precision{type=f16})' | FileCheck %s
// RUN: not fusion explain %s --mixed-precision f8 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not fusion explain %s --passes 'builtin.module(no-such-pass)' 2>&1 | FileCheck %s --check-prefix=NO-PASS

// The product takes operands of 16 bits, which casts of the inputs make; what it gives is cast back.
// CHECK: fused_cast_cast_0
// CHECK: fused_dense_cast_relu_cast_0
// UNKNOWN: invalid value 'f8'
// NO-PASS: no-such-pass
func.func @main(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>) -> tensor<2x3xf32> {
  %0 = relay.dense %x, %w : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %1 = relay.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
