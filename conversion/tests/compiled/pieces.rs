//! Pieces of tensors that are views of the program around kernels.

use super::whole::compare_all;
use super::*;

const F32: DType = DType::F32;

/// Three rows of five of a product, of an input and of a constant: none begins where a vector does. The last is read after the whole
/// product was last read, and one result is a piece.
#[test]
fn rows_of_a_product_an_input_and_a_constant() {
    let row = |from: usize, value: &str, name: &str| {
        format!(
            "  %{name} = relay.slice %{value} {{begin = array<i64: {from}>, end = array<i64: {}>, axes = array<i64: 0>}} : (tensor<7x5xf32>) -> tensor<1x5xf32>\n",
            from + 1
        )
    };
    let unary = |op: &str, from: &str, name: &str| {
        format!("  %{name} = relay.{op} %{from} : (tensor<1x5xf32>) -> tensor<1x5xf32>\n")
    };
    let add = |a: &str, b: &str, name: &str| {
        format!("  %{name} = relay.add %{a}, %{b} : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>\n")
    };
    let numbers: Vec<String> = (0..7)
        .map(|i| format!("[{}]", (0..5).map(|j| format!("{}.0", 5 * i + j)).collect::<Vec<_>>().join(", ")))
        .collect();
    let mut body = format!("  %c = relay.constant dense<[{}]> : tensor<7x5xf32>\n", numbers.join(", "));
    body += "  %p = relay.matmul %x, %w : (tensor<7x3xf32>, tensor<3x5xf32>) -> tensor<7x5xf32>\n";
    body += &row(0, "p", "p0");
    body += &unary("tanh", "p0", "h0");
    for (step, before) in [(1, "h0"), (2, "h1"), (3, "h2")] {
        for value in ["p", "y", "c"] {
            body += &row(2 * step, value, &format!("{value}{step}"));
        }
        body += &add(before, &format!("p{step}"), &format!("s{step}"));
        body += &add(&format!("s{step}"), &format!("y{step}"), &format!("t{step}"));
        body += &add(&format!("t{step}"), &format!("c{step}"), &format!("u{step}"));
        body += "  %k = relay.matmul %u, %v : (tensor<1x5xf32>, tensor<5x5xf32>) -> tensor<1x5xf32>\n"
            .replace("%k", &format!("%k{step}"))
            .replace("%u", &format!("%u{step}"))
            .as_str();
        body += &unary("tanh", &format!("k{step}"), &format!("h{step}"));
    }
    body += &row(5, "p", "r");
    let source = format!(
        "func.func @main(%x: tensor<7x3xf32>, %w: tensor<3x5xf32>, %y: tensor<7x5xf32>, %v: tensor<5x5xf32>) -> (tensor<1x5xf32>, tensor<1x5xf32>, tensor<7x5xf32>) {{\n{body}  return %h3, %r, %p : tensor<1x5xf32>, tensor<1x5xf32>, tensor<7x5xf32>\n}}\n"
    );
    let mut random = Random::new(91);
    let inputs = [[7, 3], [3, 5], [7, 5], [5, 5]].map(|shape| random.tensor(F32, &shape)).to_vec();
    let without_whole = source
        .replace(
            "%h3, %r, %p : tensor<1x5xf32>, tensor<1x5xf32>, tensor<7x5xf32>",
            "%h3, %r : tensor<1x5xf32>, tensor<1x5xf32>",
        )
        .replace(
            "(tensor<1x5xf32>, tensor<1x5xf32>, tensor<7x5xf32>) {",
            "(tensor<1x5xf32>, tensor<1x5xf32>) {",
        );
    compare_all([(source, inputs.clone()), (without_whole, inputs)].into_iter());
}

/// Pieces of several types and ranks, cut along the first axis that has more than one element.
#[test]
fn pieces_of_all_kinds() {
    let (mut random, mut checker) = (Random::new(92), Checker::default());
    let shapes: &[(&[usize], &[i64], &[i64])] = &[
        (&[9, 5], &[2], &[7]),
        (&[1, 9, 5], &[0, 3], &[1, 8]),
        (&[3, 9, 5], &[1, 3], &[2, 8]),
        (&[37], &[3], &[36]),
        (&[3, 4, 5], &[2, 3, 1], &[3, 4, 3]),
    ];
    for dtype in [DType::F32, DType::F64, DType::F16, DType::I8, DType::I64] {
        for (shape, begin, end) in shapes {
            let x = random.tensor(dtype, shape);
            let attrs = Attrs::new().with("begin", begin.to_vec()).with("end", end.to_vec());
            let steps = [
                Step(&fusion_operators::ops::elementwise::ABS, Attrs::new(), vec![0]),
                Step(&fusion_operators::ops::shape::SLICE, attrs.clone(), vec![0]),
                Step(&fusion_operators::ops::elementwise::NEG, Attrs::new(), vec![2]),
            ];
            checker.chain(&steps, std::slice::from_ref(&x));
            checker.chain(&[Step(&fusion_operators::ops::shape::SLICE, attrs, vec![0])], &[x]);
        }
    }
    checker.finish();
}
