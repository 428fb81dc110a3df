// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-spread{threads=64}))' --split-input-file | FileCheck %s

// Each thread has an element; those of the last block beyond the end do nothing.
// CHECK-LABEL: @copy
// CHECK:       loop.for 2 block_x
// CHECK:       ^bb0(%[[B:.*]]: index):
// CHECK:         loop.for 64 thread_x
// CHECK:         ^bb0(%[[T:.*]]: index):
// CHECK:           arith.muli %[[B]]
// CHECK:           %[[I:.*]] = arith.addi %{{.*}}, %[[T]]
// CHECK:           %[[IN:.*]] = arith.cmpi slt, %[[I]], %{{.*}}
// CHECK:           loop.guard %[[IN]]
// CHECK-NEXT:        loop.load %{{.*}}[%[[I]]]
// CHECK-NEXT:        loop.store %{{.*}}[%[[I]]]
// CHECK-NOT:   loop.for
func.func @copy(%x: memref<100xf32>, %y: memref<100xf32>) attributes {loop.kernel} {
  loop.for 100 serial {
  ^bb0(%i: index):
    %a = loop.load %x[%i] : memref<100xf32> -> f32
    loop.store %a, %y[%i] : f32, memref<100xf32>
    loop.yield
  } {annotations = {independent = 1 : i64}}
  return
}

// -----

// The independent loops of a nest go outside, the last one goes on with the threads; updates stay in their order.
// CHECK-LABEL: @columns
// CHECK:       loop.for 2 block_x
// CHECK:         loop.for 64 thread_x
// CHECK-NOT:     loop.guard
// CHECK:           loop.for 5 serial
// CHECK-NOT:         loop.for
// CHECK:             loop.store
func.func @columns(%x: memref<640xf32>, %y: memref<128xf32>) attributes {loop.kernel} {
  loop.for 4 serial {
  ^bb0(%o: index):
    loop.for 5 serial {
    ^bb0(%k: index):
      loop.for 32 serial {
      ^bb0(%i: index):
        %from = affine.apply affine_map<(d0, d1, d2) -> (d0 * 160 + d1 * 32 + d2)>(%o, %k, %i)
        %to = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%o, %i)
        %a = loop.load %x[%from] : memref<640xf32> -> f32
        %b = loop.load %y[%to] : memref<128xf32> -> f32
        %c = arith.addf %a, %b : f32
        loop.store %c, %y[%to] : f32, memref<128xf32>
        loop.yield
      } {annotations = {independent = 1 : i64}}
      loop.yield
    }
    loop.yield
  } {annotations = {independent = 1 : i64}}
  return
}

// -----

