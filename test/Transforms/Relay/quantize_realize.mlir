// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-quantize-realize))' | FileCheck %s

// Data: the formulas of QuantizeLinear and DequantizeLinear. The weight is integers. What has the scale 0 stays as it is.
// CHECK-LABEL: func.func @both
// CHECK:         relay.div %arg0
// CHECK:         relay.round
// CHECK:         relay.add
// CHECK:         relay.clip {{.*}} {max = 2.550000e+02 : f64, min = 0.000000e+00 : f64}
// CHECK:         %[[Q:.*]] = relay.cast {{.*}} -> tensor<3x2xui8>
// CHECK:         relay.cast %[[Q]] {{.*}} -> tensor<3x2xi32>
// CHECK:         relay.sub
// CHECK:         %[[X:.*]] = relay.mul
// CHECK:         relay.matmul %[[X]]
// CHECK:         relay.exp %arg0
// CHECK-NOT:     relay.simulated_quantize
func.func @both(%x: tensor<3x2xf32>) -> (tensor<3x600xf32>, tensor<3x2xf32>) {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<12.0> : tensor<f32>
  %none = relay.constant dense<0.0> : tensor<f32>
  %byte = relay.constant dense<255.0> : tensor<f32>
  %least = relay.constant dense<-127.0> : tensor<f32>
  %most = relay.constant dense<127.0> : tensor<f32>
  %w = relay.constant dense<-3.2> : tensor<2x600xf32>
  %0 = relay.simulated_quantize %x, %s, %z, %none, %byte : (tensor<3x2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<3x2xf32>
  %1 = relay.simulated_quantize %w, %s, %none, %least, %most : (tensor<2x600xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x600xf32>
  %2 = relay.matmul %0, %1 : (tensor<3x2xf32>, tensor<2x600xf32>) -> tensor<3x600xf32>
  %3 = relay.simulated_quantize %x, %none, %none, %none, %byte : (tensor<3x2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<3x2xf32>
  %4 = relay.exp %3 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %2, %4 : tensor<3x600xf32>, tensor<3x2xf32>
}

// CHECK-LABEL: func.func @weight
// CHECK:         relay.constant dense<-6> : tensor<2x600xi8>
func.func @weight(%x: tensor<3x2xf32>) -> tensor<3x600xf32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %none = relay.constant dense<0.0> : tensor<f32>
  %least = relay.constant dense<-127.0> : tensor<f32>
  %most = relay.constant dense<127.0> : tensor<f32>
  %w = relay.constant dense<-3.2> : tensor<2x600xf32>
  %1 = relay.simulated_quantize %w, %s, %none, %least, %most : (tensor<2x600xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x600xf32>
  %2 = relay.matmul %x, %1 : (tensor<3x2xf32>, tensor<2x600xf32>) -> tensor<3x600xf32>
  return %2 : tensor<3x600xf32>
}
