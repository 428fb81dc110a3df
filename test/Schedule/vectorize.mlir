// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 10 serial
// CHECK:         loop.for 24 vectorized
te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<10x24xf32>
  te.return %0 : tensor<10x24xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  te.vectorize %j
}

// -----

// Each lane of a reduction has a result of its own; what is left over goes into the first lanes, and the lanes are combined.
// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 6 serial
// CHECK:         %[[P:.*]] = loop.alloc local : memref<32xf32>
// CHECK:         loop.for 2 unrolled
// CHECK-NEXT:    ^bb0(%[[U:.*]]: index):
// CHECK-NEXT:      loop.for 16 vectorized
// CHECK-NEXT:      ^bb0(%[[V:.*]]: index):
// CHECK:             %[[S:.*]] = loop.for 31 serial iter
// CHECK:             loop.store %[[S]], %[[P]]
// CHECK:         loop.for 8 vectorized
// CHECK:           loop.load %[[P]]
// CHECK:           loop.load %arg0
// CHECK:           loop.store %{{.*}}, %[[P]]
// CHECK:         loop.for 16 vectorized
// CHECK:         loop.for 8 vectorized
// CHECK:         loop.for 4 vectorized
// CHECK:         loop.for 2 vectorized
// CHECK:         loop.load %[[P]]
// CHECK:         loop.store %{{.*}}, %arg1
te.kernel @k(%x: tensor<6x1000xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [1000] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x1000xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  te.return %0 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %ko, %kb = te.split %k by 32
  %ku, %kv = te.split %kb by 16
  te.unroll %ku
  te.vectorize %kv
}

// -----

// A reduction that accumulates in memory has no lanes: its loop runs one iteration after another.
// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 125 serial
// CHECK:         loop.for 8 serial
// CHECK:           loop.for 6 serial
// CHECK-NOT:   vectorized
te.kernel @k(%x: tensor<6x1000xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [1000] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x1000xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  te.return %0 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %ko, %kv = te.split %k by 8
  te.vectorize %kv
  te.reorder %ko, %kv, %i
}
