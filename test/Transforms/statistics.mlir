// RUN: fusion-opt %s --relay-fuse-ops --mlir-pass-statistics -o /dev/null 2>&1 | FileCheck %s
// RUN: fusion-opt %s --relay-fuse-ops -o /dev/null 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty

// Statistics are reported whether or not LLVM was built with them.

// CHECK: Pass statistics report
// CHECK: relay-fuse-ops
// CHECK: (S) 2 fused
// CHECK: (S) 1 groups
// QUIET-NOT: statistics
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
