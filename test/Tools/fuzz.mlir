// RUN: fusion fuzz --count 3 --seed 7 -o %t | FileCheck %s
// RUN: fusion fuzz --count 2 --dynamic --ops 'dynamic_*' -o %t | FileCheck %s --check-prefix=OPEN
// RUN: not fusion fuzz --dtype int7 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not fusion fuzz --count 1 --ops nothing 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: 3 graphs, 0 wrong
// OPEN: 2 graphs, 0 wrong
// TYPE: there is no type of floats "int7"; give f32, f16, bf16 or f64
// NONE: no graph of these seeds has what --ops and --dtype ask for
