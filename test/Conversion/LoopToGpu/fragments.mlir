// RUN: fusion-opt %s --loop-fragments --split-input-file | FileCheck %s

// Two tiles of 32 threads with 4 elements each: a thread has 8 of the 256.
// CHECK-LABEL: func.func @k
// CHECK:         loop.alloc local : memref<8xf32>
// CHECK:         loop.for 2 unrolled
// CHECK:           affine.apply
// CHECK:           %[[I:.*]] = affine.apply
// CHECK:           loop.store %{{.*}}[%[[I]]] : vector<4xf32>, memref<8xf32>
// CHECK:         %[[SIX:.*]] = arith.constant 6 : index
// CHECK:         loop.load %{{.*}}[%[[SIX]]] : memref<8xf32> -> vector<2xf32>
func.func @k(%y: memref<64xf32>) attributes {loop.kernel} {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %c = loop.alloc fragment : memref<256xf32>
  %t = loop.thread_index 32 thread_x
  loop.for 2 unrolled {
  ^bb0(%tile: index):
    %four = arith.constant 4 : index
    %q = arith.divui %t, %four : index
    %r = arith.remui %t, %four : index
    %i = affine.apply affine_map<(d0, d1, d2) -> (128 * d0 + 16 * d1 + 4 * d2)>(%tile, %q, %r)
    loop.store %zero, %c[%i] : vector<4xf32>, memref<256xf32>
    loop.yield
  }
  loop.for 32 thread_x {
  ^bb0(%lane: index):
    %i = affine.apply affine_map<(d0) -> (130 + 4 * d0)>(%lane)
    %v = loop.load %c[%i] : memref<256xf32> -> vector<2xf32>
    %j = affine.apply affine_map<(d0) -> (2 * d0)>(%lane)
    loop.store %v, %y[%j] : vector<2xf32>, memref<64xf32>
    loop.yield
  }
  return
}

// -----

// Other buffers stay as they are.
// CHECK-LABEL: func.func @k
// CHECK:         loop.alloc shared : memref<256xf32>
func.func @k(%y: memref<32xf32>) attributes {loop.kernel} {
  %c = loop.alloc shared : memref<256xf32>
  loop.for 32 thread_x {
  ^bb0(%lane: index):
    %v = loop.load %c[%lane] : memref<256xf32> -> f32
    loop.store %v, %y[%lane] : f32, memref<32xf32>
    loop.yield
  }
  return
}

// -----

// Another launch has threads of its own, however many.
// CHECK-LABEL: func.func @two
// CHECK:         loop.for 256 thread_x
// CHECK:           loop.alloc local : memref<4xf32>
func.func @two(%x: memref<256xf32>, %y: memref<128xf32>) attributes {loop.kernel} {
  loop.for 256 thread_x {
  ^bb0(%t: index):
    %v = loop.load %x[%t] : memref<256xf32> -> f32
    loop.store %v, %x[%t] : f32, memref<256xf32>
    loop.yield
  }
  loop.for 1 block_x {
  ^bb0(%b: index):
    %c = loop.alloc fragment : memref<128xf32>
    loop.for 32 thread_x {
    ^bb0(%lane: index):
      %i = affine.apply affine_map<(d0) -> (4 * d0)>(%lane)
      %v = loop.load %y[%i] : memref<128xf32> -> vector<4xf32>
      loop.store %v, %c[%i] : vector<4xf32>, memref<128xf32>
      %w = loop.load %c[%i] : memref<128xf32> -> vector<4xf32>
      loop.store %w, %y[%i] : vector<4xf32>, memref<128xf32>
      loop.yield
    }
    loop.yield
  }
  return
}
