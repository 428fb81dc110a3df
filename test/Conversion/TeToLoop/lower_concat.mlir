// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,te.kernel(canonicalize,cse),te-schedule,te-lower,func.func(canonicalize,cse))' --split-input-file | FileCheck %s

// Each part is computed into its place, in loops of its own that ask nothing.
// CHECK-LABEL: func.func private @parts(
// CHECK-SAME:    %[[X:.*]]: memref<32768xf32> {{.*}}, %[[Y:.*]]: memref<16384xf32> {{.*}}, %[[Z:.*]]: memref<49152xf32>
// CHECK-NOT:     arith.cmpi
// CHECK:         loop.for 512 parallel
// CHECK:           loop.load %[[X]]
// CHECK-NEXT:      math.exp
// CHECK-NEXT:      loop.store %{{.*}}, %[[Z]]
// CHECK-NOT:     arith.cmpi
// CHECK:         loop.for 256 parallel
// CHECK:           loop.load %[[Y]]
// CHECK-NEXT:      arith.maximumf
// CHECK:           loop.store %{{.*}}, %[[Z]]
// CHECK-NOT:     loop.for
// CHECK:         return
func.func private @parts(%x: tensor<64x512xf32>, %y: tensor<32x512xf32>) -> tensor<96x512xf32> attributes {relay.primitive} {
  %0 = relay.exp %x : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %1 = relay.relu %y : (tensor<32x512xf32>) -> tensor<32x512xf32>
  %2 = relay.concat %0, %1 {axis = 0 : i64} : (tensor<64x512xf32>, tensor<32x512xf32>) -> tensor<96x512xf32>
  return %2 : tensor<96x512xf32>
}
