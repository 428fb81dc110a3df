// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-fuse))' | FileCheck %s

// The sum takes what was just stored; the buffer between the loops goes before both.
// CHECK-LABEL: func.func @sum
// CHECK-SAME:      (%[[X:.*]]: memref<1024xf32>, %[[Z:.*]]: vector<16xf32>)
// CHECK:         %[[E:.*]] = loop.alloc local : memref<1024xf32>
// CHECK-NEXT:    loop.alloc local : memref<64xf32>
// CHECK-NEXT:    %[[S:.*]] = loop.for 64 serial iter(%[[Z]] : vector<16xf32>) {
// CHECK-NEXT:    ^bb0(%[[K:.*]]: index, %[[A:.*]]: vector<16xf32>):
// CHECK-NEXT:      %[[AT:.*]] = affine.apply #{{.*}}(%[[K]])
// CHECK-NEXT:      %[[V:.*]] = loop.load %[[X]][%[[AT]]]
// CHECK-NEXT:      loop.store %[[V]], %[[E]][%[[AT]]]
// CHECK-NEXT:      %[[TO:.*]] = affine.apply #{{.*}}(%[[K]])
// CHECK-NEXT:      %[[W:.*]] = loop.load %[[E]][%[[TO]]]
// CHECK-NEXT:      %[[B:.*]] = arith.addf %[[A]], %[[W]]
// CHECK-NEXT:      loop.yield %[[B]]
// CHECK:         return %[[S]]
func.func @sum(%x: memref<1024xf32>, %z: vector<16xf32>) -> vector<16xf32> {
  %e = loop.alloc local : memref<1024xf32>
  loop.for 64 serial {
  ^bb0(%k: index):
    %at = affine.apply affine_map<(d0) -> (d0 * 16)>(%k)
    %v = loop.load %x[%at] : memref<1024xf32> -> vector<16xf32>
    loop.store %v, %e[%at] : vector<16xf32>, memref<1024xf32>
    loop.yield
  }
  %l = loop.alloc local : memref<64xf32>
  %s = loop.for 64 serial iter(%z : vector<16xf32>) {
  ^bb0(%k: index, %a: vector<16xf32>):
    %at = affine.apply affine_map<(d0) -> (d0 * 16)>(%k)
    %v = loop.load %e[%at] : memref<1024xf32> -> vector<16xf32>
    %b = arith.addf %a, %v : vector<16xf32>
    loop.yield %b : vector<16xf32>
  } -> vector<16xf32>
  %c0 = arith.constant 0 : index
  loop.store %s, %l[%c0] : vector<16xf32>, memref<64xf32>
  return %s : vector<16xf32>
}

// Not: an iteration reads what a later one stores.
// CHECK-LABEL: func.func @beyond
// CHECK:         loop.for
// CHECK:         loop.for
func.func @beyond(%x: memref<1024xf32>, %y: memref<1024xf32>, %z: f32) -> f32 {
  loop.for 64 serial {
  ^bb0(%k: index):
    %v = loop.load %x[%k] : memref<1024xf32> -> f32
    loop.store %v, %y[%k] : f32, memref<1024xf32>
    loop.yield
  }
  %s = loop.for 64 serial iter(%z : f32) {
  ^bb0(%k: index, %a: f32):
    %at = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    %v = loop.load %y[%at] : memref<1024xf32> -> f32
    %b = arith.addf %a, %v : f32
    loop.yield %b : f32
  } -> f32
  return %s : f32
}

// Not: an iteration reads what another one stores.
// CHECK-LABEL: func.func @spread
// CHECK:         loop.for
// CHECK:         loop.for
func.func @spread(%x: memref<1024xf32>, %y: memref<1024xf32>, %z: f32) -> f32 {
  loop.for 64 serial {
  ^bb0(%k: index):
    %v = loop.load %x[%k] : memref<1024xf32> -> f32
    loop.store %v, %y[%k] : f32, memref<1024xf32>
    loop.yield
  }
  %s = loop.for 64 serial iter(%z : f32) {
  ^bb0(%k: index, %a: f32):
    %at = affine.apply affine_map<(d0) -> (d0 * 2)>(%k)
    %v = loop.load %y[%at] : memref<1024xf32> -> f32
    %b = arith.addf %a, %v : f32
    loop.yield %b : f32
  } -> f32
  return %s : f32
}

// Not: more iterations.
// CHECK-LABEL: func.func @longer
// CHECK:         loop.for
// CHECK:         loop.for
func.func @longer(%x: memref<1024xf32>, %y: memref<1024xf32>, %z: f32) -> f32 {
  loop.for 64 serial {
  ^bb0(%k: index):
    %v = loop.load %x[%k] : memref<1024xf32> -> f32
    loop.store %v, %y[%k] : f32, memref<1024xf32>
    loop.yield
  }
  %s = loop.for 128 serial iter(%z : f32) {
  ^bb0(%k: index, %a: f32):
    %at = affine.apply affine_map<(d0) -> (d0)>(%k)
    %v = loop.load %y[%at] : memref<1024xf32> -> f32
    %b = arith.addf %a, %v : f32
    loop.yield %b : f32
  } -> f32
  return %s : f32
}

