// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = te.compute "a" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<64xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<64xf32>
  %1 = te.compute "y" axes [64] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<64xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<64xf32>
  te.return %1 : tensor<64xf32>
}
te.schedule for @k {
  %a = te.stage "a"
  // expected-error @+1 {{stores stage "a" past the caches, which is no result of the kernel: what reads it would wait for memory}}
  te.stream %a
}

// -----

te.kernel @sum(%x: tensor<64x8xf32>) -> tensor<64xf32> {
  %0 = te.compute "y" axes [64] reduce [8] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<64x8xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } : tensor<64xf32>
  te.return %0 : tensor<64xf32>
}
te.schedule for @sum {
  %y = te.stage "y"
  // expected-error @+1 {{stores stage "y" past the caches, whose elements are stored again and again while they are summed up; use te.cache_write first}}
  te.stream %y
}
