// RUN: fusion-opt %s --verify-diagnostics --split-input-file

te.kernel @load_if_c1_indices(%x: tensor<4x4xf32>, %y: tensor<4xi1>) -> tensor<4xf32> {
  %0 = te.compute axes [4] reduce [] init [] {
  ^bb0(%i: index):
    %c = te.load %y[%i] : tensor<4xi1> -> i1
    %z = arith.constant 0.0 : f32
    // expected-error @+1 {{'te.load_if' op violates constraint C1: 1 indices for tensor<4x4xf32>}}
    %1 = te.load_if %c, %x[%i] else %z : tensor<4x4xf32> -> f32
    te.yield %1 : f32
  } combine {} : tensor<4xf32>
  te.return %0 : tensor<4xf32>
}

// -----

te.kernel @load_if_c2_element(%x: tensor<4xf32>, %y: tensor<4xi1>) -> tensor<4xf64> {
  %0 = te.compute axes [4] reduce [] init [] {
  ^bb0(%i: index):
    %c = te.load %y[%i] : tensor<4xi1> -> i1
    %z = arith.constant 0.0 : f64
    // expected-error @+1 {{'te.load_if' op violates constraint C2: an element of tensor<4xf32> is f32, found f64}}
    %1 = te.load_if %c, %x[%i] else %z : tensor<4xf32> -> f64
    te.yield %1 : f64
  } combine {} : tensor<4xf64>
  te.return %0 : tensor<4xf64>
}

// -----

te.schedule for @c1_both {
  %s = te.stage "c"
  %i = te.axes %s : !te.axis
  // expected-error @+1 {{'te.split' op violates constraint C1: it needs either a factor or a number of parts}}
  %o, %n = te.split %i by 4 parts 4
}

// -----

te.schedule for @c1_align {
  %s = te.stage "c"
  // expected-error @+1 {{'te.storage_align' op violates constraint C1: the factor must be from 1 to 65536, the offset from 0 to below it and the axis not negative, found 100000, 0 and 0}}
  te.storage_align %s dim 0 by 100000
}

// -----

te.schedule for @c1_align_axis {
  %s = te.stage "c"
  // expected-error @+1 {{'te.storage_align' op violates constraint C1}}
  te.storage_align %s dim -1 by 8
}

// -----

te.schedule for @c1_ahead {
  %s = te.stage "c"
  %i = te.axes %s : !te.axis
  // expected-error @+1 {{'te.prefetch' op violates constraint C1: it must be some iterations ahead, found -1}}
  te.prefetch %s, %i ahead -1
}

// -----

// expected-error @+1 {{'te.intrinsic' op violates constraint C1: the first body must have one te.compute of one result, which it returns}}
te.intrinsic @c1_returns computes {
^bb0(%x: tensor<4xf32>):
  te.return %x : tensor<4xf32>
} by {
^bb0(%a: memref<4xf32>, %a0: index, %as: index, %c: memref<4xf32>, %c0: index, %cs: index):
  loop.yield
}

// -----

// expected-error @+1 {{'te.intrinsic' op violates constraint C2: the second body must take (memref<4xf32>, index, index, memref<4xf32>, index, index) and end with loop.yield, found (memref<4xf32>, index, memref<4xf32>, index)}}
te.intrinsic @c2_places computes {
^bb0(%x: tensor<4xf32>):
  %c = te.compute "c" axes [4] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %p : f32
  } combine {} : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<4xf32>, %a0: index, %c: memref<4xf32>, %c0: index):
  loop.yield
}

// -----

te.schedule for @unknown_memory {
  %s = te.stage "c"
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'scope' [global, shared, local, fragment]}}
  te.set_scope %s to registers
}

// -----

// expected-error @+1 {{'te.intrinsic' op violates constraint C3: lanes must be some of its 1 parallel axes, each once, found [0, 0]}}
te.intrinsic @c3_lanes lanes [0, 0] computes {
^bb0(%x: tensor<4xf32>):
  %c = te.compute "c" axes [4] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %p : f32
  } combine {} : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<4xf32>, %a0: index, %as: index, %c: memref<4xf32>, %c0: index, %cs: index):
  loop.yield
}

// -----

// expected-error @+1 {{'te.intrinsic' op violates constraint C3: contiguous must name an axis of each of its 1 arguments, or -1, found [1]}}
te.intrinsic @c3_contiguous contiguous [1] computes {
^bb0(%x: tensor<4xf32>):
  %c = te.compute "c" axes [4] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %p : f32
  } combine {} : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<4xf32>, %a0: index, %as: index, %c: memref<4xf32>, %c0: index, %cs: index):
  loop.yield
}

// -----

// expected-error @+1 {{'te.intrinsic' op violates constraint C4: apart must have a distance for each of the 1 axes of its arguments, found [1, 2]}}
te.intrinsic @a apart [1, 2] computes {
^bb0(%x: tensor<4xf32>):
  %c = te.compute "c" axes [4] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %p : f32
  } combine {} : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<4xf32>, %a0: index, %as: index, %c: memref<4xf32>, %c0: index, %cs: index):
  loop.yield
}

// -----

// expected-error @+1 {{'te.intrinsic' op violates constraint C2: the second body must take (memref<4xf32>, index, index, f32) and end with loop.yield of the sum, found (memref<4xf32>, index, index, f32)}}
te.intrinsic @c2_sum computes {
^bb0(%a: tensor<4xf32>):
  %c = te.compute "c" axes [] reduce [4] init [0.0 : f32] {
  ^bb0(%k: index):
    %p = te.load %a[%k] : tensor<4xf32> -> f32
    te.yield %p : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<f32>
  te.return %c : tensor<f32>
} by {
^bb0(%a: memref<4xf32>, %a0: index, %as: index, %so_far: f32):
  loop.yield
}
