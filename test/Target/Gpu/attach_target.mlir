// RUN: fusion-opt %s --fusion-attach-target='name=amd:gfx942' | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target='name=nvidia:sm_80' --te-schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: not fusion-opt %s --fusion-attach-target='name=nvidia:sm_30' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK:      module attributes {fusion.target =
// CHECK-SAME: name = "gfx942"
// CHECK-SAME: warp = 64 : i64
// UNKNOWN:    gets no target: there is no GPU nvidia:sm_30; those described are nvidia:sm_80, nvidia:

// SCHEDULE: te.schedule for @k
// SCHEDULE: te.bind %{{.*}} to block_x
// SCHEDULE: te.bind %{{.*}} to thread_x
te.kernel @k(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = te.compute "twice" axes [4096] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<4096xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<4096xf32>
  te.return %0 : tensor<4096xf32>
}
