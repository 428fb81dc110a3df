// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-pipeline{copy-bytes=16},canonicalize,cse,loop-insert-barriers))' --split-input-file | FileCheck %s --check-prefixes=ALL,COPIES
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-pipeline,canonicalize,cse,loop-insert-barriers))' --split-input-file | FileCheck %s --check-prefixes=ALL,FETCHES

// Two copies are on their way while a step is computed; each step waits for its own, and once for the other threads. Without
// asynchronous copies, one step is on its way, in registers.
// ALL-LABEL:    @staged
// ALL:          %[[S:.*]] = loop.alloc shared slots 3 : memref<384xf32>
// COPIES:       loop.copy_async 4 from %{{.*}} to %[[S]]
// COPIES:       loop.copy_commit
// COPIES:       loop.copy_async 4 from %{{.*}} to %[[S]]
// COPIES:       loop.copy_commit
// COPIES:       loop.for 8 serial
// COPIES:         loop.copy_wait 1
// COPIES:         loop.barrier
// COPIES-NEXT:    loop.guard
// COPIES:           loop.copy_async 4 from %{{.*}} to %[[S]]
// COPIES:         loop.copy_commit
// COPIES-NOT:     loop.barrier
// COPIES:         loop.load %[[S]]
// FETCHES-DAG:  %[[R:.*]] = loop.alloc local : memref<4xf32>
// FETCHES-DAG:  loop.store %{{.*}}, %[[S]]
// FETCHES:      loop.for 8 serial
// FETCHES:        loop.guard
// FETCHES:          loop.load %arg0
// FETCHES-NEXT:     loop.store %{{.*}}, %[[R]]
// FETCHES:        loop.barrier
// FETCHES-NEXT:   loop.load %[[S]]
// FETCHES-NOT:    loop.barrier
// FETCHES:        loop.guard
// FETCHES-NOT:      loop.load %arg0
// FETCHES:          loop.load %[[R]]
// FETCHES:          loop.store %{{.*}}, %[[S]]
// ALL:          loop.ahead
func.func @staged(%x: memref<1024xf32>, %y: memref<32xf32>) attributes {loop.kernel} {
  %zero = arith.constant 0.0 : f32
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %s = loop.alloc shared slots 3 : memref<384xf32>
    %r = loop.for 8 serial iter(%zero : f32) {
    ^bb0(%k: index, %sum: f32):
      loop.for 32 thread_x {
      ^bb0(%u: index):
        %i = affine.apply affine_map<(d0, d1) -> (d0 * 128 + d1 * 4)>(%k, %u)
        %a = loop.load %x[%i] : memref<1024xf32> -> vector<4xf32>
        %j = affine.apply affine_map<(d0, d1) -> ((d0 mod 3) * 128 + d1 * 4)>(%k, %u)
        loop.store %a, %s[%j] : vector<4xf32>, memref<384xf32>
        loop.yield
      }
      %m = affine.apply affine_map<(d0, d1) -> ((d0 mod 3) * 128 - d1 + 31)>(%k, %t)
      %b = loop.load %s[%m] : memref<384xf32> -> f32
      %next = arith.addf %sum, %b : f32
      loop.yield %next : f32
    } -> f32
    loop.store %r, %y[%t] : f32, memref<32xf32>
    loop.yield
  }
  return
}

// -----

// What is beyond the end is 0; then nothing is read.
// ALL-LABEL: @edge
// COPIES:      loop.copy_async 1 from %{{.*}} to %{{.*}} if %{{.*}} : memref<250xf32>, memref<64xf32>
func.func @edge(%x: memref<250xf32>, %y: memref<256xf32>) attributes {loop.kernel} {
  %zero = arith.constant 0.0 : f32
  %end = arith.constant 250 : index
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %s = loop.alloc shared slots 2 : memref<64xf32>
    loop.for 8 serial {
    ^bb0(%k: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%k, %t)
      %inside = arith.cmpi slt, %i, %end : index
      %a = loop.guard %inside else(%zero : f32) {
        %v = loop.load %x[%i] : memref<250xf32> -> f32
        loop.yield %v : f32
      } -> f32
      %j = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 32 + d1)>(%k, %t)
      loop.store %a, %s[%j] : f32, memref<64xf32>
      %m = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 32 - d1 + 31)>(%k, %t)
      %b = loop.load %s[%m] : memref<64xf32> -> f32
      loop.store %b, %y[%i] : f32, memref<256xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// What is computed on the way goes through registers, and so does what does not begin at a multiple of 16 bytes.
// ALL-LABEL: @computed
// ALL-NOT:     loop.copy_async
// ALL-COUNT-2: loop.alloc local
// ALL-NOT:     loop.copy_async
// ALL:         loop.ahead
func.func @computed(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {loop.kernel} {
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %s = loop.alloc shared slots 2 : memref<64xf32>
    %v = loop.alloc shared slots 2 : memref<256xf32>
    loop.for 7 serial {
    ^bb0(%k: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%k, %t)
      %a = loop.load %x[%i] : memref<1024xf32> -> f32
      %e = arith.mulf %a, %a : f32
      %j = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 32 + d1)>(%k, %t)
      loop.store %e, %s[%j] : f32, memref<64xf32>
      %odd = affine.apply affine_map<(d0, d1) -> (d0 * 128 + d1 * 4 + 1)>(%k, %t)
      %w = loop.load %x[%odd] : memref<1024xf32> -> vector<4xf32>
      %o = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 128 + d1 * 4)>(%k, %t)
      loop.store %w, %v[%o] : vector<4xf32>, memref<256xf32>
      %m = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 32 - d1 + 31)>(%k, %t)
      %b = loop.load %s[%m] : memref<64xf32> -> f32
      %c = loop.load %v[%m] : memref<256xf32> -> f32
      %d = arith.addf %b, %c : f32
      loop.store %d, %y[%i] : f32, memref<1024xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// No change: what fills the slots needs what the loop computed; and a buffer without slots.
// ALL-LABEL: @needed
// ALL-NOT:     loop.copy_async
// ALL-NOT:     loop.alloc local
// ALL-NOT:     loop.ahead
// ALL:         return
func.func @needed(%x: memref<256xf32>, %y: memref<256xf32>) attributes {loop.kernel} {
  %zero = arith.constant 0.0 : f32
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %s = loop.alloc shared slots 2 : memref<64xf32>
    %plain = loop.alloc shared : memref<64xf32>
    %r = loop.for 8 serial iter(%zero : f32) {
    ^bb0(%k: index, %sum: f32):
      %j = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 32 + d1)>(%k, %t)
      loop.store %sum, %s[%j] : f32, memref<64xf32>
      loop.store %sum, %plain[%j] : f32, memref<64xf32>
      %m = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 32 - d1 + 31)>(%k, %t)
      %b = loop.load %s[%m] : memref<64xf32> -> f32
      %c = loop.load %plain[%m] : memref<64xf32> -> f32
      %d = arith.addf %b, %c : f32
      loop.yield %d : f32
    } -> f32
    loop.store %r, %y[%t] : f32, memref<256xf32>
    loop.yield
  }
  return
}
