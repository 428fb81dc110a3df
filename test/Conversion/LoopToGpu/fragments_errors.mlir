// RUN: fusion-opt %s --loop-fragments --split-input-file --verify-diagnostics

func.func @k(%zero: f32, %n: memref<32xf32>) attributes {loop.kernel} {
  // expected-error @+1 {{accesses a fragment at an index that does not go with the number of the thread alone; bind the loops that number its threads to thread_x, and lay the stage out (te.transform_layout) so that a thread's elements lie together}}
  %c = loop.alloc fragment : memref<256xf32>
  loop.for 32 thread_x {
  ^bb0(%lane: index):
    %i = arith.constant 3 : index
    loop.store %zero, %c[%i] : f32, memref<256xf32>
    loop.yield
  }
  return
}

// -----

func.func @k(%zero: f32, %n: memref<32xf32>) attributes {loop.kernel} {
  // expected-error @+1 {{accesses elements of a fragment that one of 32 threads does not have, each of which has 4 of a tile}}
  %c = loop.alloc fragment : memref<256xf32>
  loop.for 32 thread_x {
  ^bb0(%lane: index):
    %i = affine.apply affine_map<(d0) -> (4 * d0 + 6)>(%lane)
    loop.store %zero, %c[%i] : f32, memref<256xf32>
    loop.yield
  }
  return
}

// -----

func.func @k(%zero: f32, %n: memref<32xf32>) attributes {loop.kernel} {
  // expected-error @+1 {{accesses a fragment otherwise than by elements that lie together}}
  %c = loop.alloc fragment : memref<256xf32>
  loop.for 32 thread_x {
  ^bb0(%lane: index):
    %i = affine.apply affine_map<(d0) -> (4 * d0)>(%lane)
    %v = loop.load_strided %c[%i] by 2 : memref<256xf32> -> vector<2xf32>
    loop.yield
  }
  return
}

// -----

func.func @k(%zero: f32) attributes {loop.kernel} {
  // expected-error @+1 {{is a fragment of 250 elements, of which 32 threads cannot have 4 each of whole tiles}}
  %c = loop.alloc fragment : memref<250xf32>
  loop.for 32 thread_x {
  ^bb0(%lane: index):
    %i = affine.apply affine_map<(d0) -> (4 * d0)>(%lane)
    loop.store %zero, %c[%i] : f32, memref<250xf32>
    loop.yield
  }
  return
}
