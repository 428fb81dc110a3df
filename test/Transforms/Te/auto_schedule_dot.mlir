// RUN: fusion-opt %s --fusion-attach-target='name=znver4' --te-schedule | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target='name=znver4' --te-schedule --te-lower | FileCheck %s --check-prefix=LOOPS
// RUN: fusion-opt %s --te-schedule | FileCheck %s --check-prefix=NONE

// Products of integers of 8 bits are summed four at a time, of panels that have the four factors of a lane together.
// CHECK-DAG:   #[[PANEL:.*]] = affine_map<(d0, d1) -> (d1 floordiv 48, d0 floordiv 4, d1 mod 48, d0 mod 4)>
// CHECK-LABEL: te.schedule for @product
// CHECK:         %[[Y:.*]] = te.stage "matmul"
// CHECK:         %[[AXES:.*]]:3 = te.axes %[[Y]]
// CHECK:         te.vectorize
// CHECK:         te.transform_layout {{.*}} by #[[PANEL]]
// CHECK:         %{{.*}}, %[[FOUR:.*]] = te.split %[[AXES]]#2 by 4
// CHECK:         te.tensorize %[[FOUR]] with @dot4_ui8_i8

// Sums are values that loops carry.
// LOOPS-LABEL: func.func private @product(
// LOOPS:         loop.for 16 serial iter(%{{.*}} : i32) {
// LOOPS:         ^bb0(%{{.*}}: index, %[[SUM:.*]]: i32):
// LOOPS:           %[[A:.*]] = loop.load_packed
// LOOPS:           %[[B:.*]] = loop.load_packed
// LOOPS:           %[[NEXT:.*]] = loop.dot4add %[[SUM]], unsigned %[[A]], %[[B]] : i32
// LOOPS:           loop.yield %[[NEXT]] : i32

// A target without such an instruction widens them.
// NONE-LABEL: te.schedule for @product
// NONE-NOT:     te.tensorize
te.kernel @product(%x: tensor<32x64xui8>, %w: tensor<64x48xi8>) -> tensor<32x48xi32> {
  %0 = te.compute "matmul" axes [32, 48] reduce [64] init [0 : i32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<32x64xui8> -> i8
    %b = te.load %w[%k, %j] : tensor<64x48xi8> -> i8
    %wide_a = arith.extui %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %c = arith.muli %wide_a, %wide_b : i32
    te.yield %c : i32
  } combine {
  ^bb0(%p: i32, %q: i32):
    %m = arith.addi %p, %q : i32
    te.yield %m : i32
  } : tensor<32x48xi32>
  te.return %0 : tensor<32x48xi32>
}
