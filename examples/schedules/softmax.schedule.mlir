// All stages of a row follow each other while it is in the cache; both reductions run in sixteen lanes.
te.schedule for @fused_softmax_0 {
  %softmax = te.stage "softmax_3"
  %i, %j = te.axes %softmax : !te.axis, !te.axis
  %jo, %ji = te.split %j by 16
  te.vectorize %ji

  %sum = te.stage "sum_2"
  %si, %sk = te.axes %sum : !te.axis, !te.axis
  %so, %sl = te.split %sk by 16
  te.vectorize %sl
  te.compute_at %sum, %i

  %exp = te.stage "exp_1"
  %ei, %ej = te.axes %exp : !te.axis, !te.axis
  %eo, %el = te.split %ej by 16
  te.vectorize %el
  te.compute_at %exp, %i

  %max = te.stage "max"
  %mi, %mk = te.axes %max : !te.axis, !te.axis
  %mo, %ml = te.split %mk by 16
  te.vectorize %ml
  te.compute_at %max, %i
}
