// RUN: fusion-opt %s --te-lower | FileCheck %s

// Boxes of 8 x 64 go to the slots in turn: one for each panel of 64 columns.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:[^:]*]]: memref<3072xf16>
// CHECK:       %[[A:.*]] = loop.alloc shared slots 2 swizzled : memref<2048xf16>
// CHECK:       loop.for 3 serial {
// CHECK-NEXT:  ^bb0(%[[I:.*]]: index):
// CHECK:         %[[ROW:.*]] = affine.apply #{{.*}}(%[[I]])
// CHECK:         loop.copy_tensor %[[X]][%[[ROW]], %{{.*}}] of [24, 128] box [8, 64] to %[[A]][%{{.*}}] : memref<3072xf16>, memref<2048xf16>
// CHECK:         loop.copy_tensor %[[X]][%{{.*}}, %{{.*}}] of [24, 128] box [8, 64] to %[[A]][%{{.*}}] : memref<3072xf16>, memref<2048xf16>
// CHECK-NOT:     loop.store %{{.*}}, %[[A]]
te.kernel @k(%x: tensor<24x128xf16>) -> tensor<24x128xf16> {
  %1 = te.compute "y" axes [24, 128] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<24x128xf16> -> f16
    %b = arith.mulf %a, %a : f16
    te.yield %b : f16
  } combine {} : tensor<24x128xf16>
  te.return %1 : tensor<24x128xf16>
}
te.schedule for @k {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  %io, %ii = te.split %i by 8
  %x = te.input 0
  %a = te.cache_read %x as "a" for %y
  te.compute_at %a, %io
  te.set_scope %a to shared
  te.transform_layout %a by affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
  te.storage_swizzle %a
  te.double_buffer %a by 2
  te.bulk_copy %a
}
