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

// The first elements fill the list; one of the others that is ahead of its last is put behind those that stay ahead of it.
// CHECK-LABEL: te.kernel @topk(
// CHECK:        te.extern "topk"(%arg0)
// CHECK:        loop.for 4 serial
// CHECK:          loop.for 3 serial
// CHECK-NEXT:     ^bb0(%[[I:.*]]: index):
// CHECK:            loop.upto %[[I]] serial iter
// CHECK:          loop.for 6 serial
// CHECK:            %[[LAST:.*]] = loop.load %arg2
// CHECK:            %[[X:.*]] = loop.load %arg1
// CHECK:            %[[ENTERS:.*]] = arith.cmpi sgt, %[[X]], %[[LAST]]
// CHECK:            loop.guard %[[ENTERS]]
// CHECK:              %[[STAYING:.*]] = loop.for 3 serial iter
// CHECK:                arith.cmpi sle
// CHECK:                arith.addi
// CHECK:              %[[AT:.*]] = arith.index_cast %[[STAYING]] : i32 to index
// CHECK:              %[[MOVING:.*]] = arith.subi %{{.*}}, %[[AT]]
// CHECK:              loop.upto %[[MOVING]] serial
// CHECK:                loop.store %{{.*}}, %arg2
// CHECK-NEXT:           loop.store %{{.*}}, %arg3
// CHECK:              loop.store %{{.*}}, %arg2
// CHECK-NEXT:         loop.store %{{.*}}, %arg3
// CHECK:      } {annotations = {independent
func.func @topk(%x: tensor<4x9xi32>) -> (tensor<4x3xi32>, tensor<4x3xi64>) attributes {relay.primitive} {
  %0:2 = relay.topk %x {k = 3 : i64} : (tensor<4x9xi32>) -> (tensor<4x3xi32>, tensor<4x3xi64>)
  return %0#0, %0#1 : tensor<4x3xi32>, tensor<4x3xi64>
}

// NaN is above all numbers.
// CHECK-LABEL: te.kernel @topk_of_floats(
// CHECK:        te.extern "topk"(%arg0)
// CHECK:        loop.for 8 serial
// CHECK:        %[[LAST:.*]] = loop.load %arg2
// CHECK:        %[[X:.*]] = loop.load %arg1
// CHECK:        arith.cmpf ogt, %[[LAST]], %[[X]]
// CHECK-NEXT:   arith.cmpf une, %[[LAST]], %[[LAST]]
// CHECK-NEXT:   arith.cmpf oeq, %[[X]], %[[X]]
// CHECK:        loop.guard
func.func @topk_of_floats(%x: tensor<9xf32>) -> (tensor<1xf32>, tensor<1xi64>) attributes {relay.primitive} {
  %0:2 = relay.topk %x {k = 1 : i64, smallest = true} : (tensor<9xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  return %0#0, %0#1 : tensor<1xf32>, tensor<1xi64>
}

// Of a longer line, blocks of 16 of which none may be ahead of the last are left out; the rest goes first.
// CHECK-LABEL: te.kernel @topk_of_blocks(
// CHECK:        te.extern "topk"(%arg0)
// CHECK:        loop.for 3 serial
// CHECK:        loop.for 3 serial
// CHECK:        loop.for 16 unrolled iter(
// CHECK:        arith.cmpf ole
// CHECK:        arith.ori
// CHECK:        loop.guard
// CHECK-NEXT:   loop.for 16 serial
func.func @topk_of_blocks(%x: tensor<52xf32>) -> (tensor<1xf32>, tensor<1xi64>) attributes {relay.primitive} {
  %0:2 = relay.topk %x {k = 1 : i64} : (tensor<52xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  return %0#0, %0#1 : tensor<1xf32>, tensor<1xi64>
}
