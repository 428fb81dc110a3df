// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %1 = te.compute "y" axes [16, 64] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<16x64xf16> -> f16
    te.yield %a : f16
  } combine {} : tensor<16x64xf16>
  te.return %1 : tensor<16x64xf16>
}
te.schedule for @k {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  %x = te.input 0
  %a = te.cache_read %x as "a" for %y
  te.compute_at %a, %i
  te.set_scope %a to shared
  // expected-error @+1 {{copies in bulk stage "a", which is not in several buffers of shared memory; use te.set_scope and te.double_buffer first}}
  te.bulk_copy %a
}

// -----

te.kernel @k(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %0 = te.compute "a" axes [16, 64] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<16x64xf16> -> f16
    %b = arith.addf %a, %a : f16
    te.yield %b : f16
  } combine {} : tensor<16x64xf16>
  %1 = te.compute "y" axes [16, 64] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<16x64xf16> -> f16
    te.yield %a : f16
  } combine {} : tensor<16x64xf16>
  te.return %1 : tensor<16x64xf16>
}
te.schedule for @k {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  %a = te.stage "a"
  te.compute_at %a, %i
  te.set_scope %a to shared
  te.double_buffer %a by 2
  // expected-error @+1 {{copies in bulk stage "a", which is no copy of an argument; use te.cache_read of one first}}
  te.bulk_copy %a
}
