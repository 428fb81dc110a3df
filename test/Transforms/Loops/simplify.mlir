// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-simplify))' | FileCheck %s

// CHECK-LABEL: func.func @never
// CHECK-NOT:     loop.for
// CHECK:         return %arg0
func.func @never(%z: f32, %b: memref<8xf32>) -> f32 {
  %r = loop.for 0 serial iter(%z : f32) {
  ^bb0(%i: index, %a: f32):
    %x = loop.load %b[%i] : memref<8xf32> -> f32
    loop.yield %x : f32
  } -> f32
  return %r : f32
}

// CHECK-LABEL: func.func @once
// CHECK-NOT:     loop.for
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:         %[[X:.*]] = loop.load %arg1[%[[ZERO]]]
// CHECK:         %[[S:.*]] = arith.addf %arg0, %[[X]]
// CHECK:         return %[[S]]
func.func @once(%z: f32, %b: memref<8xf32>) -> f32 {
  %r = loop.for 1 unrolled iter(%z : f32) {
  ^bb0(%i: index, %a: f32):
    %x = loop.load %b[%i] : memref<8xf32> -> f32
    %s = arith.addf %a, %x : f32
    loop.yield %s : f32
  } -> f32
  return %r : f32
}

// CHECK-LABEL: func.func @decided
// CHECK-NOT:     loop.guard
// CHECK:         loop.store %arg0
// CHECK-NOT:     loop.store
// CHECK:         return %arg0
func.func @decided(%z: f32, %b: memref<8xf32>, %i: index) -> f32 {
  %yes = arith.constant true
  %no = arith.constant false
  loop.guard %yes {
    loop.store %z, %b[%i] : f32, memref<8xf32>
    loop.yield
  }
  %r = loop.guard %no else(%z : f32) {
    %x = loop.load %b[%i] : memref<8xf32> -> f32
    loop.store %x, %b[%i] : f32, memref<8xf32>
    loop.yield %x : f32
  } -> f32
  return %r : f32
}

// CHECK-LABEL: func.func @unused
// CHECK-NOT:     loop.alloc
// CHECK:         return
func.func @unused() {
  loop.for 1 serial {
  ^bb0(%i: index):
    %b = loop.alloc local : memref<8xf32>
    loop.yield
  }
  return
}

// A launch of one thread is still a launch; other loops stay as they are.
// CHECK-LABEL: func.func @stays
// CHECK:         loop.for 1 thread_x
// CHECK:         loop.for 2 serial
func.func @stays(%z: f32, %b: memref<8xf32>) {
  loop.for 1 thread_x {
  ^bb0(%t: index):
    loop.for 2 serial {
    ^bb0(%i: index):
      loop.store %z, %b[%i] : f32, memref<8xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// What is asked for twice in one place is asked for once; another element is another question.
// CHECK-LABEL: func.func @asks
// CHECK-COUNT-2: loop.prefetch
// CHECK-NOT:     loop.prefetch
func.func @asks(%b: memref<64xf32>, %i: index, %j: index) {
  loop.for 2 serial {
  ^bb0(%k: index):
    loop.prefetch %b[%i] : memref<64xf32>
    loop.prefetch %b[%j] : memref<64xf32>
    loop.prefetch %b[%i] : memref<64xf32>
    loop.yield
  }
  return
}
