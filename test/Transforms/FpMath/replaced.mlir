// RUN: fusion-opt %s --fusion-attach-fp-math=level=standard | FileCheck %s

// What was said before is replaced, an error budget too.
// CHECK: module attributes {fusion.fp_math = "standard"} {
module attributes {fusion.fp_math = "fast", fusion.max_error = 1.0e-04 : f64} {
  func.func @f() {
    return
  }
}
