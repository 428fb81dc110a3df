// RUN: fusion-opt %s --te-pack-arguments --split-input-file --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = te.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = te.compute "y" axes [4] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<4xf32>
  te.return %0 : tensor<4xf32>
}
te.schedule for @k {
  %s = te.input 0
  // expected-error @+1 {{lays out argument 0, for which a call gives a value that is no constant; lay out a te.cache_read of the argument instead}}
  te.transform_layout %s by affine_map<(i) -> (i floordiv 2, i mod 2)>
}

// -----

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = te.extern "y"(%x) {
  ^bb0(%a: memref<4xf32>, %b: memref<4xf32>):
    loop.yield
  } : (tensor<4xf32>) -> tensor<4xf32>
  te.return %0 : tensor<4xf32>
}
te.schedule for @k {
  %s = te.input 0
  // expected-error @+1 {{lays out argument 0, which is read as a whole by 'te.extern'}}
  te.transform_layout %s by affine_map<(i) -> (i floordiv 2, i mod 2)>
}

// -----

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = te.compute "y" axes [4] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<4xf32>
  te.return %0 : tensor<4xf32>
}
te.schedule for @k {
  %s = te.input 3
  // expected-error @+1 {{names argument 3; the kernel has 1}}
  te.transform_layout %s by affine_map<(i) -> (i)>
}
