// RUN: fusion-opt %s --split-input-file --verify-diagnostics

func.func @extent() {
  // expected-error@+1 {{violates constraint C1: the extent is -1}}
  loop.for -1 serial {
  ^bb0(%i: index):
    loop.yield
  }
  return
}

// -----

func.func @no_index() {
  // expected-error@+1 {{violates constraint C2: the body must take (index, ), found ()}}
  loop.for 4 serial {
    loop.yield
  }
  return
}

// -----

func.func @taken(%a: f32) {
  // expected-error@+1 {{violates constraint C2: the body must take (index, f32), found (index, i32)}}
  %r = loop.for 4 serial iter(%a : f32) {
  ^bb0(%i: index, %b: i32):
    loop.yield %a : f32
  } -> f32
  return
}

// -----

func.func @yielded(%a: f32, %n: i32) {
  // expected-error@+1 {{violates constraint C3: carried (f32), yielded (i32), resulting (f32) types must agree}}
  %r = loop.for 4 serial iter(%a : f32) {
  ^bb0(%i: index, %b: f32):
    loop.yield %n : i32
  } -> f32
  return
}

// -----

func.func @resulting(%a: f32) {
  // expected-error@+1 {{violates constraint C3: carried (f32), yielded (f32), resulting (i32) types must agree}}
  %r = loop.for 4 serial iter(%a : f32) {
  ^bb0(%i: index, %b: f32):
    loop.yield %b : f32
  } -> i32
  return
}

// -----

func.func @parallel(%a: f32) {
  // expected-error@+1 {{violates constraint C4: a parallel loop carries nothing}}
  %r = loop.for 4 parallel iter(%a : f32) {
  ^bb0(%i: index, %b: f32):
    loop.yield %b : f32
  } -> f32
  return
}

// -----

func.func @end() {
  // expected-error@+1 {{the body must end with loop.yield}}
  loop.for 4 serial {
  ^bb0(%i: index):
    llvm.unreachable
  }
  return
}

// -----

func.func @guard(%c: i1, %a: f32, %n: i32) {
  // expected-error@+1 {{yields (i32), else (f32), results (f32) must agree}}
  %r = loop.guard %c else(%a : f32) {
    loop.yield %n : i32
  } -> f32
  return
}

// -----

func.func @alloc() {
  // expected-error@+1 {{must give a flat buffer of known length, memref<NxT>}}
  %b = loop.alloc local : memref<2x2xf32>
  return
}

// -----

func.func @load_buffer(%b: memref<2x2xf32>, %i: index) {
  // expected-error@+1 {{violates constraint C1: memref<2x2xf32> is no flat buffer}}
  %v = loop.load %b[%i] : memref<2x2xf32> -> f32
  return
}

// -----

func.func @load_type(%b: memref<4xf32>, %i: index) {
  // expected-error@+1 {{violates constraint C2: the result must be f32 or a vector of it, found vector<4xi32>}}
  %v = loop.load %b[%i] : memref<4xf32> -> vector<4xi32>
  return
}

// -----

func.func @store_buffer(%b: memref<?xf32>, %i: index, %v: f32) {
  // expected-error@+1 {{violates constraint C1}}
  loop.store %v, %b[%i] : f32, memref<?xf32>
  return
}

// -----

func.func @store_type(%b: memref<4xf32>, %i: index, %v: i32) {
  // expected-error@+1 {{violates constraint C2: the value must be f32 or a vector of it, found i32}}
  loop.store %v, %b[%i] : i32, memref<4xf32>
  return
}

// -----

func.func @load_strided_buffer(%b: memref<2x2xf32>, %i: index) {
  // expected-error@+1 {{violates constraint C1: memref<2x2xf32> is no flat buffer}}
  %v = loop.load_strided %b[%i] by 2 : memref<2x2xf32> -> vector<2xf32>
  return
}

// -----

func.func @load_strided_type(%b: memref<8xf32>, %i: index) {
  // expected-error@+1 {{violates constraint C2: the result must be f32 or a vector of it, found vector<2xi32>}}
  %v = loop.load_strided %b[%i] by 2 : memref<8xf32> -> vector<2xi32>
  return
}

// -----

func.func @store_strided_buffer(%b: memref<?xf32>, %i: index, %v: vector<2xf32>) {
  // expected-error@+1 {{violates constraint C1: memref<?xf32> is no flat buffer}}
  loop.store_strided %v, %b[%i] by 2 : vector<2xf32>, memref<?xf32>
  return
}

// -----

func.func @store_strided_type(%b: memref<8xf32>, %i: index, %v: vector<2xf64>) {
  // expected-error@+1 {{violates constraint C2: the value must be f32 or a vector of it, found vector<2xf64>}}
  loop.store_strided %v, %b[%i] by 2 : vector<2xf64>, memref<8xf32>
  return
}

// -----

func.func @prefetch_buffer(%b: memref<2x2xf32>, %i: index) {
  // expected-error@+1 {{violates constraint C1: memref<2x2xf32> is no flat buffer}}
  loop.prefetch %b[%i] : memref<2x2xf32>
  return
}

