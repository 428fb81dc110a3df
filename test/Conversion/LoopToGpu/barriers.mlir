// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-insert-barriers))' --split-input-file | FileCheck %s

// What the step before read is not overwritten while a thread still reads it.
// CHECK-LABEL: @staged
// CHECK:       loop.for 8 serial
// CHECK:         loop.barrier
// CHECK-NEXT:    loop.store
// CHECK:         loop.barrier
// CHECK-NEXT:    loop.load
// CHECK-NEXT:    loop.store
// CHECK-NEXT:    loop.yield
func.func @staged(%x: memref<256xf32>, %y: memref<256xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<32xf32>
  loop.for 32 thread_x {
  ^bb0(%t: index):
    loop.for 8 serial {
    ^bb0(%k: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%k, %t)
      %a = loop.load %x[%i] : memref<256xf32> -> f32
      loop.store %a, %s[%t] : f32, memref<32xf32>
      %m = affine.apply affine_map<(d0) -> (31 - d0)>(%t)
      %b = loop.load %s[%m] : memref<32xf32> -> f32
      loop.store %b, %y[%i] : f32, memref<256xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Fewer threads write than there are: the barrier is where all of them come.
// CHECK-LABEL: @some
// CHECK:       loop.for 8 thread_x
// CHECK-NOT:     loop.barrier
// CHECK:       loop.for 32 thread_x
// CHECK:         loop.barrier
// CHECK-NEXT:    loop.load
func.func @some(%x: memref<8xf32>, %y: memref<32xf32>) attributes {loop.kernel} {
  loop.for 4 block_x {
  ^bb0(%b: index):
    %s = loop.alloc shared : memref<8xf32>
    loop.for 8 thread_x {
    ^bb0(%t: index):
      %a = loop.load %x[%t] : memref<8xf32> -> f32
      loop.store %a, %s[%t] : f32, memref<8xf32>
      loop.yield
    }
    loop.for 32 thread_x {
    ^bb0(%t: index):
      %m = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%t)
      %a = loop.load %s[%m] : memref<8xf32> -> f32
      loop.store %a, %y[%t] : f32, memref<32xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Fewer threads read: the barrier is before their loop.
// CHECK-LABEL: @few
// CHECK:       loop.for 32 thread_x
// CHECK-NOT:     loop.barrier
// CHECK:       loop.barrier
// CHECK-NEXT:  loop.for 8 thread_x
// CHECK-NOT:     loop.barrier
// CHECK:       return
func.func @few(%x: memref<32xf32>, %y: memref<8xf32>) attributes {loop.kernel} {
  loop.for 4 block_x {
  ^bb0(%b: index):
    %s = loop.alloc shared : memref<32xf32>
    loop.for 32 thread_x {
    ^bb0(%t: index):
      %a = loop.load %x[%t] : memref<32xf32> -> f32
      loop.store %a, %s[%t] : f32, memref<32xf32>
      loop.yield
    }
    loop.for 8 thread_x {
    ^bb0(%t: index):
      %m = affine.apply affine_map<(d0) -> (d0 * 4)>(%t)
      %a = loop.load %s[%m] : memref<32xf32> -> f32
      loop.store %a, %y[%t] : f32, memref<8xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Nothing to do: a thread's own memory, and memory of the block that is only written.
// CHECK-LABEL: @own
// CHECK-NOT:   loop.barrier
// CHECK:       return
func.func @own(%x: memref<32xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<32xf32>
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %p = loop.alloc local : memref<1xf32>
    %zero = arith.constant 0 : index
    %a = loop.load %x[%t] : memref<32xf32> -> f32
    loop.store %a, %p[%zero] : f32, memref<1xf32>
    %b = loop.load %p[%zero] : memref<1xf32> -> f32
    loop.store %b, %s[%t] : f32, memref<32xf32>
    loop.yield
  }
  return
}

// -----

// A barrier for what a serial loop reads comes once, before the loop.
// CHECK-LABEL: @before
// CHECK:         loop.store
// CHECK:         loop.barrier
// CHECK-NEXT:    loop.for 8 serial
// CHECK-NOT:       loop.barrier
// CHECK:           loop.load
func.func @before(%x: memref<32xf32>, %y: memref<256xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<32xf32>
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %a = loop.load %x[%t] : memref<32xf32> -> f32
    loop.store %a, %s[%t] : f32, memref<32xf32>
    loop.for 8 serial {
    ^bb0(%k: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%k, %t)
      %b = loop.load %s[%k] : memref<32xf32> -> f32
      loop.store %b, %y[%i] : f32, memref<256xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// A copy writes where its thread waits for it: others read behind a barrier after that.
// CHECK-LABEL: @copied
// CHECK:         loop.copy_async
// CHECK-NOT:     loop.barrier
// CHECK:         loop.copy_wait 0
// CHECK-NEXT:    loop.barrier
// CHECK-NEXT:    loop.load
// CHECK:         loop.barrier
// CHECK-NEXT:    loop.copy_async
func.func @copied(%x: memref<32xf32>, %y: memref<32xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<32xf32>
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %m = affine.apply affine_map<(d0) -> (31 - d0)>(%t)
    loop.copy_async 1 from %x[%t] to %s[%t] : memref<32xf32>, memref<32xf32>
    loop.copy_commit
    loop.copy_wait 0
    %a = loop.load %s[%m] : memref<32xf32> -> f32
    loop.copy_async 1 from %x[%m] to %s[%t] : memref<32xf32>, memref<32xf32>
    loop.copy_commit
    loop.copy_wait 0
    loop.store %a, %y[%t] : f32, memref<32xf32>
    loop.yield
  }
  return
}

// -----

// Each time a store writes another place, it needs no barrier against itself; where it may not be another, it does.
// CHECK-LABEL: @filled
// CHECK:         loop.for 4 serial
// CHECK-NOT:       loop.barrier
// CHECK:           loop.store
// CHECK:         loop.for 4 serial
// CHECK:           loop.barrier
// CHECK-NEXT:      loop.store
func.func @filled(%x: memref<128xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<132xf32>
  %r = loop.alloc shared : memref<64xf32>
  loop.for 32 thread_x {
  ^bb0(%t: index):
    loop.for 4 serial {
    ^bb0(%k: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 33 + d1)>(%k, %t)
      %a = loop.load %x[%t] : memref<128xf32> -> f32
      loop.store %a, %s[%i] : f32, memref<132xf32>
      loop.yield
    }
    loop.for 4 serial {
    ^bb0(%k: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%k, %t)
      %a = loop.load %x[%t] : memref<128xf32> -> f32
      loop.store %a, %r[%i] : f32, memref<64xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Steps that write slots in turn: a thread writes what it wrote before, and no other one does.
// CHECK-LABEL: @in_turn
// CHECK-NOT:   loop.barrier
// CHECK:       return
func.func @in_turn(%x: memref<32xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<256xf32>
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %a = loop.load %x[%t] : memref<32xf32> -> f32
    loop.for 8 serial {
    ^bb0(%k: index):
      loop.for 4 serial {
      ^bb0(%u: index):
        %c1 = arith.constant 1 : index
        %n = arith.addi %k, %c1 : index
        %i = affine.apply affine_map<(d0, d1, d2) -> ((d0 mod 2) * 128 + d1 * 32 + d2)>(%n, %u, %t)
        loop.store %a, %s[%i] : f32, memref<256xf32>
        loop.yield
      }
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Several threads write one place.
// CHECK-LABEL: @together
// CHECK:       loop.for 8 serial
// CHECK-NEXT:  ^bb0
// CHECK-NEXT:    affine.apply
// CHECK-NEXT:    loop.barrier
// CHECK-NEXT:    loop.store
func.func @together(%x: memref<32xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<64xf32>
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %a = loop.load %x[%t] : memref<32xf32> -> f32
    loop.for 8 serial {
    ^bb0(%k: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1 mod 8)>(%k, %t)
      loop.store %a, %s[%i] : f32, memref<64xf32>
      loop.yield
    }
    loop.yield
  }
  return
}
