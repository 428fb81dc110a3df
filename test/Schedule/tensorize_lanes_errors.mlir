// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<128x64xf16>, %w: tensor<64x128xf16>) -> tensor<128x128xf32> {
  %0 = te.compute "y" axes [128, 128] reduce [64] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<128x64xf16> -> f16
    %wide_a = arith.extf %a : f16 to f32
    %b = te.load %w[%k, %j] : tensor<64x128xf16> -> f16
    %wide_b = arith.extf %b : f16 to f32
    %c = arith.mulf %wide_a, %wide_b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<128x128xf32>
  te.return %0 : tensor<128x128xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %sums = te.cache_write %y as "sums"
  // The block's 128 x 128 results are those of four warps, 64 x 64 each, in tiles of 16 x 8.
  %i, %j = te.axes %y : !te.axis, !te.axis
  %io, %ii = te.split %i by 128
  %iw, %iu = te.split %ii by 64
  %it, %ir = te.split %iu by 16
  %r, %g = te.split %ir by 8
  %jo, %ji = te.split %j by 128
  %jw, %ju = te.split %ji by 64
  %jt, %jc = te.split %ju by 8
  %q, %e = te.split %jc by 2
  te.reorder %io, %jo, %iw, %jw, %g, %q, %it, %jt, %r, %e
  %lane = te.fuse %g, %q
  te.bind %io to block_y
  te.bind %jo to block_x
  te.bind %iw to thread_z
  te.bind %jw to thread_y
  te.bind %lane to thread_x
  te.unroll %it
  te.unroll %jt
  te.unroll %r
  te.vectorize %e
  te.compute_at %sums, %jw
  %si, %sj, %sk = te.axes %sums : !te.axis, !te.axis, !te.axis
  %sit, %sir = te.split %si by 16
  %sr, %sg = te.split %sir by 8
  %sjt, %sjc = te.split %sj by 8
  %sq, %se = te.split %sjc by 2
  %ko, %ki = te.split %sk by 32
  %ks, %kk = te.split %ki by 16
  te.reorder %ko, %ks, %sit, %sjt, %sr, %sg, %sq, %se, %kk
  te.unroll %ks
  te.unroll %sit
  te.unroll %sjt
  %x = te.input 0
  %w = te.input 1
  %rows = te.cache_read %x as "rows" for %sums
  te.compute_at %rows, %ko
  te.set_scope %rows to shared
  te.storage_align %rows dim 0 by 16 offset 8
  %ri, %rk = te.axes %rows : !te.axis, !te.axis
  %rf = te.fuse %ri, %rk
  %ro, %rv = te.split %rf by 8
  %rp, %rt = te.split %ro by 128
  %rz, %rt2 = te.split %rt by 64
  %ry, %rx = te.split %rt2 by 32
  te.bind %rz to thread_z
  te.bind %ry to thread_y
  te.bind %rx to thread_x
  te.vectorize %rv
  %columns = te.cache_read %w as "columns" for %sums
  te.compute_at %columns, %ko
  te.set_scope %columns to shared
  te.storage_align %columns dim 0 by 16 offset 8
  %ck, %cj = te.axes %columns : !te.axis, !te.axis
  %cf = te.fuse %ck, %cj
  %co, %cv = te.split %cf by 8
  %cp, %ct = te.split %co by 128
  %cz, %ct2 = te.split %ct by 64
  %cy, %cx = te.split %ct2 by 32
  te.bind %cz to thread_z
  te.bind %cy to thread_y
  te.bind %cx to thread_x
  te.vectorize %cv
  // expected-error @+1 {{replaces loops of stage "sums" by the intrinsic @mma_m16n8k16_f16_rows, but its result is not spread over the registers of a warp's threads; use te.set_scope to fragment}}
  te.tensorize %sr with @mma_m16n8k16_f16_rows
}

// -----

