// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-quantize-realize))' --verify-diagnostics --split-input-file

func.func @not_a_number(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = relay.constant dense<0x7FC00000> : tensor<f32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %byte = relay.constant dense<255.0> : tensor<f32>
  // expected-error @+1 {{has the scale NaN, and a scale is a number above 0, or 0 where nothing is quantized}}
  %0 = relay.simulated_quantize %x, %s, %zero, %zero, %byte : (tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @some_channels(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %s = relay.constant dense<[[0.5], [0.0]]> : tensor<2x1xf32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %byte = relay.constant dense<255.0> : tensor<f32>
  // expected-error @+1 {{has the scale 0 for some channels only; give all of them a scale above 0}}
  %0 = relay.simulated_quantize %x, %s, %zero, %zero, %byte {axis = 0 : i64} : (tensor<2x4xf32>, tensor<2x1xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @zero_point(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<300.0> : tensor<f32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %byte = relay.constant dense<255.0> : tensor<f32>
  // expected-error @+1 {{has the zero point 300, and zero points are whole numbers from 0 to 255}}
  %0 = relay.simulated_quantize %x, %s, %z, %zero, %byte : (tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @computed(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %byte = relay.constant dense<255.0> : tensor<f32>
  // expected-error @+1 {{has no constant scale and zero point; calibrate it first}}
  %0 = relay.simulated_quantize %x, %s, %zero, %zero, %byte : (tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
