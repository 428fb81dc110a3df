// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-quantize-calibrate))' --verify-diagnostics --split-input-file

func.func @unseen(%x: tensor<4xf32>, %none: tensor<f32>) -> tensor<4xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %byte = relay.constant dense<255.0> : tensor<f32>
  // expected-error @+1 {{'relay.simulated_quantize' op has no statistics: attribute range, the least and the greatest element that were seen, is missing}}
  %0 = relay.simulated_quantize %x, %zero, %zero, %zero, %byte : (tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @reversed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %byte = relay.constant dense<255.0> : tensor<f32>
  // expected-error @+1 {{has the range [2, 1], which is none; write the least element first}}
  %0 = relay.simulated_quantize %x, %zero, %zero, %zero, %byte {range = array<f64: 2.0, 1.0>} : (tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @infinite() -> tensor<2xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %byte = relay.constant dense<127.0> : tensor<f32>
  %least = relay.constant dense<-127.0> : tensor<f32>
  %w = relay.constant dense<[1.0, 0x7F800000]> : tensor<2xf32>
  // expected-error @+1 {{has elements from 1 to inf, for which there is no scale}}
  %0 = relay.simulated_quantize %w, %zero, %zero, %least, %byte : (tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @nine_bits(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %most = relay.constant dense<511.0> : tensor<f32>
  // expected-error @+1 {{has the numbers 0 to 511; they must be whole and fit 8 bits, as 0 to 255 and -127 to 127 do}}
  %0 = relay.simulated_quantize %x, %zero, %zero, %zero, %most {range = array<f64: 0.0, 1.0>} : (tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
