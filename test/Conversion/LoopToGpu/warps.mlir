// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-bind-warps{warp=32}))' --split-input-file | FileCheck %s

// CHECK-LABEL: @whole
// CHECK:       loop.for 4 thread_y
// CHECK-NEXT:  ^bb0(%[[W:.*]]: index):
// CHECK-NEXT:    loop.for 32 thread_x
// CHECK-NEXT:    ^bb0(%[[L:.*]]: index):
// CHECK-NEXT:      affine.apply #{{.*}}(%[[W]], %[[L]])
// CHECK-NOT:       loop.guard
func.func @whole(%x: memref<128xf32>, %y: memref<128xf32>) attributes {loop.kernel} {
  loop.for 4 warp {
  ^bb0(%w: index):
    loop.for 32 lane {
    ^bb0(%l: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%w, %l)
      %a = loop.load %x[%i] : memref<128xf32> -> f32
      loop.store %a, %y[%i] : f32, memref<128xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Warps are whole also where there are fewer iterations than lanes.
// CHECK-LABEL: @fewer
// CHECK:       loop.for 4 thread_y
// CHECK:         loop.for 32 thread_x
// CHECK-NEXT:    ^bb0(%[[L:.*]]: index):
// CHECK-NEXT:      %[[N:.*]] = arith.constant 24 : index
// CHECK-NEXT:      %[[IN:.*]] = arith.cmpi slt, %[[L]], %[[N]]
// CHECK:           loop.guard %[[IN]]
// CHECK:             loop.store
// CHECK-NEXT:        loop.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.yield
func.func @fewer(%x: memref<96xf32>, %y: memref<96xf32>) attributes {loop.kernel} {
  loop.for 4 warp {
  ^bb0(%w: index):
    loop.for 24 lane {
    ^bb0(%l: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 24 + d1)>(%w, %l)
      %a = loop.load %x[%i] : memref<96xf32> -> f32
      loop.store %a, %y[%i] : f32, memref<96xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// One lane does what is said of a warp alone, so that nothing is written twice.
// CHECK-LABEL: @no_lanes
// CHECK:       loop.for 4 thread_y
// CHECK:         %[[L:.*]] = loop.thread_index 32 thread_x
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         %[[FIRST:.*]] = arith.cmpi slt, %[[L]], %[[ONE]]
// CHECK:         loop.guard %[[FIRST]]
// CHECK:           loop.store
func.func @no_lanes(%y: memref<4xf32>) attributes {loop.kernel} {
  loop.for 4 warp {
  ^bb0(%w: index):
    %a = loop.load %y[%w] : memref<4xf32> -> f32
    %b = arith.addf %a, %a : f32
    loop.store %b, %y[%w] : f32, memref<4xf32>
    loop.yield
  }
  return
}

// -----

// What lanes combine, a row of threads combines.
// CHECK-LABEL: @sum
// CHECK:       loop.thread_index 32 thread_x
// CHECK:       loop.all_reduce 32 thread_x
func.func @sum(%x: memref<128xf32>, %y: memref<4xf32>) attributes {loop.kernel} {
  loop.for 4 warp {
  ^bb0(%w: index):
    %l = loop.thread_index 32 lane
    %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%w, %l)
    %a = loop.load %x[%i] : memref<128xf32> -> f32
    %scratch = loop.alloc shared : memref<32xf32>
    %s = loop.all_reduce 32 lane(%a : f32) by(%scratch : memref<32xf32>) {
    ^bb0(%p: f32, %q: f32):
      %m = arith.addf %p, %q : f32
      loop.yield %m : f32
    } -> f32
    %zero = arith.constant 0 : index
    %first = arith.cmpi eq, %l, %zero : index
    loop.guard %first {
      loop.store %s, %y[%w] : f32, memref<4xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// A warp by itself needs no loop over warps.
// CHECK-LABEL: @one_warp
// CHECK:       loop.thread_index 32 thread_x
// CHECK:       loop.all_reduce 32 thread_x
func.func @one_warp(%x: memref<32xf32>, %y: memref<1xf32>) attributes {loop.kernel} {
  %l = loop.thread_index 32 lane
  %a = loop.load %x[%l] : memref<32xf32> -> f32
  %scratch = loop.alloc shared : memref<32xf32>
  %s = loop.all_reduce 32 lane(%a : f32) by(%scratch : memref<32xf32>) {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    loop.yield %m : f32
  } -> f32
  %zero = arith.constant 0 : index
  %first = arith.cmpi eq, %l, %zero : index
  loop.guard %first {
    loop.store %s, %y[%zero] : f32, memref<1xf32>
    loop.yield
  }
  return
}

// -----

// Threads stay as they are.
// CHECK-LABEL: @threads
// CHECK:       loop.for 48 thread_x
// CHECK-NOT:     loop.guard
func.func @threads(%y: memref<48xf32>) attributes {loop.kernel} {
  %zero = arith.constant 0.0 : f32
  loop.for 48 thread_x {
  ^bb0(%t: index):
    loop.store %zero, %y[%t] : f32, memref<48xf32>
    loop.yield
  }
  return
}
