// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-transpose))' --split-input-file | FileCheck %s

// Columns whose index is that of two loops that were fused: what is divided is the same for all of them.
// CHECK-LABEL: func.func @quotients(
// CHECK-NOT:     loop.store_strided
// CHECK-COUNT-4: loop.store %{{.*}}, %arg0[%{{.*}}] : vector<4xf32>, memref<256xf32>
// CHECK-NOT:     loop.store
// CHECK:         return
func.func @quotients(%x: memref<256xf32>, %f: index, %a: vector<4xf32>, %b: vector<4xf32>, %c: vector<4xf32>, %d: vector<4xf32>) {
  %i = affine.apply affine_map<(d0) -> (d0 * 4 + (d0 floordiv 8) * 96)>(%f)
  %i1 = affine.apply affine_map<(d0) -> (d0 * 4 + (d0 floordiv 8) * 96 + 1)>(%f)
  %i2 = affine.apply affine_map<(d0) -> ((d0 floordiv 8) * 96 + d0 * 4 + 2)>(%f)
  %i3 = affine.apply affine_map<(d0) -> (d0 * 4 + (d0 floordiv 8) * 96 + 3)>(%f)
  loop.store_strided %a, %x[%i] by 32 : vector<4xf32>, memref<256xf32>
  loop.store_strided %b, %x[%i1] by 32 : vector<4xf32>, memref<256xf32>
  loop.store_strided %c, %x[%i2] by 32 : vector<4xf32>, memref<256xf32>
  loop.store_strided %d, %x[%i3] by 32 : vector<4xf32>, memref<256xf32>
  return
}

// -----

// CHECK-LABEL: func.func @rests(
// CHECK-NOT:     loop.load_strided
// CHECK-COUNT-4: loop.load %arg0[%{{.*}}] : memref<256xf32> -> vector<4xf32>
// CHECK:         return
func.func @rests(%x: memref<256xf32>, %f: index) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %i = affine.apply affine_map<(d0) -> ((d0 mod 8) * 4)>(%f)
  %i1 = affine.apply affine_map<(d0) -> ((d0 mod 8) * 4 + 1)>(%f)
  %i2 = affine.apply affine_map<(d0) -> ((d0 mod 8) * 4 + 2)>(%f)
  %i3 = affine.apply affine_map<(d0) -> ((d0 mod 8) * 4 + 3)>(%f)
  %a = loop.load_strided %x[%i] by 32 : memref<256xf32> -> vector<4xf32>
  %b = loop.load_strided %x[%i1] by 32 : memref<256xf32> -> vector<4xf32>
  %c = loop.load_strided %x[%i2] by 32 : memref<256xf32> -> vector<4xf32>
  %d = loop.load_strided %x[%i3] by 32 : memref<256xf32> -> vector<4xf32>
  return %a, %b, %c, %d : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
}

// -----

// Divided by other numbers, they are not known to follow each other.
// CHECK-LABEL: func.func @other_divisors(
// CHECK-COUNT-3: loop.store_strided
// CHECK:         return
func.func @other_divisors(%x: memref<256xf32>, %f: index, %a: vector<4xf32>, %b: vector<4xf32>, %c: vector<4xf32>) {
  %i = affine.apply affine_map<(d0) -> ((d0 floordiv 8) * 4)>(%f)
  %i1 = affine.apply affine_map<(d0) -> ((d0 floordiv 7) * 4 + 1)>(%f)
  %i2 = affine.apply affine_map<(d0) -> ((d0 floordiv 6) * 4 + 2)>(%f)
  loop.store_strided %a, %x[%i] by 32 : vector<4xf32>, memref<256xf32>
  loop.store_strided %b, %x[%i1] by 32 : vector<4xf32>, memref<256xf32>
  loop.store_strided %c, %x[%i2] by 32 : vector<4xf32>, memref<256xf32>
  return
}
