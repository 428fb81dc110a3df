// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-vectorize))' --split-input-file | FileCheck %s

// Contiguous accesses are vectors; what is the same in all lanes is loaded once.
// CHECK-LABEL: func.func @scale
// CHECK-NOT:     loop.for {{.*}} vectorized
// CHECK:         %[[S:.*]] = loop.load %arg1[%arg3] : memref<4xf32> -> f32
// CHECK:         %[[A:.*]] = loop.load %arg0[%{{.*}}] : memref<64xf32> -> vector<8xf32>
// CHECK:         %[[T:.*]] = vector.broadcast %[[S]] : f32 to vector<8xf32>
// CHECK:         %[[M:.*]] = arith.mulf %[[A]], %[[T]] fastmath<contract> : vector<8xf32>
// CHECK:         loop.store %[[M]], %arg2[%{{.*}}] : vector<8xf32>, memref<64xf32>
func.func @scale(%x: memref<64xf32>, %w: memref<4xf32>, %y: memref<64xf32>, %b: index) {
  loop.for 8 vectorized {
  ^bb0(%v: index):
    %s = loop.load %w[%b] : memref<4xf32> -> f32
    %i = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%b, %v)
    %a = loop.load %x[%i] : memref<64xf32> -> f32
    %m = arith.mulf %a, %s fastmath<contract> : f32
    loop.store %m, %y[%i] : f32, memref<64xf32>
    loop.yield
  }
  return
}

// -----

// Indices that grow by another number than 1 are strided accesses; where they begin is one number.
// CHECK-LABEL: func.func @strided
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:         %[[B:.*]] = affine.apply #{{.*}}(%[[ZERO]])
// CHECK-NEXT:    %[[A:.*]] = loop.load_strided %arg0[%[[B]]] by 7 : memref<35xf32> -> vector<5xf32>
// CHECK-NEXT:    loop.store_strided %[[A]], %arg1[%[[B]]] by 7 : vector<5xf32>, memref<35xf32>
// CHECK-NEXT:    return
func.func @strided(%x: memref<35xf32>, %y: memref<35xf32>) {
  loop.for 5 vectorized {
  ^bb0(%v: index):
    %i = affine.apply affine_map<(d0) -> (d0 * 7)>(%v)
    %a = loop.load %x[%i] : memref<35xf32> -> f32
    loop.store %a, %y[%i] : f32, memref<35xf32>
    loop.yield
  }
  return
}

// -----

// What an inner loop carries is as wide as what goes into it; the loop and its kind stay.
// CHECK-LABEL: func.func @dot
// CHECK:         %[[INIT:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK:         %[[R:.*]]:2 = loop.for 24 unrolled iter(%[[INIT]], %{{.*}} : vector<16xf32>, f32) {
// CHECK-NEXT:    ^bb0(%[[K:.*]]: index, %[[ACC:.*]]: vector<16xf32>, %[[SUM:.*]]: f32):
// CHECK:           %[[A:.*]] = loop.load %arg0[%[[K]]] : memref<24xf32> -> f32
// CHECK:           %[[B:.*]] = loop.load %arg1[%{{.*}}] : memref<384xf32> -> vector<16xf32>
// CHECK:           %[[T:.*]] = vector.broadcast %[[A]]
// CHECK:           %[[M:.*]] = arith.mulf %[[T]], %[[B]] : vector<16xf32>
// CHECK:           %[[N:.*]] = arith.addf %[[ACC]], %[[M]] : vector<16xf32>
// CHECK:           %[[S:.*]] = arith.addf %[[SUM]], %[[A]] : f32
// CHECK:           loop.yield %[[N]], %[[S]] : vector<16xf32>, f32
// CHECK:         } -> vector<16xf32>, f32
// CHECK:         %[[U:.*]] = vector.broadcast %[[R]]#1
// CHECK:         arith.addf %[[R]]#0, %[[U]] : vector<16xf32>
func.func @dot(%x: memref<24xf32>, %w: memref<384xf32>, %y: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for 16 vectorized {
  ^bb0(%v: index):
    %r, %s = loop.for 24 unrolled iter(%zero, %zero : f32, f32) {
    ^bb0(%k: index, %acc: f32, %sum: f32):
      %a = loop.load %x[%k] : memref<24xf32> -> f32
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%k, %v)
      %b = loop.load %w[%i] : memref<384xf32> -> f32
      %m = arith.mulf %a, %b : f32
      %n = arith.addf %acc, %m : f32
      %t = arith.addf %sum, %a : f32
      loop.yield %n, %t : f32, f32
    } -> f32, f32
    %z = arith.addf %r, %s : f32
    loop.store %z, %y[%v] : f32, memref<16xf32>
    loop.yield
  }
  return
}

// -----

