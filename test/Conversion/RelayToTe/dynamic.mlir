// RUN: fusion-opt %s --convert-relay-to-te --split-input-file --verify-diagnostics | FileCheck %s

// Every extent has a name: those of inputs, and what follows from them. The caller passes all of them, in order.
// CHECK-LABEL: te.kernel @broadcast(
// CHECK-SAME:    tensor<?x64xf32, #relay.dims<["n0", ""]>>
// CHECK-SAME:    tensor<?x64xf32, #relay.dims<["n1", ""]>>
// CHECK-SAME:    -> tensor<?x64xf32, #relay.dims<["n2", ""]>>
// CHECK-SAME:    te.extents = ["n0", "n1", "n2"]
// CHECK:       te.compute "add" axes [-1, 64]
// CHECK:         te.extent "n0"
// CHECK:         arith.select
// CHECK:         te.load
// CHECK:         te.extent "n1"
// CHECK:       te.names = ["n2", ""]
func.func private @broadcast(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.add %x, %y : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

// A name of the program is one number: nothing broadcasts.
// CHECK-LABEL: te.kernel @named(
// CHECK:       te.compute "add" axes [-1]
// CHECK-NOT:     arith.select
// CHECK:       te.names = ["n0"]
func.func private @named(%x: tensor<?xf32, #relay.dims<["n"]>>, %y: tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.add %x, %y : (tensor<?xf32, #relay.dims<["n"]>>, tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>>
  return %0 : tensor<?xf32, #relay.dims<["n"]>>
}

// -----

// What is known of the sizes of names is known of all extents that follow: smallest, largest, what they are multiples of.
// CHECK-LABEL: te.kernel @ranges(
// CHECK-SAME:    te.extents = ["n0", "n1", "n2", "n3", "n4"]
// CHECK-SAME:    te.ranges = array<i64: 8, 64, 8, 0, 9223372036854775807, 1, 8, 9223372036854775807, 1,
func.func private @ranges(%x: tensor<?x4xf32, #relay.dims<["n", ""]>>, %y: tensor<?x4xf32, #relay.dims<["m", ""]>>) -> tensor<?x4xf32, #relay.dims<["n+m", ""]>> attributes {relay.dynamic, relay.primitive, relay.ranges = {n = {least = 8, most = 64, multiple = 8}}} {
  %0 = relay.concat %x, %y {axis = 0 : i64} : (tensor<?x4xf32, #relay.dims<["n", ""]>>, tensor<?x4xf32, #relay.dims<["m", ""]>>) -> tensor<?x4xf32, #relay.dims<["n+m", ""]>>
  return %0 : tensor<?x4xf32, #relay.dims<["n+m", ""]>>
}

// -----

// expected-error @below {{'func.func' op has relay.ranges that are none: there is no size of n that is from 9 to 15 and a multiple of 8}}
func.func private @no_size(%x: tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>> attributes {relay.dynamic, relay.primitive, relay.ranges = {n = {least = 9, most = 15, multiple = 8}}} {
  %0 = relay.relu %x : (tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>>
  return %0 : tensor<?xf32, #relay.dims<["n"]>>
}

// -----

// expected-error @below {{'func.func' op has relay.ranges that are none: n has "maximum"; a range has least, most and multiple}}
func.func private @unknown(%x: tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>> attributes {relay.dynamic, relay.primitive, relay.ranges = {n = {maximum = 9}}} {
  %0 = relay.relu %x : (tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>>
  return %0 : tensor<?xf32, #relay.dims<["n"]>>
}

// -----

// A reduction over a dynamic extent; a mean divides by it. Reshapes are views.
// CHECK-LABEL: te.kernel @mean(
// CHECK:       te.view %{{.*}} : tensor<?x6xf32, #relay.dims<["n0", ""]>> -> tensor<?x2x3xf32, #relay.dims<["n0", "", ""]>>
// CHECK:       te.compute "reduce_mean" axes [2, 3] reduce [-1]
// CHECK:       te.names = ["", "", "n0"]
// CHECK:       te.compute "mean_1"
// CHECK:         te.extent "n0"
func.func private @mean(%x: tensor<?x6xf32>) -> tensor<2x3xf32> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.reshape %x {shape = array<i64: -1, 2, 3>} : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
  %1 = relay.reduce_mean %0 {axes = array<i64: 0>} : (tensor<?x2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// A nest written by hand asks for the extents.
// CHECK-LABEL: te.kernel @sums(
// CHECK:       te.extern "cumsum"(%{{.*}}) {
// CHECK:         %[[ROWS:.*]] = te.extent "n0"
// CHECK:         loop.upto %[[ROWS]] serial {
// CHECK:           loop.for 8 serial
func.func private @sums(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.cumsum %x {axis = 1 : i64} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: te.kernel @shape(
// CHECK:       te.compute "shape_of" axes [2]
// CHECK:         te.extent "n0"
func.func private @shape(%x: tensor<?x8xf32>) -> tensor<2xi64> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.shape_of %x : (tensor<?x8xf32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

func.func private @refused(%x: tensor<?xf32>) -> tensor<8xf32> attributes {relay.dynamic, relay.primitive} {
  // expected-error @+1 {{aligns the corners of an extent that is not known}}
  %0 = relay.resize %x {coordinates = "align_corners", scales = array<f64: 2.0>, size = array<i64: 8>} : (tensor<?xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Windows over an extent that is not known read data as it is, where there is any.
// CHECK-LABEL: te.kernel @slides(
// CHECK:       te.compute "conv1d" axes [2, 4, -1] reduce [3, 3]
// CHECK:         te.extent "n0"
// CHECK:         te.load_if
func.func private @slides(%x: tensor<2x3x?xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x?xf32> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.conv1d %x, %w {padding = array<i64: 1, 1>} : (tensor<2x3x?xf32>, tensor<4x3x3xf32>) -> tensor<2x4x?xf32>
  return %0 : tensor<2x4x?xf32>
}

// -----

// Channels that have a name are those of the weight.
// CHECK-LABEL: te.kernel @channels(
// CHECK:       te.compute "conv1d" axes [2, 4, 6] reduce [3, 3]
func.func private @channels(%x: tensor<2x?x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x6xf32> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.conv1d %x, %w : (tensor<2x?x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x6xf32>
  return %0 : tensor<2x4x6xf32>
}

// -----

// CHECK-LABEL: te.kernel @spreads(
// CHECK:       te.compute "conv1d_transpose{{.*}}" axes [2, 4, 10] reduce [3, 3]
func.func private @spreads(%x: tensor<2x?x8xf32>, %w: tensor<3x4x3xf32>) -> tensor<2x4x10xf32> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.conv1d_transpose %x, %w : (tensor<2x?x8xf32>, tensor<3x4x3xf32>) -> tensor<2x4x10xf32>
  return %0 : tensor<2x4x10xf32>
}

// -----

func.func private @pads(%x: tensor<?x3xf32>) -> tensor<?x3xf32> attributes {relay.dynamic, relay.primitive} {
  // expected-error @+1 {{pads an extent that is not known in the mode wrap}}
  %0 = relay.pad %x {mode = "wrap", padding = array<i64: 1, 0, 1, 0>} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// A model has no kernels for all sizes, since its memory is planned.
func.func private @of_a_model(%x: tensor<?xf32>) -> tensor<?xf32> attributes {relay.primitive} {
  // expected-error @+1 {{compiling a kernel needs every extent; give the shapes of the model's inputs}}
  %0 = relay.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A line may have fewer elements than are wanted of it: all places of the list are given a value before the first of them are filled.
// CHECK-LABEL: te.kernel @topk(
// CHECK:         loop.for 3 serial
// CHECK:           %[[EMPTY:.*]] = arith.constant -1 : i64
// CHECK:           loop.store %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:      loop.store %[[EMPTY]], %{{.*}} : i64
// CHECK:         %[[FILLED:.*]] = arith.minsi
// CHECK:         loop.upto %[[FILLED]] serial
func.func private @topk(%x: tensor<?xf32>) -> (tensor<3xf32>, tensor<3xi64>) attributes {relay.dynamic, relay.primitive} {
  %0:2 = relay.topk %x {k = 3 : i64} : (tensor<?xf32>) -> (tensor<3xf32>, tensor<3xi64>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xi64>
}

// -----

// All of a line whose extent has a name: a heap, whose levels follow from that.
// CHECK-LABEL: te.kernel @sorted(
// CHECK:         %[[LEVELS:.*]]:2 = loop.for 40 serial iter
// CHECK:         loop.upto %{{.*}} serial
// CHECK:           loop.upto %[[LEVELS]]#0 serial iter
func.func private @sorted(%x: tensor<?xf32, #relay.dims<["n"]>>) -> (tensor<?xf32, #relay.dims<["n"]>>, tensor<?xi64, #relay.dims<["n"]>>) attributes {relay.dynamic, relay.primitive} {
  %0:2 = relay.topk %x {k = #relay.dim<"n">} : (tensor<?xf32, #relay.dims<["n"]>>) -> (tensor<?xf32, #relay.dims<["n"]>>, tensor<?xi64, #relay.dims<["n"]>>)
  return %0#0, %0#1 : tensor<?xf32, #relay.dims<["n"]>>, tensor<?xi64, #relay.dims<["n"]>>
}
