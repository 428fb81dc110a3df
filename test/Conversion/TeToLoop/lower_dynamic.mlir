// RUN: fusion-opt %s --convert-relay-to-te --te-lower --split-input-file | FileCheck %s

// Blocks of rows are shared by threads; the last axis runs in vectors, and what is left one by one.
// CHECK-LABEL: func.func @twice(
// CHECK-SAME:    %[[EXTENTS:.*]]: memref<1xi64>
// CHECK-SAME:    loop.temporaries = []
// CHECK:       %[[N:.*]] = arith.index_cast
// CHECK:       loop.upto %{{.*}} parallel {
// CHECK:         loop.upto %{{.*}} serial {
// CHECK:           loop.for 16 vectorized {
// CHECK:             loop.load
// CHECK:             loop.store
// CHECK:         loop.upto %{{.*}} serial {
// CHECK:           loop.load
func.func private @twice(%x: tensor<?xf32>) -> tensor<?xf32> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.add %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A multiple of a vector's elements leaves nothing over, and an extent below that has no vectors.
// CHECK-LABEL: func.func @columns(
// CHECK:           loop.for 16 vectorized {
// CHECK-NOT:       loop.store
// CHECK:           loop.store
// CHECK-NOT:       loop.store
// CHECK:         return
func.func private @columns(%x: tensor<4x?xf32, #relay.dims<["", "n"]>>) -> tensor<4x?xf32, #relay.dims<["", "n"]>> attributes {relay.dynamic, relay.primitive, relay.ranges = {n = {multiple = 32}}} {
  %0 = relay.add %x, %x : (tensor<4x?xf32, #relay.dims<["", "n"]>>, tensor<4x?xf32, #relay.dims<["", "n"]>>) -> tensor<4x?xf32, #relay.dims<["", "n"]>>
  return %0 : tensor<4x?xf32, #relay.dims<["", "n"]>>
}

// CHECK-LABEL: func.func @narrow(
// CHECK-NOT:     vectorized
// CHECK:         return
func.func private @narrow(%x: tensor<4x?xf32, #relay.dims<["", "n"]>>) -> tensor<4x?xf32, #relay.dims<["", "n"]>> attributes {relay.dynamic, relay.primitive, relay.ranges = {n = {most = 15}}} {
  %0 = relay.add %x, %x : (tensor<4x?xf32, #relay.dims<["", "n"]>>, tensor<4x?xf32, #relay.dims<["", "n"]>>) -> tensor<4x?xf32, #relay.dims<["", "n"]>>
  return %0 : tensor<4x?xf32, #relay.dims<["", "n"]>>
}

// -----

// What is used once is computed where it is used; what is used twice is a temporary. The sum lies where the greatest element was.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    loop.temporaries = [tensor<?x8xf32, #relay.dims<["n0", ""]>>, tensor<?xf32, #relay.dims<["n0"]>>, tensor<?x8xf32, #relay.dims<["n0", ""]>>]
// CHECK-COUNT-5: parallel {
// CHECK-NOT:   parallel {
func.func private @softmax(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = relay.softmax %0 : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = relay.tanh %1 : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// -----

// A product whose rows are contiguous along the sum: tiles of four rows and four columns, then what is left.
// CHECK-LABEL: func.func @dense(
// CHECK:       loop.upto %{{.*}} parallel {
// CHECK:         loop.for 2 serial {
// CHECK:           loop.upto %{{.*}} serial {
// CHECK:             loop.for 4 unrolled {
// CHECK:               loop.for 4 unrolled {
// CHECK:                 loop.for 64 serial iter(
// CHECK:         loop.upto %{{.*}} serial {
func.func private @dense(%x: tensor<?x64xf32>, %w: tensor<8x64xf32>) -> tensor<?x8xf32> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.dense %x, %w : (tensor<?x64xf32>, tensor<8x64xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// Along the columns of the result: vectors of them.
// CHECK-LABEL: func.func @matmul(
// CHECK:             loop.for 4 unrolled {
// CHECK:               loop.for 2 unrolled {
// CHECK:                 loop.for 16 vectorized {
// CHECK:                   loop.upto %{{.*}} serial iter(
func.func private @matmul(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.matmul %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Any number of images: along a row of the result the data is contiguous, so there are vectors, and a shorter one for what is left. The padded
// data is a temporary.
// CHECK-LABEL: func.func @conv(
// CHECK-SAME:    loop.temporaries = [tensor<?x3x8x26xf32, #relay.dims<["n0", "", "", ""]>>]
// CHECK:       loop.for 16 vectorized {
// CHECK:         loop.for 3 serial iter(
// CHECK:       loop.for 8 vectorized {
func.func private @conv(%x: tensor<?x3x6x24xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<?x4x6x24xf32> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x3x6x24xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x6x24xf32>
  return %0 : tensor<?x4x6x24xf32>
}

// -----

// A nest written by hand is put in place; what it asks for are the extents that the caller passes. What it updates is copied first.
// CHECK-LABEL: func.func @writes(
// CHECK:       %[[N:.*]] = arith.index_cast
// CHECK-NOT:   te.extent
// CHECK:       loop.upto %{{.*}} serial {
// CHECK:         loop.store
// CHECK:       loop.for 2 serial {
// CHECK-NOT:   te.extent
func.func private @writes(%x: tensor<?xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) -> tensor<?xf32> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.scatter_nd %x, %i, %u {reduction = "add"} : (tensor<?xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
