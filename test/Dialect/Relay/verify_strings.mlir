// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @add_c0_strings(%x: tensor<2x!relay.string>) {
  // expected-error @+1 {{'relay.add' op violates constraint C0: relay.add takes no strings; operators on strings are relay.equal, relay.where, those that move elements, and those whose names begin with string_}}
  %0 = relay.add %x, %x : (tensor<2x!relay.string>, tensor<2x!relay.string>) -> tensor<2x!relay.string>
  return
}

// -----

func.func @cast_c0_strings(%x: tensor<2xf32>) {
  // expected-error @+1 {{'relay.cast' op violates constraint C0: relay.cast gives no strings; write relay.string_of to make strings of numbers}}
  %0 = relay.cast %x {dtype = !relay.string} : (tensor<2xf32>) -> tensor<2x!relay.string>
  return
}

// -----

func.func @scatter_c5_reduction(%x: tensor<2x!relay.string>, %i: tensor<1xi64>, %u: tensor<1x!relay.string>) {
  // expected-error @+1 {{'relay.scatter_elements' op violates constraint C5: reduction "add" is arithmetic, which strings have not; it must be "none" for them}}
  %0 = relay.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = "add"} : (tensor<2x!relay.string>, tensor<1xi64>, tensor<1x!relay.string>) -> tensor<2x!relay.string>
  return
}

// -----

func.func @string_concat_c1_strings(%x: tensor<2xf32>) {
  // expected-error @+1 {{'relay.string_concat' op violates constraint C1: operands must be tensors of !relay.string, found tensor<2xf32>}}
  %0 = relay.string_concat %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x!relay.string>
  return
}

// -----

func.func @string_concat_c2_shapes(%x: tensor<2x!relay.string>, %y: tensor<3x!relay.string>) {
  // expected-error @+1 {{'relay.string_concat' op violates constraint C2: shapes do not broadcast: tensor<2x!relay.string>, tensor<3x!relay.string>}}
  %0 = relay.string_concat %x, %y : (tensor<2x!relay.string>, tensor<3x!relay.string>) -> tensor<3x!relay.string>
  return
}

// -----

func.func @string_split_c2_cuts(%x: tensor<2x!relay.string>) {
  // expected-error @+1 {{'relay.string_split' op violates constraint C2: attribute maxsplit must not be negative, found -1}}
  %0:2 = relay.string_split %x {maxsplit = -1 : i64} : (tensor<2x!relay.string>) -> (tensor<2x?x!relay.string>, tensor<2xi64>)
  return
}

// -----

func.func @string_case_c2_case(%x: tensor<2x!relay.string>) {
  // expected-error @+1 {{'relay.string_case' op violates constraint C2: attribute to must be "lower" or "upper", found "title"}}
  %0 = relay.string_case %x {to = "title"} : (tensor<2x!relay.string>) -> tensor<2x!relay.string>
  return
}

// -----

func.func @string_match_c2_pattern(%x: tensor<2x!relay.string>) {
  // expected-error @+1 {{'relay.string_match' op violates constraint C2: attribute pattern "a{3,2}" is no regular expression}}
  %0 = relay.string_match %x {pattern = "a{3,2}"} : (tensor<2x!relay.string>) -> tensor<2xi1>
  return
}

// -----

func.func @string_of_c1_numbers(%x: tensor<2xi8>) {
  // expected-error @+1 {{'relay.string_of' op violates constraint C1: the operand must be a tensor of f64, f32, i64 or ui64, found tensor<2xi8>; write relay.cast before}}
  %0 = relay.string_of %x : (tensor<2xi8>) -> tensor<2x!relay.string>
  return
}

// -----

func.func @string_to_number_c2_dtype(%x: tensor<2x!relay.string>) {
  // expected-error @+1 {{'relay.string_to_number' op violates constraint C2: attribute dtype must be f64, i64 or ui64; write relay.cast behind}}
  %0 = relay.string_to_number %x {dtype = f32} : (tensor<2x!relay.string>) -> tensor<2xf32>
  return
}

// -----

func.func @rank_c1_numbers(%x: tensor<2xf32>) {
  // expected-error @+1 {{'relay.string_rank' op violates constraint C1: the operand must be a tensor of !relay.string, found tensor<2xf32>}}
  %0 = relay.string_rank %x : (tensor<2xf32>) -> tensor<2xi64>
  return
}
