// RUN: fusion-opt %s --relay-check-match --verify-diagnostics --split-input-file

relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]
func.func @nested(%l: !relay.adt<@List, [tensor<f32>]>, %zero: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'relay.match' op is not exhaustive: Cons(_, Nil) is not matched; add a clause for it, or one for _}}
  %0 = relay.match %l : (!relay.adt<@List, [tensor<f32>]>) -> tensor<f32>
  case [@List::@Nil] { relay.yield %zero : tensor<f32> }
  case [@List::@Cons, "_", [@List::@Cons, "x", "_"]] {
  ^bb0(%x: tensor<f32>):
    relay.yield %x : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

relay.data @Bit [] [#relay.constructor<"Off">, #relay.constructor<"On">]
func.func @tuples(%t: tuple<!relay.adt<@Bit>, !relay.adt<@Bit>>) {
  // expected-error @+1 {{'relay.match' op is not exhaustive: (On, Off) is not matched}}
  relay.match %t : (tuple<!relay.adt<@Bit>, !relay.adt<@Bit>>) -> ()
  case [[@Bit::@Off], "_"] { relay.yield }
  case ["x", [@Bit::@On]] {
  ^bb0(%x: !relay.adt<@Bit>):
    relay.yield
  }
  return
}

// -----

relay.data @Bit [] [#relay.constructor<"Off">, #relay.constructor<"On">]
func.func @redundant(%b: !relay.adt<@Bit>) {
  relay.match %b : (!relay.adt<@Bit>) -> ()
  case [@Bit::@Off] { relay.yield }
  case [@Bit::@On] { relay.yield }
  case "_" {
    // expected-error @+1 {{'relay.match' op has a clause in vain: clause 2 is never taken, as the clauses before it match all that _ matches; take it away}}
    relay.yield
  }
  return
}
