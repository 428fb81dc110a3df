// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-store-once))' --split-input-file | FileCheck %s

// Along y, all threads would write the same: the first of them does.
// CHECK-LABEL: @some
// CHECK:       loop.for 4 thread_y
// CHECK:         loop.for 8 thread_x
// CHECK:           %[[Y:.*]] = loop.thread_index 4 thread_y
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq, %[[Y]]
// CHECK-NEXT:      loop.guard %[[FIRST]]
// CHECK-NEXT:        loop.store
func.func @some(%x: memref<8xf32>, %y: memref<32xf32>) attributes {loop.kernel} {
  loop.for 4 thread_y {
  ^bb0(%r: index):
    %s = loop.alloc shared : memref<8xf32>
    loop.for 8 thread_x {
    ^bb0(%t: index):
      %a = loop.load %x[%t] : memref<8xf32> -> f32
      loop.store %a, %s[%t] : f32, memref<8xf32>
      loop.yield
    }
    loop.for 8 thread_x {
    ^bb0(%t: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%r, %t)
      %a = loop.load %s[%t] : memref<8xf32> -> f32
      loop.store %a, %y[%i] : f32, memref<32xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Loops bound along all dimensions share the elements, and so does a condition on the number of the thread.
// CHECK-LABEL: @all
// CHECK-NOT:   loop.guard
// CHECK:       loop.store
// CHECK:       loop.guard
// CHECK-NEXT:    loop.store
// CHECK-NOT:   loop.guard
func.func @all(%x: memref<8xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<8xf32>
  %c0 = arith.constant 0 : index
  loop.for 8 thread_x {
  ^bb0(%t: index):
    %a = loop.load %x[%t] : memref<8xf32> -> f32
    loop.store %a, %s[%t] : f32, memref<8xf32>
    %n = loop.thread_index 8 thread_x
    %first = arith.cmpi eq, %n, %c0 : index
    loop.guard %first {
      loop.store %a, %s[%c0] : f32, memref<8xf32>
      loop.yield
    }
    loop.yield
  }
  return
}
