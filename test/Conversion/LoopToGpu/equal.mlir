// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-merge-equal))' --split-input-file | FileCheck %s

// Both elements of %m begin with the same and become the larger one of themselves and the same; those of %z have another factor each.
// CHECK-LABEL: func.func @k
// CHECK:         %[[M:.*]] = loop.alloc local
// CHECK:         %[[Z:.*]] = loop.alloc local
// CHECK:         loop.store %{{.*}}, %[[M]][%c0]
// CHECK-NOT:     %[[M]][%c1]
// CHECK:         loop.store %{{.*}}, %[[Z]][%c0]
// CHECK:         loop.store %{{.*}}, %[[Z]][%c1]
// CHECK:         loop.for 8 serial
// CHECK:           %[[A:.*]] = loop.load %[[M]][%c0]
// CHECK-NOT:       %[[M]][%c1]
// CHECK:           arith.maximumf %[[A]], %{{.*}} : f32
// CHECK:           %[[N:.*]] = arith.maximumf %[[A]], %{{.*}} : f32
// CHECK:           loop.store %{{.*}}, %[[Z]][%c1]
// CHECK:         %[[E:.*]] = loop.load %[[M]][%c0]
// CHECK:         arith.addf %[[E]], %[[E]] : f32
func.func @k(%x: memref<16xf32>, %y: memref<2xf32>) attributes {loop.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant -1.0 : f32
  %m = loop.alloc local : memref<2xf32>
  %z = loop.alloc local : memref<2xf32>
  loop.store %low, %m[%c0] : f32, memref<2xf32>
  loop.store %low, %m[%c1] : f32, memref<2xf32>
  loop.store %low, %z[%c0] : f32, memref<2xf32>
  loop.store %low, %z[%c1] : f32, memref<2xf32>
  loop.for 8 serial {
  ^bb0(%k: index):
    %new = loop.load %x[%k] : memref<16xf32> -> f32
    %at = affine.apply affine_map<(d0) -> (d0 + 8)>(%k)
    %other = loop.load %x[%at] : memref<16xf32> -> f32
    %a = loop.load %m[%c0] : memref<2xf32> -> f32
    %p = arith.maximumf %a, %new : f32
    %q = loop.load %z[%c0] : memref<2xf32> -> f32
    %r = arith.mulf %q, %p : f32
    loop.store %p, %m[%c0] : f32, memref<2xf32>
    loop.store %r, %z[%c0] : f32, memref<2xf32>
    %b = loop.load %m[%c1] : memref<2xf32> -> f32
    %s = arith.maximumf %b, %new : f32
    %t = loop.load %z[%c1] : memref<2xf32> -> f32
    %u = arith.mulf %t, %other : f32
    loop.store %s, %m[%c1] : f32, memref<2xf32>
    loop.store %u, %z[%c1] : f32, memref<2xf32>
    loop.yield
  }
  %e = loop.load %m[%c0] : memref<2xf32> -> f32
  %f = loop.load %m[%c1] : memref<2xf32> -> f32
  %g = arith.addf %e, %f : f32
  loop.store %g, %y[%c0] : f32, memref<2xf32>
  return
}

// -----

// One is stored to once more, so that they are not always equal.
// CHECK-LABEL: func.func @k
// CHECK:         %[[M:.*]] = loop.alloc local
// CHECK:         loop.load %[[M]][%c0]
// CHECK:         loop.load %[[M]][%c1]
func.func @k(%x: memref<2xf32>) attributes {loop.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant -1.0 : f32
  %m = loop.alloc local : memref<2xf32>
  loop.store %low, %m[%c0] : f32, memref<2xf32>
  loop.store %low, %m[%c1] : f32, memref<2xf32>
  %new = loop.load %x[%c0] : memref<2xf32> -> f32
  loop.store %new, %m[%c1] : f32, memref<2xf32>
  %e = loop.load %m[%c0] : memref<2xf32> -> f32
  %f = loop.load %m[%c1] : memref<2xf32> -> f32
  %g = arith.addf %e, %f : f32
  loop.store %g, %x[%c1] : f32, memref<2xf32>
  return
}

// -----

// Nobody loads the first one, whose value would be needed where the second one is loaded: both stay.
// CHECK-LABEL: func.func @k
// CHECK:         %[[M:.*]] = loop.alloc local
// CHECK:         loop.store %{{.*}}, %[[M]][%c1]
func.func @k(%x: memref<2xf32>) attributes {loop.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %new = loop.load %x[%c0] : memref<2xf32> -> f32
  %m = loop.alloc local : memref<2xf32>
  loop.store %new, %m[%c0] : f32, memref<2xf32>
  loop.store %new, %m[%c1] : f32, memref<2xf32>
  %f = loop.load %m[%c1] : memref<2xf32> -> f32
  loop.store %f, %x[%c1] : f32, memref<2xf32>
  return
}
