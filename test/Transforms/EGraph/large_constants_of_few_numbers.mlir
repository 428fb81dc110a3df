// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-optimize)' | FileCheck %s

// What is known but large is computed when the program runs, in the kernel that needs it; a library would hold a megabyte.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     relay.constant dense_resource
// CHECK:         relay.arange
// CHECK:         relay.philox
func.func @main(%x: tensor<262144xf32>) -> tensor<262144xf32> {
  %key = relay.constant dense<7> : tensor<ui64>
  %counter = relay.constant dense<0> : tensor<2xui64>
  %places = relay.arange {size = 262144 : i64, dtype = ui64} : () -> tensor<262144xui64>
  %words = relay.philox %key, %counter, %places : (tensor<ui64>, tensor<2xui64>, tensor<262144xui64>) -> tensor<262144xui32>
  %numbers = relay.cast %words {dtype = f32} : (tensor<262144xui32>) -> tensor<262144xf32>
  %y = relay.add %x, %numbers : (tensor<262144xf32>, tensor<262144xf32>) -> tensor<262144xf32>
  return %y : tensor<262144xf32>
}
