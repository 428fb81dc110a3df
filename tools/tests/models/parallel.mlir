// Row sums in a parallel loop, each scaled by a constant of its row.
func.func @main(%x: tensor<37x100xf32>) -> tensor<37xf32> {
  %0 = te.call @rows(%x) : (tensor<37x100xf32>) -> tensor<37xf32>
  return %0 : tensor<37xf32>
}
te.kernel @rows(%x: tensor<37x100xf32>) -> tensor<37xf32> {
  %0 = te.compute "sum" axes [37] reduce [100] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<37x100xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<37xf32>
  te.return %0 : tensor<37xf32>
}
te.schedule for @rows {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  te.parallel %i
}
