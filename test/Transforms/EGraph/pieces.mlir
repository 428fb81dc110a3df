// RUN: fusion-opt %s --fusion-attach-target=name=sapphirerapids --relay-optimize --split-input-file | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_80 --relay-optimize --split-input-file | FileCheck %s --check-prefix=GPU

// What goes over pieces of a product is one kernel with it, with what is cut from a tensor of all steps and two results. A GPU computes
// the product by itself.
// CHECK-LABEL: func.func @cell
// CHECK-COUNT-1: call @fused_{{.*}}matmul{{.*}}sigmoid
// CHECK-NOT:     call @
// CHECK:         return
// GPU-LABEL:   func.func @cell
// GPU:           call @fused_{{.*}}matmul
// GPU:           call @fused_{{.*}}sigmoid
// GPU:           return
func.func @cell(%h: tensor<1x64xf32>, %w: tensor<64x192xf32>, %b: tensor<192xf32>, %steps: tensor<8x192xf32>, %c: tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %0 = relay.matmul %h, %w : (tensor<1x64xf32>, tensor<64x192xf32>) -> tensor<1x192xf32>
  %1 = relay.add %0, %b : (tensor<1x192xf32>, tensor<192xf32>) -> tensor<1x192xf32>
  %2 = relay.slice %steps {begin = array<i64: 3>, end = array<i64: 4>, axes = array<i64: 0>} : (tensor<8x192xf32>) -> tensor<1x192xf32>
  %3 = relay.add %1, %2 : (tensor<1x192xf32>, tensor<1x192xf32>) -> tensor<1x192xf32>
  %4 = relay.slice %3 {begin = array<i64: 0>, end = array<i64: 64>, axes = array<i64: 1>} : (tensor<1x192xf32>) -> tensor<1x64xf32>
  %5 = relay.slice %3 {begin = array<i64: 64>, end = array<i64: 128>, axes = array<i64: 1>} : (tensor<1x192xf32>) -> tensor<1x64xf32>
  %6 = relay.slice %3 {begin = array<i64: 128>, end = array<i64: 192>, axes = array<i64: 1>} : (tensor<1x192xf32>) -> tensor<1x64xf32>
  %7 = relay.sigmoid %4 : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %8 = relay.tanh %5 : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %9 = relay.sigmoid %6 : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %10 = relay.mul %7, %8 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %11 = relay.add %10, %c : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %12 = relay.tanh %11 : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %13 = relay.mul %9, %12 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  return %13, %11 : tensor<1x64xf32>, tensor<1x64xf32>
}

// -----

// Pieces of half vectors would be computed element by element.
// CHECK-LABEL: func.func @narrow
// CHECK:         call @fused_{{.*}}matmul_0(
// CHECK:         call @fused_{{.*}}sigmoid
// CHECK:         return
func.func @narrow(%h: tensor<1x64xf32>, %w: tensor<64x16xf32>) -> tensor<1x8xf32> {
  %0 = relay.matmul %h, %w : (tensor<1x64xf32>, tensor<64x16xf32>) -> tensor<1x16xf32>
  %1 = relay.slice %0 {begin = array<i64: 0>, end = array<i64: 8>, axes = array<i64: 1>} : (tensor<1x16xf32>) -> tensor<1x8xf32>
  %2 = relay.slice %0 {begin = array<i64: 8>, end = array<i64: 16>, axes = array<i64: 1>} : (tensor<1x16xf32>) -> tensor<1x8xf32>
  %3 = relay.sigmoid %2 : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %4 = relay.mul %1, %3 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  return %4 : tensor<1x8xf32>
}

// -----

// Of many rows the columns of a vector are more than the nearest cache has.
// CHECK-LABEL: func.func @tall
// CHECK:         call @fused_{{.*}}matmul_0(
// CHECK:         call @fused_{{.*}}sigmoid
// CHECK:         return
func.func @tall(%h: tensor<4096x64xf32>, %w: tensor<64x128xf32>) -> tensor<4096x64xf32> {
  %0 = relay.matmul %h, %w : (tensor<4096x64xf32>, tensor<64x128xf32>) -> tensor<4096x128xf32>
  %1 = relay.slice %0 {begin = array<i64: 0>, end = array<i64: 64>, axes = array<i64: 1>} : (tensor<4096x128xf32>) -> tensor<4096x64xf32>
  %2 = relay.slice %0 {begin = array<i64: 64>, end = array<i64: 128>, axes = array<i64: 1>} : (tensor<4096x128xf32>) -> tensor<4096x64xf32>
  %3 = relay.sigmoid %2 : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %4 = relay.mul %1, %3 : (tensor<4096x64xf32>, tensor<4096x64xf32>) -> tensor<4096x64xf32>
  return %4 : tensor<4096x64xf32>
}
