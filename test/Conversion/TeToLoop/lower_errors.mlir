// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

// expected-error @+1 {{is for @nothing, which is no kernel of the module}}
te.schedule for @nothing {
}

// -----

te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "twice" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  %1 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<8xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  te.return %1 : tensor<8xf32>
}
te.schedule for @k {
}
// expected-error @+1 {{is a second schedule for @k}}
te.schedule for @k {
}
