// RUN: fusion-opt %s --loop-value-ranges --split-input-file | FileCheck %s

// Comparisons bound what they choose.
// CHECK-LABEL: func.func @clipped(
// CHECK:         math.sin %{{.*}} {loop.within = 5.000000e-01 : f64}
func.func @clipped(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %size = math.absf %x : f32
  %far = arith.cmpf ogt, %size, %half : f32
  %near = arith.select %far, %zero, %x : f32
  %s = math.sin %near : f32
  return %s : f32
}

// -----

// So do minima and maxima, types of integers, and arithmetic with them.
// CHECK-LABEL: func.func @bounded(
// CHECK:         math.cos %{{.*}} {loop.within = 2.00{{.*}} : f64}
// CHECK:         math.tan %{{.*}} {loop.within = 1.28{{.*}} : f64}
func.func @bounded(%x: vector<8xf32>, %i: i8) -> (vector<8xf32>, f32) {
  %two = arith.constant dense<2.0> : vector<8xf32>
  %minus = arith.constant dense<-1.0> : vector<8xf32>
  %a = arith.minimumf %x, %two : vector<8xf32>
  %b = arith.maximumf %a, %minus : vector<8xf32>
  %c = math.cos %b : vector<8xf32>
  %tenth = arith.constant 0.01 : f32
  %f = arith.sitofp %i : i8 to f32
  %g = arith.mulf %f, %tenth : f32
  %t = math.tan %g : f32
  return %c, %t : vector<8xf32>, f32
}

// -----

// The other side of a choice is not bounded, and a comparison with what may be no number says nothing.
// CHECK-LABEL: func.func @unbounded(
// CHECK:         math.sin %{{.*}} : f32
// CHECK:         math.sin %{{.*}} : f32
func.func @unbounded(%x: f32, %y: f32) -> (f32, f32) {
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %size = math.absf %x : f32
  %far = arith.cmpf ogt, %size, %half : f32
  %wrong = arith.select %far, %x, %zero : f32
  %s = math.sin %wrong : f32
  %small = math.sin %y : f32
  %beyond = arith.cmpf ogt, %size, %small : f32
  %unknown = arith.select %beyond, %zero, %x : f32
  %t = math.sin %unknown : f32
  return %s, %t : f32, f32
}

// -----

// The first iteration, whose angle comes from outside, stands before the loop; in the others the angle is small.
// CHECK-LABEL: func.func @peeled(
// CHECK:         math.sin %{{.*}} : f32
// CHECK:         loop.for 99 serial iter
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index
// CHECK:           arith.addi %[[I]], %c1
// CHECK:           math.sin %{{.*}} {loop.within = 0.2000{{.*}} : f64}
func.func @peeled(%x: f32) -> f32 {
  %fifth = arith.constant 0.2 : f32
  %zero = arith.constant 0.0 : f32
  %r = loop.for 100 serial iter(%x : f32) {
  ^bb0(%i: index, %a: f32):
    %s = math.sin %a : f32
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %t = arith.addf %s, %f : f32
    %size = math.absf %t : f32
    %far = arith.cmpf ogt, %size, %fifth : f32
    %next = arith.select %far, %zero, %t : f32
    loop.yield %next : f32
  } -> f32
  return %r : f32
}

// -----

// Loops that are no simpler later stay as they are: angles that grow, and few iterations.
// CHECK-LABEL: func.func @kept(
// CHECK:         loop.for 100 serial iter
// CHECK:           math.sin %{{.*}} : f32
// CHECK:         loop.for 4 serial iter
// CHECK:           math.sin %{{.*}} : f32
func.func @kept(%x: f32) -> (f32, f32) {
  %fifth = arith.constant 0.2 : f32
  %r = loop.for 100 serial iter(%x : f32) {
  ^bb0(%i: index, %a: f32):
    %s = math.sin %a : f32
    %t = arith.addf %a, %s : f32
    loop.yield %t : f32
  } -> f32
  %q = loop.for 4 serial iter(%x : f32) {
  ^bb0(%i: index, %a: f32):
    %s = math.sin %a : f32
    %t = arith.mulf %fifth, %s : f32
    loop.yield %t : f32
  } -> f32
  return %r, %q : f32, f32
}
