// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-vectorize,canonicalize,cse))' | FileCheck %s

// Padding reads nothing outside the input.
// CHECK-LABEL: func.func @padded
// CHECK-DAG:     %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK:         %[[IN:.*]] = arith.andi %{{.*}}, %{{.*}} : vector<8xi1>
// CHECK:         %[[X:.*]] = vector.maskedload %arg0[%{{.*}}], %[[IN]], %[[ZEROS]] : memref<32xf32>
// CHECK-NEXT:    %[[O:.*]] = affine.apply
// CHECK-NEXT:    loop.store %[[X]], %arg1[%[[O]]] : vector<8xf32>, memref<32xf32>
func.func @padded(%a: memref<32xf32>, %b: memref<32xf32>, %i: index) {
  %zero = arith.constant 0.0 : f32
  %lo = arith.constant 0 : index
  %hi = arith.constant 32 : index
  loop.for 8 vectorized {
  ^bb0(%v: index):
    %at = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1 - 1)>(%i, %v)
    %ge = arith.cmpi sge, %at, %lo : index
    %lt = arith.cmpi slt, %at, %hi : index
    %in = arith.andi %ge, %lt : i1
    %x = loop.guard %in else (%zero : f32) {
      %l = loop.load %a[%at] : memref<32xf32> -> f32
      loop.yield %l : f32
    } -> f32
    %o = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%i, %v)
    loop.store %x, %b[%o] : f32, memref<32xf32>
    loop.yield
  }
  return
}

// A tail writes only what is there, wherever that is; guards inside guards let fewer lanes through.
// CHECK-LABEL: func.func @tail
// CHECK:         %[[IN:.*]] = arith.cmpi slt
// CHECK:         %[[X:.*]] = vector.maskedload %arg0[%{{.*}}], %[[IN]]
// CHECK:         vector.maskedstore %arg1[%{{.*}}], %[[IN]], %[[X]]
// CHECK:         %[[POSITIVE:.*]] = arith.cmpf ogt, %[[X]]
// CHECK:         %[[BOTH:.*]] = arith.andi %[[IN]], %[[POSITIVE]]
// CHECK:         vector.scatter %arg1[%{{.*}}] [%{{.*}}], %[[BOTH]], %[[X]]
func.func @tail(%a: memref<64xf32>, %b: memref<64xf32>, %i: index) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 30 : index
  loop.for 8 vectorized {
  ^bb0(%v: index):
    %at = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%i, %v)
    %in = arith.cmpi slt, %at, %n : index
    loop.guard %in {
      %x = loop.load %a[%at] : memref<64xf32> -> f32
      loop.store %x, %b[%at] : f32, memref<64xf32>
      %positive = arith.cmpf ogt, %x, %zero : f32
      loop.guard %positive {
        %twice = affine.apply affine_map<(d0) -> (d0 * 2)>(%at)
        loop.store %x, %b[%twice] : f32, memref<64xf32>
        loop.yield
      }
      loop.yield
    }
    loop.yield
  }
  return
}

// A division that may trap is not tried in lanes that the guard keeps away from it.
// CHECK-LABEL: func.func @trap
// CHECK:         loop.for 8 serial
// CHECK:           loop.guard
func.func @trap(%a: memref<8xi32>, %b: memref<8xi32>) {
  %zero = arith.constant 0 : i32
  loop.for 8 vectorized {
  ^bb0(%v: index):
    %x = loop.load %a[%v] : memref<8xi32> -> i32
    %some = arith.cmpi ne, %x, %zero : i32
    loop.guard %some {
      %q = arith.divsi %x, %x : i32
      loop.store %q, %b[%v] : i32, memref<8xi32>
      loop.yield
    }
    loop.yield
  }
  return
}

