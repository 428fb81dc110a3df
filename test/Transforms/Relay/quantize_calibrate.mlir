// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-quantize-calibrate))' | FileCheck %s --check-prefixes=CHECK,CHANNELS
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-quantize-calibrate{scheme=per-tensor}))' | FileCheck %s --check-prefixes=CHECK,TENSOR
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-quantize-calibrate{method=power-of-two}))' | FileCheck %s --check-prefix=POWER
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-quantize-calibrate{method=percentile percentile=99}))' | FileCheck %s --check-prefix=PERCENTILE
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-quantize-calibrate{method=mse}))' | FileCheck %s --check-prefix=MSE

// Elements from -1 to 4 in steps of 5 / 255: 0 is number 51. 99 of 100 elements are at most of size 1.5.
// CHECK-LABEL:      func.func @both
// CHECK-DAG:          %[[S:.*]] = relay.constant dense<0.0196078438> : tensor<f32>
// CHECK-DAG:          %[[Z:.*]] = relay.constant dense<5.100000e+01> : tensor<f32>
// CHECK:              relay.simulated_quantize %arg0, %[[S]], %[[Z]]
// CHANNELS-DAG:       dense<{{\[\[}}0.0157480314, 1.000000e+00{{\]\]}}> : tensor<1x2xf32>
// TENSOR-DAG:         dense<0.0157480314> : tensor<f32>
// POWER-LABEL:      func.func @both
// POWER-DAG:          dense<3.125000e-02> : tensor<f32>
// POWER-DAG:          dense<1.280000e+02> : tensor<f32>
// POWER:              relay.simulated_quantize %arg0
// POWER-DAG:          dense<{{\[\[}}1.562500e-02, 7.812500e-03{{\]\]}}> : tensor<1x2xf32>
// PERCENTILE-LABEL: func.func @both
// PERCENTILE:         dense<0.00980392192> : tensor<f32>
// PERCENTILE:         relay.simulated_quantize %arg0
func.func @both(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %none = relay.constant dense<0.0> : tensor<f32>
  %byte = relay.constant dense<255.0> : tensor<f32>
  %least = relay.constant dense<-127.0> : tensor<f32>
  %most = relay.constant dense<127.0> : tensor<f32>
  %w = relay.constant dense<[[1.0, 0.0], [-2.0, 0.0]]> : tensor<2x2xf32>
  %0 = relay.simulated_quantize %x, %none, %none, %none, %byte {range = array<f64: -1.0, 4.0>, histogram = array<i64: 10, 50, 39, 0, 1>} : (tensor<3x2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<3x2xf32>
  %1 = relay.simulated_quantize %w, %none, %none, %least, %most {axis = 1 : i64} : (tensor<2x2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x2xf32>
  %2 = relay.matmul %0, %1 : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// One element of ninety million at 4 is worth less than finer steps for the others: from -1 to 1.83.
// MSE-LABEL: func.func @one_outlier
// MSE-DAG:     dense<0.01111375{{.*}}> : tensor<f32>
// MSE-DAG:     dense<9.000000e+01> : tensor<f32>
// MSE:         relay.simulated_quantize %arg0
func.func @one_outlier(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %none = relay.constant dense<0.0> : tensor<f32>
  %byte = relay.constant dense<255.0> : tensor<f32>
  %0 = relay.simulated_quantize %x, %none, %none, %none, %byte {range = array<f64: -1.0, 4.0>, histogram = array<i64: 1000000, 50000000, 39000000, 0, 1>} : (tensor<3x2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
