// RUN: fusion-opt %s --fusion-attach-target='name=x86-64-v3' | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target='name=x86-64-v3' --te-schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: not fusion-opt %s --fusion-attach-target='name=abacus' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: module attributes {fusion.target = {about = "any x86-64 with AVX2", additions = 0 : i64, cores = 4 : i64,
// CHECK-SAME: name = "x86-64-v3"
// CHECK-SAME: peak_flops = 1.020000e+11 : f64
// CHECK-SAME: vector_bytes = 32 : i64
// UNKNOWN: error: 'builtin.module' op gets no target: there is no processor "abacus"; names like it are

// Vectors are those of the target, four registers of eight numbers.
// SCHEDULE: te.schedule for @k
// SCHEDULE: te.split %{{.*}} by 32
// SCHEDULE: te.vectorize
te.kernel @k(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = te.compute "twice" axes [4096] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<4096xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<4096xf32>
  te.return %0 : tensor<4096xf32>
}
