// RUN: fusion-opt %s --fusion-attach-target=name=sapphirerapids --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// Heads of 32 columns: whole vectors are stored, so that what gives them apart is the product's epilogue, with what stands between them.
// CHECK-LABEL: te.schedule for @heads
// CHECK:         %[[Y:.*]] = te.stage "transpose_2"
// CHECK:         %[[P:.*]] = te.stage "matmul"
// CHECK:         te.reverse_reindex %[[Y]], %[[P]]
// CHECK:         %[[A:.*]]:2 = te.axes %[[Y]]
// CHECK:         te.split %[[A]]#1 by 32
// CHECK:         te.compute_at %[[P]]
func.func private @heads(%x: tensor<74x128xf32>, %w: tensor<128x96xf32>) -> tensor<2x3x37x32xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<74x128xf32>, tensor<128x96xf32>) -> tensor<74x96xf32>
  %1 = relay.reshape %0 {shape = array<i64: 2, 37, 3, 32>} : (tensor<74x96xf32>) -> tensor<2x37x3x32xf32>
  %2 = relay.transpose %1 {axes = array<i64: 0, 2, 1, 3>} : (tensor<2x37x3x32xf32>) -> tensor<2x3x37x32xf32>
  return %2 : tensor<2x3x37x32xf32>
}

// -----

// Elementwise stages before and behind it: the last before is what has the product's axes.
// CHECK-LABEL: te.schedule for @between
// CHECK:         %[[Y:.*]] = te.stage "relu_4"
// CHECK:         %[[B:.*]] = te.stage "add_1"
// CHECK:         te.reverse_reindex %[[Y]], %[[B]]
// CHECK:         te.compute_inline %[[B]]
// CHECK:         te.stage "matmul"
func.func private @between(%x: tensor<74x128xf32>, %w: tensor<128x96xf32>, %b: tensor<96xf32>) -> tensor<2x3x37x32xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<74x128xf32>, tensor<128x96xf32>) -> tensor<74x96xf32>
  %1 = relay.add %0, %b : (tensor<74x96xf32>, tensor<96xf32>) -> tensor<74x96xf32>
  %2 = relay.reshape %1 {shape = array<i64: 2, 37, 3, 32>} : (tensor<74x96xf32>) -> tensor<2x37x3x32xf32>
  %3 = relay.transpose %2 {axes = array<i64: 0, 2, 1, 3>} : (tensor<2x37x3x32xf32>) -> tensor<2x3x37x32xf32>
  %4 = relay.relu %3 : (tensor<2x3x37x32xf32>) -> tensor<2x3x37x32xf32>
  return %4 : tensor<2x3x37x32xf32>
}

// -----

// Heads of eight columns would cut vectors: the product is stored, and moved by a nest of its own.
// CHECK-LABEL: te.schedule for @narrow
// CHECK-NOT:     te.reverse_reindex
func.func private @narrow(%x: tensor<74x128xf32>, %w: tensor<128x96xf32>) -> tensor<2x12x37x8xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<74x128xf32>, tensor<128x96xf32>) -> tensor<74x96xf32>
  %1 = relay.reshape %0 {shape = array<i64: 2, 37, 12, 8>} : (tensor<74x96xf32>) -> tensor<2x37x12x8xf32>
  %2 = relay.transpose %1 {axes = array<i64: 0, 2, 1, 3>} : (tensor<2x37x12x8xf32>) -> tensor<2x12x37x8xf32>
  return %2 : tensor<2x12x37x8xf32>
}