te.kernel @k(%x: tensor<128x64xf16>, %w: tensor<64x128xf16>) -> tensor<128x128xf32> {
  %0 = te.compute "y" axes [128, 128] reduce [64] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<128x64xf16> -> f16
    %wide_a = arith.extf %a : f16 to f32
    %b = te.load %w[%k, %j] : tensor<64x128xf16> -> f16
    %wide_b = arith.extf %b : f16 to f32
    %c = arith.mulf %wide_a, %wide_b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<128x128xf32>
  te.return %0 : tensor<128x128xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %sums = te.cache_write %y as "sums"
  // The block's 128 x 128 results are those of four warps, 64 x 64 each, in tiles of 16 x 8.
  %i, %j = te.axes %y : !te.axis, !te.axis
  %io, %ii = te.split %i by 128
  %iw, %iu = te.split %ii by 64
  %it, %ir = te.split %iu by 16
  %r, %g = te.split %ir by 8
  %jo, %ji = te.split %j by 128
  %jw, %ju = te.split %ji by 64
  %jt, %jc = te.split %ju by 8
  %q, %e = te.split %jc by 2
  te.reorder %io, %jo, %iw, %jw, %g, %q, %it, %jt, %r, %e
  %lane = te.fuse %g, %q
  te.bind %io to block_y
  te.bind %jo to block_x
  te.bind %iw to thread_z
  te.bind %jw to thread_y
  te.bind %lane to thread_x
  te.unroll %it
  te.unroll %jt
  te.unroll %r
  te.vectorize %e
  te.compute_at %sums, %jw
  te.set_scope %sums to fragment
  te.transform_layout %sums by affine_map<(i, j) -> (i floordiv 16, j floordiv 8, i mod 8, (j floordiv 2) mod 4, (i floordiv 8) mod 2, j mod 2)>
  %si, %sj, %sk = te.axes %sums : !te.axis, !te.axis, !te.axis
  %sit, %sir = te.split %si by 16
  %sr, %sg = te.split %sir by 8
  %sjt, %sjc = te.split %sj by 8
  %sq, %se = te.split %sjc by 2
  %ko, %ki = te.split %sk by 32
  %ks, %kk = te.split %ki by 16
  te.reorder %ko, %ks, %sit, %sjt, %sr, %sg, %sq, %se, %kk
  te.unroll %ks
  te.unroll %sit
  te.unroll %sjt
  %x = te.input 0
  %w = te.input 1
  %rows = te.cache_read %x as "rows" for %sums
  te.compute_at %rows, %ko
  te.set_scope %rows to shared
  te.storage_align %rows dim 0 by 16 offset 8
  %ri, %rk = te.axes %rows : !te.axis, !te.axis
  %rf = te.fuse %ri, %rk
  %ro, %rv = te.split %rf by 8
  %rp, %rt = te.split %ro by 128
  %rz, %rt2 = te.split %rt by 64
  %ry, %rx = te.split %rt2 by 32
  te.bind %rz to thread_z
  te.bind %ry to thread_y
  te.bind %rx to thread_x
  te.vectorize %rv
  %columns = te.cache_read %w as "columns" for %sums
  te.compute_at %columns, %ko
  te.set_scope %columns to shared
  te.storage_align %columns dim 0 by 16 offset 8
  %ck, %cj = te.axes %columns : !te.axis, !te.axis
  %cf = te.fuse %ck, %cj
  %co, %cv = te.split %cf by 8
  %cp, %ct = te.split %co by 128
  %cz, %ct2 = te.split %ct by 64
  %cy, %cx = te.split %ct2 by 32
  te.bind %cz to thread_z
  te.bind %cy to thread_y
  te.bind %cx to thread_x
  te.vectorize %cv
  // expected-error @+1 {{replaces loops of stage "sums" by the intrinsic @mma_m16n8k16_f16, but neighbours along axis 0 of its argument 1 lie 136 elements apart, where it wants them together; have it read a te.cache_read with a te.transform_layout in which that axis is the last}}
  te.tensorize %sr with @mma_m16n8k16_f16
}

