//! Sizes that extents may have: code relies on them, and other sizes are errors before anything runs.

use super::{Compiled, inputs};

/// Sums along an axis of a range, of columns that are multiples.
const PROGRAM: &str = r#"
func.func @main(%x: tensor<?x?xf32, #relay.dims<["n", "m"]>> {relay.name = "x"}, %w: tensor<?xf32, #relay.dims<["m"]>> {relay.name = "w"}) -> (tensor<?x?xf32, #relay.dims<["n", "m"]>>, tensor<?xf32, #relay.dims<["n"]>>) attributes {relay.ranges = {n = {least = 2, most = 5}, m = {least = 16, most = 64, multiple = 16}}} {
  %0 = relay.mul %x, %w : (tensor<?x?xf32, #relay.dims<["n", "m"]>>, tensor<?xf32, #relay.dims<["m"]>>) -> tensor<?x?xf32, #relay.dims<["n", "m"]>>
  %1 = relay.tanh %0 : (tensor<?x?xf32, #relay.dims<["n", "m"]>>) -> tensor<?x?xf32, #relay.dims<["n", "m"]>>
  %2 = relay.reduce_sum %1 {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #relay.dims<["n", "m"]>>) -> tensor<?xf32, #relay.dims<["n"]>>
  return %1, %2 : tensor<?x?xf32, #relay.dims<["n", "m"]>>, tensor<?xf32, #relay.dims<["n"]>>
}"#;

#[test]
fn sizes_in_their_ranges_are_computed() {
    let compiled = Compiled::of_file("program.mlir", PROGRAM).without_references();
    for (n, m) in [(2, 16), (5, 64), (3, 32)] {
        compiled.agree(&inputs(&[("x", &[n, m]), ("w", &[m])]));
    }
}

#[test]
fn sizes_out_of_their_ranges_are_refused_alike() {
    let compiled = Compiled::of_file("program.mlir", PROGRAM);
    for (n, m, said) in [
        (6, 16, "input \"x\" of the program has 6 along axis 0, which must be from 2 to 5 (n)"),
        (1, 16, "input \"x\" of the program has 1 along axis 0, which must be from 2 to 5 (n)"),
        (
            2,
            24,
            "input \"x\" of the program has 24 along axis 1, which must be from 16 to 64 and a multiple of 16 (m)",
        ),
    ] {
        for outcome in compiled.run(&inputs(&[("x", &[n, m]), ("w", &[m])])) {
            assert_eq!(outcome.unwrap_err(), said);
        }
    }
}
