// RUN: fusion-opt %s --split-input-file | fusion-opt --split-input-file | FileCheck %s

// Extents of results are expressions of those of operands, in whatever form they are written.
// CHECK-LABEL: func.func @expressions(
// CHECK:       relay.concat {{.*}} -> tensor<?x64xf32, #relay.dims<["2*n", ""]>>
// CHECK:       relay.slice {{.*}} -> tensor<?x64xf32, #relay.dims<["max(0, n+n-1)", ""]>>
// CHECK:       relay.pad {{.*}} -> tensor<?x64xf32, #relay.dims<["n+3", ""]>>
// CHECK:       relay.tile {{.*}} -> tensor<?x64xf32, #relay.dims<["3*n", ""]>>
func.func @expressions(%x: tensor<?x64xf32, #relay.dims<["n", ""]>>) -> tensor<?x64xf32, #relay.dims<["3*n", ""]>> {
  %0 = relay.concat %x, %x {axis = 0 : i64} : (tensor<?x64xf32, #relay.dims<["n", ""]>>, tensor<?x64xf32, #relay.dims<["n", ""]>>) -> tensor<?x64xf32, #relay.dims<["2*n", ""]>>
  %1 = relay.slice %0 {begin = array<i64: 1>, end = array<i64: 9223372036854775807>} : (tensor<?x64xf32, #relay.dims<["2*n", ""]>>) -> tensor<?x64xf32, #relay.dims<["max(0, n+n-1)", ""]>>
  %2 = relay.pad %x {padding = array<i64: 1, 0, 2, 0>} : (tensor<?x64xf32, #relay.dims<["n", ""]>>) -> tensor<?x64xf32, #relay.dims<["n+3", ""]>>
  %3 = relay.tile %x {reps = array<i64: 3, 1>} : (tensor<?x64xf32, #relay.dims<["n", ""]>>) -> tensor<?x64xf32, #relay.dims<["3*n", ""]>>
  return %3 : tensor<?x64xf32, #relay.dims<["3*n", ""]>>
}

// -----

// The windows of a strided convolution.
// CHECK-LABEL: func.func @windows(
// CHECK:       -> tensor<1x8x?xf32, #relay.dims<["", "", "(h+1) floordiv 2"]>>
func.func @windows(%x: tensor<1x4x?xf32, #relay.dims<["", "", "h"]>>, %w: tensor<8x4x3xf32>) -> tensor<1x8x?xf32, #relay.dims<["", "", "(h+1) floordiv 2"]>> {
  %0 = relay.conv1d %x, %w {strides = array<i64: 2>, padding = array<i64: 1, 1>} : (tensor<1x4x?xf32, #relay.dims<["", "", "h"]>>, tensor<8x4x3xf32>) -> tensor<1x8x?xf32, #relay.dims<["", "", "(h+1) floordiv 2"]>>
  return %0 : tensor<1x8x?xf32, #relay.dims<["", "", "(h+1) floordiv 2"]>>
}

// -----

// Attributes that are extents. What is left over by -1 is a quotient without a rest.
// CHECK-LABEL: func.func @attributes(
// CHECK:       relay.reshape %{{.*}} {shape = #relay.dims<["n", "8", "64"]>}
// CHECK:       relay.reshape %{{.*}} {shape = array<i64: -1, 64>} : {{.*}} -> tensor<?x64xf32, #relay.dims<["8*n", ""]>>
// CHECK:       relay.arange {dtype = f32, size = #relay.dim<"2*n">} : () -> tensor<?xf32, #relay.dims<["2*n"]>>
func.func @attributes(%x: tensor<?x512xf32, #relay.dims<["n", ""]>>) -> tensor<?xf32, #relay.dims<["2*n"]>> {
  %0 = relay.reshape %x {shape = #relay.dims<["n", "8", "64"]>} : (tensor<?x512xf32, #relay.dims<["n", ""]>>) -> tensor<?x8x64xf32, #relay.dims<["n", "", ""]>>
  %1 = relay.reshape %0 {shape = array<i64: -1, 64>} : (tensor<?x8x64xf32, #relay.dims<["n", "", ""]>>) -> tensor<?x64xf32, #relay.dims<["8*n", ""]>>
  %2 = relay.arange {size = #relay.dim<"2*n">, dtype = f32} : () -> tensor<?xf32, #relay.dims<["2*n"]>>
  return %2 : tensor<?xf32, #relay.dims<["2*n"]>>
}