// -----

func.func @upto_kind(%n: index) {
  // expected-error@+1 {{violates constraint C5: it must be serial or parallel, found Vectorized}}
  loop.upto %n vectorized {
  ^bb0(%i: index):
    loop.yield
  }
  return
}

// -----

func.func @upto_carried(%n: index, %x: f32) {
  // expected-error@+1 {{violates constraint C2: the body must take (index, f32), found (index)}}
  %0 = loop.upto %n serial iter(%x : f32) {
  ^bb0(%i: index):
    loop.yield
  } -> f32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{violates constraint C1: 8 of Serial are no threads of a block}}
  %0 = loop.thread_index 8 serial
  return
}

// -----

func.func @f(%v: f32, %s: memref<32xf32>) {
  // expected-error @+1 {{violates constraint C1: 24 threads are no power of two}}
  %0 = loop.all_reduce 24 thread_x(%v : f32) by(%s : memref<32xf32>) {
  ^bb0(%a: f32, %b: f32):
    loop.yield %a : f32
  } -> f32
  return
}

// -----

func.func @f(%v: f32, %s: memref<32xf32>) {
  // expected-error @+1 {{violates constraint C2: the body must combine two of each of (f32)}}
  %0 = loop.all_reduce 32 thread_x(%v : f32) by(%s : memref<32xf32>) {
  ^bb0(%a: f32):
    loop.yield %a : f32
  } -> f32
  return
}

// -----

func.func @f(%v: f32, %s: memref<32xi32>) {
  // expected-error @+1 {{violates constraint C3: there must be a flat buffer of its type for each value}}
  %0 = loop.all_reduce 32 thread_x(%v : f32) by(%s : memref<32xi32>) {
  ^bb0(%a: f32, %b: f32):
    loop.yield %a : f32
  } -> f32
  return
}

// -----

func.func @slots() {
  // expected-error @+1 {{violates constraint C1: 32 elements in 3 slots; there are at least two, of the same size}}
  %0 = loop.alloc shared slots 3 : memref<32xf32>
  return
}

// -----

func.func @copy(%x: memref<32xf32>, %s: memref<32xi32>, %i: index) {
  // expected-error @+1 {{violates constraint C1: copies elements of type f32 to a buffer of i32}}
  loop.copy_async 1 from %x[%i] to %s[%i] : memref<32xf32>, memref<32xi32>
  return
}

// -----

func.func @copy(%x: memref<32xf32>, %s: memref<32xf32>, %i: index) {
  // expected-error @+1 {{violates constraint C2: copies 12 bytes; 4, 8 or 16 can be copied}}
  loop.copy_async 3 from %x[%i] to %s[%i] : memref<32xf32>, memref<32xf32>
  return
}

// -----

func.func @wait() {
  // expected-error @+1 {{violates constraint C1: a number of groups is not negative}}
  loop.copy_wait -1
  return
}

// -----

func.func @f(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>) {
  // expected-error @+1 {{violates constraint C1: mma_m16n8k16_bf16 takes (vector<8xbf16>, vector<4xbf16>, vector<4xf32>) of each thread, found (vector<8xf16>, vector<4xf16>, vector<4xf32>)}}
  %d = loop.multiply_matrix mma_m16n8k16_bf16 %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  return
}

// -----

func.func @f(%a: memref<64xf16>, %i: index) {
  // expected-error @+1 {{violates constraint C2: the result must be a vector of 2, 4 or 8 elements of two bytes, found vector<3xf16>}}
  %m = loop.load_matrix %a[%i] : memref<64xf16> -> vector<3xf16>
  return
}

// -----

func.func @swizzled() {
  // expected-error @+1 {{violates constraint C2: a swizzled buffer is shared and of whole 1024 bytes, found 128}}
  %0 = loop.alloc shared swizzled : memref<32xf32>
  return
}

// -----

func.func @f(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<32xf32>) {
  // expected-error @+1 {{violates constraint C1: wgmma_m64n64k64_f16 takes a and b from shared memory; use loop.multiply_shared}}
  %d = loop.multiply_matrix wgmma_m64n64k64_f16 %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<32xf32>
  return
}

// -----

func.func @f(%s: memref<4096xf16>, %i: index, %c: vector<4xf32>) {
  // expected-error @+1 {{violates constraint C1: instruction 0 does not take a and b from shared memory; use loop.multiply_matrix}}
  %d = loop.multiply_shared mma_m16n8k16_f16 %s[%i], %s[%i] apart %i, %c : memref<4096xf16>, memref<4096xf16>, vector<4xf32>
  return
}

// -----

func.func @f(%s: memref<4096xf32>, %i: index, %c: vector<32xf32>) {
  // expected-error @+1 {{violates constraint C1: wgmma_m64n64k64_f16 takes a flat buffer of f16 as a, found memref<4096xf32>}}
  %d = loop.multiply_shared wgmma_m64n64k64_f16 %s[%i], %s[%i] apart %i, %c : memref<4096xf32>, memref<4096xf32>, vector<32xf32>
  return
}

// -----

