// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_80 --relay-optimize --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// Attention: a tile of queries a block; the scores of 64 keys at a time in shared memory, what is combined of them in registers.
// CHECK-LABEL: te.kernel @fused_attention_0
// CHECK:         te.compute "scores" axes [64, 128, 3, 64]
// CHECK:         te.compute "online{{.*}}" axes [64, 128, 64] reduce [3]
// CHECK-LABEL: te.schedule for @fused_attention_0
// CHECK:         te.bind %{{.*}} to block_y
// CHECK:         te.bind %{{.*}} to thread_x
// CHECK:         %[[ONLINE:.*]] = te.stage "online
// CHECK:         te.compute_at %[[ONLINE]]
// CHECK:         %[[VALUES:.*]] = te.stage "values
// CHECK-NEXT:    te.compute_at %[[VALUES]]
// CHECK-NOT:     te.set_scope %[[VALUES]]
// CHECK:         %[[WEIGHTS:.*]] = te.stage "weights
// CHECK-NEXT:    te.compute_at %[[WEIGHTS]]
// CHECK-NEXT:    te.set_scope %[[WEIGHTS]] to shared
// CHECK:         %[[SCALED:.*]] = te.stage "scaled
// CHECK-NEXT:    te.compute_at %[[SCALED]]
// CHECK-NEXT:    te.set_scope %[[SCALED]] to shared
// CHECK:         te.cache_read %{{.*}} as "columns_of_values
// CHECK:         te.cache_read %{{.*}} as "queries_of_scores"
// CHECK:         te.cache_read %{{.*}} as "keys_of_scores"
func.func @main(%q: tensor<64x128x32xf32>, %k: tensor<64x150x32xf32>, %v: tensor<64x150x64xf32>) -> tensor<64x128x64xf32> {
  %0 = relay.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<64x128x32xf32>, tensor<64x150x32xf32>, tensor<64x150x64xf32>) -> tensor<64x128x64xf32>
  return %0 : tensor<64x128x64xf32>
}

// -----

// Of few queries the scores are few: rows, as elsewhere.
// CHECK-LABEL: te.kernel @fused_attention_0
// CHECK:         te.compute "scores" axes [2, 3, 150]
// CHECK-NOT:     "online
func.func @main(%q: tensor<2x3x32xf32>, %k: tensor<2x150x32xf32>, %v: tensor<2x150x64xf32>) -> tensor<2x3x64xf32> {
  %0 = relay.attention %q, %k, %v : (tensor<2x3x32xf32>, tensor<2x150x32xf32>, tensor<2x150x64xf32>) -> tensor<2x3x64xf32>
  return %0 : tensor<2x3x64xf32>
}

// -----

// Of f16, both products are of matrices of f16: weights are rounded, keys and values of a chunk are stages of their own. The sums of both are
// fragments, what is made of them is shared.
// CHECK-LABEL: te.kernel @fused_attention_0
// CHECK:         te.compute "keys" axes [2, 3, 64, 32]
// CHECK:         te.compute "scores{{.*}}" axes [2, 128, 3, 64] reduce [32]
// CHECK:         te.compute "weights{{.*}}" axes [2, 128, 3, 64]
// CHECK:         } combine {
// CHECK-NEXT:    } : tensor<2x128x3x64xf16>
// CHECK-LABEL: te.schedule for @fused_attention_0
// CHECK:         %[[VALUES:.*]] = te.stage "values
// CHECK:         %[[SUMS:.*]] = te.cache_write %[[VALUES]] as "sums_of_values"
// CHECK:         te.bind %{{.*}} to thread_z
// CHECK:         te.set_scope %[[VALUES]] to shared
// CHECK:         te.set_scope %[[SUMS]] to fragment
// CHECK:         te.tensorize %{{.*}} with @mma_m16n8k16_f16_rows
// CHECK:         te.set_scope %{{.*}} to fragment
// CHECK:         te.tensorize %{{.*}} with @mma_m16n8k16_f16
func.func @main(%q: tensor<2x128x32xf16>, %k: tensor<2x150x32xf16>, %v: tensor<2x150x64xf16>) -> tensor<2x128x64xf16> {
  %0 = relay.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<2x128x32xf16>, tensor<2x150x32xf16>, tensor<2x150x64xf16>) -> tensor<2x128x64xf16>
  return %0 : tensor<2x128x64xf16>
}

// -----

// Columns that are no whole tiles of all warps, and few queries, are left to multiply-adds.
// CHECK-LABEL: te.schedule for @fused_attention_0
// CHECK-NOT:     te.tensorize
func.func @main(%q: tensor<2x128x32xf16>, %k: tensor<2x150x32xf16>, %v: tensor<2x150x40xf16>) -> tensor<2x128x40xf16> {
  %0 = relay.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<2x128x32xf16>, tensor<2x150x32xf16>, tensor<2x150x40xf16>) -> tensor<2x128x40xf16>
  return %0 : tensor<2x128x40xf16>
}
