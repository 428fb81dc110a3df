// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @c1_one_element_type(%a: tensor<2x3xf32>, %b: tensor<3x4xf16>) {
  // expected-error @+1 {{'relay.matmul' op violates constraint C1}}
  %0 = relay.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf16>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c2_rank(%a: tensor<3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{violates constraint C2: operands must have rank 2 or more, found tensor<3xf32> and tensor<3x4xf32>}}
  %0 = relay.matmul %a, %b : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c3_summed_extents(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error @+1 {{violates constraint C3: the extents summed over must agree, found 3 of tensor<2x3xf32> and 4 of tensor<4x3xf32>}}
  %0 = relay.matmul %a, %b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c4_leading_dimensions(%a: tensor<5x2x3xf32>, %b: tensor<6x3x4xf32>) {
  // expected-error @+1 {{violates constraint C4: leading dimensions must broadcast}}
  %0 = relay.matmul %a, %b : (tensor<5x2x3xf32>, tensor<6x3x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @c5_rank_3(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'relay.batch_matmul' op violates constraint C5: operands must have rank 3}}
  %0 = relay.batch_matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dense_c2_weight_rank(%x: tensor<2x3xf32>, %w: tensor<1x4x3xf32>) {
  // expected-error @+1 {{'relay.dense' op violates constraint C2: the weight must have rank 2}}
  %0 = relay.dense %x, %w : (tensor<2x3xf32>, tensor<1x4x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dense_c3_summed_extents(%x: tensor<2x3xf32>, %w: tensor<4x5xf32>) {
  // expected-error @+1 {{'relay.dense' op violates constraint C3: the extents summed over must agree, found 3 of tensor<2x3xf32> and 5 of tensor<4x5xf32>}}
  %0 = relay.dense %x, %w : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @halves_of_f64(%x: tensor<4x6xf64>, %u: tensor<7x3x4xf64>) {
  // expected-error @+1 {{'relay.matmul_strassen' op violates constraint C1: operands must be f32, found f64}}
  %0 = relay.matmul_strassen %x, %u : (tensor<4x6xf64>, tensor<7x3x4xf64>) -> tensor<4x8xf64>
  return
}

// -----

func.func @halves_of_a_matrix(%x: tensor<4x6xf32>, %u: tensor<6x8xf32>) {
  // expected-error @+1 {{violates constraint C2: the left side must have rank 2 and the sums of the right side rank 3, found tensor<4x6xf32> and tensor<6x8xf32>}}
  %0 = relay.matmul_strassen %x, %u : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @eight_sums(%x: tensor<4x6xf32>, %u: tensor<8x3x4xf32>) {
  // expected-error @+1 {{violates constraint C3: the right side must be 7 sums of quarters, found 8 in tensor<8x3x4xf32>}}
  %0 = relay.matmul_strassen %x, %u : (tensor<4x6xf32>, tensor<8x3x4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @odd_rows(%x: tensor<5x6xf32>, %u: tensor<7x3x4xf32>) {
  // expected-error @+1 {{violates constraint C4: the left side's extents must be even, and its columns twice the rows of the sums, found tensor<5x6xf32> and tensor<7x3x4xf32>}}
  %0 = relay.matmul_strassen %x, %u : (tensor<5x6xf32>, tensor<7x3x4xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @sums_of_odd_columns(%y: tensor<6x7xf32>) {
  // expected-error @+1 {{'relay.strassen_sums' op violates constraint C2: the matrix must have even extents, found tensor<6x7xf32>}}
  %0 = relay.strassen_sums %y : (tensor<6x7xf32>) -> tensor<7x3x3xf32>
  return
}

// -----

func.func @sums_narrower_than_operands(%a: tensor<2x3xi16>, %b: tensor<3x4xi16>) -> tensor<2x4xi8> {
  // expected-error @+1 {{'relay.matmul' op violates constraint C1: products of i16 and i16 cannot be summed as i8; out_dtype must be a type of integers for operands of integers, or of floats for those of one type of floats, and as wide as they are}}
  %0 = relay.matmul %a, %b {out_dtype = i8} : (tensor<2x3xi16>, tensor<3x4xi16>) -> tensor<2x4xi8>
  return %0 : tensor<2x4xi8>
}

// -----

func.func @sums_of_integers_as_floats(%a: tensor<2x3xi8>, %b: tensor<4x3xi8>) -> tensor<2x4xf32> {
  // expected-error @+1 {{'relay.dense' op violates constraint C1: products of i8 and i8 cannot be summed as f32}}
  %0 = relay.dense %a, %b {out_dtype = f32} : (tensor<2x3xi8>, tensor<4x3xi8>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
