// RUN: fusion-opt %s --relay-fuse-ops | FileCheck %s
// RUN: fusion-opt %s --relay-fuse-ops --convert-relay-to-te | FileCheck %s --check-prefix=TE
// RUN: fusion-opt %s --fusion-attach-target='name=nvidia:sm_80' --relay-fuse-ops | FileCheck %s --check-prefix=GPU

// Rows that lie together are views of the program, so that both groups are one function; a row whose elements are apart, and a
// piece of what the group computes, are not.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[A:.*]] = relay.slice %arg0 {{.*}}begin = array<i64: 1>
// CHECK-NEXT:    call @[[F:.*]](%[[A]]) : (tensor<1x6xf32>)
// CHECK-NEXT:    %[[B:.*]] = relay.slice %arg0 {{.*}}begin = array<i64: -1>
// CHECK-NEXT:    call @[[F]](%[[B]]) : (tensor<1x6xf32>)
// CHECK-NEXT:    call @{{.*}}(%arg0) : (tensor<4x6xf32>) -> tensor<4x1xf32>
// CHECK-NOT:     relay.slice
// CHECK:         return
// TE-LABEL:    func.func @main
// TE:            te.view %arg0 from 6 : tensor<4x6xf32> -> tensor<1x6xf32>
// TE:            te.view %arg0 from 18 : tensor<4x6xf32> -> tensor<1x6xf32>
// GPU-LABEL:   func.func @main
// GPU-NOT:       relay.slice
// GPU:           return
func.func @main(%x: tensor<4x6xf32>) -> (tensor<1x6xf32>, tensor<1x6xf32>, tensor<4x1xf32>) {
  %a = relay.slice %x {begin = array<i64: 1>, end = array<i64: 2>, axes = array<i64: 0>} : (tensor<4x6xf32>) -> tensor<1x6xf32>
  %0 = relay.tanh %a : (tensor<1x6xf32>) -> tensor<1x6xf32>
  %b = relay.slice %x {begin = array<i64: -1>, end = array<i64: 4>, axes = array<i64: 0>} : (tensor<4x6xf32>) -> tensor<1x6xf32>
  %1 = relay.tanh %b : (tensor<1x6xf32>) -> tensor<1x6xf32>
  %c = relay.slice %x {begin = array<i64: 2>, end = array<i64: 3>, axes = array<i64: 1>} : (tensor<4x6xf32>) -> tensor<4x1xf32>
  %2 = relay.tanh %c : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %0, %1, %2 : tensor<1x6xf32>, tensor<1x6xf32>, tensor<4x1xf32>
}
