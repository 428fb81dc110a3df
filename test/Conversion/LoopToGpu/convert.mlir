// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-loop-to-gpu)' --split-input-file | FileCheck %s

// Two nests are two launches, in their order.
// CHECK:       gpu.module @k_gpu {
// CHECK:         gpu.func @k_0(
// CHECK-SAME:      kernel
// CHECK-SAME:      known_block_size = array<i32: 32, 1, 1>
// CHECK-SAME:      known_grid_size = array<i32: 6, 1, 1>
// CHECK:           gpu.thread_id
// CHECK:           gpu.block_id
// CHECK:           gpu.return
// CHECK:         gpu.func @k_1(
// CHECK-SAME:      known_grid_size = array<i32: 1, 1, 1>
// CHECK:           scf.for
// CHECK:       func.func private @k_launch_0(memref<192xf32>, memref<192xf32>) attributes
// CHECK-SAME:    fusion.launch = {block = array<i64: 32, 1, 1>, grid = array<i64: 6, 1, 1>, kernel = "k_0", module = "k_gpu", shared = 0 : i64}
// CHECK:       func.func private @k_launch_1
// CHECK:       func.func @k(
// CHECK:         call @k_launch_0
// CHECK-NEXT:    call @k_launch_1
// CHECK-NEXT:    return
func.func @k(%x: memref<192xf32>, %y: memref<192xf32>) attributes {loop.kernel} {
  loop.for 6 block_x {
  ^bb0(%b: index):
    loop.for 32 thread_x {
    ^bb0(%t: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%b, %t)
      %a = loop.load %x[%i] : memref<192xf32> -> f32
      loop.store %a, %y[%i] : f32, memref<192xf32>
      loop.yield
    }
    loop.yield
  }
  loop.for 192 serial {
  ^bb0(%i: index):
    %a = loop.load %y[%i] : memref<192xf32> -> f32
    %b = arith.addf %a, %a : f32
    loop.store %b, %y[%i] : f32, memref<192xf32>
    loop.yield
  }
  return
}

// -----

// A loop of fewer iterations than there are threads is for some of them. Buffers become parameters: of the block, of a thread.
// CHECK:       gpu.func @k_0(%{{.*}}: memref<64xf32> {llvm.align = 16 : i64})
// CHECK-SAME:    workgroup(%[[S:.*]] : memref<32xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK-SAME:    private(%{{.*}} : memref<2xf32, #gpu.address_space<private>>)
// CHECK:         gpu.thread_id
// CHECK:         %[[BELOW:.*]] = arith.cmpi
// CHECK:         scf.if %[[BELOW]]
// CHECK:           memref.store %{{.*}}, %[[S]]
// CHECK:         gpu.barrier
// CHECK:       shared = 128 : i64
func.func @k(%y: memref<64xf32>) attributes {loop.kernel} {
  %one = arith.constant 1.0 : f32
  loop.for 2 block_x {
  ^bb0(%b: index):
    %s = loop.alloc shared : memref<32xf32>
    loop.for 32 thread_x {
    ^bb0(%t: index):
      loop.store %one, %s[%t] : f32, memref<32xf32>
      loop.yield
    }
    loop.barrier
    loop.for 64 thread_x {
    ^bb0(%t: index):
      %p = loop.alloc local : memref<2xf32>
      %half = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%t)
      %zero = arith.constant 0 : index
      %a = loop.load %s[%half] : memref<32xf32> -> f32
      loop.store %a, %p[%zero] : f32, memref<2xf32>
      %c = loop.load %p[%zero] : memref<2xf32> -> f32
      loop.store %c, %y[%t] : f32, memref<64xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// What is no kernel stays as it is.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    return
// CHECK-NOT:   gpu.module
func.func @main(%x: memref<4xf32>) {
  return
}
