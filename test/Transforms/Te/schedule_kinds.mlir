// RUN: fusion-opt %s --pass-pipeline='builtin.module(te-schedule{remarks=%t.json})' -o /dev/null
// RUN: FileCheck %s --input-file %t.json
// RUN: not fusion-opt %s --pass-pipeline='builtin.module(te-schedule{remarks=/no/such/folder/x.json})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUSED

// REFUSED: cannot write the remarks of te-schedule to /no/such/folder/x.json

// All kinds that match a kernel are told, with what was chosen.
// CHECK: {"kernels":{"product":[
// CHECK-SAME: {"kind":"contraction","stages":["y"],"config":{{.*}}"chosen":true}
// CHECK-SAME: {"kind":"tiling","stages":["y"],"config":{{.*}}"chosen":false}
te.kernel @product(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = te.compute "y" axes [64, 64] reduce [64] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %x = te.load %a[%i, %k] : tensor<64x64xf32> -> f32
    %z = te.load %b[%k, %j] : tensor<64x64xf32> -> f32
    %p = arith.mulf %x, %z : f32
    te.yield %p : f32
  } combine {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    te.yield %s : f32
  } : tensor<64x64xf32>
  te.return %0 : tensor<64x64xf32>
}
