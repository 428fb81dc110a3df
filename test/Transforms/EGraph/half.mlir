// RUN: fusion-opt %s --fusion-attach-target=name=x86-64-v3 --relay-optimize | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_80 --relay-optimize | FileCheck %s --check-prefix=HALF
// RUN: fusion-opt %s --fusion-attach-target=name=x86-64-v3 --fusion-attach-fp-math=level=strict --relay-optimize | FileCheck %s --check-prefix=HALF

// Of many rows each operand is converted once, and not wherever it is read.
// CHECK-LABEL: func.func private @fused_matmul
// CHECK:         relay.matmul {{.*}} : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
// HALF-NOT:    relay.matmul {{.*}}xf32>
func.func @many(%x: tensor<512x512xf16>, %w: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = relay.matmul %x, %w : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}
