// Each function reads its first buffers and writes its last one. The test compares what the whole pipeline makes of it
// with what the same loops give when they run serially.

// 7 lanes, a reduction with a remainder, and an epilogue that needs the C library.
func.func @dense_erf(%a: memref<35xf32>, %b: memref<77xf32>, %out: memref<35xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for 5 unrolled {
  ^bb0(%i: index):
    loop.for 7 vectorized {
    ^bb0(%v: index):
      %sum = loop.for 7 serial iter(%zero : f32) {
      ^bb0(%k: index, %acc: f32):
        %ia = affine.apply affine_map<(d0, d1) -> (d0 * 7 + d1)>(%i, %k)
        %ib = affine.apply affine_map<(d0, d1) -> (d0 * 11 + d1)>(%k, %v)
        %x = loop.load %a[%ia] : memref<35xf32> -> f32
        %y = loop.load %b[%ib] : memref<77xf32> -> f32
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        loop.yield %s : f32
      } -> f32
      %e = math.erf %sum : f32
      %t = math.asinh %e : f32
      %o = affine.apply affine_map<(d0, d1) -> (d0 * 7 + d1)>(%i, %v)
      loop.store %t, %out[%o] : f32, memref<35xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// Padding: lanes outside the input read nothing.
func.func @padded(%a: memref<32xf32>, %b: memref<3xf32>, %out: memref<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %lo = arith.constant 0 : index
  %hi = arith.constant 32 : index
  loop.for 2 unrolled {
  ^bb0(%i: index):
    loop.for 16 vectorized {
    ^bb0(%v: index):
      %sum = loop.for 3 serial iter(%zero : f32) {
      ^bb0(%k: index, %acc: f32):
        %at = affine.apply affine_map<(d0, d1, d2) -> (d0 * 16 + d1 + d2 - 1)>(%i, %v, %k)
        %ge = arith.cmpi sge, %at, %lo : index
        %lt = arith.cmpi slt, %at, %hi : index
        %in = arith.andi %ge, %lt : i1
        %x = loop.guard %in else (%zero : f32) {
          %l = loop.load %a[%at] : memref<32xf32> -> f32
          loop.yield %l : f32
        } -> f32
        %w = loop.load %b[%k] : memref<3xf32> -> f32
        %p = arith.mulf %x, %w : f32
        %s = arith.addf %acc, %p : f32
        loop.yield %s : f32
      } -> f32
      %o = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %v)
      loop.store %sum, %out[%o] : f32, memref<32xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// A guarded tail: 21 elements in three vectors of 8.
func.func @tail(%a: memref<21xf32>, %out: memref<21xf32>) {
  %n = arith.constant 21 : index
  loop.for 3 serial {
  ^bb0(%i: index):
    loop.for 8 vectorized {
    ^bb0(%v: index):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%i, %v)
      %in = arith.cmpi slt, %at, %n : index
      loop.guard %in {
        %x = loop.load %a[%at] : memref<21xf32> -> f32
        %y = math.exp %x : f32
        loop.store %y, %out[%at] : f32, memref<21xf32>
        loop.yield
      }
      loop.yield
    }
    loop.yield
  }
  return
}

// A stride of 2, a transposed store, and a table looked up by data.
func.func @scattered(%a: memref<64xf32>, %t: memref<16xi32>, %out: memref<64xf32>) {
  loop.for 4 unrolled {
  ^bb0(%i: index):
    loop.for 16 vectorized {
    ^bb0(%v: index):
      %at = affine.apply affine_map<(d0, d1) -> ((d1 * 2 + d0 * 32) mod 64)>(%i, %v)
      %x = loop.load %a[%at] : memref<64xf32> -> f32
      %raw = loop.load %t[%v] : memref<16xi32> -> i32
      %row = arith.index_cast %raw : i32 to index
      %far = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %row)
      %y = loop.load %a[%far] : memref<64xf32> -> f32
      %s = arith.subf %x, %y : f32
      %o = affine.apply affine_map<(d0, d1) -> (d1 * 4 + d0)>(%i, %v)
      loop.store %s, %out[%o] : f32, memref<64xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// Half floats, computed in f32.
func.func @halves(%a: memref<48xf16>, %b: memref<48xbf16>, %out: memref<48xbf16>) {
  loop.for 3 parallel {
  ^bb0(%i: index):
    loop.for 16 vectorized {
    ^bb0(%v: index):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %v)
      %x = loop.load %a[%at] : memref<48xf16> -> f16
      %y = loop.load %b[%at] : memref<48xbf16> -> bf16
      %xw = arith.extf %x : f16 to f32
      %yw = arith.extf %y : bf16 to f32
      %t = math.tanh %xw : f32
      %p = arith.mulf %t, %yw : f32
      %n = arith.truncf %p : f32 to bf16
      loop.store %n, %out[%at] : bf16, memref<48xbf16>
      loop.yield
    }
    loop.yield
  }
  return
}

// Booleans are bytes in memory.
func.func @bytes(%a: memref<40xi8>, %b: memref<40xf64>, %out: memref<40xf64>) {
  %zero = arith.constant 0.0 : f64
  loop.for 40 vectorized {
  ^bb0(%v: index):
    %x = loop.load %a[%v] : memref<40xi8> -> i8
    %c = arith.trunci %x : i8 to i1
    %y = loop.load %b[%v] : memref<40xf64> -> f64
    %e = math.sin %y : f64
    %l = math.log1p %e : f64
    %s = arith.select %c, %l, %zero : f64
    loop.store %s, %out[%v] : f64, memref<40xf64>
    loop.yield
  }
  return
}

// A buffer of each copy, and one they share.
func.func @buffers(%a: memref<64xf32>, %out: memref<64xf32>) {
  %shared = loop.alloc local : memref<16xf32>
  loop.for 4 unrolled {
  ^bb0(%i: index):
    %own = loop.alloc local : memref<16xf32>
    loop.for 16 vectorized {
    ^bb0(%v: index):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %v)
      %x = loop.load %a[%at] : memref<64xf32> -> f32
      %q = arith.mulf %x, %x : f32
      loop.store %q, %own[%v] : f32, memref<16xf32>
      loop.store %x, %shared[%v] : f32, memref<16xf32>
      loop.yield
    }
    loop.for 16 vectorized {
    ^bb0(%v: index):
      %back = affine.apply affine_map<(d0) -> (15 - d0)>(%v)
      %x = loop.load %own[%back] : memref<16xf32> -> f32
      %y = loop.load %shared[%v] : memref<16xf32> -> f32
      %s = arith.addf %x, %y : f32
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %v)
      loop.store %s, %out[%at] : f32, memref<64xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// One fused axis split again: division and remainder that all lanes, or none, agree on.
func.func @divided(%a: memref<96xf32>, %out: memref<96xf32>) {
  loop.for 6 serial {
  ^bb0(%i: index):
    loop.for 16 vectorized {
    ^bb0(%v: index):
      %row = affine.apply affine_map<(d0, d1) -> ((d0 * 16 + d1) floordiv 12)>(%i, %v)
      %column = affine.apply affine_map<(d0, d1) -> ((d0 * 16 + d1) mod 12)>(%i, %v)
      %at = affine.apply affine_map<(d0, d1) -> (d1 * 8 + d0)>(%row, %column)
      %x = loop.load %a[%at] : memref<96xf32> -> f32
      %block = affine.apply affine_map<(d0, d1) -> ((d0 * 16 + d1) floordiv 16)>(%i, %v)
      %y = loop.load %a[%block] : memref<96xf32> -> f32
      %s = arith.addf %x, %y : f32
      %o = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %v)
      loop.store %s, %out[%o] : f32, memref<96xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// Iterations of a parallel loop have a buffer each.
func.func @private(%a: memref<64xf32>, %out: memref<64xf32>) {
  loop.for 4 parallel {
  ^bb0(%i: index):
    %own = loop.alloc local : memref<16xf32>
    loop.for 16 vectorized {
    ^bb0(%v: index):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %v)
      %x = loop.load %a[%at] : memref<64xf32> -> f32
      loop.store %x, %own[%v] : f32, memref<16xf32>
      loop.yield
    }
    loop.for 16 serial {
    ^bb0(%v: index):
      %back = affine.apply affine_map<(d0) -> (15 - d0)>(%v)
      %x = loop.load %own[%back] : memref<16xf32> -> f32
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %v)
      loop.store %x, %out[%at] : f32, memref<64xf32>
      loop.yield
    }
    loop.yield
  }
  return
}
