// RUN: fusion-opt %s --te-lower --verify-diagnostics

// Lines that are further apart than the instruction reads them.
#map = affine_map<(d0, d1) -> (d0 floordiv 64, d1 floordiv 64, (d0 floordiv 16) mod 4, d0 mod 8, (d1 floordiv 2) mod 4, (d1 floordiv 8) mod 8, (d0 floordiv 8) mod 2, d1 mod 2)>

te.kernel @k(%arg0: tensor<256x256xf16>, %arg1: tensor<256x256xf16>) -> tensor<256x256xf32> {
  %0 = te.compute "y" axes [256, 256] reduce [256] init [0.000000e+00 : f32] {
  ^bb0(%arg2: index, %arg3: index, %arg4: index):
    %1 = te.load %arg0[%arg2, %arg4] : tensor<256x256xf16> -> f16
    %2 = arith.extf %1 : f16 to f32
    %3 = te.load %arg1[%arg4, %arg3] : tensor<256x256xf16> -> f16
    %4 = arith.extf %3 : f16 to f32
    %5 = arith.mulf %2, %4 : f32
    te.yield %5 : f32
  } combine {
  ^bb0(%arg2: f32, %arg3: f32):
    %1 = arith.addf %arg2, %arg3 : f32
    te.yield %1 : f32
  } : tensor<256x256xf32>
  te.return %0 : tensor<256x256xf32>
}
te.schedule for @k {
  %0 = te.stage "y"
  %1 = te.cache_write %0 as "sums_of_y"
  %2:2 = te.axes %0 : !te.axis, !te.axis
  %outer, %inner = te.split %2#0 by 128
  %outer_0, %inner_1 = te.split %inner by 64
  %outer_2, %inner_3 = te.split %inner_1 by 64
  %outer_4, %inner_5 = te.split %inner_3 by 16
  %outer_6, %inner_7 = te.split %inner_5 by 8
  %outer_8, %inner_9 = te.split %2#1 by 64
  %outer_10, %inner_11 = te.split %inner_9 by 64
  %outer_12, %inner_13 = te.split %inner_11 by 64
  %outer_14, %inner_15 = te.split %inner_13 by 64
  %outer_16, %inner_17 = te.split %inner_15 by 8
  %outer_18, %inner_19 = te.split %inner_17 by 2
  te.reorder %outer, %outer_8, %outer_0, %outer_10, %outer_4, %inner_7, %outer_18, %outer_2, %outer_12, %outer_14, %outer_16, %outer_6, %inner_19
  %3 = te.fuse %outer_4, %inner_7
  %4 = te.fuse %3, %outer_18
  te.bind %outer to block_y
  te.bind %outer_8 to block_x
  te.bind %outer_0 to thread_z
  te.bind %outer_10 to thread_y
  te.bind %4 to thread_x
  te.unroll %outer_2
  te.unroll %outer_12
  te.unroll %outer_14
  te.unroll %outer_16
  te.unroll %outer_6
  te.vectorize %inner_19
  te.compute_at %1, %outer_10
  te.set_scope %1 to fragment
  te.transform_layout %1 by #map
  %5:3 = te.axes %1 : !te.axis, !te.axis, !te.axis
  %outer_20, %inner_21 = te.split %5#0 by 64
  %outer_22, %inner_23 = te.split %5#1 by 64
  %outer_24, %inner_25 = te.split %inner_21 by 64
  %outer_26, %inner_27 = te.split %inner_25 by 16
  %outer_28, %inner_29 = te.split %inner_27 by 8
  %outer_30, %inner_31 = te.split %inner_23 by 64
  %outer_32, %inner_33 = te.split %inner_31 by 64
  %outer_34, %inner_35 = te.split %inner_33 by 8
  %outer_36, %inner_37 = te.split %inner_35 by 2
  %outer_38, %inner_39 = te.split %5#2 by 64
  %outer_40, %inner_41 = te.split %inner_39 by 64
  te.reorder %outer_20, %outer_22, %outer_38, %outer_40, %outer_24, %outer_30, %outer_26, %outer_32, %outer_34, %outer_28, %inner_29, %outer_36, %inner_37, %inner_41
  te.unroll %outer_40
  te.unroll %outer_24
  te.unroll %outer_30
  %6 = te.input 0
  %7 = te.cache_read %6 as "rows_of_sums_of_y" for %1
  te.compute_at %7, %outer_38
  te.set_scope %7 to shared
  te.storage_align %7 dim 0 by 16 offset 8
  %8:2 = te.axes %7 : !te.axis, !te.axis
  %9 = te.fuse %8#0, %8#1
  %outer_42, %inner_43 = te.split %9 by 8
  te.vectorize %inner_43
  %outer_44, %inner_45 = te.split %outer_42 by 256
  %outer_46, %inner_47 = te.split %inner_45 by 128
  %outer_48, %inner_49 = te.split %inner_47 by 128
  te.bind %outer_46 to thread_z
  te.bind %outer_48 to thread_y
  te.bind %inner_49 to thread_x
  te.double_buffer %7 by 3
  %10 = te.input 1
  %11 = te.cache_read %10 as "columns_of_sums_of_y" for %1
  te.compute_at %11, %outer_38
  te.set_scope %11 to shared
  te.storage_swizzle %11
  %12:2 = te.axes %11 : !te.axis, !te.axis
  %13 = te.fuse %12#0, %12#1
  %outer_50, %inner_51 = te.split %13 by 8
  te.vectorize %inner_51
  %outer_52, %inner_53 = te.split %outer_50 by 256
  %outer_54, %inner_55 = te.split %inner_53 by 128
  %outer_56, %inner_57 = te.split %inner_55 by 128
  te.bind %outer_54 to thread_z
  te.bind %outer_56 to thread_y
  te.bind %inner_57 to thread_x
  te.double_buffer %11 by 3
  // expected-error @+1 {{replaces loops of stage "sums_of_y" by the intrinsic @wgmma_m64n64k64_f16_rows, but neighbours along axis 0 of its argument 0 lie 1152 elements apart, where it wants 1024; have it read a te.cache_read with a te.transform_layout in panels}}
  te.tensorize %outer_26 with @wgmma_m64n64k64_f16_rows
}
