// RUN: not fusion-opt %s --fusion-attach-fp-math=level=exact 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-fp-math{max-error=-1})' 2>&1 | FileCheck %s --check-prefix=NUMBER

// LEVEL: the option level of fusion-attach-fp-math must be strict, standard or fast, found "exact"
// NUMBER: the option max-error of fusion-attach-fp-math must be a number above 0, as 1e-4, found "-1"
func.func @f() {
  return
}
