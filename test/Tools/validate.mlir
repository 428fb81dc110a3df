// RUN: fusion-opt %s --relay-fuse-ops --convert-relay-to-te --te-schedule --te-lower --validate-passes 2>&1 >/dev/null | FileCheck %s
// RUN: fusion-opt %s --relay-fuse-ops --validate-passes --validate-flops=3 2>&1 >/dev/null | FileCheck %s --check-prefix=FLOPS
// RUN: fusion-opt %s --canonicalize --validate-passes 2>&1 >/dev/null | FileCheck %s --check-prefix=NONE
// RUN: not fusion-opt %s --validate-floops=3 2>&1 | FileCheck %s --check-prefix=OPTION

// CHECK: validated: relay-fuse-ops: @main (largest error 0.0e0)
// CHECK: validated: convert-relay-to-te: @main, @fused_add_tanh_0 (largest error
// CHECK: not validated: te-lower: @fused_add_tanh_0: it is of another type after the pass
// FLOPS: not validated: relay-fuse-ops: @main: it takes {{.*}} operations, more than the 3.0e0 that are allowed
// NONE: validated: no pass changed a function
// OPTION: error: there is no option --validate-floops; --help lists all
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
