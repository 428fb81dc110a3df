// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(te-lower{until=1})' --split-input-file | FileCheck %s --check-prefix=UNTIL

// A stage without a schedule is a nest of its own; what lies between stages is in the workspace.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    loop.workspace = 64
// CHECK:       memref.view
// CHECK:       loop.for 8 serial
// CHECK:       loop.for 8 serial
te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "twice" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  %1 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<8xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  te.return %1 : tensor<8xf32>
}

// -----

// Only the first primitives are applied.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 2 serial
// CHECK:         loop.for 4 vectorized
// UNTIL-LABEL: func.func private @k(
// UNTIL-NOT:   vectorized
te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "twice" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  %1 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<8xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  te.return %1 : tensor<8xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %i = te.axes %y : !te.axis
  %o, %n = te.split %i by 4
  te.vectorize %n
}

// -----

// An input that is returned is copied; booleans are bytes.
// CHECK-LABEL: func.func private @id(
// CHECK-SAME:    memref<3xi8>
// CHECK:       loop.for 3 serial
// CHECK:         loop.store
te.kernel @id(%x: tensor<3xi1>) -> tensor<3xi1> {
  te.return %x : tensor<3xi1>
}

// -----

// Nothing to do without kernels.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    return
func.func @main() {
  return
}

// -----

// What a nest updates is put into the result by the caller, when the kernel does nothing else.
// CHECK-LABEL: func.func private @update(
// CHECK-SAME:    loop.updates = 0 : i64
// CHECK-NOT:   loop.for
// CHECK:       loop.store
// CHECK-NEXT:  return
te.kernel @update(%x: tensor<8xf32>, %u: tensor<1xf32>) -> tensor<8xf32> {
  %0 = te.extern "update"(%x, %u) {
  ^bb0(%a: memref<8xf32>, %b: memref<1xf32>, %r: memref<8xf32>):
    %c0 = arith.constant 0 : index
    %v = loop.load %b[%c0] : memref<1xf32> -> f32
    loop.store %v, %r[%c0] : f32, memref<8xf32>
    loop.yield
  } {updates = 0 : i64} : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  te.return %0 : tensor<8xf32>
}

// -----

// Else the kernel copies it.
// CHECK-LABEL: func.func private @update_of_a_stage(
// CHECK-NOT:     loop.updates
// CHECK:       loop.for 8 serial
// CHECK:       loop.for 8 serial
// CHECK-NEXT:  ^bb0
// CHECK-NEXT:    %[[V:.*]] = loop.load
// CHECK-NEXT:    loop.store %[[V]]
// CHECK:       loop.store
// CHECK-NEXT:  return
te.kernel @update_of_a_stage(%x: tensor<8xf32>, %u: tensor<1xf32>) -> tensor<8xf32> {
  %0 = te.compute "twice" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  %1 = te.extern "update"(%0, %u) {
  ^bb0(%a: memref<8xf32>, %b: memref<1xf32>, %r: memref<8xf32>):
    %c0 = arith.constant 0 : index
    %v = loop.load %b[%c0] : memref<1xf32> -> f32
    loop.store %v, %r[%c0] : f32, memref<8xf32>
    loop.yield
  } {updates = 0 : i64} : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  te.return %1 : tensor<8xf32>
}

// -----

// What is the greatest number so far is a number, where the reduction begins with one.
// CHECK-LABEL: func.func private @greatest_number(
// CHECK:         arith.maxnumf {{.*}} {loop.first_is_number} : f32
te.kernel @greatest_number(%x: tensor<8xf32>) -> tensor<f32> {
  %0 = te.compute "greatest" axes [] reduce [8] init [0xFF800000 : f32] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    te.yield %c : f32
  } : tensor<f32>
  te.return %0 : tensor<f32>
}

// -----

// One that begins with none may stay none.
// CHECK-LABEL: func.func private @begins_with_none(
// CHECK:         arith.maxnumf {{.*}} : f32
// CHECK-NOT:     loop.first_is_number
// CHECK:         return
te.kernel @begins_with_none(%x: tensor<8xf32>) -> tensor<f32> {
  %0 = te.compute "greatest" axes [] reduce [8] init [0x7FC00000 : f32] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    te.yield %c : f32
  } : tensor<f32>
  te.return %0 : tensor<f32>
}
