// RUN: fusion-opt %s --fusion-attach-target=name=x86-64-v3 --relay-optimize | FileCheck %s

// One row reads each weight once: converted before, it would have twice the bytes.
// CHECK-NOT:   tensor<4096x4096xf32>
// CHECK:       relay.matmul {{.*}} : (tensor<1x4096xf16>, tensor<4096x4096xf16>) -> tensor<1x4096xf16>
func.func @one(%x: tensor<1x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<1x4096xf16> {
  %0 = relay.matmul %x, %w : (tensor<1x4096xf16>, tensor<4096x4096xf16>) -> tensor<1x4096xf16>
  return %0 : tensor<1x4096xf16>
}