// -----

te.kernel @k(%x: tensor<128x64xf16>, %w: tensor<64x128xf16>) -> tensor<128x128xf32> {
  %0 = te.compute "y" axes [128, 128] reduce [64] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<128x64xf16> -> f16
    %wide_a = arith.extf %a : f16 to f32
    %b = te.load %w[%k, %j] : tensor<64x128xf16> -> f16
    %wide_b = arith.extf %b : f16 to f32
    %c = arith.mulf %wide_a, %wide_b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<128x128xf32>
  te.return %0 : tensor<128x128xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %sums = te.cache_write %y as "sums"
  // The block's 128 x 128 results are those of four warps, 64 x 64 each, in tiles of 16 x 8.
  %i, %j = te.axes %y : !te.axis, !te.axis
  %io, %ii = te.split %i by 128
  %iw, %iu = te.split %ii by 64
  %it, %ir = te.split %iu by 16
  %r, %g = te.split %ir by 8
  %jo, %ji = te.split %j by 128
  %jw, %ju = te.split %ji by 64
  %jt, %jc = te.split %ju by 8
  %q, %e = te.split %jc by 2
  te.reorder %io, %jo, %iw, %jw, %g, %q, %it, %jt, %r, %e
  %lane = te.fuse %g, %q
  te.bind %io to block_y
  te.bind %jo to block_x
  te.bind %iw to thread_z
  te.bind %jw to thread_y
  te.bind %lane to thread_x
  te.unroll %it
  te.unroll %jt
  te.unroll %r
  te.vectorize %e
  te.compute_at %sums, %jw
  te.set_scope %sums to fragment
  te.transform_layout %sums by affine_map<(i, j) -> (i floordiv 16, j floordiv 8, i mod 8, (j floordiv 2) mod 4, (i floordiv 8) mod 2, j mod 2)>
  %si, %sj, %sk = te.axes %sums : !te.axis, !te.axis, !te.axis
  %sit, %sir = te.split %si by 16
  %sr, %sg = te.split %sir by 8
  %sjt, %sjc = te.split %sj by 8
  %sq, %se = te.split %sjc by 2
  %ko, %ki = te.split %sk by 32
  %ks, %kk = te.split %ki by 16
  te.reorder %ko, %ks, %sit, %sjt, %sr, %sg, %sq, %se, %kk
  te.unroll %ks
  te.unroll %sit
  te.unroll %sjt
  %x = te.input 0
  %w = te.input 1
  %rows = te.cache_read %x as "rows" for %sums
  te.compute_at %rows, %ko
  te.set_scope %rows to shared
  te.storage_align %rows dim 0 by 16 offset 8
  %ri, %rk = te.axes %rows : !te.axis, !te.axis
  %rf = te.fuse %ri, %rk
  %ro, %rv = te.split %rf by 8
  %rp, %rt = te.split %ro by 128
  %rz, %rt2 = te.split %rt by 64
  %ry, %rx = te.split %rt2 by 32
  te.bind %rz to thread_z
  te.bind %ry to thread_y
  te.bind %rx to thread_x
  te.vectorize %rv
  %columns = te.cache_read %w as "columns" for %sums
  te.compute_at %columns, %ko
  te.set_scope %columns to shared
  te.storage_align %columns dim 0 by 16 offset 8
  %ck, %cj = te.axes %columns : !te.axis, !te.axis
  %cf = te.fuse %ck, %cj
  %co, %cv = te.split %cf by 8
  %cp, %ct = te.split %co by 128
  %cz, %ct2 = te.split %ct by 64
  %cy, %cx = te.split %ct2 by 32
  te.bind %cz to thread_z
  te.bind %cy to thread_y
  te.bind %cx to thread_x
  te.vectorize %cv
  // expected-error @+1 {{names @mma_m17, which is no te.intrinsic of the module}}
  te.tensorize %sr with @mma_m17
}
