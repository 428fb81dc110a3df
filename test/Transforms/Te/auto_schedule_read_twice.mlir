// RUN: fusion-opt %s --te-schedule | FileCheck %s

// A cheap stage that is read twice is written twice. In a chain of such stages that would double all before: from some size on a stage
// is kept, and what is behind it begins anew.
// CHECK-LABEL: te.schedule for @squares
// CHECK:         %[[S0:.*]] = te.stage "s0"
// CHECK-NEXT:    te.compute_inline %[[S0]]
// CHECK:         %[[S1:.*]] = te.stage "s1"
// CHECK-NEXT:    te.compute_inline %[[S1]]
// CHECK:         %[[S2:.*]] = te.stage "s2"
// CHECK-NEXT:    te.compute_inline %[[S2]]
// CHECK:         %[[S3:.*]] = te.stage "s3"
// CHECK-NEXT:    te.compute_inline %[[S3]]
// CHECK:         %[[S4:.*]] = te.stage "s4"
// CHECK-NEXT:    te.compute_inline %[[S4]]
// CHECK:         %[[S6:.*]] = te.stage "s6"
// CHECK-NEXT:    te.compute_inline %[[S6]]
// CHECK:         %[[S5:.*]] = te.stage "s5"
// CHECK-NEXT:    te.axes %[[S5]]
// CHECK:         %[[S7:.*]] = te.stage "s7"
// CHECK-NEXT:    te.axes %[[S7]]
te.kernel @squares(%x: tensor<64xf32>) -> tensor<64xf32> {
  %s0 = te.compute "s0" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %x[%i] : tensor<64xf32> -> f32
    %q = te.load %x[%i] : tensor<64xf32> -> f32
    %r = arith.mulf %p, %q : f32
    te.yield %r : f32
  } combine {} : tensor<64xf32>
  %s1 = te.compute "s1" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %s0[%i] : tensor<64xf32> -> f32
    %q = te.load %s0[%i] : tensor<64xf32> -> f32
    %r = arith.mulf %p, %q : f32
    te.yield %r : f32
  } combine {} : tensor<64xf32>
  %s2 = te.compute "s2" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %s1[%i] : tensor<64xf32> -> f32
    %q = te.load %s1[%i] : tensor<64xf32> -> f32
    %r = arith.mulf %p, %q : f32
    te.yield %r : f32
  } combine {} : tensor<64xf32>
  %s3 = te.compute "s3" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %s2[%i] : tensor<64xf32> -> f32
    %q = te.load %s2[%i] : tensor<64xf32> -> f32
    %r = arith.mulf %p, %q : f32
    te.yield %r : f32
  } combine {} : tensor<64xf32>
  %s4 = te.compute "s4" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %s3[%i] : tensor<64xf32> -> f32
    %q = te.load %s3[%i] : tensor<64xf32> -> f32
    %r = arith.mulf %p, %q : f32
    te.yield %r : f32
  } combine {} : tensor<64xf32>
  %s5 = te.compute "s5" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %s4[%i] : tensor<64xf32> -> f32
    %q = te.load %s4[%i] : tensor<64xf32> -> f32
    %r = arith.mulf %p, %q : f32
    te.yield %r : f32
  } combine {} : tensor<64xf32>
  %s6 = te.compute "s6" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %s5[%i] : tensor<64xf32> -> f32
    %q = te.load %s5[%i] : tensor<64xf32> -> f32
    %r = arith.mulf %p, %q : f32
    te.yield %r : f32
  } combine {} : tensor<64xf32>
  %s7 = te.compute "s7" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %s6[%i] : tensor<64xf32> -> f32
    %q = te.load %s6[%i] : tensor<64xf32> -> f32
    %r = arith.mulf %p, %q : f32
    te.yield %r : f32
  } combine {} : tensor<64xf32>
  te.return %s7 : tensor<64xf32>
}
