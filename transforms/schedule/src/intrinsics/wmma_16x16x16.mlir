// v_wmma_f32_16x16x16 of AMD's RDNA 3, for f16 and bf16 (TYPE): row = 2 i + h, column = l.
//
//   thread 16 h + l has of C    rows h, 2 + h, 4 + h ... of column l
//   and of A and B              all of row l, and of column l, in both halves
//
te.intrinsic @NAME lanes [1, 2] contiguous [2, 0] computes {
^bb0(%a: tensor<8x2x16xTYPE>, %b: tensor<16x16xTYPE>):
  %c = te.compute "c" axes [8, 2, 16] reduce [16] init [0.0 : f32] {
  ^bb0(%i: index, %h: index, %l: index, %k: index):
    %x = te.load %a[%i, %h, %k] : tensor<8x2x16xTYPE> -> TYPE
    %wide_x = arith.extf %x : TYPE to f32
    %y = te.load %b[%k, %l] : tensor<16x16xTYPE> -> TYPE
    %wide_y = arith.extf %y : TYPE to f32
    %m = arith.mulf %wide_x, %wide_y : f32
    te.yield %m : f32
  } combine {
  ^bb0(%so_far: f32, %new: f32):
    %s = arith.addf %so_far, %new : f32
    te.yield %s : f32
  } : tensor<8x2x16xf32>
  te.return %c : tensor<8x2x16xf32>
} by {
^bb0(%a: memref<256xTYPE>, %a0: index, %ai: index, %ah: index, %ak: index,
     %b: memref<256xTYPE>, %b0: index, %bk: index, %bl: index,
     %c: memref<256xf32>, %c0: index, %ci: index, %ch: index, %cl: index):
  %lane = loop.thread_index 32 thread_x
  %two = arith.constant 2 : index
  %sixteen = arith.constant 16 : index
  %h = arith.divui %lane, %sixteen : index
  %l = arith.remui %lane, %sixteen : index
  // Row l of A is row l mod 2 of its two.
  %of = arith.divui %l, %two : index
  %in = arith.remui %l, %two : index
  %a1 = arith.muli %of, %ai : index
  %a2 = arith.muli %in, %ah : index
  %a3 = arith.addi %a0, %a1 : index
  %a4 = arith.addi %a3, %a2 : index
  %left = loop.load %a[%a4] : memref<256xTYPE> -> vector<16xTYPE>
  %b1 = arith.muli %l, %bl : index
  %b2 = arith.addi %b0, %b1 : index
  %right = loop.load %b[%b2] : memref<256xTYPE> -> vector<16xTYPE>
  %c1 = arith.muli %h, %ch : index
  %c2 = arith.muli %l, %cl : index
  %c3 = arith.addi %c0, %c1 : index
  %c4 = arith.addi %c3, %c2 : index
  %old = loop.load %c[%c4] : memref<256xf32> -> vector<8xf32>
  %new = loop.multiply_matrix wmma_16x16x16_TYPE %left, %right, %old : vector<16xTYPE>, vector<16xTYPE>, vector<8xf32>
  loop.store %new, %c[%c4] : vector<8xf32>, memref<256xf32>
  loop.yield
}
