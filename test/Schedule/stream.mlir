// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// The argument says so; the loops are as without.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:      %arg0: memref<64xf32> {llvm.noalias},
// CHECK-SAME:      %arg1: memref<64xf32> {llvm.noalias, loop.streamed = true})
// CHECK:         loop.for 64 serial
// CHECK:           loop.store %{{.*}}, %arg1[%{{.*}}] : f32, memref<64xf32>
te.kernel @k(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = te.compute "y" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<64xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<64xf32>
  te.return %0 : tensor<64xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  te.stream %y
}

// -----

// One of two results.
// CHECK-LABEL: func.func private @two(
// CHECK-SAME:      %arg1: memref<64xf32> {llvm.noalias},
// CHECK-SAME:      %arg2: memref<64xf32> {llvm.noalias, loop.streamed = true})
te.kernel @two(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = te.compute "y" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<64xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<64xf32>
  %1 = te.compute "z" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<64xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<64xf32>
  te.return %0, %1 : tensor<64xf32>, tensor<64xf32>
}
te.schedule for @two {
  %z = te.stage "z"
  te.stream %z
}
