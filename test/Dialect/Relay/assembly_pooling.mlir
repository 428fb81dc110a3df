// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @pooling
// CHECK-NEXT:    relay.max_pool2d %arg0 {ceil_mode = true, kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
// CHECK-NEXT:    relay.avg_pool2d %arg0 {count_include_pad = true, kernel = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x9x9xf32>
// CHECK-NEXT:    relay.global_avg_pool %arg0 : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x1xf32>
func.func @pooling(%x: tensor<1x4x8x8xf32>) {
  %0 = relay.max_pool2d %x {ceil_mode = true, kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  %1 = relay.avg_pool2d %x {count_include_pad = true, kernel = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x9x9xf32>
  %2 = relay.global_avg_pool %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x1xf32>
  return
}
