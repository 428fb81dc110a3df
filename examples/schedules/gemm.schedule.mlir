// Tiles of 6 x 32 sums in registers (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008): 32 columns
// of the weight are packed side by side once for all rows, and the rectifier follows each tile.
te.schedule for @fused_dense_relu_0 {
  %w = te.input 1
  %panel = te.cache_read %w as "panel"
  te.transform_layout %panel by affine_map<(n, k) -> (n floordiv 32, k, n mod 32)>

  %dense = te.stage "dense"
  %i, %j, %k = te.axes %dense : !te.axis, !te.axis, !te.axis
  %io, %jo, %ii, %ji = te.tile %i, %j by [6, 32]
  te.reorder %jo, %io, %k, %ii, %ji
  te.unroll %ii
  te.vectorize %ji
  te.compute_at %panel, %jo

  %relu = te.stage "relu_1"
  %ri, %rj = te.axes %relu : !te.axis, !te.axis
  te.vectorize %rj
  te.reverse_compute_at %relu, %io
}
