// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @c1_extent() {
  // expected-error @+1 {{'loop.for' op violates constraint C1: the extent is -3}}
  loop.for -3 serial {
  ^bb0(%i: index):
    loop.yield
  }
  return
}

// -----

func.func @c2_no_index() {
  // expected-error @+1 {{'loop.for' op violates constraint C2: the body must take (index, ), found ()}}
  loop.for 3 serial {
    loop.yield
  }
  return
}

// -----

func.func @c2_carried(%z: f32) {
  // expected-error @+1 {{'loop.for' op violates constraint C2: the body must take (index, f32), found (index, f64)}}
  %r = loop.for 3 serial iter(%z : f32) {
  ^bb0(%i: index, %a: f64):
    loop.yield %z : f32
  } -> f32
  return
}

// -----

func.func @c3_yielded(%z: f32, %w: f64) {
  // expected-error @+1 {{'loop.for' op violates constraint C3: carried (f32), yielded (f64), resulting (f32) types must agree}}
  %r = loop.for 3 serial iter(%z : f32) {
  ^bb0(%i: index, %a: f32):
    loop.yield %w : f64
  } -> f32
  return
}

// -----

func.func @c4_parallel(%z: f32) {
  // expected-error @+1 {{'loop.for' op violates constraint C4: a parallel loop carries nothing from one iteration to the next}}
  %r = loop.for 3 parallel iter(%z : f32) {
  ^bb0(%i: index, %a: f32):
    loop.yield %a : f32
  } -> f32
  return
}

// -----

func.func @no_yield(%c: i1) {
  // expected-error @+1 {{'loop.guard' op the body must end with loop.yield}}
  loop.guard %c {
    ub.unreachable
  }
  return
}

// -----

func.func @guard_types(%c: i1, %z: f32, %w: f64) {
  // expected-error @+1 {{'loop.guard' op yields (f64), else (f32), results (f32) must agree}}
  %r = loop.guard %c else (%z : f32) {
    loop.yield %w : f64
  } -> f32
  return
}

// -----

func.func @load_c1(%m: memref<4x4xf32>, %i: index) {
  // expected-error @+1 {{'loop.load' op violates constraint C1: memref<4x4xf32> is no flat buffer of known length, memref<NxT>}}
  %x = loop.load %m[%i] : memref<4x4xf32> -> f32
  return
}

// -----

func.func @load_c2(%m: memref<4xf32>, %i: index) {
  // expected-error @+1 {{'loop.load' op violates constraint C2: the result must be f32 or a vector of it, found vector<4xf64>}}
  %x = loop.load %m[%i] : memref<4xf32> -> vector<4xf64>
  return
}

// -----

func.func @store_c2(%m: memref<4xf32>, %i: index, %x: i32) {
  // expected-error @+1 {{'loop.store' op violates constraint C2: the value must be f32 or a vector of it, found i32}}
  loop.store %x, %m[%i] : i32, memref<4xf32>
  return
}

// -----

func.func @alloc() {
  // expected-error @+1 {{'loop.alloc' op must give a flat buffer of known length, memref<NxT>}}
  %m = loop.alloc local : memref<4x4xf32>
  return
}
