// wgmma.mma_async.m64n(COLUMNS)k16 of NVIDIA's sm_90a, four of them one behind the other, for f16 and bf16 (TYPE): row = 16 w + 8 r + g,
// column = 64 p + 8 j + 2 q + e.
//
//   thread 32 w + 4 g + q of four warps has of C    for each p, j: (r 0, e 0) (r 0, e 1) (r 1, e 0) (r 1, e 1)
//
// Rows of A have their 64 products' factors together, rows of B 64 columns.
te.intrinsic @NAME lanes [0, 4, 5] contiguous [3, 4] panels 64 apart [1024, 512, 64, 1, 64, -1, 8, 2, 1] computes {
^bb0(%a: tensor<4x2x8x64xTYPE>, %b: tensor<64xPANELSx8x4x2xTYPE>):
  %c = te.compute "c" axes [4, PANELS, 8, 2, 8, 4, 2] reduce [64] init [0.0 : f32] {
  ^bb0(%w: index, %p: index, %j: index, %r: index, %g: index, %q: index, %e: index, %k: index):
    %x = te.load %a[%w, %r, %g, %k] : tensor<4x2x8x64xTYPE> -> TYPE
    %wide_x = arith.extf %x : TYPE to f32
    %y = te.load %b[%k, %p, %j, %q, %e] : tensor<64xPANELSx8x4x2xTYPE> -> TYPE
    %wide_y = arith.extf %y : TYPE to f32
    %m = arith.mulf %wide_x, %wide_y : f32
    te.yield %m : f32
  } combine {
  ^bb0(%so_far: f32, %new: f32):
    %s = arith.addf %so_far, %new : f32
    te.yield %s : f32
  } : tensor<4xPANELSx8x2x8x4x2xf32>
  te.return %c : tensor<4xPANELSx8x2x8x4x2xf32>
} by {
^bb0(%a: memref<4096xTYPE>, %a0: index, %aw: index, %ar: index, %ag: index, %ak: index,
     %b: memref<FACTORSxTYPE>, %b0: index, %bk: index, %bp: index, %bj: index, %bq: index, %be: index,
     %c: memref<FACTORSxf32>, %c0: index, %cw: index, %cp: index, %cj: index, %cr: index, %cg: index, %cq: index, %ce: index):
  %thread = loop.thread_index 128 thread_x
  %four = arith.constant 4 : index
  %eight = arith.constant 8 : index
  %threads = arith.constant 32 : index
  %w = arith.divui %thread, %threads : index
  %rest = arith.divui %thread, %four : index
  %g = arith.remui %rest, %eight : index
  %q = arith.remui %thread, %four : index
  %c1 = arith.muli %w, %cw : index
  %c2 = arith.muli %g, %cg : index
  %c3 = arith.muli %q, %cq : index
  %c4 = arith.addi %c0, %c1 : index
  %c5 = arith.addi %c4, %c2 : index
  %c6 = arith.addi %c5, %c3 : index
  %old = loop.load %c[%c6] : memref<FACTORSxf32> -> vector<SUMSxf32>
  %new = loop.multiply_shared wgmma_m64nCOLUMNSk64_TYPE %a[%a0], transposed %b[%b0] apart %bp, %old
      : memref<4096xTYPE>, memref<FACTORSxTYPE>, vector<SUMSxf32>
  loop.store %new, %c[%c6] : vector<SUMSxf32>, memref<FACTORSxf32>
  loop.yield
}
