// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @shape
// CHECK-NEXT:    relay.reshape %arg0 {shape = array<i64: 3, -1>} : (tensor<2x1x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    relay.transpose %arg0 {axes = array<i64: 2, 0, 1>} : (tensor<2x1x3xf32>) -> tensor<3x2x1xf32>
// CHECK-NEXT:    relay.squeeze %arg0 {axes = array<i64: 1>} : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    relay.expand_dims %arg0 {axes = array<i64: 0>} : (tensor<2x1x3xf32>) -> tensor<1x2x1x3xf32>
// CHECK-NEXT:    relay.broadcast_to %arg0 {shape = array<i64: 2, 4, 3>} : (tensor<2x1x3xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT:    relay.concat %arg0, %arg1 {axis = 1 : i64} : (tensor<2x1x3xf32>, tensor<2x5x3xf32>) -> tensor<2x6x3xf32>
// CHECK-NEXT:    relay.slice %arg1 {axes = array<i64: 1>, begin = array<i64: 4>, end = array<i64: 0>, strides = array<i64: -2>} : (tensor<2x5x3xf32>) -> tensor<2x2x3xf32>
// CHECK-NEXT:    relay.pad %arg0 {mode = "edge", padding = array<i64: 0, 1, 0, 0, 1, 0>} : (tensor<2x1x3xf32>) -> tensor<2x3x3xf32>
// CHECK-NEXT:    relay.tile %arg0 {reps = array<i64: 1, 2, 1>} : (tensor<2x1x3xf32>) -> tensor<2x2x3xf32>
// CHECK-NEXT:    relay.resize %arg0 {method = "linear", scales = array<f64: 1.000000e+00, 2.000000e+00, 2.000000e+00>, size = array<i64: 2, 2, 6>} : (tensor<2x1x3xf32>) -> tensor<2x2x6xf32>
// CHECK-NEXT:    relay.reverse %arg0 {axes = array<i64: 0>} : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
func.func @shape(%x: tensor<2x1x3xf32>, %y: tensor<2x5x3xf32>) {
  %0 = relay.reshape %x {shape = array<i64: 3, -1>} : (tensor<2x1x3xf32>) -> tensor<3x2xf32>
  %1 = relay.transpose %x {axes = array<i64: 2, 0, 1>} : (tensor<2x1x3xf32>) -> tensor<3x2x1xf32>
  %2 = relay.squeeze %x {axes = array<i64: 1>} : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %3 = relay.expand_dims %x {axes = array<i64: 0>} : (tensor<2x1x3xf32>) -> tensor<1x2x1x3xf32>
  %4 = relay.broadcast_to %x {shape = array<i64: 2, 4, 3>} : (tensor<2x1x3xf32>) -> tensor<2x4x3xf32>
  %5 = relay.concat %x, %y {axis = 1 : i64} : (tensor<2x1x3xf32>, tensor<2x5x3xf32>) -> tensor<2x6x3xf32>
  %6 = relay.slice %y {axes = array<i64: 1>, begin = array<i64: 4>, end = array<i64: 0>, strides = array<i64: -2>} : (tensor<2x5x3xf32>) -> tensor<2x2x3xf32>
  %7 = relay.pad %x {mode = "edge", padding = array<i64: 0, 1, 0, 0, 1, 0>} : (tensor<2x1x3xf32>) -> tensor<2x3x3xf32>
  %8 = relay.tile %x {reps = array<i64: 1, 2, 1>} : (tensor<2x1x3xf32>) -> tensor<2x2x3xf32>
  %9 = relay.resize %x {method = "linear", scales = array<f64: 1.000000e+00, 2.000000e+00, 2.000000e+00>, size = array<i64: 2, 2, 6>} : (tensor<2x1x3xf32>) -> tensor<2x2x6xf32>
  %10 = relay.reverse %x {axes = array<i64: 0>} : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  return
}
