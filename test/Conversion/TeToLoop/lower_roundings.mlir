// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// Products and sums are contracted where nothing is rounded to integers.
// CHECK-LABEL: func.func private @scale_and_add(
// CHECK:         arith.mulf {{.*}} fastmath<contract> : f32
// CHECK:         arith.addf {{.*}} fastmath<contract> : f32
te.kernel @scale_and_add(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %b = te.load %y[%i] : tensor<8xf32> -> f32
    %c = arith.mulf %a, %a : f32
    %d = arith.addf %c, %b : f32
    te.yield %d : f32
  } combine {} : tensor<8xf32>
  te.return %0 : tensor<8xf32>
}

// -----

// A kernel that rounds to integers rounds its products as well, whichever stage they are in.
// CHECK-LABEL: func.func private @scale_add_and_round(
// CHECK-NOT:     fastmath
// CHECK:         math.roundeven
te.kernel @scale_add_and_round(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "sum" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %b = te.load %y[%i] : tensor<8xf32> -> f32
    %c = arith.mulf %a, %a : f32
    %d = arith.addf %c, %b : f32
    te.yield %d : f32
  } combine {} : tensor<8xf32>
  %1 = te.compute "round" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<8xf32> -> f32
    %b = math.roundeven %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  te.return %1 : tensor<8xf32>
}

// -----

// So does one that casts to integers.
// CHECK-LABEL: func.func private @scale_add_and_cast(
// CHECK-NOT:     fastmath
// CHECK:         arith.fptosi
te.kernel @scale_add_and_cast(%x: tensor<8xf32>) -> tensor<8xi32> {
  %0 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %c = arith.mulf %a, %a : f32
    %d = arith.addf %c, %a : f32
    %e = arith.fptosi %d : f32 to i32
    te.yield %e : i32
  } combine {} : tensor<8xi32>
  te.return %0 : tensor<8xi32>
}

// -----

// The terms of a reduction are contracted into its sum; what its terms are made of, and what follows it, is rounded.
// CHECK-LABEL: func.func private @product_and_round(
// CHECK:         %[[S:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:         %[[T:.*]] = arith.addf %[[S]], %{{.*}} : f32
// CHECK:         %[[P:.*]] = arith.mulf %[[T]], %{{.*}} fastmath<contract> : f32
// CHECK:         arith.addf %{{.*}}, %[[P]] fastmath<reassoc,contract> : f32
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:         math.roundeven
te.kernel @product_and_round(%x: tensor<8x4xf32>, %w: tensor<4xf32>) -> tensor<8xf32> {
  %0 = te.compute "product" axes [8] reduce [4] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<8x4xf32> -> f32
    %b = te.load %w[%k] : tensor<4xf32> -> f32
    %s = arith.mulf %a, %a : f32
    %t = arith.addf %s, %a : f32
    %c = arith.mulf %t, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } : tensor<8xf32>
  %1 = te.compute "round" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<8xf32> -> f32
    %b = arith.mulf %a, %a : f32
    %c = math.roundeven %b : f32
    te.yield %c : f32
  } combine {} : tensor<8xf32>
  te.return %1 : tensor<8xf32>
}

// -----

// Kernels whose results are rounded by others, even behind a loop, round as these do; those that read the integers need not.
// CHECK-LABEL: func.func private @before(
// CHECK-NOT:     fastmath
// CHECK:         return
// CHECK-LABEL: func.func private @round(
// CHECK-LABEL: func.func private @after(
// CHECK:         arith.mulf {{.*}} fastmath<contract> : f32
te.kernel @before(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %c = arith.mulf %a, %a : f32
    %d = arith.addf %c, %a : f32
    te.yield %d : f32
  } combine {} : tensor<8xf32>
  te.return %0 : tensor<8xf32>
}
te.kernel @round(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %c = math.floor %a : f32
    te.yield %c : f32
  } combine {} : tensor<8xf32>
  te.return %0 : tensor<8xf32>
}
te.kernel @after(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %c = arith.mulf %a, %a : f32
    %d = arith.addf %c, %a : f32
    te.yield %d : f32
  } combine {} : tensor<8xf32>
  te.return %0 : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>, %again: tensor<i1>) -> tensor<8xf32> {
  %0 = relay.while(%x) {
  ^bb0(%y: tensor<8xf32>):
    relay.yield %again : tensor<i1>
  } do {
  ^bb0(%y: tensor<8xf32>):
    %1 = te.call @before(%y) : (tensor<8xf32>) -> tensor<8xf32>
    relay.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = te.call @round(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = te.call @after(%2) : (tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
