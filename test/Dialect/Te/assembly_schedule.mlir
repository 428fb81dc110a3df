// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK: #[[PANELS:.*]] = affine_map<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>
// CHECK-LABEL: te.schedule for @k {
// CHECK-NEXT:    %[[X:.*]] = te.input 0
// CHECK-NEXT:    %[[S:.*]] = te.stage "s"
// CHECK-NEXT:    %[[ACC:.*]] = te.cache_write %[[S]] as "acc"
// CHECK-NEXT:    %[[C:.*]] = te.cache_read %[[X]] as "all"
// CHECK-NEXT:    %{{.*}} = te.cache_read %[[X]] as "some" for %[[S]], %[[ACC]]
// CHECK-NEXT:    te.transform_layout %[[C]] by #[[PANELS]]
// CHECK-NEXT:    %[[A:.*]]:3 = te.axes %[[S]]
// CHECK-NEXT:    %[[R:.*]] = te.divide %[[A]]#0 at 64 as "rest"
// CHECK-NEXT:    %{{.*}} = te.recompute %[[ACC]] as "other" for %[[R]], %[[S]]
// CHECK-NEXT:    %[[O:.*]], %[[N:.*]] = te.split %[[A]]#0 by 4
// CHECK-NEXT:    %{{.*}} = te.split %[[O]] parts 3 tail guard
// CHECK-NEXT:    %{{.*}} = te.split %[[N]] by 2 tail peel
// CHECK-NEXT:    %{{.*}} = te.split %[[A]]#2 by 2 tail pad
// CHECK-NEXT:    %{{.*}} = te.tile %[[A]]#1, %[[A]]#2 by [8, 16]
// CHECK-NEXT:    te.compute_at %[[C]], %[[O]]
// CHECK-NEXT:    te.store_at %[[C]]{{$}}
// CHECK-NEXT:    te.store_at %[[C]], %[[O]]
// CHECK-NEXT:    te.reverse_compute_at %[[ACC]], %[[O]]
// CHECK-NEXT:    te.set_scope %[[C]] to shared
// CHECK-NEXT:    te.double_buffer %[[C]]
// CHECK-NEXT:    te.storage_align %[[C]] dim 0 by 16{{$}}
// CHECK-NEXT:    te.storage_align %[[C]] dim 1 by 16 offset 4
// CHECK-NEXT:    te.prefetch %[[X]], %[[N]] ahead 2
// CHECK-NEXT:    te.prefetch %[[X]], %[[O]] ahead 1 over %[[N]]
// CHECK-NEXT:    te.skip_padding %[[O]]
// CHECK-NEXT:    te.bind %[[O]] to block_x
// CHECK-NEXT:    te.bind %[[N]] to virtual_thread
// CHECK-NEXT:    te.annotate %[[N]] "hint" = [4, "four"]
// CHECK-NEXT:    te.tensorize %[[N]] with @twice
te.schedule for @k {
  %x = te.input 0
  %s = te.stage "s"
  %acc = te.cache_write %s as "acc"
  %c = te.cache_read %x as "all"
  %d = te.cache_read %x as "some" for %s, %acc
  te.transform_layout %c by affine_map<(i, j) -> (j floordiv 4, i, j mod 4)>
  %a:3 = te.axes %s : !te.axis, !te.axis, !te.axis
  %rest = te.divide %a#0 at 64 as "rest"
  %other = te.recompute %acc as "other" for %rest, %s
  %o, %n = te.split %a#0 by 4
  %p, %q = te.split %o parts 3 tail guard
  %r, %t = te.split %n by 2 tail peel
  %u, %v = te.split %a#2 by 2 tail pad
  %io, %jo, %ii, %ji = te.tile %a#1, %a#2 by [8, 16]
  te.compute_at %c, %o
  te.store_at %c
  te.store_at %c, %o
  te.reverse_compute_at %acc, %o
  te.set_scope %c to shared
  te.double_buffer %c
  te.storage_align %c dim 0 by 16
  te.storage_align %c dim 1 by 16 offset 4
  te.prefetch %x, %n ahead 2
  te.prefetch %x, %o ahead 1 over %n
  te.skip_padding %o
  te.bind %o to block_x
  te.bind %n to virtual_thread
  te.annotate %n "hint" = [4, "four"]
  te.tensorize %n with @twice
}

// CHECK-LABEL: te.intrinsic @twice computes {
// CHECK-NEXT:  ^bb0(%[[X:.*]]: tensor<4xf32>):
// CHECK:         te.return
// CHECK-NEXT:  } by {
// CHECK-NEXT:  ^bb0(%{{.*}}: memref<4xf32>, %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<4xf32>, %{{.*}}: index, %{{.*}}: index):
// CHECK:         loop.yield
te.intrinsic @twice computes {
^bb0(%x: tensor<4xf32>):
  %c = te.compute "c" axes [4] reduce [] init [] {
  ^bb0(%i: index):
    %p = te.load %x[%i] : tensor<4xf32> -> f32
    %q = arith.addf %p, %p : f32
    te.yield %q : f32
  } combine {} : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<4xf32>, %a0: index, %as: index, %c: memref<4xf32>, %c0: index, %cs: index):
  loop.yield
}

// CHECK-LABEL: te.kernel @padded
// CHECK:         %[[IN:.*]] = arith.cmpi
// CHECK-NEXT:    te.load_if %[[IN]], %arg0[%{{.*}}] else %{{.*}} : tensor<4xf32> -> f32
te.kernel @padded(%x: tensor<4xf32>) -> tensor<5xf32> {
  %0 = te.compute "y" axes [5] reduce [] init [] {
  ^bb0(%i: index):
    %n = arith.constant 4 : index
    %z = arith.constant 0.0 : f32
    %c = arith.cmpi slt, %i, %n : index
    %a = te.load_if %c, %x[%i] else %z : tensor<4xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<5xf32>
  te.return %0 : tensor<5xf32>
}
