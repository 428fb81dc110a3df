// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @c1_rank(%x: tensor<3x8x8xf32>) {
  // expected-error @+1 {{'relay.max_pool2d' op violates constraint C1: the data must have rank 4, found tensor<3x8x8xf32>}}
  %0 = relay.max_pool2d %x {kernel = array<i64: 2, 2>} : (tensor<3x8x8xf32>) -> tensor<3x7x7xf32>
  return
}

// -----

func.func @c2_attributes(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{violates constraint C2}}
  %0 = relay.max_pool2d %x {kernel = array<i64: 2, 0>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
  return
}

// -----

func.func @c3_kernel_fits(%x: tensor<1x3x2x8xf32>) {
  // expected-error @+1 {{violates constraint C3}}
  %0 = relay.max_pool2d %x {kernel = array<i64: 3, 3>} : (tensor<1x3x2x8xf32>) -> tensor<1x3x0x6xf32>
  return
}

// -----

func.func @c4_floats(%x: tensor<1x3x8xi32>) {
  // expected-error @+1 {{'relay.avg_pool1d' op violates constraint C4: the data must be a float tensor, found tensor<1x3x8xi32>}}
  %0 = relay.avg_pool1d %x {kernel = array<i64: 2>} : (tensor<1x3x8xi32>) -> tensor<1x3x7xi32>
  return
}

// -----

func.func @global_c1_rank(%x: tensor<3x8xf32>) {
  // expected-error @+1 {{'relay.global_avg_pool' op violates constraint C1: the data must have rank 3 or more}}
  %0 = relay.global_avg_pool %x : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return
}
