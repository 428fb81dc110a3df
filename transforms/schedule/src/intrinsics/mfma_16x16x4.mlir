// v_mfma_f32_16x16x4 of AMD's CDNA, for f32: row = 4 q + i, column = l.
//
//   thread 16 q + l has of C    rows 4 q to 4 q + 3 of column l
//   and of A and B              element q of row l, and of column l
//
te.intrinsic @NAME lanes [0, 2] contiguous [-1, -1] computes {
^bb0(%a: tensor<4x4x4xf32>, %b: tensor<4x16xf32>):
  %c = te.compute "c" axes [4, 4, 16] reduce [4] init [0.0 : f32] {
  ^bb0(%q: index, %i: index, %l: index, %k: index):
    %x = te.load %a[%q, %i, %k] : tensor<4x4x4xf32> -> f32
    %y = te.load %b[%k, %l] : tensor<4x16xf32> -> f32
    %m = arith.mulf %x, %y : f32
    te.yield %m : f32
  } combine {
  ^bb0(%so_far: f32, %new: f32):
    %s = arith.addf %so_far, %new : f32
    te.yield %s : f32
  } : tensor<4x4x16xf32>
  te.return %c : tensor<4x4x16xf32>
} by {
^bb0(%a: memref<64xf32>, %a0: index, %aq: index, %ai: index, %ak: index,
     %b: memref<64xf32>, %b0: index, %bk: index, %bl: index,
     %c: memref<256xf32>, %c0: index, %cq: index, %ci: index, %cl: index):
  %lane = loop.thread_index 64 thread_x
  %four = arith.constant 4 : index
  %sixteen = arith.constant 16 : index
  %q = arith.divui %lane, %sixteen : index
  %l = arith.remui %lane, %sixteen : index
  %ka = arith.muli %q, %ak : index
  %kb = arith.muli %q, %bk : index
  // Row l of A is row l mod 4 of its four.
  %of = arith.divui %l, %four : index
  %in = arith.remui %l, %four : index
  %a1 = arith.muli %of, %aq : index
  %a2 = arith.muli %in, %ai : index
  %a3 = arith.addi %a0, %a1 : index
  %a4 = arith.addi %a3, %a2 : index
  %a5 = arith.addi %a4, %ka : index
  %left = loop.load %a[%a5] : memref<64xf32> -> f32
  %b1 = arith.muli %l, %bl : index
  %b2 = arith.addi %b0, %b1 : index
  %b3 = arith.addi %b2, %kb : index
  %right = loop.load %b[%b3] : memref<64xf32> -> f32
  %c1 = arith.muli %q, %cq : index
  %c2 = arith.muli %l, %cl : index
  %c3 = arith.addi %c0, %c1 : index
  %c4 = arith.addi %c3, %c2 : index
  %old = loop.load %c[%c4] : memref<256xf32> -> vector<4xf32>
  %new = loop.multiply_matrix mfma_16x16x4_f32 %left, %right, %old : f32, f32, vector<4xf32>
  loop.store %new, %c[%c4] : vector<4xf32>, memref<256xf32>
  loop.yield
}
