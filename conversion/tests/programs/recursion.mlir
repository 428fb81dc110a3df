// Functions that call each other at their end: constant memory however long it takes. Values that die on one way only.
func.func @even(%n: tensor<i32>, %unused: tensor<4xf32>) -> tensor<i1> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %true = relay.constant dense<true> : tensor<i1>
  %end = relay.equal %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %0 = relay.if %end {
    relay.yield %true : tensor<i1>
  } else {
    %m = relay.sub %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %r = relay.call @odd(%m, %unused) : (tensor<i32>, tensor<4xf32>) -> tensor<i1>
    relay.yield %r : tensor<i1>
  } : (tensor<i1>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @odd(%n: tensor<i32>, %unused: tensor<4xf32>) -> tensor<i1> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %false = relay.constant dense<false> : tensor<i1>
  %end = relay.equal %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %0 = relay.if %end {
    relay.yield %false : tensor<i1>
  } else {
    %m = relay.sub %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %r = relay.call @even(%m, %unused) : (tensor<i32>, tensor<4xf32>) -> tensor<i1>
    relay.yield %r : tensor<i1>
  } : (tensor<i1>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @main(%n: tensor<i32>, %x: tensor<4xf32>) -> tuple<tensor<i1>, tensor<4xf32>> {
  %y = relay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.call @even(%n, %y) : (tensor<i32>, tensor<4xf32>) -> tensor<i1>
  %z = relay.if %e {
    %o = relay.call @odd(%n, %x) : (tensor<i32>, tensor<4xf32>) -> tensor<i1>
    %t = relay.tuple %o, %y : (tensor<i1>, tensor<4xf32>) -> tuple<tensor<i1>, tensor<4xf32>>
    relay.yield %t : tuple<tensor<i1>, tensor<4xf32>>
  } else {
    %t = relay.tuple %e, %x : (tensor<i1>, tensor<4xf32>) -> tuple<tensor<i1>, tensor<4xf32>>
    relay.yield %t : tuple<tensor<i1>, tensor<4xf32>>
  } : (tensor<i1>) -> tuple<tensor<i1>, tensor<4xf32>>
  return %z : tuple<tensor<i1>, tensor<4xf32>>
}