// Not: nothing of what the first stores is read.
// CHECK-LABEL: func.func @apart
// CHECK:         loop.for
// CHECK:         loop.for
func.func @apart(%x: memref<1024xf32>, %y: memref<1024xf32>, %z: f32) -> f32 {
  loop.for 64 serial {
  ^bb0(%k: index):
    %v = loop.load %x[%k] : memref<1024xf32> -> f32
    loop.store %v, %y[%k] : f32, memref<1024xf32>
    loop.yield
  }
  %s = loop.for 64 serial iter(%z : f32) {
  ^bb0(%k: index, %a: f32):
    %at = affine.apply affine_map<(d0) -> (d0)>(%k)
    %v = loop.load %x[%at] : memref<1024xf32> -> f32
    %b = arith.addf %a, %v : f32
    loop.yield %b : f32
  } -> f32
  return %s : f32
}

// Not: the second writes what later iterations of the first read.
// CHECK-LABEL: func.func @written
// CHECK:         loop.for
// CHECK:         loop.for
func.func @written(%x: memref<1024xf32>, %y: memref<1024xf32>, %z: f32) -> f32 {
  loop.for 64 serial {
  ^bb0(%k: index):
    %v = loop.load %x[%k] : memref<1024xf32> -> f32
    loop.store %v, %y[%k] : f32, memref<1024xf32>
    loop.yield
  }
  %s = loop.for 64 serial iter(%z : f32) {
  ^bb0(%k: index, %a: f32):
    %at = affine.apply affine_map<(d0) -> (d0)>(%k)
    %v = loop.load %y[%at] : memref<1024xf32> -> f32
    %next = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    loop.store %v, %x[%next] : f32, memref<1024xf32>
    %b = arith.addf %a, %v : f32
    loop.yield %b : f32
  } -> f32
  return %s : f32
}

// Not: the second begins with what the first gives.
// CHECK-LABEL: func.func @needs
// CHECK:         loop.for
// CHECK:         loop.for
func.func @needs(%x: memref<1024xf32>, %y: memref<1024xf32>, %z: f32) -> f32 {
  %t = loop.for 64 serial iter(%z : f32) {
  ^bb0(%k: index, %a: f32):
    %v = loop.load %x[%k] : memref<1024xf32> -> f32
    loop.store %v, %y[%k] : f32, memref<1024xf32>
    %b = arith.maximumf %a, %v : f32
    loop.yield %b : f32
  } -> f32
  %s = loop.for 64 serial iter(%t : f32) {
  ^bb0(%k: index, %a: f32):
    %at = affine.apply affine_map<(d0) -> (d0)>(%k)
    %v = loop.load %y[%at] : memref<1024xf32> -> f32
    %b = arith.addf %a, %v : f32
    loop.yield %b : f32
  } -> f32
  return %s : f32
}

// Not: what stands between them reads what the first stores.
// CHECK-LABEL: func.func @stands_between
// CHECK:         loop.for
// CHECK:         loop.for
func.func @stands_between(%x: memref<1024xf32>, %y: memref<1024xf32>, %z: f32) -> f32 {
  loop.for 64 serial {
  ^bb0(%k: index):
    %v = loop.load %x[%k] : memref<1024xf32> -> f32
    loop.store %v, %y[%k] : f32, memref<1024xf32>
    loop.yield
  }
  %c0 = arith.constant 0 : index
  %f = loop.load %y[%c0] : memref<1024xf32> -> f32
  %s = loop.for 64 serial iter(%f : f32) {
  ^bb0(%k: index, %a: f32):
    %at = affine.apply affine_map<(d0) -> (d0)>(%k)
    %v = loop.load %y[%at] : memref<1024xf32> -> f32
    %b = arith.addf %a, %v : f32
    loop.yield %b : f32
  } -> f32
  return %s : f32
}

// Not: what is read is a part of a longer vector.
// CHECK-LABEL: func.func @part
// CHECK:         loop.for
// CHECK:         loop.for
func.func @part(%v: vector<32xf32>, %y: memref<1024xf32>, %z: vector<16xf32>) -> vector<16xf32> {
  loop.for 32 serial {
  ^bb0(%k: index):
    %at = affine.apply affine_map<(d0) -> (d0 * 32)>(%k)
    loop.store %v, %y[%at] : vector<32xf32>, memref<1024xf32>
    loop.yield
  }
  %s = loop.for 32 serial iter(%z : vector<16xf32>) {
  ^bb0(%k: index, %a: vector<16xf32>):
    %at = affine.apply affine_map<(d0) -> (d0 * 32 + 16)>(%k)
    %e = loop.load %y[%at] : memref<1024xf32> -> vector<16xf32>
    %b = arith.addf %a, %e : vector<16xf32>
    loop.yield %b : vector<16xf32>
  } -> vector<16xf32>
  return %s : vector<16xf32>
}
