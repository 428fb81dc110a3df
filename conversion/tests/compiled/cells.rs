//! Recurrent cells: products whose columns are pieces, and what goes over these; of widths that panels divide, and others; also of products by
//! halves.

use super::text::Text;
use super::whole::compare_all;
use super::*;

/// A product with a matrix on the right, a transposed one, or the sums of one's quarters.
fn product(random: &mut Random, text: &mut Text, x: &str, [rows, depth, columns]: [usize; 3]) -> String {
    let (operation, right) = match random.of(&[0, 1, 2, 2]) {
        0 => ("matmul", vec![depth, columns]),
        2 if [rows, depth, columns].iter().all(|n| n.is_multiple_of(2)) => {
            ("matmul_strassen", vec![7, depth / 2, columns / 2])
        }
        _ => ("dense", vec![columns, depth]),
    };
    let w = text.given(random, &right, true);
    text.call(&format!("relay.{operation} {x}, {w}"), Some((&[&[rows, depth], &right], &[rows, columns])))
}

/// `f(x w + b)` over pieces of the columns: some read twice, with tensors beside, of one or two results.
fn program(random: &mut Random) -> (String, Vec<Tensor>) {
    let (rows, depth) = (random.of(&[1, 2, 3, 10, 16]), random.of(&[3, 17, 32, 64]));
    let (width, pieces) = (random.of(&[1, 3, 16, 17, 32, 64, 100, 128, 192]), random.of(&[2, 3, 4]));
    let columns = width * pieces;
    let (whole, piece) = ([rows, columns], [rows, width]);
    let mut text = Text::new(random.flag());
    let x = text.given(random, &[rows, depth], false);
    let mut at = product(random, &mut text, &x, [rows, depth, columns]);
    if random.flag() {
        let bias = text.given(random, &[columns], true);
        at = text.call(&format!("relay.add {at}, {bias}"), Some((&[&whole, &[columns]], &whole)));
    }
    if random.flag() {
        // A step's rows of what is there for all steps.
        let steps = text.given(random, &[3 * rows, columns], false);
        let bounds =
            format!("{{begin = array<i64: {rows}>, end = array<i64: {}>, axes = array<i64: 0>}}", 2 * rows);
        let step =
            text.call(&format!("relay.slice {steps} {bounds}"), Some((&[&[3 * rows, columns]], &whole)));
        at = text.call(&format!("relay.add {at}, {step}"), Some((&[&whole, &whole], &whole)));
    }
    let mut gates = Vec::new();
    for begin in (0..pieces).map(|number| number * width) {
        let bounds = format!(
            "{{begin = array<i64: {begin}>, end = array<i64: {}>, axes = array<i64: 1>}}",
            begin + width
        );
        let gate = text.call(&format!("relay.slice {at} {bounds}"), Some((&[&whole], &piece)));
        let function = random.of(&["sigmoid", "tanh", "relu"]);
        gates.push(text.call(&format!("relay.{function} {gate}"), Some((&[&piece], &piece))));
    }
    let state = text.given(random, &piece, false);
    let mut two = |name: &str, a: &str, b: &str| {
        text.call(&format!("relay.{name} {a}, {b}"), Some((&[&piece, &piece], &piece)))
    };
    let mut c = two("mul", &gates[0], &state);
    for gate in &gates[1..] {
        c = two("add", &c, gate);
    }
    // The first gate a second time.
    let rest = two("sub", &state, &gates[0]);
    let h = two("mul", &rest, &c);
    match random.flag() {
        true => text.done(&[(&h, &piece), (&c, &piece)]),
        false => text.done(&[(&h, &piece)]),
    }
}

#[test]
fn pieces_of_a_product_are_computed_with_what_goes_over_them() {
    let mut random = Random::new(71);
    compare_all((0..120).map(|_| program(&mut random)));
}
