// v_mfma_f32_32x32x(DEPTH) of AMD's CDNA, for f16 and bf16 (TYPE): row = 8 t + 4 h + i, column = l.
//
//   thread 32 h + l has of C    rows 4 h to 4 h + 3 of every 8, of column l
//   and of A and B              EACH elements of row l, and of column l, from EACH h on
//
te.intrinsic @NAME lanes [1, 3] contiguous [3, 0] computes {
^bb0(%a: tensor<4x2x4xDEPTHxTYPE>, %b: tensor<DEPTHx32xTYPE>):
  %c = te.compute "c" axes [4, 2, 4, 32] reduce [DEPTH] init [0.0 : f32] {
  ^bb0(%t: index, %h: index, %i: index, %l: index, %k: index):
    %x = te.load %a[%t, %h, %i, %k] : tensor<4x2x4xDEPTHxTYPE> -> TYPE
    %wide_x = arith.extf %x : TYPE to f32
    %y = te.load %b[%k, %l] : tensor<DEPTHx32xTYPE> -> TYPE
    %wide_y = arith.extf %y : TYPE to f32
    %m = arith.mulf %wide_x, %wide_y : f32
    te.yield %m : f32
  } combine {
  ^bb0(%so_far: f32, %new: f32):
    %s = arith.addf %so_far, %new : f32
    te.yield %s : f32
  } : tensor<4x2x4x32xf32>
  te.return %c : tensor<4x2x4x32xf32>
} by {
^bb0(%a: memref<HELDxTYPE>, %a0: index, %at: index, %ah: index, %ai: index, %ak: index,
     %b: memref<HELDxTYPE>, %b0: index, %bk: index, %bl: index,
     %c: memref<1024xf32>, %c0: index, %ct: index, %ch: index, %ci: index, %cl: index):
  %lane = loop.thread_index 64 thread_x
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %eight = arith.constant 8 : index
  %each = arith.constant EACH : index
  %threads = arith.constant 32 : index
  %h = arith.divui %lane, %threads : index
  %l = arith.remui %lane, %threads : index
  %ka = arith.muli %h, %each : index
  // Row l of A is row l mod 4 of half l / 4 mod 2 of its eight.
  %of = arith.divui %l, %eight : index
  %part = arith.divui %l, %four : index
  %half = arith.remui %part, %two : index
  %in = arith.remui %l, %four : index
  %a1 = arith.muli %of, %at : index
  %a2 = arith.muli %half, %ah : index
  %a3 = arith.muli %in, %ai : index
  %a4 = arith.addi %a0, %a1 : index
  %a5 = arith.addi %a4, %a2 : index
  %a6 = arith.addi %a5, %a3 : index
  %a7 = arith.addi %a6, %ka : index
  %left = loop.load %a[%a7] : memref<HELDxTYPE> -> vector<EACHxTYPE>
  %b1 = arith.muli %l, %bl : index
  %b2 = arith.addi %b0, %b1 : index
  %b3 = arith.addi %b2, %ka : index
  %right = loop.load %b[%b3] : memref<HELDxTYPE> -> vector<EACHxTYPE>
  %c1 = arith.muli %h, %ch : index
  %c2 = arith.muli %l, %cl : index
  %c3 = arith.addi %c0, %c1 : index
  %c4 = arith.addi %c3, %c2 : index
  %old = loop.load %c[%c4] : memref<1024xf32> -> vector<16xf32>
  %new = loop.multiply_matrix mfma_32x32xDEPTH_TYPE %left, %right, %old : vector<EACHxTYPE>, vector<EACHxTYPE>, vector<16xf32>
  loop.store %new, %c[%c4] : vector<16xf32>, memref<1024xf32>
  loop.yield
}
