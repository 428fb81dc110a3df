// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=x86-64-v4},convert-relay-to-te,te-schedule)' | FileCheck %s

// All lines that a tile reads, 32 kB apart, and all that it writes, 16 kB apart, fall on one set of the caches: tiles along the third axis,
// which go to others, follow each other.
// CHECK-LABEL: te.schedule for @both
// CHECK:         %[[A:.*]]:4 = te.axes
// CHECK:         %[[C:[a-z_0-9]+]], %[[CI:[a-z_0-9]+]] = te.split %[[A]]#1 by 16
// CHECK:         %[[I:[a-z_0-9]+]], %[[II:[a-z_0-9]+]] = te.split %[[A]]#3 by 16
// CHECK:         %[[J:[a-z_0-9]+]], %[[JI:[a-z_0-9]+]] = te.split %[[A]]#2 by 8
// CHECK:         te.reorder %[[A]]#0, %[[J]], %[[I]], %[[C]], %[[JI]], %[[CI]], %[[II]]
func.func @both(%x: tensor<1x64x64x128xf32>) -> tensor<1x128x64x64xf32> attributes {relay.primitive} {
  %0 = relay.transpose %x {axes = array<i64: 0, 3, 2, 1>} : (tensor<1x64x64x128xf32>) -> tensor<1x128x64x64xf32>
  return %0 : tensor<1x128x64x64xf32>
}

// What it reads, 512 bytes apart, falls on many.
// CHECK-LABEL: te.schedule for @one
// CHECK:         %[[A:.*]]:4 = te.axes
// CHECK:         te.reorder %[[A]]#0, %[[A]]#2, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{.*}}
func.func @one(%x: tensor<1x64x64x128xf32>) -> tensor<1x128x64x64xf32> attributes {relay.primitive} {
  %0 = relay.transpose %x {axes = array<i64: 0, 3, 1, 2>} : (tensor<1x64x64x128xf32>) -> tensor<1x128x64x64xf32>
  return %0 : tensor<1x128x64x64xf32>
}
