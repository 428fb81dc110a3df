// RUN: fusion-opt %s --fusion-attach-target=name=sapphirerapids --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// Blocks of ten panels, the last of which has as many.
// CHECK-LABEL: te.schedule for @whole
// CHECK:         %[[O:.*]], %{{.*}} = te.split %{{.*}}#2 by 32
// CHECK:         te.split %[[O]] by 10
func.func @main(%x: tensor<1x120x512xf32>, %w: tensor<1x512x640xf32>, %b: tensor<640xf32>) -> tensor<1x120x640xf32> {
  %0 = call @whole(%x, %w, %b) : (tensor<1x120x512xf32>, tensor<1x512x640xf32>, tensor<640xf32>) -> tensor<1x120x640xf32>
  return %0 : tensor<1x120x640xf32>
}
func.func @whole(%x: tensor<1x120x512xf32>, %w: tensor<1x512x640xf32>, %b: tensor<640xf32>) -> tensor<1x120x640xf32> attributes {relay.primitive} {
  %0 = relay.batch_matmul %x, %w : (tensor<1x120x512xf32>, tensor<1x512x640xf32>) -> tensor<1x120x640xf32>
  %1 = relay.add %0, %b : (tensor<1x120x640xf32>, tensor<640xf32>) -> tensor<1x120x640xf32>
  return %1 : tensor<1x120x640xf32>
}

// -----

// The last of 19 panels is narrower: it is a part of its own of the last block.
// CHECK-LABEL: te.schedule for @narrower
// CHECK:         %[[O:.*]], %{{.*}} = te.split %{{.*}}#2 by 32
// CHECK:         te.split %[[O]] by 10
func.func @main(%x: tensor<1x120x512xf32>, %w: tensor<1x512x600xf32>, %b: tensor<600xf32>) -> tensor<1x120x600xf32> {
  %0 = call @narrower(%x, %w, %b) : (tensor<1x120x512xf32>, tensor<1x512x600xf32>, tensor<600xf32>) -> tensor<1x120x600xf32>
  return %0 : tensor<1x120x600xf32>
}
func.func @narrower(%x: tensor<1x120x512xf32>, %w: tensor<1x512x600xf32>, %b: tensor<600xf32>) -> tensor<1x120x600xf32> attributes {relay.primitive} {
  %0 = relay.batch_matmul %x, %w : (tensor<1x120x512xf32>, tensor<1x512x600xf32>) -> tensor<1x120x600xf32>
  %1 = relay.add %0, %b : (tensor<1x120x600xf32>, tensor<600xf32>) -> tensor<1x120x600xf32>
  return %1 : tensor<1x120x600xf32>
}
