// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-transpose))' --split-input-file | FileCheck %s

// Four columns of a matrix with rows of 32: its rows are loaded, and turned in two stages of shuffles.
// CHECK-LABEL: func.func @loads(
// CHECK-NOT:     loop.load_strided
// CHECK-COUNT-4: loop.load %arg0[%{{.*}}] : memref<256xf32> -> vector<4xf32>
// CHECK-NOT:     loop.load
// CHECK-COUNT-8: vector.shuffle
// CHECK-NOT:     vector.shuffle
// CHECK:         return
func.func @loads(%x: memref<256xf32>, %i: index) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %i1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
  %i2 = affine.apply affine_map<(d0) -> (d0 + 2)>(%i)
  %i3 = affine.apply affine_map<(d0) -> (d0 + 3)>(%i)
  %a = loop.load_strided %x[%i] by 32 : memref<256xf32> -> vector<4xf32>
  %b = loop.load_strided %x[%i1] by 32 : memref<256xf32> -> vector<4xf32>
  %c = loop.load_strided %x[%i2] by 32 : memref<256xf32> -> vector<4xf32>
  %d = loop.load_strided %x[%i3] by 32 : memref<256xf32> -> vector<4xf32>
  return %a, %b, %c, %d : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
}

// -----

// CHECK-LABEL: func.func @stores(
// CHECK-NOT:     loop.store_strided
// CHECK-COUNT-8: vector.shuffle
// CHECK-COUNT-4: loop.store %{{.*}}, %arg0[%{{.*}}] : vector<4xf32>, memref<256xf32>
// CHECK-NOT:     loop.store
// CHECK:         return
func.func @stores(%x: memref<256xf32>, %i: index, %a: vector<4xf32>, %b: vector<4xf32>, %c: vector<4xf32>, %d: vector<4xf32>) {
  %i1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
  %i2 = affine.apply affine_map<(d0) -> (d0 + 2)>(%i)
  %i3 = affine.apply affine_map<(d0) -> (d0 + 3)>(%i)
  loop.store_strided %a, %x[%i] by 32 : vector<4xf32>, memref<256xf32>
  loop.store_strided %b, %x[%i1] by 32 : vector<4xf32>, memref<256xf32>
  loop.store_strided %c, %x[%i2] by 32 : vector<4xf32>, memref<256xf32>
  loop.store_strided %d, %x[%i3] by 32 : vector<4xf32>, memref<256xf32>
  return
}

// -----

// Two are too few; rows that overlap, a store between, and distances other than 1 keep them apart.
// CHECK-LABEL: func.func @unchanged(
// CHECK-COUNT-8: loop.load_strided
// CHECK-NOT:     vector.shuffle
// CHECK:         return
func.func @unchanged(%x: memref<256xf32>, %y: memref<256xf32>, %i: index, %v: f32)
    -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %i1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
  %i2 = affine.apply affine_map<(d0) -> (d0 + 2)>(%i)
  %i4 = affine.apply affine_map<(d0) -> (d0 + 4)>(%i)
  %a = loop.load_strided %x[%i] by 32 : memref<256xf32> -> vector<4xf32>
  %b = loop.load_strided %x[%i1] by 32 : memref<256xf32> -> vector<4xf32>
  loop.store %v, %x[%i] : f32, memref<256xf32>
  %c = loop.load_strided %x[%i2] by 32 : memref<256xf32> -> vector<4xf32>
  %d = loop.load_strided %x[%i4] by 32 : memref<256xf32> -> vector<4xf32>
  %e = loop.load_strided %x[%i] by 2 : memref<256xf32> -> vector<4xf32>
  %f = loop.load_strided %x[%i1] by 2 : memref<256xf32> -> vector<4xf32>
  %g = loop.load_strided %x[%i2] by 2 : memref<256xf32> -> vector<4xf32>
  %h = loop.load_strided %y[%i2] by 32 : memref<256xf32> -> vector<4xf32>
  return %a, %b, %c, %d, %e, %f, %g, %h : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
}

// -----

// Rows that lie one behind the other are interleaved in registers, and stored at once.
// CHECK-LABEL: func.func @interleaved
// CHECK:         %[[A:.*]] = loop.load %{{.*}} -> vector<4xi8>
// CHECK:         %[[B:.*]] = loop.load
// CHECK:         %[[C:.*]] = loop.load
// CHECK:         %[[D:.*]] = loop.load
// CHECK-DAG:     %[[AC:.*]] = vector.shuffle %[[A]], %[[C]] [0, 4, 1, 5, 2, 6, 3, 7]
// CHECK-DAG:     %[[BD:.*]] = vector.shuffle %[[B]], %[[D]] [0, 4, 1, 5, 2, 6, 3, 7]
// CHECK:         %[[ALL:.*]] = vector.shuffle %[[AC]], %[[BD]] [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]
// CHECK:         loop.store %[[ALL]], %{{.*}} : vector<16xi8>, memref<16xi8>
// CHECK-NOT:     loop.store_strided
func.func @interleaved(%x: memref<16xi8>, %y: memref<16xi8>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  %3 = arith.constant 3 : index
  %4 = arith.constant 4 : index
  %8 = arith.constant 8 : index
  %12 = arith.constant 12 : index
  %a = loop.load %x[%0] : memref<16xi8> -> vector<4xi8>
  %b = loop.load %x[%4] : memref<16xi8> -> vector<4xi8>
  %c = loop.load %x[%8] : memref<16xi8> -> vector<4xi8>
  %d = loop.load %x[%12] : memref<16xi8> -> vector<4xi8>
  loop.store_strided %a, %y[%0] by 4 : vector<4xi8>, memref<16xi8>
  loop.store_strided %b, %y[%1] by 4 : vector<4xi8>, memref<16xi8>
  loop.store_strided %c, %y[%2] by 4 : vector<4xi8>, memref<16xi8>
  loop.store_strided %d, %y[%3] by 4 : vector<4xi8>, memref<16xi8>
  return
}
