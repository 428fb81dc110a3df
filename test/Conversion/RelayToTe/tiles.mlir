// RUN: fusion-opt %s --convert-relay-to-te --split-input-file | FileCheck %s

// Rows where they lie, 4 at a time; of what is left, 3 rows go into a tile of 4, fewer run one by one.
// CHECK:       func.func private @tile_fill_2_f32(
// CHECK-LABEL: te.kernel @rows(
// CHECK:       te.extern "tiles"
// CHECK:         %[[N:.*]] = te.extent "n0"
// CHECK:         loop.upto
// CHECK:           %[[X:.*]] = memref.extract_aligned_pointer_as_index
// CHECK:           func.call @tile_4(
// CHECK:         arith.cmpi
// CHECK:         loop.guard
// CHECK:           func.call @tile_fill_2_f32(
// CHECK:           func.call @tile_4(
// CHECK:           func.call @tile_give_2_f32(
// CHECK:         loop.upto
// CHECK:           func.call @tile_1(
// CHECK-NOT:   te.compute
// CHECK:       te.return
func.func private @tile_4(index, index, index)
func.func private @tile_1(index, index, index)
func.func private @rows(%x: tensor<?x8xf32, #relay.dims<["n", ""]>>) -> tensor<?x8xf32, #relay.dims<["n", ""]>> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.exp %x {relay.tile = 0 : i64, relay.tile_versions = [
    {nanoseconds = 40 : i64, parts = 1 : i64, sizes = [4 : i64], symbol = "tile_4", workspace = 0 : i64},
    {nanoseconds = 15 : i64, parts = 1 : i64, sizes = [1 : i64], symbol = "tile_1", workspace = 64 : i64}]}
    : (tensor<?x8xf32, #relay.dims<["n", ""]>>) -> tensor<?x8xf32, #relay.dims<["n", ""]>>
  return %0 : tensor<?x8xf32, #relay.dims<["n", ""]>>
}

// -----

// What is marked and was not compiled is defined as ever.
// CHECK-LABEL: te.kernel @not_compiled(
// CHECK:       te.compute "exp"
func.func private @not_compiled(%x: tensor<?x8xf32, #relay.dims<["n", ""]>>) -> tensor<?x8xf32, #relay.dims<["n", ""]>> attributes {relay.dynamic, relay.primitive} {
  %0 = relay.exp %x {relay.tile = 0 : i64} : (tensor<?x8xf32, #relay.dims<["n", ""]>>) -> tensor<?x8xf32, #relay.dims<["n", ""]>>
  return %0 : tensor<?x8xf32, #relay.dims<["n", ""]>>
}
