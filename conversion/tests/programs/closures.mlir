// Closures: only called, recursive, escaping from what captures them, chosen by a branch.
func.func @twice(%f: (tensor<i32>) -> tensor<i32>) -> (tensor<i32>) -> tensor<i32> {
  %g = relay.fn {
  ^bb0(%x: tensor<i32>):
    %0 = relay.apply %f(%x) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
    %1 = relay.apply %f(%0) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
    relay.yield %1 : tensor<i32>
  } : (tensor<i32>) -> tensor<i32>
  return %g : (tensor<i32>) -> tensor<i32>
}

func.func @main(%a: tensor<i32>, %b: tensor<i32>) -> tuple<tensor<i32>, tensor<i32>, tensor<i32>> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %power = relay.fn attributes {relay.recursive} {
  ^bb0(%self: (tensor<i32>) -> tensor<i32>, %n: tensor<i32>):
    %end = relay.equal %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %0 = relay.if %end {
      relay.yield %one : tensor<i32>
    } else {
      %m = relay.sub %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %p = relay.apply %self(%m) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
      %q = relay.mul %p, %a : (tensor<i32>, tensor<i32>) -> tensor<i32>
      relay.yield %q : tensor<i32>
    } : (tensor<i1>) -> tensor<i32>
    relay.yield %0 : tensor<i32>
  } : (tensor<i32>) -> tensor<i32>
  %called = relay.apply %power(%b) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
  %inner = relay.fn {
  ^bb0(%x: tensor<i32>):
    %s = relay.add %x, %a : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %y = relay.apply %power(%s) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
    relay.yield %y : tensor<i32>
  } : (tensor<i32>) -> tensor<i32>
  %less = relay.less %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %chosen = relay.if %less {
    relay.yield %inner : (tensor<i32>) -> tensor<i32>
  } else {
    %add = relay.fn {
    ^bb0(%x: tensor<i32>):
      %s = relay.add %x, %b : (tensor<i32>, tensor<i32>) -> tensor<i32>
      relay.yield %s : tensor<i32>
    } : (tensor<i32>) -> tensor<i32>
    %t = relay.call @twice(%add) : ((tensor<i32>) -> tensor<i32>) -> (tensor<i32>) -> tensor<i32>
    relay.yield %t : (tensor<i32>) -> tensor<i32>
  } : (tensor<i1>) -> (tensor<i32>) -> tensor<i32>
  %r = relay.apply %chosen(%one) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
  %increment = relay.fn {
  ^bb0(%x: tensor<i32>):
    %s = relay.add %x, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    relay.yield %s : tensor<i32>
  } : (tensor<i32>) -> tensor<i32>
  %two = relay.call @twice(%increment) : ((tensor<i32>) -> tensor<i32>) -> (tensor<i32>) -> tensor<i32>
  %u = relay.apply %two(%r) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
  %all = relay.tuple %called, %r, %u : (tensor<i32>, tensor<i32>, tensor<i32>) -> tuple<tensor<i32>, tensor<i32>, tensor<i32>>
  return %all : tuple<tensor<i32>, tensor<i32>, tensor<i32>>
}
