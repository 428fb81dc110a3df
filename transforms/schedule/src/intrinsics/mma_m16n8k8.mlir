// mma.sync.m16n8k8 of NVIDIA for tf32: f32 of which 10 bits of the fraction take part. row = 8 r + g, column = 2 q + e.
//
//   thread 4 g + q has of C     (r 0, e 0) (r 0, e 1) (r 1, e 0) (r 1, e 1)
//   of A                        (r 0, k q) (r 1, k q) (r 0, k 4 + q) (r 1, k 4 + q) of row g
//   of B                        k q and 4 + q of column g
//
te.intrinsic @NAME lanes [1, 2] contiguous [-1, -1] computes {
^bb0(%a: tensor<2x8x8xf32>, %b: tensor<8x4x2xf32>):
  %c = te.compute "c" axes [2, 8, 4, 2] reduce [8] init [0.0 : f32] {
  ^bb0(%r: index, %g: index, %q: index, %e: index, %k: index):
    %x = te.load %a[%r, %g, %k] : tensor<2x8x8xf32> -> f32
    %y = te.load %b[%k, %q, %e] : tensor<8x4x2xf32> -> f32
    %m = arith.mulf %x, %y : f32
    te.yield %m : f32
  } combine {
  ^bb0(%so_far: f32, %new: f32):
    %s = arith.addf %so_far, %new : f32
    te.yield %s : f32
  } : tensor<2x8x4x2xf32>
  te.return %c : tensor<2x8x4x2xf32>
} by {
^bb0(%a: memref<128xf32>, %a0: index, %ar: index, %ag: index, %ak: index,
     %b: memref<64xf32>, %b0: index, %bk: index, %bq: index, %be: index,
     %c: memref<128xf32>, %c0: index, %cr: index, %cg: index, %cq: index, %ce: index):
  %lane = loop.thread_index 32 thread_x
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %g = arith.divui %lane, %four : index
  %q = arith.remui %lane, %four : index
  %a1 = arith.muli %g, %ag : index
  %a2 = arith.muli %q, %ak : index
  %a3 = arith.muli %four, %ak : index
  %a4 = arith.addi %a0, %a1 : index
  %a5 = arith.addi %a4, %a2 : index
  %a6 = arith.addi %a5, %ar : index
  %a7 = arith.addi %a5, %a3 : index
  %a8 = arith.addi %a6, %a3 : index
  %x0 = loop.load %a[%a5] : memref<128xf32> -> f32
  %x1 = loop.load %a[%a6] : memref<128xf32> -> f32
  %x2 = loop.load %a[%a7] : memref<128xf32> -> f32
  %x3 = loop.load %a[%a8] : memref<128xf32> -> f32
  %left = vector.from_elements %x0, %x1, %x2, %x3 : vector<4xf32>
  %bq_of = arith.divui %g, %two : index
  %be_of = arith.remui %g, %two : index
  %b1 = arith.muli %bq_of, %bq : index
  %b2 = arith.muli %be_of, %be : index
  %b3 = arith.muli %q, %bk : index
  %b4 = arith.muli %four, %bk : index
  %b5 = arith.addi %b0, %b1 : index
  %b6 = arith.addi %b5, %b2 : index
  %b7 = arith.addi %b6, %b3 : index
  %b8 = arith.addi %b7, %b4 : index
  %y0 = loop.load %b[%b7] : memref<64xf32> -> f32
  %y1 = loop.load %b[%b8] : memref<64xf32> -> f32
  %right = vector.from_elements %y0, %y1 : vector<2xf32>
  %c1 = arith.muli %g, %cg : index
  %c2 = arith.muli %q, %cq : index
  %c3 = arith.addi %c0, %c1 : index
  %c4 = arith.addi %c3, %c2 : index
  %old = loop.load %c[%c4] : memref<128xf32> -> vector<4xf32>
  %new = loop.multiply_matrix mma_m16n8k8_tf32 %left, %right, %old : vector<4xf32>, vector<2xf32>, vector<4xf32>
  loop.store %new, %c[%c4] : vector<4xf32>, memref<128xf32>
  loop.yield
}
