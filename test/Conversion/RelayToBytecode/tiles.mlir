// RUN: fusion-opt %s --relay-outline-kernels --split-input-file | FileCheck %s

// Rows of any number of dimensions: what computes each row by itself is one tile, also behind a view.
// CHECK-LABEL: func.func private @kernel_0(
// CHECK:         relay.dense %arg0, %{{.*}} {relay.tile = 0 : i64}
// CHECK:         relay.relu %{{.*}} {relay.tile = 0 : i64}
// CHECK:         relay.reshape %{{.*}} {relay.tile = 0 : i64
// CHECK:         relay.softmax %{{.*}} relay.tile = 0 : i64
func.func @rows(%x: tensor<?x?x8xf32, #relay.dims<["b", "s", ""]>>) -> tensor<?x?x2x2xf32, #relay.dims<["b", "s", "", ""]>> {
  %w = relay.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<4x8xf32>
  %0 = relay.dense %x, %w : (tensor<?x?x8xf32, #relay.dims<["b", "s", ""]>>, tensor<4x8xf32>) -> tensor<?x?x4xf32, #relay.dims<["b", "s", ""]>>
  %1 = relay.relu %0 : (tensor<?x?x4xf32, #relay.dims<["b", "s", ""]>>) -> tensor<?x?x4xf32, #relay.dims<["b", "s", ""]>>
  %2 = relay.reshape %1 {shape = #relay.dims<["b", "s", "2", "2"]>} : (tensor<?x?x4xf32, #relay.dims<["b", "s", ""]>>) -> tensor<?x?x2x2xf32, #relay.dims<["b", "s", "", ""]>>
  %3 = relay.softmax %2 {axis = -1 : i64} : (tensor<?x?x2x2xf32, #relay.dims<["b", "s", "", ""]>>) -> tensor<?x?x2x2xf32, #relay.dims<["b", "s", "", ""]>>
  return %3 : tensor<?x?x2x2xf32, #relay.dims<["b", "s", "", ""]>>
}

// -----

// A softmax over the rows needs all of them, and so does a product of two sequences: they are in no tile.
// CHECK-LABEL: func.func private @kernel_0(
// CHECK:         relay.dense %{{.*}} {relay.tile = 0 : i64}
// CHECK:         relay.softmax
// CHECK-NOT:     relay.tile
// CHECK:         relay.matmul
// CHECK-NOT:     relay.tile
// CHECK:         return
func.func @across_rows(%x: tensor<?x8xf32, #relay.dims<["n", ""]>>, %w: tensor<4x8xf32>) -> tensor<?x?xf32, #relay.dims<["n", "n"]>> {
  %0 = relay.dense %x, %w : (tensor<?x8xf32, #relay.dims<["n", ""]>>, tensor<4x8xf32>) -> tensor<?x4xf32, #relay.dims<["n", ""]>>
  %1 = relay.softmax %0 {axis = 0 : i64} : (tensor<?x4xf32, #relay.dims<["n", ""]>>) -> tensor<?x4xf32, #relay.dims<["n", ""]>>
  %2 = relay.transpose %1 {axes = array<i64: 1, 0>} : (tensor<?x4xf32, #relay.dims<["n", ""]>>) -> tensor<4x?xf32, #relay.dims<["", "n"]>>
  %3 = relay.matmul %1, %2 : (tensor<?x4xf32, #relay.dims<["n", ""]>>, tensor<4x?xf32, #relay.dims<["", "n"]>>) -> tensor<?x?xf32, #relay.dims<["n", "n"]>>
  return %3 : tensor<?x?xf32, #relay.dims<["n", "n"]>>
}

// -----

// A convolution of images of any size, with the elementwise operators that its result alone goes through.
// CHECK-LABEL: func.func private @kernel_0(
// CHECK:         relay.conv2d %{{.*}} relay.tile = 0 : i64
// CHECK:         relay.add %{{.*}} {relay.tile = 0 : i64}
// CHECK:         relay.relu %{{.*}} {relay.tile = 0 : i64}
// CHECK:         relay.reduce_sum
// CHECK-NOT:     relay.tile
// CHECK:         return
func.func @windows(%x: tensor<1x3x?x?xf32, #relay.dims<["", "", "h", "w"]>>, %w: tensor<4x3x3x3xf32>, %b: tensor<4x1x1xf32>) -> tensor<1x4x?xf32, #relay.dims<["", "", "h"]>> {
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x3x?x?xf32, #relay.dims<["", "", "h", "w"]>>, tensor<4x3x3x3xf32>) -> tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>
  %1 = relay.add %0, %b : (tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>, tensor<4x1x1xf32>) -> tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>
  %2 = relay.relu %1 : (tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>) -> tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>
  %3 = relay.reduce_sum %2 {axes = array<i64: 3>, keepdims = false} : (tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>) -> tensor<1x4x?xf32, #relay.dims<["", "", "h"]>>
  return %3 : tensor<1x4x?xf32, #relay.dims<["", "", "h"]>>
}

// -----

// A step of a recurrent operator: the product waits for the step's data, so that both are one tile.
// CHECK-LABEL: func.func private @kernel_0(
// CHECK:         relay.gather
// CHECK-NOT:     relay.tile
// CHECK:         relay.dense %{{.*}} {relay.tile = 0 : i64}
// CHECK:         relay.add %{{.*}} {relay.tile = 0 : i64}
// CHECK:         relay.tanh %{{.*}} {relay.tile = 0 : i64}
func.func @step(%x: tensor<?x?x4xf32, #relay.dims<["time", "batch", ""]>>, %i: tensor<i64>, %h: tensor<?x4xf32, #relay.dims<["batch", ""]>>, %w: tensor<4x4xf32>) -> tensor<?x4xf32, #relay.dims<["batch", ""]>> {
  %0 = relay.gather %x, %i {axis = 0 : i64} : (tensor<?x?x4xf32, #relay.dims<["time", "batch", ""]>>, tensor<i64>) -> tensor<?x4xf32, #relay.dims<["batch", ""]>>
  %1 = relay.dense %h, %w : (tensor<?x4xf32, #relay.dims<["batch", ""]>>, tensor<4x4xf32>) -> tensor<?x4xf32, #relay.dims<["batch", ""]>>
  %2 = relay.add %0, %1 : (tensor<?x4xf32, #relay.dims<["batch", ""]>>, tensor<?x4xf32, #relay.dims<["batch", ""]>>) -> tensor<?x4xf32, #relay.dims<["batch", ""]>>
  %3 = relay.tanh %2 : (tensor<?x4xf32, #relay.dims<["batch", ""]>>) -> tensor<?x4xf32, #relay.dims<["batch", ""]>>
  return %3 : tensor<?x4xf32, #relay.dims<["batch", ""]>>
}

// -----

// A weight of few features does not look as if it had rows.
// CHECK-LABEL: func.func private @kernel_0(
// CHECK:         relay.dense %{{.*}} {relay.tile = 0 : i64}
func.func @two_features(%x: tensor<?x8xf32, #relay.dims<["n", ""]>>, %w: tensor<2x8xf32>) -> tensor<?x2xf32, #relay.dims<["n", ""]>> {
  %0 = relay.dense %x, %w : (tensor<?x8xf32, #relay.dims<["n", ""]>>, tensor<2x8xf32>) -> tensor<?x2xf32, #relay.dims<["n", ""]>>
  return %0 : tensor<?x2xf32, #relay.dims<["n", ""]>>
}

// -----

// What makes a weight of constants is a part of the tile that multiplies it, and no kernel by itself.
// CHECK-LABEL: func.func @weight_of_few_bits
// CHECK:         call @kernel_0(%arg0)
// CHECK-NOT:     call
// CHECK-LABEL: func.func private @kernel_0
// CHECK:         relay.cast {{.*}} {dtype = f32, relay.tile = 0 : i64}
// CHECK:         relay.mul {{.*}} {relay.tile = 0 : i64}
// CHECK:         relay.dense {{.*}} {relay.tile = 0 : i64}
func.func @weight_of_few_bits(%x: tensor<?x64xf32, #relay.dims<["n", ""]>>) -> tensor<?x32xf32, #relay.dims<["n", ""]>> {
  %q = relay.constant dense<3> : tensor<32x64xi8>
  %s = relay.constant dense<0.5> : tensor<32x1xf32>
  %f = relay.cast %q {dtype = f32} : (tensor<32x64xi8>) -> tensor<32x64xf32>
  %w = relay.mul %f, %s : (tensor<32x64xf32>, tensor<32x1xf32>) -> tensor<32x64xf32>
  %y = relay.dense %x, %w : (tensor<?x64xf32, #relay.dims<["n", ""]>>, tensor<32x64xf32>) -> tensor<?x32xf32, #relay.dims<["n", ""]>>
  return %y : tensor<?x32xf32, #relay.dims<["n", ""]>>
}
