// wgmma.mma_async.m64n(COLUMNS)k8 of NVIDIA's sm_90a, four of them one behind the other, for tf32: row = 16 w + 8 r + g,
// column = 64 p + 8 j + 2 q + e.
//
//   thread 32 w + 4 g + q of four warps has of C    for each p, j: (r 0, e 0) (r 0, e 1) (r 1, e 0) (r 1, e 1)
//
// Rows of A and columns of B have their 32 products' factors together.
te.intrinsic @NAME lanes [0, 4, 5] contiguous [3, 0] panels 32 apart [512, 256, 32, 1, 1, 2048, 256, 64, 32] computes {
^bb0(%a: tensor<4x2x8x32xf32>, %b: tensor<32xPANELSx8x4x2xf32>):
  %c = te.compute "c" axes [4, PANELS, 8, 2, 8, 4, 2] reduce [32] init [0.0 : f32] {
  ^bb0(%w: index, %p: index, %j: index, %r: index, %g: index, %q: index, %e: index, %k: index):
    %x = te.load %a[%w, %r, %g, %k] : tensor<4x2x8x32xf32> -> f32
    %y = te.load %b[%k, %p, %j, %q, %e] : tensor<32xPANELSx8x4x2xf32> -> f32
    %m = arith.mulf %x, %y : f32
    te.yield %m : f32
  } combine {
  ^bb0(%so_far: f32, %new: f32):
    %s = arith.addf %so_far, %new : f32
    te.yield %s : f32
  } : tensor<4xPANELSx8x2x8x4x2xf32>
  te.return %c : tensor<4xPANELSx8x2x8x4x2xf32>
} by {
^bb0(%a: memref<2048xf32>, %a0: index, %aw: index, %ar: index, %ag: index, %ak: index,
     %b: memref<COPIEDxf32>, %b0: index, %bk: index, %bp: index, %bj: index, %bq: index, %be: index,
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
  %new = loop.multiply_shared wgmma_m64nCOLUMNSk32_tf32 %a[%a0], %b[%b0] apart %bp, %old
      : memref<2048xf32>, memref<COPIEDxf32>, vector<SUMSxf32>
  loop.store %new, %c[%c6] : vector<SUMSxf32>, memref<FACTORSxf32>
  loop.yield
}
