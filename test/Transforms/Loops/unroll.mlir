// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-unroll))' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @straight
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>
// CHECK-DAG:     %[[I0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[I1:.*]] = arith.constant 1 : index
// CHECK-NOT:     loop.for
// CHECK:         %[[A0:.*]] = loop.load %[[X]][%[[I0]]]
// CHECK-NEXT:    %[[S0:.*]] = arith.addf %[[A0]], %[[A0]]
// CHECK-NEXT:    loop.store %[[S0]], %[[Y]][%[[I0]]]
// CHECK-NEXT:    %[[A1:.*]] = loop.load %[[X]][%[[I1]]]
// CHECK-NEXT:    %[[S1:.*]] = arith.addf %[[A1]], %[[A1]]
// CHECK-NEXT:    loop.store %[[S1]], %[[Y]][%[[I1]]]
// CHECK-NEXT:    return
func.func @straight(%x: memref<4xf32>, %y: memref<4xf32>) {
  loop.for 2 unrolled {
  ^bb0(%u: index):
    %a = loop.load %x[%u] : memref<4xf32> -> f32
    %s = arith.addf %a, %a : f32
    loop.store %s, %y[%u] : f32, memref<4xf32>
    loop.yield
  }
  return
}

// -----

// One loop with an accumulator for each copy; %b is loaded once for both.
// CHECK-LABEL: func.func @reduction
// CHECK-SAME:    %[[A:.*]]: memref<1536xf32>, %[[B:.*]]: memref<768xf32>, %[[Y:.*]]: memref<2xf32>
// CHECK-DAG:     %[[I0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[I1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[Z:.*]] = arith.constant 0.0
// CHECK:         %[[R:.*]]:2 = loop.for 768 serial iter(%[[Z]], %[[Z]] : f32, f32)
// CHECK-NEXT:    ^bb0(%[[K:.*]]: index, %[[C0:.*]]: f32, %[[C1:.*]]: f32):
// CHECK-NEXT:      %[[W:.*]] = loop.load %[[B]][%[[K]]]
// CHECK-NOT:       loop.load %[[B]]
// CHECK:           %[[X0:.*]] = loop.load %[[A]]
// CHECK-NEXT:      %[[M0:.*]] = arith.mulf %[[X0]], %[[W]]
// CHECK-NEXT:      %[[N0:.*]] = arith.addf %[[C0]], %[[M0]]
// CHECK-NOT:       loop.load %[[B]]
// CHECK:           %[[X1:.*]] = loop.load %[[A]]
// CHECK-NEXT:      %[[M1:.*]] = arith.mulf %[[X1]], %[[W]]
// CHECK-NEXT:      %[[N1:.*]] = arith.addf %[[C1]], %[[M1]]
// CHECK-NEXT:      loop.yield %[[N0]], %[[N1]] : f32, f32
// CHECK:         loop.store %[[R]]#0, %[[Y]][%[[I0]]]
// CHECK-NEXT:    loop.store %[[R]]#1, %[[Y]][%[[I1]]]
func.func @reduction(%A: memref<1536xf32>, %B: memref<768xf32>, %y: memref<2xf32>) {
  %z = arith.constant 0.0 : f32
  %c768 = arith.constant 768 : index
  loop.for 2 unrolled {
  ^bb0(%u: index):
    %row = arith.muli %u, %c768 : index
    %a = loop.for 768 serial iter(%z : f32) {
    ^bb0(%k: index, %acc: f32):
      %at = arith.addi %row, %k : index
      %x = loop.load %A[%at] : memref<1536xf32> -> f32
      %w = loop.load %B[%k] : memref<768xf32> -> f32
      %m = arith.mulf %x, %w : f32
      %next = arith.addf %acc, %m : f32
      loop.yield %next : f32
    } -> f32
    loop.store %a, %y[%u] : f32, memref<2xf32>
    loop.yield
  }
  return
}

// -----