// What stands around the loop is read and decided by each thread.
// CHECK-LABEL: @rows
// CHECK:       loop.for 2 block_x
// CHECK:         loop.for 64 thread_x
// CHECK:           loop.guard
// CHECK:             loop.for 6 serial
// CHECK:               loop.load
// CHECK:               loop.guard
// CHECK-NOT:             loop.for
// CHECK:                 loop.store
func.func @rows(%at: memref<6xindex>, %x: memref<66xf32>, %y: memref<80xf32>) attributes {loop.kernel} {
  %c10 = arith.constant 10 : index
  loop.for 6 serial {
  ^bb0(%k: index):
    %row = loop.load %at[%k] : memref<6xindex> -> index
    %inside = arith.cmpi slt, %row, %c10 : index
    loop.guard %inside {
      loop.for 66 serial {
      ^bb0(%i: index):
        %to = affine.apply affine_map<(d0)[s0] -> (d0 + s0 * 66)>(%i)[%row]
        %a = loop.load %x[%i] : memref<66xf32> -> f32
        loop.store %a, %y[%to] : f32, memref<80xf32>
        loop.yield
      } {annotations = {independent = 1 : i64}}
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// No loop is independent: each thread goes through all updates, and makes those of its elements.
// CHECK-LABEL: @owners
// CHECK:       loop.for 2 block_x
// CHECK:       ^bb0(%[[B:.*]]: index):
// CHECK:         loop.for 64 thread_x
// CHECK:           %[[OWN:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK:           loop.guard
// CHECK:             loop.for 6 serial
// CHECK:               %[[TO:.*]] = loop.load
// CHECK-NEXT:          %[[ALL:.*]] = arith.constant 100
// CHECK-NEXT:          %[[OF:.*]] = arith.remui %[[TO]], %[[ALL]]
// CHECK-NEXT:          %[[IS:.*]] = arith.cmpi eq, %[[OF]], %[[OWN]]
// CHECK-NEXT:          loop.guard %[[IS]]
// CHECK-NEXT:            loop.load %{{.*}}[%[[TO]]]
// CHECK:                 loop.store %{{.*}}, %{{.*}}[%[[TO]]]
func.func @owners(%at: memref<6xindex>, %x: memref<6xf32>, %y: memref<100xf32>) attributes {loop.kernel} {
  loop.for 6 serial {
  ^bb0(%k: index):
    %to = loop.load %at[%k] : memref<6xindex> -> index
    %a = loop.load %y[%to] : memref<100xf32> -> f32
    %b = loop.load %x[%k] : memref<6xf32> -> f32
    %c = arith.addf %a, %b : f32
    loop.store %c, %y[%to] : f32, memref<100xf32>
    loop.yield
  }
  return
}

// -----

// Each column has several owners, of some of its rows each.
// CHECK-LABEL: @rows_of_owners
// CHECK:       loop.for 5 block_x
// CHECK:         loop.for 64 thread_x
// CHECK-DAG:       %[[I:.*]] = arith.remui %[[N:.*]], %{{.*}}
// CHECK-DAG:       %[[OWN:.*]] = arith.divui %[[N]], %{{.*}}
// CHECK:           loop.for 6 serial
// CHECK-NOT:         loop.for
// CHECK:             %[[TO:.*]] = affine.apply
// CHECK:             %[[ROW:.*]] = arith.divui %[[TO]], %{{.*}}
// CHECK:             %[[OF:.*]] = arith.remui %[[ROW]], %{{.*}}
// CHECK-NEXT:        %[[IS:.*]] = arith.cmpi eq, %[[OF]], %[[OWN]]
// CHECK-NEXT:        loop.guard %[[IS]]
// CHECK:               loop.store
func.func @rows_of_owners(%at: memref<6xindex>, %x: memref<32xf32>, %y: memref<320xf32>) attributes {loop.kernel} {
  loop.for 6 serial {
  ^bb0(%k: index):
    %row = loop.load %at[%k] : memref<6xindex> -> index
    loop.for 32 serial {
    ^bb0(%i: index):
      %to = affine.apply affine_map<(d0)[s0] -> (d0 + s0 * 32)>(%i)[%row]
      %a = loop.load %x[%i] : memref<32xf32> -> f32
      loop.store %a, %y[%to] : f32, memref<320xf32>
      loop.yield
    } {annotations = {independent = 1 : i64}}
    loop.yield
  }
  return
}

// -----

// What is read of the result at another place may be another thread's: one thread it is.
// CHECK-LABEL: @neighbours
// CHECK-NOT:   thread_x
func.func @neighbours(%at: memref<6xindex>, %y: memref<100xf32>) attributes {loop.kernel} {
  loop.for 6 serial {
  ^bb0(%k: index):
    %to = loop.load %at[%k] : memref<6xindex> -> index
    %a = loop.load %y[%k] : memref<100xf32> -> f32
    loop.store %a, %y[%to] : f32, memref<100xf32>
    loop.yield
  }
  return
}

// -----

// Lanes of a processor's vector are threads.
// CHECK-LABEL: @lanes
// CHECK:       loop.for 1 block_x
// CHECK:         loop.for 64 thread_x
// CHECK-NOT:       vectorized
// CHECK:           loop.store
func.func @lanes(%x: memref<64xf32>, %y: memref<64xf32>) attributes {loop.kernel} {
  loop.for 4 serial {
  ^bb0(%o: index):
    loop.for 16 vectorized {
    ^bb0(%l: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%o, %l)
      %a = loop.load %x[%i] : memref<64xf32> -> f32
      loop.store %a, %y[%i] : f32, memref<64xf32>
      loop.yield
    } {annotations = {independent = 1 : i64}}
    loop.yield
  } {annotations = {independent = 1 : i64}}
  return
}

// -----

// Nothing changes where a loop is not called independent, where something is written around it, and where loops are bound.
// CHECK-LABEL: @others
// CHECK-NOT:   block_x
// CHECK:       loop.for 8 thread_x
// CHECK-NOT:   block_x
func.func @others(%x: memref<8xf32>, %y: memref<8xf32>) attributes {loop.kernel} {
  %c0 = arith.constant 0 : index
  loop.for 8 serial {
  ^bb0(%i: index):
    %a = loop.load %x[%i] : memref<8xf32> -> f32
    loop.store %a, %y[%c0] : f32, memref<8xf32>
    loop.yield
  }
  loop.for 2 serial {
  ^bb0(%o: index):
    %a = loop.load %x[%o] : memref<8xf32> -> f32
    loop.store %a, %y[%o] : f32, memref<8xf32>
    loop.for 8 serial {
    ^bb0(%i: index):
      %b = loop.load %y[%i] : memref<8xf32> -> f32
      loop.store %b, %x[%i] : f32, memref<8xf32>
      loop.yield
    } {annotations = {independent = 1 : i64}}
    loop.yield
  }
  loop.for 8 thread_x {
  ^bb0(%i: index):
    %a = loop.load %x[%i] : memref<8xf32> -> f32
    loop.store %a, %y[%i] : f32, memref<8xf32>
    loop.yield
  } {annotations = {independent = 1 : i64}}
  return
}

// -----

// What fills the memory of a block is done by every block.
// CHECK-LABEL: @filled
// CHECK:       loop.alloc shared
// CHECK-NEXT:  loop.for 64 serial
// CHECK:       loop.for 4 block_x
// CHECK:       loop.for 1 block_x
// CHECK-NEXT:  ^bb0
// CHECK-NEXT:    loop.for 64 thread_x
func.func @filled(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<64xf32>
  loop.for 64 serial {
  ^bb0(%i: index):
    %a = loop.load %x[%i] : memref<64xf32> -> f32
    loop.store %a, %s[%i] : f32, memref<64xf32>
    loop.yield
  } {annotations = {independent = 1 : i64}}
  loop.for 4 block_x {
  ^bb0(%b: index):
    loop.for 16 thread_x {
    ^bb0(%t: index):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%b, %t)
      %a = loop.load %s[%at] : memref<64xf32> -> f32
      loop.store %a, %y[%at] : f32, memref<64xf32>
      loop.yield
    }
    loop.yield
  }
  loop.for 64 serial {
  ^bb0(%i: index):
    %a = loop.load %x[%i] : memref<64xf32> -> f32
    loop.store %a, %z[%i] : f32, memref<64xf32>
    loop.yield
  } {annotations = {independent = 1 : i64}}
  return
}
