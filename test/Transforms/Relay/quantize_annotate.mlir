// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-quantize-annotate))' --split-input-file | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-quantize-annotate{data-bits=0 weight-bits=4}))' --split-input-file | FileCheck %s --check-prefix=WEIGHTS

// Data has numbers from 0 on and a zero point, a weight has as many below 0 as above and an axis of channels.
// CHECK-LABEL: func.func @conv
// CHECK-DAG:     %[[NONE:.*]] = relay.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG:     %[[BYTE:.*]] = relay.constant dense<2.550000e+02> : tensor<f32>
// CHECK:         %[[X:.*]] = relay.simulated_quantize %arg0, %[[NONE]], {{.*}}, {{.*}}, %[[BYTE]] : (tensor<1x3x8x8xf32>
// CHECK-DAG:     relay.constant dense<-1.270000e+02>
// CHECK-DAG:     relay.constant dense<1.270000e+02>
// CHECK:         %[[W:.*]] = relay.simulated_quantize {{.*}} {axis = 0 : i64}
// CHECK:         relay.conv2d %[[X]], %[[W]]
// WEIGHTS-LABEL: func.func @conv
// WEIGHTS-DAG:     relay.constant dense<-7.000000e+00>
// WEIGHTS-DAG:     relay.constant dense<7.000000e+00>
// WEIGHTS:         %[[W:.*]] = relay.simulated_quantize {{.*}} {axis = 0 : i64}
// WEIGHTS:         relay.conv2d %arg0, %[[W]]
func.func @conv(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x6x6xf32> {
  %w = relay.constant dense<1.0> : tensor<4x3x3x3xf32>
  %0 = relay.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %0 : tensor<1x4x6x6xf32>
}

// -----

// The axis of the columns is the row's to say.
// CHECK-LABEL: func.func @columns
// CHECK:         relay.simulated_quantize {{.*}} {axis = 1 : i64} : (tensor<8x4xf32>
// CHECK:         relay.simulated_quantize {{.*}} {axis = 0 : i64} : (tensor<4x8xf32>
// CHECK:         relay.simulated_quantize {{.*}} {axis = 0 : i64} : (tensor<4x8xf32>
func.func @columns(%x: tensor<2x8xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %w = relay.constant dense<1.0> : tensor<8x4xf32>
  %v = relay.constant dense<1.0> : tensor<4x8xf32>
  %0 = relay.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %1 = relay.matmul %x, %v {transpose_b = true} : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %2 = relay.dense %x, %v : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// A product of data alone is quantized with data. What is computed in integers, or is no sum of products, stays.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: relay.simulated_quantize
// CHECK-NOT:     relay.simulated_quantize
// WEIGHTS-LABEL: func.func @others
// WEIGHTS-NOT:     relay.simulated_quantize
func.func @others(%x: tensor<2x8xf32>, %y: tensor<8x8xf32>, %q: tensor<2x8xi8>) -> (tensor<2x8xf32>, tensor<2x4xi32>) {
  %w = relay.constant dense<1> : tensor<8x4xi8>
  %0 = relay.matmul %x, %y : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %1 = relay.exp %0 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = relay.matmul %q, %w {out_dtype = i32} : (tensor<2x8xi8>, tensor<8x4xi8>) -> tensor<2x4xi32>
  return %1, %2 : tensor<2x8xf32>, tensor<2x4xi32>
}
