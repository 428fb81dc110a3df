// v_wmma_f32_16x16x16 of AMD's RDNA 4, for f16 and bf16 (TYPE): row = 8 h + i, column = l. No element is in
// two threads.
//
//   thread 16 h + l has of C    rows 8 h to 8 h + 7 of column l
//   and of A and B              elements 8 h to 8 h + 7 of row l, and of column l
//
te.intrinsic @NAME lanes [0, 2] contiguous [2, 0] computes {
^bb0(%a: tensor<2x8x16xTYPE>, %b: tensor<16x16xTYPE>):
  %c = te.compute "c" axes [2, 8, 16] reduce [16] init [0.0 : f32] {
  ^bb0(%h: index, %i: index, %l: index, %k: index):
    %x = te.load %a[%h, %i, %k] : tensor<2x8x16xTYPE> -> TYPE
    %wide_x = arith.extf %x : TYPE to f32
    %y = te.load %b[%k, %l] : tensor<16x16xTYPE> -> TYPE
    %wide_y = arith.extf %y : TYPE to f32
    %m = arith.mulf %wide_x, %wide_y : f32
    te.yield %m : f32
  } combine {
  ^bb0(%so_far: f32, %new: f32):
    %s = arith.addf %so_far, %new : f32
    te.yield %s : f32
  } : tensor<2x8x16xf32>
  te.return %c : tensor<2x8x16xf32>
} by {
^bb0(%a: memref<256xTYPE>, %a0: index, %ah: index, %ai: index, %ak: index,
     %b: memref<256xTYPE>, %b0: index, %bk: index, %bl: index,
     %c: memref<256xf32>, %c0: index, %ch: index, %ci: index, %cl: index):
  %lane = loop.thread_index 32 thread_x
  %eight = arith.constant 8 : index
  %sixteen = arith.constant 16 : index
  %h = arith.divui %lane, %sixteen : index
  %l = arith.remui %lane, %sixteen : index
  %k = arith.muli %h, %eight : index
  // Row l of A is row l mod 8 of its eight.
  %of = arith.divui %l, %eight : index
  %in = arith.remui %l, %eight : index
  %a1 = arith.muli %of, %ah : index
  %a2 = arith.muli %in, %ai : index
  %a3 = arith.addi %a0, %a1 : index
  %a4 = arith.addi %a3, %a2 : index
  %a5 = arith.addi %a4, %k : index
  %left = loop.load %a[%a5] : memref<256xTYPE> -> vector<8xTYPE>
  %b1 = arith.muli %l, %bl : index
  %b2 = arith.addi %b0, %b1 : index
  %b3 = arith.addi %b2, %k : index
  %right = loop.load %b[%b3] : memref<256xTYPE> -> vector<8xTYPE>
  %c1 = arith.muli %h, %ch : index
  %c2 = arith.muli %l, %cl : index
  %c3 = arith.addi %c0, %c1 : index
  %c4 = arith.addi %c3, %c2 : index
  %old = loop.load %c[%c4] : memref<256xf32> -> vector<8xf32>
  %new = loop.multiply_matrix wmma_16x16x16_halves_TYPE %left, %right, %old : vector<8xTYPE>, vector<8xTYPE>, vector<8xf32>
  loop.store %new, %c[%c4] : vector<8xf32>, memref<256xf32>
  loop.yield
}
