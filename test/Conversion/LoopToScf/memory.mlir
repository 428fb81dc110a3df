// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(convert-loop-to-scf))' | FileCheck %s

// CHECK-LABEL: func.func @vectors
// CHECK:         %[[X:.*]] = vector.load %arg0[%arg2] : memref<64xf32>, vector<16xf32>
// CHECK:         vector.store %[[X]], %arg1[%arg2] : memref<64xf32>, vector<16xf32>
// CHECK:         %[[G:.*]] = vector.gather %arg0[%{{.*}}] [%arg3], %{{.*}}, %{{.*}} : memref<64xf32>, vector<16xindex>, vector<16xi1>, vector<16xf32> into vector<16xf32>
// CHECK:         vector.scatter %arg1[%{{.*}}] [%arg3], %{{.*}}, %[[G]]
func.func @vectors(%a: memref<64xf32>, %b: memref<64xf32>, %i: index, %at: vector<16xindex>) {
  %x = loop.load %a[%i] : memref<64xf32> -> vector<16xf32>
  loop.store %x, %b[%i] : vector<16xf32>, memref<64xf32>
  %g = loop.gather %a[%at] : memref<64xf32>, vector<16xindex> -> vector<16xf32>
  loop.scatter %g, %b[%at] : vector<16xf32>, memref<64xf32>, vector<16xindex>
  return
}

// Small buffers stand on the stack, large ones on the heap; both once a call.
// CHECK-LABEL: func.func @buffers
// CHECK-DAG:     memref.alloca() {alignment = 64 : i64} : memref<131072xf32>
// CHECK-DAG:     %[[LARGE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<131073xf32>
// CHECK:         scf.for
// CHECK-NOT:       memref.alloc
// CHECK:         }
// CHECK-NEXT:    memref.dealloc %[[LARGE]]
// CHECK-NEXT:    return
func.func @buffers(%x: f32) {
  loop.for 4 serial {
  ^bb0(%i: index):
    %small = loop.alloc local : memref<131072xf32>
    %large = loop.alloc local : memref<131073xf32>
    loop.store %x, %small[%i] : f32, memref<131072xf32>
    loop.store %x, %large[%i] : f32, memref<131073xf32>
    loop.yield
  }
  return
}

// Iterations of a parallel loop have a buffer each, whose stack is given back.
// CHECK-LABEL: func.func @private
// CHECK-NOT:     memref.alloca()
// CHECK:         scf.parallel
// CHECK-NEXT:      memref.alloca_scope
// CHECK:             memref.alloca() {alignment = 64 : i64} : memref<8xf32>
// CHECK:             memref.alloca() {alignment = 64 : i64} : memref<16xf32>
// CHECK:             memref.store
// CHECK:             memref.store
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.reduce
func.func @private(%x: f32) {
  loop.for 4 parallel {
  ^bb0(%i: index):
    %a = loop.alloc local : memref<16xf32>
    loop.for 2 serial {
    ^bb0(%j: index):
      %b = loop.alloc local : memref<8xf32>
      loop.store %x, %b[%j] : f32, memref<8xf32>
      loop.yield
    }
    loop.store %x, %a[%i] : f32, memref<16xf32>
    loop.yield
  }
  return
}

// CHECK-LABEL: func.func @prefetch
// CHECK-NEXT:    memref.prefetch %arg0[%arg1], read, locality<3>, data : memref<32xf32>
func.func @prefetch(%x: memref<32xf32>, %i: index) {
  loop.prefetch %x[%i] : memref<32xf32>
  return
}
