// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// The neutral elements are stored first; then the declared body adds to the result, with the distances of the tensors:
// rows of 32, neighbours side by side.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1) -> (d0 * 24 + d1 * 8)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1) -> (d0 * 4 + d1 * 256)>
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 6 serial
// CHECK:         loop.for 8 serial
// CHECK:           loop.for 4 serial
// CHECK:             loop.store %{{.*}}, %[[Y:.*]][%{{.*}}]
// CHECK:           loop.for 3 serial
// CHECK:             %[[A0:.*]] = affine.apply #[[A]]
// CHECK:             %[[ONE:.*]] = arith.constant 1 : index
// CHECK:             %[[B0:.*]] = affine.apply #[[B]]
// CHECK:             %[[ROW:.*]] = arith.constant 32 : index
// CHECK:             loop.for 4 serial
// CHECK:               %[[OLD:.*]] = loop.load %[[Y]]
// CHECK:               loop.for 8 unrolled iter(%[[OLD]] : f32)
// CHECK-NOT:   te.intrinsic
te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  te.tensorize %ji with @dot
}

// -----

// What a split leaves over keeps its loops.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 6 serial
// CHECK:         loop.for 8 unrolled iter
// CHECK:         loop.for 4 serial
// CHECK-NOT:     unrolled
// CHECK:       return
te.kernel @k(%x: tensor<6x12xf32>, %w: tensor<12x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [12] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x12xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<12x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  te.tensorize %ji with @dot
}

// -----

// Factors are the same in either order.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 8 unrolled iter
// CHECK-NOT:   te.intrinsic
te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %b, %a : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  te.tensorize %ji with @dot
}