func.func @f(%s: memref<4096xf16>, %i: index, %c: vector<4xf32>) {
  // expected-error @+1 {{violates constraint C2: wgmma_m64n64k64_f16 takes vector<32xf32> of each thread, found vector<4xf32>}}
  %d = loop.multiply_shared wgmma_m64n64k64_f16 %s[%i], %s[%i] apart %i, %c : memref<4096xf16>, memref<4096xf16>, vector<4xf32>
  return
}

// -----

func.func @f(%x: memref<1280xf32>, %i: index, %s: memref<1024xf16>) {
  // expected-error @+1 {{violates constraint C1: copies elements of type f32 to a buffer of f16}}
  loop.copy_tensor %x[%i, %i] of [20, 64] box [8, 64] to %s[%i] : memref<1280xf32>, memref<1024xf16>
  return
}

// -----

func.func @f(%x: memref<1280xf16>, %i: index, %s: memref<1024xf16>) {
  // expected-error @+1 {{violates constraint C2: there must be a place, an extent and a box for each of one to five axes}}
  loop.copy_tensor %x[%i, %i] of [20, 64] box [64] to %s[%i] : memref<1280xf16>, memref<1024xf16>
  return
}

// -----

func.func @f(%x: memref<1280xf16>, %i: index, %s: memref<1024xf16>) {
  // expected-error @+1 {{violates constraint C2: a tensor of 1344 elements is in a buffer of 1280}}
  loop.copy_tensor %x[%i, %i] of [21, 64] box [8, 64] to %s[%i] : memref<1280xf16>, memref<1024xf16>
  return
}

// -----

func.func @f(%x: memref<1280xf16>, %i: index) {
  %s = loop.alloc shared swizzled : memref<1024xf16>
  // expected-error @+1 {{violates constraint C3: lines of the box have 256 bytes; they have a multiple of 16, at most 128 where they are swizzled}}
  loop.copy_tensor %x[%i, %i] of [10, 128] box [4, 128] to %s[%i] : memref<1280xf16>, memref<1024xf16>
  return
}

// -----

func.func @f(%x: memref<1280xf16>, %i: index, %s: memref<1024xf16>) {
  // expected-error @+1 {{violates constraint C3: the box has 512 elements along an axis, not 1 to 256}}
  loop.copy_tensor %x[%i, %i] of [20, 64] box [512, 8] to %s[%i] : memref<1280xf16>, memref<1024xf16>
  return
}

// -----

func.func @f(%x: memref<1280xf16>, %i: index, %s: memref<1024xf16>) {
  // expected-error @+1 {{violates constraint C4: neighbours along an axis of the tensor are 40 bytes apart, which is no multiple of 16 below 1099511627776}}
  loop.copy_tensor %x[%i, %i] of [64, 20] box [8, 8] to %s[%i] : memref<1280xf16>, memref<1024xf16>
  return
}

// -----

func.func @f(%f: memref<2xi32>) {
  // expected-error @+1 {{violates constraint C1: mbarriers are in a flat buffer of i64, found memref<2xi32>}}
  loop.mbarrier_init %f of 1 : memref<2xi32>
  return
}

// -----

func.func @f(%f: memref<2xi64>, %i: index) {
  // expected-error @+1 {{violates constraint C2: 0 is not above 0}}
  loop.mbarrier_expect %f[%i] bytes 0 : memref<2xi64>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{violates constraint C1: 20 is no multiple of 8 from 24 to 256}}
  loop.registers 20
  return
}

// -----

func.func @f(%s: memref<2048xf32>, %i: index, %c: vector<32xf32>) {
  // expected-error @+1 {{violates constraint C3: wgmma_m64n64k32_tf32 reads columns of b only, which lie together}}
  %d = loop.multiply_shared wgmma_m64n64k32_tf32 %s[%i], transposed %s[%i] apart %i, %c : memref<2048xf32>, memref<2048xf32>, vector<32xf32>
  return
}

// -----

func.func @stream(%v: f32, %b: memref<4xf32>, %i: index) {
  // expected-error@+1 {{violates constraint C3: a stream stores a vector, found f32}}
  loop.store %v, %b[%i] {stream} : f32, memref<4xf32>
  return
}

// -----

func.func @packed_of_words(%x: memref<64xi16>, %i: index) {
  // expected-error@+1 {{violates constraint C1: memref<64xi16> is no flat buffer of i8, memref<Nxi8>}}
  %0 = loop.load_packed %x[%i] : memref<64xi16> -> i32
  return
}

// -----

func.func @packed_in_words(%x: memref<64xi8>, %i: index) {
  // expected-error@+1 {{violates constraint C2: the result must be i32 or vectors of it, found vector<4xi16>}}
  %0 = loop.load_packed %x[%i] : memref<64xi8> -> vector<4xi16>
  return
}

// -----

func.func @dot_of_floats(%x: vector<4xf32>) {
  // expected-error@+1 {{violates constraint C1: the numbers must be i32 or vectors of it, found vector<4xf32>}}
  %0 = loop.dot4add %x, %x, %x : vector<4xf32>
  return
}