// Lanes that do not reach the next multiple of the divisor stay contiguous; others divide as vectors.
// CHECK-LABEL: func.func @divide
// CHECK:         loop.load %arg0[%{{.*}}] : memref<24xf32> -> vector<8xf32>
// CHECK:         %[[Q:.*]] = arith.divui %{{.*}}, %{{.*}} : vector<8xindex>
// CHECK:         loop.gather %arg0[%[[Q]]]
func.func @divide(%x: memref<24xf32>, %y: memref<24xf32>) {
  loop.for 3 serial {
  ^bb0(%o: index):
    loop.for 8 vectorized {
    ^bb0(%v: index):
      %i = affine.apply affine_map<(d0, d1) -> ((d0 * 8 + d1) mod 24)>(%o, %v)
      %a = loop.load %x[%i] : memref<24xf32> -> f32
      %j = affine.apply affine_map<(d0, d1) -> ((d0 * 8 + d1) floordiv 3)>(%o, %v)
      %b = loop.load %x[%j] : memref<24xf32> -> f32
      %c = arith.addf %a, %b : f32
      loop.store %c, %y[%i] : f32, memref<24xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Booleans are bytes in memory and bits in registers. A condition that all lanes share guards them all.
// CHECK-LABEL: func.func @bytes
// CHECK:         %[[G:.*]] = loop.guard %arg2 else(%{{.*}} : vector<4xi8>) {
// CHECK:           %[[A:.*]] = loop.load %arg0[%{{.*}}] : memref<4xi8> -> vector<4xi8>
// CHECK:           loop.yield %[[A]] : vector<4xi8>
// CHECK:         } -> vector<4xi8>
// CHECK:         %[[T:.*]] = arith.trunci %[[G]] : vector<4xi8> to vector<4xi1>
// CHECK:         %[[E:.*]] = arith.extui %[[T]] : vector<4xi1> to vector<4xi8>
// CHECK:         loop.store %[[E]], %arg1[%{{.*}}] : vector<4xi8>, memref<4xi8>
func.func @bytes(%x: memref<4xi8>, %y: memref<4xi8>, %c: i1) {
  %zero = arith.constant 0 : i8
  loop.for 4 vectorized {
  ^bb0(%v: index):
    %g = loop.guard %c else(%zero : i8) {
      %a = loop.load %x[%v] : memref<4xi8> -> i8
      loop.yield %a : i8
    } -> i8
    %t = arith.trunci %g : i8 to i1
    %e = arith.extui %t : i1 to i8
    loop.store %e, %y[%v] : i8, memref<4xi8>
    loop.yield
  }
  return
}

// -----

// A body that the pass does not understand runs its iterations one after another, as it is.
// CHECK-LABEL: func.func @unknown
// CHECK:         loop.for 8 serial {
// CHECK-NEXT:    ^bb0(%[[V:.*]]: index):
// CHECK-NEXT:      loop.alloc local : memref<1xf32>
// CHECK-NEXT:      loop.store %{{.*}}, %arg0[%[[V]]] : f32, memref<8xf32>
func.func @unknown(%y: memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  loop.for 8 vectorized {
  ^bb0(%v: index):
    %b = loop.alloc local : memref<1xf32>
    loop.store %one, %y[%v] : f32, memref<8xf32>
    loop.yield
  }
  return
}

// -----

// A place that all lanes share is not theirs to keep a sum in.
// CHECK-LABEL: func.func @shared
// CHECK:         loop.for 8 serial {
func.func @shared(%x: memref<8xf32>, %y: memref<1xf32>) {
  %zero = arith.constant 0 : index
  loop.for 8 vectorized {
  ^bb0(%v: index):
    %s = loop.load %y[%zero] : memref<1xf32> -> f32
    %a = loop.load %x[%v] : memref<8xf32> -> f32
    %t = arith.addf %s, %a : f32
    loop.store %t, %y[%zero] : f32, memref<1xf32>
    loop.yield
  }
  return
}

// -----

// Of lanes that only write one place the last one stays. A loop of one iteration is its body.
// CHECK-LABEL: func.func @last
// CHECK-NOT:     loop.for
// CHECK:         %[[L:.*]] = vector.extract %{{.*}}[7] : f32 from vector<8xf32>
// CHECK:         loop.store %[[L]], %arg1[%{{.*}}] : f32, memref<1xf32>
// CHECK:         loop.load %arg1[%{{.*}}] : memref<1xf32> -> f32
// CHECK:         return
func.func @last(%x: memref<8xf32>, %y: memref<1xf32>) {
  %zero = arith.constant 0 : index
  loop.for 8 vectorized {
  ^bb0(%v: index):
    %a = loop.load %x[%v] : memref<8xf32> -> f32
    loop.store %a, %y[%zero] : f32, memref<1xf32>
    loop.yield
  }
  loop.for 1 vectorized {
  ^bb0(%v: index):
    %a = loop.load %y[%v] : memref<1xf32> -> f32
    loop.store %a, %x[%v] : f32, memref<8xf32>
    loop.yield
  }
  return
}

// -----

// Loops of other kinds stay as they are.
// CHECK-LABEL: func.func @serial
// CHECK-NEXT:    loop.for 8 serial {
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index):
// CHECK-NEXT:      %[[A:.*]] = loop.load %arg0[%[[I]]] : memref<8xf32> -> f32
// CHECK-NEXT:      loop.store %[[A]], %arg1[%[[I]]] : f32, memref<8xf32>
func.func @serial(%x: memref<8xf32>, %y: memref<8xf32>) {
  loop.for 8 serial {
  ^bb0(%i: index):
    %a = loop.load %x[%i] : memref<8xf32> -> f32
    loop.store %a, %y[%i] : f32, memref<8xf32>
    loop.yield
  }
  return
}

// -----

// Of a prefetch the first lane's line is asked for, where the lanes go their own ways as well.
// CHECK-LABEL: func.func @prefetch
// CHECK:         loop.prefetch %arg0[%{{.*}}] : memref<64xf32>
// CHECK:         %[[FIRST:.*]] = vector.extract %{{.*}}[0] : index from vector<8xindex>
// CHECK:         loop.prefetch %arg0[%[[FIRST]]] : memref<64xf32>
// CHECK-NOT:     loop.prefetch
func.func @prefetch(%x: memref<64xf32>, %y: memref<8xf32>) {
  %last = arith.constant 63 : index
  loop.for 8 vectorized {
  ^bb0(%v: index):
    %near = affine.apply affine_map<(d0) -> (d0 + 16)>(%v)
    loop.prefetch %x[%near] : memref<64xf32>
    %far = affine.apply affine_map<(d0) -> (d0 * 9)>(%v)
    %at = arith.minsi %far, %last : index
    loop.prefetch %x[%at] : memref<64xf32>
    %a = loop.load %x[%v] : memref<64xf32> -> f32
    loop.store %a, %y[%v] : f32, memref<8xf32>
    loop.yield
  }
  return
}

// -----

// Threads combine all lanes at once.
// CHECK-LABEL: func.func @all_reduce
// CHECK:         %[[V:.*]] = loop.load %{{.*}} -> vector<4xf32>
// CHECK:         %[[S:.*]] = loop.all_reduce 16 thread_y(%[[V]] : vector<4xf32>) by(%{{.*}} : memref<64xf32>) {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: vector<4xf32>, %[[B:.*]]: vector<4xf32>):
// CHECK-NEXT:      %[[C:.*]] = arith.addf %[[A]], %[[B]] : vector<4xf32>
// CHECK-NEXT:      loop.yield %[[C]]
// CHECK:         loop.store %[[S]], %{{.*}} : vector<4xf32>
func.func @all_reduce(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<64xf32>) {
  loop.for 4 vectorized {
  ^bb0(%i: index):
    %v = loop.load %x[%i] : memref<4xf32> -> f32
    %sum = loop.all_reduce 16 thread_y(%v : f32) by(%s : memref<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      loop.yield %c : f32
    } -> f32
    loop.store %sum, %y[%i] : f32, memref<4xf32>
    loop.yield
  }
  return
}

// -----

// Fours of neighbours lie side by side, a four that all lanes read is loaded once; sums are carried in vectors.
// CHECK-LABEL: func.func @dots
// CHECK:         loop.for 8 serial iter(%{{.*}} : vector<16xi32>) {
// CHECK:           %[[B:.*]] = loop.load_packed %{{.*}} : memref<512xi8> -> vector<16xi32>
// CHECK:           %[[A:.*]] = loop.load_packed %{{.*}} : memref<32xi8> -> i32
// CHECK:           %[[ALL:.*]] = vector.broadcast %[[A]] : i32 to vector<16xi32>
// CHECK:           loop.dot4add %{{.*}}, unsigned %[[ALL]], %[[B]] : vector<16xi32>
func.func @dots(%x: memref<32xi8>, %w: memref<512xi8>, %y: memref<16xi32>) {
  loop.for 16 vectorized {
  ^bb0(%v: index):
    %zero = arith.constant 0 : i32
    %sum = loop.for 8 serial iter(%zero : i32) {
    ^bb0(%k: index, %so_far: i32):
      %j = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1 * 4)>(%k, %v)
      %b = loop.load_packed %w[%j] : memref<512xi8> -> i32
      %i = affine.apply affine_map<(d0) -> (d0 * 4)>(%k)
      %a = loop.load_packed %x[%i] : memref<32xi8> -> i32
      %next = loop.dot4add %so_far, unsigned %a, %b : i32
      loop.yield %next : i32
    } -> i32
    loop.store %sum, %y[%v] : i32, memref<16xi32>
    loop.yield
  }
  return
}
