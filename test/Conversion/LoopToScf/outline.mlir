// RUN: fusion-opt %s --loop-outline-parallel | FileCheck %s

// Parameters keep what is known of them; views and constants are made anew; inner loops stay.
// CHECK-LABEL: func.func private @k_part_0(
// CHECK-SAME:      %[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[W:.*]]: memref<64xi8> {llvm.noalias}, %[[S:.*]]: f32, %[[X:.*]]: memref<64xf32> {llvm.noalias})
// CHECK:         %[[AT:.*]] = arith.constant 32 : index
// CHECK:         %[[VIEW:.*]] = memref.view %[[W]][%[[AT]]]
// CHECK:         scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]] step %{{.*}} {
// CHECK:           loop.for 8 parallel
// CHECK:             loop.store %{{.*}}, %[[VIEW]][%{{.*}}]
// CHECK:             loop.store %[[S]], %[[X]][%{{.*}}]
// CHECK:         return
// CHECK:       func.func private @k_parallel_0(index, memref<64xi8> {llvm.noalias}, f32, memref<64xf32> {llvm.noalias}) attributes {fusion.part = @k_part_0}
// CHECK:       func.func private @k_part_1(
// CHECK:       func.func private @k_parallel_1(
// CHECK-LABEL: func.func private @k(
// CHECK:         %[[SUM:.*]] = arith.addf
// CHECK:         %[[N:.*]] = arith.constant 4 : index
// CHECK:         call @k_parallel_0(%[[N]], %arg1, %[[SUM]], %arg0)
// CHECK:         %[[M:.*]] = arith.constant 3 : index
// CHECK:         call @k_parallel_1(%[[M]], %[[SUM]], %arg0)
// CHECK:         return
func.func private @k(%x: memref<64xf32> {llvm.noalias}, %w: memref<64xi8> {llvm.noalias}) {
  %at = arith.constant 32 : index
  %v = memref.view %w[%at][] : memref<64xi8> to memref<8xf32>
  %one = arith.constant 1.0 : f32
  %sum = arith.addf %one, %one : f32
  loop.for 4 parallel {
  ^bb0(%i: index):
    loop.for 8 parallel {
    ^bb0(%j: index):
      loop.store %one, %v[%j] : f32, memref<8xf32>
      loop.store %sum, %x[%i] : f32, memref<64xf32>
      loop.yield
    }
    loop.yield
  }
  loop.for 3 parallel {
  ^bb0(%i: index):
    loop.store %sum, %x[%i] : f32, memref<64xf32>
    loop.yield
  }
  return
}

// One iteration is not worth a function.
// CHECK-LABEL: func.func @one
// CHECK-NEXT:    loop.for 1 parallel
func.func @one(%x: memref<1xf32>, %s: f32) {
  loop.for 1 parallel {
  ^bb0(%i: index):
    loop.store %s, %x[%i] : f32, memref<1xf32>
    loop.yield
  }
  return
}

// Parts that are the same are one function, whatever they are called with.
// CHECK:       func.func private @twice_part_0(
// CHECK-NOT:   @twice_part_1
// CHECK:       func.func private @twice_part_2(
// CHECK-LABEL: func.func @twice(
// CHECK:         call @twice_parallel_0(%{{.*}}, %arg2, %arg0)
// CHECK:         call @twice_parallel_0(%{{.*}}, %arg2, %arg1)
// CHECK:         call @twice_parallel_2(%{{.*}}, %arg2, %arg0)
func.func @twice(%x: memref<64xf32>, %y: memref<64xf32>, %s: f32, %n: index) {
  loop.for 4 parallel {
  ^bb0(%i: index):
    loop.store %s, %x[%i] : f32, memref<64xf32>
    loop.yield
  }
  loop.upto %n parallel {
  ^bb0(%i: index):
    loop.store %s, %y[%i] : f32, memref<64xf32>
    loop.yield
  }
  loop.for 4 parallel {
  ^bb0(%i: index):
    %t = arith.negf %s : f32
    loop.store %t, %x[%i] : f32, memref<64xf32>
    loop.yield
  }
  return
}
