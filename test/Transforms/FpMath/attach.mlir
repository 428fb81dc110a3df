// RUN: fusion-opt %s --fusion-attach-fp-math | FileCheck %s --check-prefix=USUAL
// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-fp-math{level=fast max-error=1e-4})' | FileCheck %s

// USUAL: module attributes {fusion.fp_math = "standard"}
// CHECK: module attributes {fusion.fp_math = "fast", fusion.max_error = 1.000000e-04 : f64}
func.func @f() {
  return
}
