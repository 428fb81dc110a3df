// RUN: fusion fuzz --count 3 --seed 7 -o %t | FileCheck %s
// RUN: fusion fuzz --count 2 --dynamic --ops 'dynamic_*' -o %t | FileCheck %s --check-prefix=OPEN
// RUN: fusion fuzz --count 20 --broad --seed 3 -o %t | FileCheck %s --check-prefix=BROAD
// RUN: not fusion fuzz --against onnxruntime --python no-such-program 2>&1 | FileCheck %s --check-prefix=PYTHON
// RUN: not fusion fuzz --against onnxruntime --python false 2>&1 | FileCheck %s --check-prefix=PACKAGE
// RUN: not fusion fuzz --python python3 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not fusion fuzz --dtype int7 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not fusion fuzz --count 1 --ops nothing 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: 3 graphs, 0 wrong
// OPEN: 2 graphs, 0 wrong
// BROAD: 20 graphs, 0 wrong
// PYTHON: --against onnxruntime runs no-such-program, which cannot be started: {{.*}}; give --python a Python that has onnxruntime and numpy
// PACKAGE: --against onnxruntime runs false, which cannot import onnxruntime and numpy; install them there with pip, or give --python another one
// ALONE: the following required arguments were not provided:
// ALONE: --against <WHO>
// TYPE: there is no type of floats "int7"; give f32, f16, bf16 or f64
// NONE: no graph of these seeds has what --ops and --dtype ask for
