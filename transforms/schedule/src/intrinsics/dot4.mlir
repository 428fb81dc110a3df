// Four products of integers of 8 bits, added to one of 32: vpdpbusd and vpmaddwd of x86, sdot of AArch64.
//
// Numbers of A and of B have their four factors together; vectors of results read B of neighbours side by side.
te.intrinsic @NAME contiguous [0, 0] computes {
^bb0(%a: tensor<4xTYPE_A>, %b: tensor<4xTYPE_B>):
  %c = te.compute "c" axes [] reduce [4] init [0 : i32] {
  ^bb0(%k: index):
    %x = te.load %a[%k] : tensor<4xTYPE_A> -> i8
    %y = te.load %b[%k] : tensor<4xTYPE_B> -> i8
    %wide_x = arith.EXTEND_A %x : i8 to i32
    %wide_y = arith.EXTEND_B %y : i8 to i32
    %m = arith.muli %wide_x, %wide_y : i32
    te.yield %m : i32
  } combine {
  ^bb0(%so_far: i32, %new: i32):
    %s = arith.addi %so_far, %new : i32
    te.yield %s : i32
  } : tensor<i32>
  te.return %c : tensor<i32>
} by {
^bb0(%a: memref<4xi8>, %a0: index, %ak: index, %b: memref<4xi8>, %b0: index, %bk: index, %so_far: i32):
  %x = loop.load_packed %a[%a0] : memref<4xi8> -> i32
  %y = loop.load_packed %b[%b0] : memref<4xi8> -> i32
  %sum = loop.dot4add %so_far, SIGN_A %x, SIGN_B %y : i32
  loop.yield %sum : i32
}
