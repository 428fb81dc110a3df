// mma.sync.m16n8k16 of NVIDIA, for f16 and bf16 (TYPE): row = 8 r + g, column = 2 q + e.
//
//   thread 4 g + q has of C    (r 0, e 0) (r 0, e 1) (r 1, e 0) (r 1, e 1)
//
// Rows of A and columns of B have their 16 products' factors together, as ldmatrix reads them; in panels
// where these are swizzled.
te.intrinsic @NAME lanes [1, 2] contiguous [2, 0] PANELLED computes {
^bb0(%a: tensor<2x8x16xTYPE>, %b: tensor<16x4x2xTYPE>):
  %c = te.compute "c" axes [2, 8, 4, 2] reduce [16] init [0.0 : f32] {
  ^bb0(%r: index, %g: index, %q: index, %e: index, %k: index):
    %x = te.load %a[%r, %g, %k] : tensor<2x8x16xTYPE> -> TYPE
    %wide_x = arith.extf %x : TYPE to f32
    %y = te.load %b[%k, %q, %e] : tensor<16x4x2xTYPE> -> TYPE
    %wide_y = arith.extf %y : TYPE to f32
    %m = arith.mulf %wide_x, %wide_y : f32
    te.yield %m : f32
  } combine {
  ^bb0(%so_far: f32, %new: f32):
    %s = arith.addf %so_far, %new : f32
    te.yield %s : f32
  } : tensor<2x8x4x2xf32>
  te.return %c : tensor<2x8x4x2xf32>
} by {
^bb0(%a: memref<256xTYPE>, %a0: index, %ar: index, %ag: index, %ak: index,
     %b: memref<128xTYPE>, %b0: index, %bk: index, %bq: index, %be: index,
     %c: memref<128xf32>, %c0: index, %cr: index, %cg: index, %cq: index, %ce: index):
  %lane = loop.thread_index 32 thread_x
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %eight = arith.constant 8 : index
  %sixteen = arith.constant 16 : index
  // Thread 8 m + i of ldmatrix names row i of block m; blocks of A follow each other down, then along.
  %row = arith.remui %lane, %eight : index
  %block = arith.divui %lane, %eight : index
  %down = arith.remui %block, %two : index
  %along = arith.divui %lane, %sixteen : index
  %a1 = arith.muli %down, %ar : index
  %a2 = arith.muli %row, %ag : index
  %a3 = arith.muli %along, %eight : index
  %a4 = arith.addi %a0, %a1 : index
  %a5 = arith.addi %a4, %a2 : index
  %a6 = arith.addi %a5, %a3 : index
  %left = loop.load_matrix %a[%a6] : memref<256xTYPE> -> vector<8xTYPE>
  // Column 2 q + e of B; blocks follow each other along.
  %q = arith.divui %row, %two : index
  %e = arith.remui %row, %two : index
  %b1 = arith.muli %q, %bq : index
  %b2 = arith.muli %e, %be : index
  %b3 = arith.muli %down, %eight : index
  %b4 = arith.addi %b0, %b1 : index
  %b5 = arith.addi %b4, %b2 : index
  %b6 = arith.addi %b5, %b3 : index
  %right = loop.load_matrix %b[%b6] : memref<128xTYPE> -> vector<4xTYPE>
  %cg_of = arith.divui %lane, %four : index
  %cq_of = arith.remui %lane, %four : index
  %c1 = arith.muli %cg_of, %cg : index
  %c2 = arith.muli %cq_of, %cq : index
  %c3 = arith.addi %c0, %c1 : index
  %c4 = arith.addi %c3, %c2 : index
  %old = loop.load %c[%c4] : memref<128xf32> -> vector<4xf32>
  %new = loop.multiply_matrix mma_m16n8k16_TYPE %left, %right, %old : vector<8xTYPE>, vector<4xTYPE>, vector<4xf32>
  loop.store %new, %c[%c4] : vector<4xf32>, memref<128xf32>
  loop.yield
}
