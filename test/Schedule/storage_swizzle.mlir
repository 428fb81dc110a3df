// RUN: fusion-opt %s --te-lower | FileCheck %s

// 240 elements of 4 bytes are made up to whole 1024 bytes; indices stay as they are.
// CHECK-LABEL: func.func private @k(
// CHECK:       %[[A:.*]] = loop.alloc shared swizzled : memref<256xf32>
// CHECK:       loop.store %{{.*}}, %[[A]][%{{.*}}] : f32, memref<256xf32>
te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "a" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  %1 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  te.return %1 : tensor<10x24xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  %io, %ii = te.split %i by 10
  te.bind %io to block_x
  %a = te.stage "a"
  te.compute_at %a, %io
  te.set_scope %a to shared
  te.storage_swizzle %a
}
