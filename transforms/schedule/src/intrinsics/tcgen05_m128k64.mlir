// tcgen05.mma.m128n(COLUMNS)k16 of NVIDIA's sm_100a, four of them one behind the other, for f16 and bf16
// (TYPE): column = 64 p + 4 j + e.
//
//   thread g of four warps has of C    all columns of row g
//
// Rows of A and columns of B have their 64 products' factors together.
te.intrinsic @NAME lanes [0] contiguous [1, 0] panels 64 apart [64, 1, 1, 4096, 256, 64] computes {
^bb0(%a: tensor<128x64xTYPE>, %b: tensor<64xPANELSx16x4xTYPE>):
  %c = te.compute "c" axes [128, PANELS, 16, 4] reduce [64] init [0.0 : f32] {
  ^bb0(%g: index, %p: index, %j: index, %e: index, %k: index):
    %x = te.load %a[%g, %k] : tensor<128x64xTYPE> -> TYPE
    %wide_x = arith.extf %x : TYPE to f32
    %y = te.load %b[%k, %p, %j, %e] : tensor<64xPANELSx16x4xTYPE> -> TYPE
    %wide_y = arith.extf %y : TYPE to f32
    %m = arith.mulf %wide_x, %wide_y : f32
    te.yield %m : f32
  } combine {
  ^bb0(%so_far: f32, %new: f32):
    %s = arith.addf %so_far, %new : f32
    te.yield %s : f32
  } : tensor<128xPANELSx16x4xf32>
  te.return %c : tensor<128xPANELSx16x4xf32>
} by {
^bb0(%a: memref<8192xTYPE>, %a0: index, %ag: index, %ak: index,
     %b: memref<FACTORSxTYPE>, %b0: index, %bk: index, %bp: index, %bj: index, %be: index,
     %c: memref<RESULTSxf32>, %c0: index, %cg: index, %cp: index, %cj: index, %ce: index):
  %g = loop.thread_index 128 thread_x
  %c1 = arith.muli %g, %cg : index
  %c2 = arith.addi %c0, %c1 : index
  %old = loop.load %c[%c2] : memref<RESULTSxf32> -> vector<COLUMNSxf32>
  %new = loop.multiply_shared tcgen05_m128nCOLUMNSk64_TYPE %a[%a0], %b[%b0] apart %bp, %old
      : memref<8192xTYPE>, memref<FACTORSxTYPE>, vector<COLUMNSxf32>
  loop.store %new, %c[%c2] : vector<COLUMNSxf32>, memref<RESULTSxf32>
  loop.yield
}
