// RUN: example-codegen %s | FileCheck %s

// The sum and the product are one function of C, what comes after the softmax another one.

// CHECK: void example_c_0(const float *a0, const float *a1, float *r0) {
// CHECK-NEXT: const float v0[1] = {2.0f};
// CHECK-NEXT: float v1[32];
// CHECK-NEXT: for (long i = 0; i < 32; i++) v1[i] = a0[0 + i / 1 % 8 * 1 + i / 8 % 4 * 8] + a1[0 + i / 1 % 8 * 1];
// CHECK: v2[i] = v1[{{.*}}] * v0[0];
// CHECK: r0[i] = v2[i];
// CHECK: void example_c_1(
// CHECK: largest difference: {{(0e0|[0-9.]+e-([7-9]|[1-9][0-9]))$}}
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = relay.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %two = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.add %x, %w : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = relay.mul %0, %two : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = relay.softmax %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = relay.relu %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = relay.add %3, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}
