// RUN: fusion-opt %s --convert-loop-to-gpu --split-input-file | FileCheck %s

// Threads along y of 8 x 16: a warp is four rows of 8, which shuffles combine; the first of them hands over what they have to the other
// warps, 4 numbers for each x.
// CHECK-LABEL: gpu.func @k_0
// CHECK:         %[[AWAY:.*]] = arith.constant 16 : i32
// CHECK:         gpu.shuffle {{ *}}xor %{{[^,]*}}, %[[AWAY]],
// CHECK:         %[[AWAY:.*]] = arith.constant 8 : i32
// CHECK:         gpu.shuffle {{ *}}xor %{{[^,]*}}, %[[AWAY]],
// CHECK:         gpu.barrier
// CHECK:         scf.if
// CHECK:           vector.store {{.*}} vector<4xf32>
// CHECK:         gpu.barrier
// CHECK-COUNT-4: vector.load {{.*}} vector<4xf32>
// CHECK-NOT:     vector.load {{.*}} vector<4xf32>
// CHECK:         gpu.return
func.func @k(%x: memref<512xf32>, %y: memref<32xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<512xf32>
  loop.for 8 thread_x {
  ^bb0(%i: index):
    %row = loop.thread_index 16 thread_y
    %from = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1 * 4)>(%row, %i)
    %to = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %v = loop.load %x[%from] : memref<512xf32> -> vector<4xf32>
    %sum = loop.all_reduce 16 thread_y(%v : vector<4xf32>) by(%s : memref<512xf32>) {
    ^bb0(%a: vector<4xf32>, %b: vector<4xf32>):
      %c = arith.addf %a, %b : vector<4xf32>
      loop.yield %c : vector<4xf32>
    } -> vector<4xf32>
    loop.store %sum, %y[%to] : vector<4xf32>, memref<32xf32>
    loop.yield
  }
  return
}

// -----

// Two rows of 16 are one warp, which needs no barrier.
// CHECK-LABEL: gpu.func @k_0
// CHECK:         gpu.shuffle {{ *}}xor
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
func.func @k(%x: memref<32xf32>, %y: memref<16xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<32xf32>
  loop.for 16 thread_x {
  ^bb0(%i: index):
    %row = loop.thread_index 2 thread_y
    %from = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%row, %i)
    %v = loop.load %x[%from] : memref<32xf32> -> f32
    %sum = loop.all_reduce 2 thread_y(%v : f32) by(%s : memref<32xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      loop.yield %c : f32
    } -> f32
    loop.store %sum, %y[%i] : f32, memref<16xf32>
    loop.yield
  }
  return
}

// -----

// Rows of 3 lie across warps: nothing is shuffled.
// CHECK-LABEL: gpu.func @k_0
// CHECK-NOT:     gpu.shuffle
// CHECK:         gpu.barrier
// CHECK-COUNT-4: memref.load %{{.*}} : memref<12xf32, #gpu.address_space<workgroup>>
func.func @k(%x: memref<12xf32>, %y: memref<3xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<12xf32>
  loop.for 3 thread_x {
  ^bb0(%i: index):
    %row = loop.thread_index 4 thread_y
    %from = affine.apply affine_map<(d0, d1) -> (d0 * 3 + d1)>(%row, %i)
    %v = loop.load %x[%from] : memref<12xf32> -> f32
    %sum = loop.all_reduce 4 thread_y(%v : f32) by(%s : memref<12xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      loop.yield %c : f32
    } -> f32
    loop.store %sum, %y[%i] : f32, memref<3xf32>
    loop.yield
  }
  return
}