// All lanes that get through store to one place: the order would matter.
// CHECK-LABEL: func.func @one_place
// CHECK:         loop.for 8 serial
func.func @one_place(%a: memref<8xf32>, %b: memref<8xf32>, %i: index) {
  %zero = arith.constant 0.0 : f32
  loop.for 8 vectorized {
  ^bb0(%v: index):
    %x = loop.load %a[%v] : memref<8xf32> -> f32
    %positive = arith.cmpf ogt, %x, %zero : f32
    loop.guard %positive {
      loop.store %x, %b[%i] : f32, memref<8xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Lane 0 has a multiple of 8 and there are multiples of 8: all lanes come to the same, and none of them beyond the end where the first is not.
// CHECK-LABEL: func.func @aligned
// CHECK:         %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : index
// CHECK:         loop.guard %[[IN]] else(%{{.*}} : vector<8xf32>)
// CHECK:           loop.load %{{.*}} : memref<2000xf32> -> vector<8xf32>
func.func @aligned(%x: memref<2000xf32>, %y: memref<128xf32>, %b: index, %t: index) {
  loop.for 8 vectorized {
  ^bb0(%v: index):
    %i = affine.apply affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 * 8 + d2) mod 128)>(%b, %t, %v)
    %n = arith.constant 2000 : index
    %in = arith.cmpi slt, %i, %n : index
    %zero = arith.constant 0.0 : f32
    %a = loop.guard %in else(%zero : f32) {
      %l = loop.load %x[%i] : memref<2000xf32> -> f32
      loop.yield %l : f32
    } -> f32
    %j = affine.apply affine_map<(d0, d1) -> ((d0 * 8 + d1) mod 128)>(%t, %v)
    loop.store %a, %y[%j] : f32, memref<128xf32>
    loop.yield
  }
  return
}

// What is computed behind a guard is selected.
// CHECK-LABEL: func.func @computed
// CHECK:         %[[IN:.*]] = arith.cmpi slt
// CHECK:         %[[X:.*]] = vector.maskedload %arg0[%{{.*}}], %[[IN]]
// CHECK:         %[[TWICE:.*]] = arith.addf %[[X]], %[[X]]
// CHECK:         %[[S:.*]] = arith.select %[[IN]], %[[TWICE]]
// CHECK:         loop.store %[[S]], %arg1
func.func @computed(%a: memref<32xf32>, %b: memref<32xf32>, %n: index) {
  %one = arith.constant 1.0 : f32
  loop.for 8 vectorized {
  ^bb0(%v: index):
    %in = arith.cmpi slt, %v, %n : index
    %x = loop.guard %in else (%one : f32) {
      %l = loop.load %a[%v] : memref<32xf32> -> f32
      %t = arith.addf %l, %l : f32
      loop.yield %t : f32
    } -> f32
    loop.store %x, %b[%v] : f32, memref<32xf32>
    loop.yield
  }
  return
}

// Seven elements are a vector of eight, of which the last is left out; what is the same in all lanes is read once.
// CHECK-LABEL: func.func @rounded
// CHECK-DAG:     %[[SEVEN:.*]] = arith.constant dense<[true, true, true, true, true, true, true, false]> : vector<8xi1>
// CHECK:         %[[X:.*]] = vector.maskedload %arg0[%{{.*}}], %[[SEVEN]], %{{.*}} : memref<21xf32>
// CHECK:         %[[W:.*]] = loop.load %arg1[%{{.*}}] : memref<1xf32> -> f32
// CHECK:         %[[ALL:.*]] = vector.broadcast %[[W]] : f32 to vector<8xf32>
// CHECK:         %[[Y:.*]] = arith.mulf %[[X]], %[[ALL]] : vector<8xf32>
// CHECK:         vector.maskedstore %arg2[%{{.*}}], %[[SEVEN]], %[[Y]]
func.func @rounded(%a: memref<21xf32>, %w: memref<1xf32>, %b: memref<21xf32>, %i: index) {
  %zero = arith.constant 0 : index
  loop.for 7 vectorized {
  ^bb0(%v: index):
    %at = affine.apply affine_map<(d0, d1) -> (d0 * 7 + d1)>(%i, %v)
    %x = loop.load %a[%at] : memref<21xf32> -> f32
    %c = loop.load %w[%zero] : memref<1xf32> -> f32
    %y = arith.mulf %x, %c : f32
    loop.store %y, %b[%at] : f32, memref<21xf32>
    loop.yield
  } {annotations = {masked_tail = 1 : i64}}
  return
}

// A division that may trap is not done in a lane that there is not: the vector has as many lanes as there are iterations.
// CHECK-LABEL: func.func @not_rounded
// CHECK:         arith.divsi %{{.*}} : vector<7xi32>
func.func @not_rounded(%a: memref<7xi32>, %b: memref<7xi32>) {
  loop.for 7 vectorized {
  ^bb0(%v: index):
    %x = loop.load %a[%v] : memref<7xi32> -> i32
    %q = arith.divsi %x, %x : i32
    loop.store %q, %b[%v] : i32, memref<7xi32>
    loop.yield
  } {annotations = {masked_tail = 1 : i64}}
  return
}

// Every second element: those that the mask lets through are loaded, in two vectors, and shuffled together.
// CHECK-LABEL: func.func @strided
// CHECK:         %[[IN:.*]] = arith.cmpi slt, %{{.*}} : vector<8xindex>
// CHECK:         %[[LOW:.*]] = vector.shuffle %[[IN]], %{{.*}} [0, 8, 1, 8, 2, 8, 3, 8]
// CHECK:         %[[A:.*]] = vector.maskedload %arg0[%{{.*}}], %[[LOW]]
// CHECK:         %[[HIGH:.*]] = vector.shuffle %[[IN]], %{{.*}} [8, 4, 8, 5, 8, 6, 8, 7]
// CHECK:         %[[B:.*]] = vector.maskedload %arg0[%{{.*}}], %[[HIGH]]
// CHECK:         vector.shuffle %[[A]], %[[B]] [0, 2, 4, 6, 9, 11, 13, 15]
func.func @strided(%a: memref<16xf32>, %b: memref<8xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  loop.for 8 vectorized {
  ^bb0(%v: index):
    %in = arith.cmpi slt, %v, %n : index
    %x = loop.guard %in else (%zero : f32) {
      %at = affine.apply affine_map<(d0) -> (d0 * 2)>(%v)
      %l = loop.load %a[%at] : memref<16xf32> -> f32
      loop.yield %l : f32
    } -> f32
    loop.store %x, %b[%v] : f32, memref<8xf32>
    loop.yield
  }
  return
}