// A tile of 2 x 2 vectors: four accumulators in one loop, two loads of each side.
// CHECK-LABEL: func.func @tile
// CHECK-SAME:    %[[A:.*]]: memref<128xf32>, %[[B:.*]]: memref<1024xf32>, %[[Y:.*]]: memref<32xf32>
// CHECK:         loop.for 64 serial iter(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} : vector<8xf32>
// CHECK-COUNT-2:   loop.load %[[B]]
// CHECK-NOT:       loop.load %[[B]]
// CHECK:           loop.load %[[A]]
// CHECK-COUNT-2:   math.fma
// CHECK-NOT:       loop.load %[[B]]
// CHECK:           loop.load %[[A]]
// CHECK-NOT:       loop.load
// CHECK-COUNT-2:   math.fma
// CHECK-NOT:       math.fma
// CHECK:           loop.yield
// CHECK-NOT:     loop.for
// CHECK-COUNT-4: loop.store
// CHECK-NOT:     loop.store
// CHECK:         return
func.func @tile(%A: memref<128xf32>, %B: memref<1024xf32>, %y: memref<32xf32>) {
  %z = arith.constant dense<0.0> : vector<8xf32>
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  loop.for 2 unrolled {
  ^bb0(%i: index):
    %row = arith.muli %i, %c64 : index
    %out = arith.muli %i, %c16 : index
    loop.for 2 unrolled {
    ^bb0(%j: index):
      %column = arith.muli %j, %c8 : index
      %a = loop.for 64 serial iter(%z : vector<8xf32>) {
      ^bb0(%k: index, %acc: vector<8xf32>):
        %at = arith.addi %row, %k : index
        %x = loop.load %A[%at] : memref<128xf32> -> f32
        %xs = vector.broadcast %x : f32 to vector<8xf32>
        %line = arith.muli %k, %c16 : index
        %from = arith.addi %line, %column : index
        %w = loop.load %B[%from] : memref<1024xf32> -> vector<8xf32>
        %next = math.fma %xs, %w, %acc : vector<8xf32>
        loop.yield %next : vector<8xf32>
      } -> vector<8xf32>
      %to = arith.addi %out, %column : index
      loop.store %a, %y[%to] : vector<8xf32>, memref<32xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// What is the same for all copies is loaded once, unless the loop writes there.
// CHECK-LABEL: func.func @uniform
// CHECK-SAME:    %[[S:.*]]: memref<1xf32>, %[[Y:.*]]: memref<4xf32>
// CHECK-COUNT-1: loop.load %[[S]]
// CHECK-NOT:     loop.load
// CHECK-COUNT-1: math.exp
// CHECK-NOT:     math.exp
// CHECK-COUNT-4: loop.store
// CHECK:         return
func.func @uniform(%s: memref<1xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  loop.for 4 unrolled {
  ^bb0(%u: index):
    %a = loop.load %s[%c0] : memref<1xf32> -> f32
    %e = math.exp %a : f32
    loop.store %e, %y[%u] : f32, memref<4xf32>
    loop.yield
  }
  return
}

// -----

// An accumulator in memory: one copy behind the other.
// CHECK-LABEL: func.func @memory
// CHECK:         loop.store %{{.*}}, %[[Y:.*]][%[[I0:.*]]]
// CHECK-NEXT:    loop.for 8 serial {
// CHECK:           loop.load %[[Y]][%[[I0]]]
// CHECK:           loop.store %{{.*}}, %[[Y]][%[[I0]]]
// CHECK:         }
// CHECK-NEXT:    loop.store %{{.*}}, %[[Y]][%[[I1:.*]]]
// CHECK-NEXT:    loop.for 8 serial {
// CHECK:           loop.load %[[Y]][%[[I1]]]
// CHECK:           loop.store %{{.*}}, %[[Y]][%[[I1]]]
// CHECK:         }
// CHECK-NEXT:    return
func.func @memory(%x: memref<8xf32>, %y: memref<2xf32>) {
  %z = arith.constant 0.0 : f32
  loop.for 2 unrolled {
  ^bb0(%u: index):
    loop.store %z, %y[%u] : f32, memref<2xf32>
    loop.for 8 serial {
    ^bb0(%k: index):
      %a = loop.load %x[%k] : memref<8xf32> -> f32
      %old = loop.load %y[%u] : memref<2xf32> -> f32
      %new = arith.addf %old, %a : f32
      loop.store %new, %y[%u] : f32, memref<2xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Scratch that every iteration uses anew: one copy behind the other.
// CHECK-LABEL: func.func @scratch
// CHECK:         loop.store %{{.*}}, %[[T:.*]][
// CHECK-NEXT:    loop.load %[[T]]
// CHECK-NEXT:    loop.store
// CHECK:         loop.store %{{.*}}, %[[T]][
// CHECK-NEXT:    loop.load %[[T]]
func.func @scratch(%x: memref<2xf32>, %t: memref<1xf32>, %y: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  loop.for 2 unrolled {
  ^bb0(%u: index):
    %a = loop.load %x[%u] : memref<2xf32> -> f32
    loop.store %a, %t[%c0] : f32, memref<1xf32>
    %b = loop.load %t[%c0] : memref<1xf32> -> f32
    loop.store %b, %y[%u] : f32, memref<2xf32>
    loop.yield
  }
  return
}

// -----

// Each copy has its own buffer.
// CHECK-LABEL: func.func @alloc
// CHECK:         %[[T0:.*]] = loop.alloc local
// CHECK-NEXT:    loop.store %{{.*}}, %[[T0]]
// CHECK-NEXT:    %[[T1:.*]] = loop.alloc local
// CHECK-NEXT:    loop.store %{{.*}}, %[[T1]]
// CHECK-NEXT:    return
func.func @alloc() {
  %z = arith.constant 0.0 : f32
  loop.for 2 unrolled {
  ^bb0(%u: index):
    %t = loop.alloc local : memref<2xf32>
    loop.store %z, %t[%u] : f32, memref<2xf32>
    loop.yield
  }
  return
}

// -----

// A guard on the index stays one guard a copy; any other is shared.
// CHECK-LABEL: func.func @guards
// CHECK-SAME:    %[[C:.*]]: i1,
// CHECK:         %[[IN0:.*]] = arith.cmpi slt
// CHECK-NEXT:    loop.guard %[[IN0]] {
// CHECK:           loop.store
// CHECK:         }
// CHECK-NEXT:    %[[IN1:.*]] = arith.cmpi slt
// CHECK-NEXT:    loop.guard %[[IN1]] {
// CHECK:           loop.store
// CHECK:         }
// CHECK-NEXT:    loop.guard %[[C]] {
// CHECK-COUNT-2:   loop.store
// CHECK:         }
// CHECK-NEXT:    return
func.func @guards(%c: i1, %y: memref<2xf32>) {
  %z = arith.constant 0.0 : f32
  %n = arith.constant 1 : index
  loop.for 2 unrolled {
  ^bb0(%u: index):
    %in = arith.cmpi slt, %u, %n : index
    loop.guard %in {
      loop.store %z, %y[%u] : f32, memref<2xf32>
      loop.yield
    }
    loop.guard %c {
      loop.store %z, %y[%u] : f32, memref<2xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// CHECK-LABEL: func.func @carried
// CHECK-SAME:    %[[X:.*]]: memref<2xf32>, %[[INIT:.*]]: f32
// CHECK:         %[[A:.*]] = loop.load %[[X]]
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[INIT]], %[[A]]
// CHECK-NEXT:    %[[B:.*]] = loop.load %[[X]]
// CHECK-NEXT:    %[[R:.*]] = arith.addf %[[S]], %[[B]]
// CHECK-NEXT:    return %[[R]]
func.func @carried(%x: memref<2xf32>, %init: f32) -> f32 {
  %sum = loop.for 2 unrolled iter(%init : f32) {
  ^bb0(%u: index, %acc: f32):
    %a = loop.load %x[%u] : memref<2xf32> -> f32
    %next = arith.addf %acc, %a : f32
    loop.yield %next : f32
  } -> f32
  return %sum : f32
}

// -----

// CHECK-LABEL: func.func @trivial
// CHECK-SAME:    %[[Y:.*]]: memref<2xf32>, %[[V:.*]]: f32
// CHECK:         %[[I0:.*]] = arith.constant 0 : index
// CHECK-NEXT:    loop.store %[[V]], %[[Y]][%[[I0]]]
// CHECK-NEXT:    return %[[V]]
func.func @trivial(%y: memref<2xf32>, %v: f32) -> f32 {
  loop.for 1 unrolled {
  ^bb0(%u: index):
    loop.store %v, %y[%u] : f32, memref<2xf32>
    loop.yield
  }
  %none = loop.for 0 unrolled iter(%v : f32) {
  ^bb0(%u: index, %acc: f32):
    %next = arith.addf %acc, %acc : f32
    loop.yield %next : f32
  } -> f32
  return %none : f32
}

// -----

// Other kinds stay.
// CHECK-LABEL: func.func @unchanged
// CHECK-NEXT:    loop.for 2 parallel {
// CHECK:           loop.for 4 vectorized {
// CHECK:             loop.store
func.func @unchanged(%y: memref<8xf32>, %v: f32) {
  loop.for 2 parallel {
  ^bb0(%i: index):
    loop.for 4 vectorized {
    ^bb0(%j: index):
      %at = arith.addi %i, %j : index
      loop.store %v, %y[%at] : f32, memref<8xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Too large: a loop that runs one iteration after another.
// CHECK-LABEL: func.func @large
// CHECK-NEXT:    loop.for 4096 serial {
// CHECK:           loop.store
// CHECK:           loop.yield
func.func @large(%y: memref<4096xf32>, %v: f32) {
  loop.for 4096 unrolled {
  ^bb0(%u: index):
    loop.store %v, %y[%u] : f32, memref<4096xf32>
    loop.yield
  }
  return
}

// -----

// Virtual threads are interleaved as the copies of an unrolled loop are: one loop for both.
// CHECK-LABEL: func.func @virtual_threads
// CHECK:         loop.for 8 serial iter(%{{.*}}, %{{.*}} : f32, f32)
// CHECK-NOT:     virtual_thread
// CHECK:         return
func.func @virtual_threads(%x: memref<16xf32>, %y: memref<2xf32>) {
  %z = arith.constant 0.0 : f32
  loop.for 2 virtual_thread {
  ^bb0(%t: index):
    %s = loop.for 8 serial iter(%z : f32) {
    ^bb0(%k: index, %a: f32):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%t, %k)
      loop.prefetch %x[%at] : memref<16xf32>
      %v = loop.load %x[%at] : memref<16xf32> -> f32
      %n = arith.addf %a, %v : f32
      loop.yield %n : f32
    } -> f32
    loop.store %s, %y[%t] : f32, memref<2xf32>
    loop.yield
  }
  return
}

// -----

// Two products one behind the other: the copies of the first come before what the second needs is loaded.
// CHECK-LABEL: func.func @settled
// CHECK-SAME:    %[[A:.*]]: memref<1536xf32>, %[[B:.*]]: memref<1536xf32>
// CHECK:         loop.for 768 serial iter
// CHECK:           loop.load %[[B]]
// CHECK-COUNT-2:   loop.load %[[A]]
// CHECK:           loop.load %[[B]]
// CHECK-COUNT-2:   loop.load %[[A]]
// CHECK-NOT:       loop.load
// CHECK:           loop.yield
func.func @settled(%A: memref<1536xf32>, %B: memref<1536xf32>, %y: memref<2xf32>) {
  %z = arith.constant 0.0 : f32
  %rows = arith.constant 384 : index
  %behind = arith.constant 768 : index
  loop.for 2 unrolled {
  ^bb0(%u: index):
    %row = arith.muli %u, %rows : index
    %r = loop.for 768 serial iter(%z : f32) {
    ^bb0(%k: index, %acc: f32):
      %at = arith.addi %row, %k : index
      %w = loop.load %B[%k] : memref<1536xf32> -> f32
      %x = loop.load %A[%at] : memref<1536xf32> -> f32
      %m = arith.mulf %x, %w : f32
      %s = arith.addf %acc, %m : f32
      %next = arith.addi %at, %behind : index
      %below = arith.addi %k, %behind : index
      %v = loop.load %B[%below] : memref<1536xf32> -> f32
      %x2 = loop.load %A[%next] : memref<1536xf32> -> f32
      %m2 = arith.mulf %x2, %v : f32
      %t = arith.addf %s, %m2 : f32
      loop.yield %t : f32
    } -> f32
    loop.store %r, %y[%u] : f32, memref<2xf32>
    loop.yield
  }
  return
}
