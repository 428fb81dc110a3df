// RUN: fusion-opt %s --relay-outline-kernels --split-input-file | FileCheck %s

// What does not wait for the call is one kernel before it; what does is one behind it, with what only it needs.
// CHECK-LABEL: func.func @around_a_call(
// CHECK-NEXT:    %[[A:.*]] = call @kernel_0(%arg0, %arg1)
// CHECK-NEXT:    %[[R:.*]] = relay.call @around_a_call(%[[A]], %arg1)
// CHECK-NEXT:    %[[C:.*]] = call @kernel_1(%arg0, %[[R]])
// CHECK-NEXT:    return %[[C]]
// CHECK:       func.func private @kernel_0(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> attributes {relay.segment} {
// CHECK-NEXT:    relay.add
// CHECK-NEXT:    relay.relu
// CHECK-NEXT:    return
// CHECK:       func.func private @kernel_1(
// CHECK-NEXT:    relay.mul
// CHECK-NEXT:    relay.sub
func.func @around_a_call(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = relay.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.call @around_a_call(%d, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = relay.sub %b, %r : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// Two calls that wait for nothing of each other: what stands between them moves behind both.
// CHECK-LABEL: func.func @between_calls(
// CHECK-NEXT:    relay.call @f
// CHECK-NEXT:    relay.call @f
// CHECK-NEXT:    call @kernel_0
// CHECK-NEXT:    return
func.func @between_calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.add %1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]

// What one clause alone needs is computed there. Equal kernels are one; constants are copied into them.
// CHECK-LABEL: func.func @in_clauses(
// CHECK-NEXT:    relay.match %arg0
// CHECK-NEXT:    case [@List::@Nil] {
// CHECK-NEXT:      relay.yield %arg1
// CHECK:         case [@List::@Cons, "x", "_"] {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: tensor<4xf32>):
// CHECK-NEXT:      %[[K:.*]] = func.call @kernel_0(%arg1, %[[X]])
// CHECK-NEXT:      relay.yield %[[K]]
// CHECK-LABEL: func.func @the_same(
// CHECK-NEXT:    call @kernel_0(%arg0, %arg1)
// CHECK:       func.func private @kernel_0
// CHECK-NEXT:    relay.constant
// CHECK-NEXT:    relay.mul
// CHECK-NEXT:    relay.add
// CHECK-NOT:   func.func
func.func @in_clauses(%l: !relay.adt<@List, [tensor<4xf32>]>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %two = relay.constant dense<2.0> : tensor<4xf32>
  %h = relay.mul %y, %two : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = relay.match %l : (!relay.adt<@List, [tensor<4xf32>]>) -> tensor<4xf32>
  case [@List::@Nil] {
    relay.yield %y : tensor<4xf32>
  }
  case [@List::@Cons, "x", "_"] {
  ^bb0(%x: tensor<4xf32>):
    %1 = relay.add %h, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
func.func @the_same(%y: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %two = relay.constant dense<2.0> : tensor<4xf32>
  %h = relay.mul %y, %two : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.add %h, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A branch of tensor code alone is tensor code, which sinks into one that is not; what both of its regions use does not sink.
// CHECK-LABEL: func.func @regions(
// CHECK-NEXT:    %[[R:.*]] = call @kernel_0(%arg1)
// CHECK-NEXT:    relay.if %arg0 {
// CHECK-NEXT:      %[[K:.*]] = func.call @kernel_1(%arg0, %[[R]])
// CHECK-NEXT:      relay.call @regions(%arg0, %[[K]])
// CHECK:         } else {
// CHECK-NEXT:      relay.yield %[[R]]
// CHECK:       func.func private @kernel_0
// CHECK-NEXT:    relay.relu
// CHECK:       func.func private @kernel_1
// CHECK-NEXT:    relay.if
func.func @regions(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = relay.if %c {
    relay.yield %r : tensor<4xf32>
  } else {
    %n = relay.neg %r : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %n : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  %1 = relay.if %c {
    %2 = relay.call @regions(%c, %0) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  } else {
    relay.yield %r : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Operators that are not compiled for extents that are not known, and functions without operators, stay as they are.
// CHECK-LABEL: func.func @stays(
// CHECK-NEXT:    relay.pad %arg0
// CHECK-LABEL: func.func @nothing(
// CHECK-NEXT:    return %arg0
// CHECK-NOT:   kernel
func.func @stays(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = relay.pad %x {mode = "wrap", padding = array<i64: 1, 1>} : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Numbers by themselves are instructions, unless they come from tensor code or only a kernel wants them.
func.func private @next(tensor<i32>, tensor<4xf32>, tensor<f32>) -> tensor<f32>

// CHECK-LABEL: func.func @numbers(
// CHECK:         %[[LEFT:.*]] = relay.sub %arg0, %arg0
// CHECK:         %[[KERNEL:.*]]:2 = call @kernel_0(%arg2, %arg1)
// CHECK:         relay.call @next(%[[LEFT]], %[[KERNEL]]#
// CHECK:       func.func private @kernel_0(
// CHECK-DAG:     relay.reduce_sum
// CHECK-DAG:     relay.mul
// CHECK:         return
func.func @numbers(%i: tensor<i32>, %x: tensor<4xf32>, %s: tensor<f32>) -> tensor<f32> {
  %left = relay.sub %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %double = relay.add %s, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = relay.mul %x, %double : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %sum = relay.reduce_sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<4xf32>) -> tensor<f32>
  %half = relay.mul %sum, %sum : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = relay.call @next(%left, %y, %half) : (tensor<i32>, tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// Operators on dynamic extents have kernels beside those whose extents are known; one that is not compiled for them stays. Constants that
// are one number are copied, others are passed.
// CHECK-LABEL: func.func @open(
// CHECK:         %[[W:.*]] = relay.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK:         %[[A:.*]] = call @kernel_0(%arg0, %[[W]])
// CHECK:         %[[B:.*]] = call @kernel_1(%[[A]])
// CHECK:         %[[C:.*]] = call @kernel_2(%arg0, %[[B]])
// CHECK:         relay.pad %[[C]]
// CHECK:       func.func private @kernel_0(%arg0: tensor<?x2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32>
// CHECK:         relay.constant dense<3.000000e+00>
// CHECK:         relay.reduce_sum
// CHECK:       func.func private @kernel_1(%arg0: tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    relay.relu
// CHECK:       func.func private @kernel_2(
// CHECK-NEXT:    relay.sub
func.func @open(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %w = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %three = relay.constant dense<3.0> : tensor<f32>
  %0 = relay.mul %x, %w : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %1 = relay.add %0, %three : (tensor<?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
  %2 = relay.reduce_sum %1 {axes = array<i64: 0>} : (tensor<?x2xf32>) -> tensor<2xf32>
  %3 = relay.relu %2 : (tensor<2xf32>) -> tensor<2xf32>
  %4 = relay.sub %x, %3 : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %5 = relay.pad %4 {mode = "wrap", padding = array<i64: 1, 0, 1, 0>} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %5 : tensor<?x2xf32>
}
