// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// Scans and sorted selections: one element after another along each line.

// CHECK-LABEL: te.kernel @cumsum(
// CHECK:        te.extern "cumsum"(%arg0)
// CHECK:        loop.for 4 serial
// CHECK:        arith.muli %arg3, %c9
// CHECK-NEXT:   loop.for 9 serial iter(%cst : f32)
// CHECK:        arith.addi %1, %arg4
// CHECK-NEXT:   loop.load %arg1[%3]
// CHECK-NEXT:   arith.addf %arg5, %4
// CHECK-NEXT:   loop.store %5, %arg2[%3]
// CHECK-NEXT:   loop.yield %5 : f32
// CHECK:        te.return %0 : tensor<4x9xf32>
func.func @cumsum(%x: tensor<4x9xf32>) -> tensor<4x9xf32> attributes {relay.primitive} {
  %0 = relay.cumsum %x {axis = 1 : i64} : (tensor<4x9xf32>) -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}

// From the end, without the element itself, accumulated in f32. Lines that lie side by side are a vector.
// CHECK-LABEL: te.kernel @cumprod(
// CHECK:        te.extern "cumprod"(%arg0)
// CHECK:        loop.for 9 vectorized
// CHECK:        loop.for 4 serial iter(%cst : f32)
// CHECK:        arith.subi %c3, %arg4
// CHECK-NEXT:   arith.muli %2, %c9
// CHECK-NEXT:   arith.addi %arg3, %3
// CHECK-NEXT:   loop.load %arg1[%4]
// CHECK-NEXT:   arith.extf %5 : bf16 to f32
// CHECK-NEXT:   arith.mulf %arg5, %6
// CHECK-NEXT:   arith.truncf %arg5 : f32 to bf16
// CHECK-NEXT:   loop.store %8, %arg2[%4]
// CHECK-NEXT:   loop.yield %7 : f32
// CHECK:        te.return %0 : tensor<4x9xbf16>
func.func @cumprod(%x: tensor<4x9xbf16>) -> tensor<4x9xbf16> attributes {relay.primitive} {
  %0 = relay.cumprod %x {reverse = true, exclusive = true} : (tensor<4x9xbf16>) -> tensor<4x9xbf16>
  return %0 : tensor<4x9xbf16>
}

// An element that is ahead of the last of the list is put behind those that stay ahead of it.
// CHECK-LABEL: te.kernel @topk(
// CHECK:        te.extern "topk"(%arg0)
// CHECK:        loop.for 4 serial
// CHECK:        loop.load %arg1[%1]
// CHECK-NEXT:   loop.for 3 serial
// CHECK:        loop.store %3, %arg2[%5]
// CHECK-NEXT:   loop.store %c-1_i64, %arg3[%5]
// CHECK:        loop.for 9 serial
// CHECK:        loop.load %arg1[%5]
// CHECK:        loop.load %arg2[%4]
// CHECK-NEXT:   loop.load %arg3[%4]
// CHECK:        loop.guard %12
// CHECK-NEXT:   loop.for 3 serial iter(%c0_i64 : i64)
// CHECK:        arith.cmpi slt, %19, %c0_i64
// CHECK-NEXT:   arith.cmpi sgt, %6, %18
// CHECK:        arith.addi %arg7, %24
// CHECK:        arith.subi %c2, %14
// CHECK-NEXT:   loop.upto %15 serial
// CHECK:        loop.store %20, %arg2[%22]
// CHECK-NEXT:   loop.store %21, %arg3[%22]
// CHECK:        arith.addi %2, %14
// CHECK-NEXT:   loop.store %6, %arg2[%16]
// CHECK-NEXT:   loop.store %7, %arg3[%16]
func.func @topk(%x: tensor<4x9xi32>) -> (tensor<4x3xi32>, tensor<4x3xi64>) attributes {relay.primitive} {
  %0:2 = relay.topk %x {k = 3 : i64} : (tensor<4x9xi32>) -> (tensor<4x3xi32>, tensor<4x3xi64>)
  return %0#0, %0#1 : tensor<4x3xi32>, tensor<4x3xi64>
}

// NaN is above all numbers.
// CHECK-LABEL: te.kernel @topk_of_floats(
// CHECK:        te.extern "topk"(%arg0)
// CHECK:        loop.for 1 serial
// CHECK:        loop.for 9 serial
// CHECK:        arith.cmpf ogt, %4, %2
// CHECK-NEXT:   arith.cmpf une, %4, %4
// CHECK-NEXT:   arith.cmpf oeq, %2, %2
// CHECK:        loop.guard %12
func.func @topk_of_floats(%x: tensor<9xf32>) -> (tensor<1xf32>, tensor<1xi64>) attributes {relay.primitive} {
  %0:2 = relay.topk %x {k = 1 : i64, smallest = true} : (tensor<9xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  return %0#0, %0#1 : tensor<1xf32>, tensor<1xi64>
}

// Of a longer line, blocks of 16 of which none may be ahead of the last are left out; the rest goes first.
// CHECK-LABEL: te.kernel @topk_of_blocks(
// CHECK:        te.extern "topk"(%arg0)
// CHECK:        loop.for 2 serial
// CHECK:        loop.for 3 serial
// CHECK:        loop.for 16 unrolled iter(
// CHECK:        arith.cmpf ole
// CHECK:        arith.ori
// CHECK:        loop.guard
// CHECK-NEXT:   loop.for 16 serial
func.func @topk_of_blocks(%x: tensor<50xf32>) -> (tensor<1xf32>, tensor<1xi64>) attributes {relay.primitive} {
  %0:2 = relay.topk %x {k = 1 : i64} : (tensor<50xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  return %0#0, %0#1 : tensor<1xf32>, tensor<1xi64>
}
