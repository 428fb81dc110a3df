// Four filters by sixteen columns of a row in registers. The padded rows that a row of results reads are made just before it,
// with rows spread so that those below each other do not fall on the same cache sets.
te.schedule for @fused_conv2d_relu_0 {
  %conv = te.stage "conv2d_1"
  %n, %f, %y, %x, %c, %ky, %kx = te.axes %conv : !te.axis, !te.axis, !te.axis, !te.axis, !te.axis, !te.axis, !te.axis
  %fo, %fi = te.split %f by 4
  %xo, %xi = te.split %x by 16
  te.reorder %n, %y, %fo, %xo, %c, %ky, %kx, %fi, %xi
  te.unroll %fi
  te.vectorize %xi

  %pad = te.stage "pad"
  te.compute_at %pad, %y
  te.storage_align %pad dim 2 by 16 offset 4

  %relu = te.stage "relu_2"
  %rn, %rf, %ry, %rx = te.axes %relu : !te.axis, !te.axis, !te.axis, !te.axis
  te.vectorize %rx
  te.reverse_compute_at %relu, %fo
}
