//! Transposed convolutions as convolutions by 1 x 1 whose columns are added into the image.
//!
//!     y[f, i s + k - p] += x[c, i] w[c, f, k]         =>         z[f K + k, i] = sum_c w[c, f, k] x[c, i]      y = col2im z
//!
//! It takes as many multiplications, and `z` is stored, several times as large as the image. But a convolution by 1 x 1 has forms that a transposed
//! one has not: by the inner-product trick (`inner_product_trick`), or merged with others of the same data.

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use super::conditions::{SUMS, is_float, shaping, transposing};
use fusion_operators::Attrs;

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule(
            "conv2d-transpose-as-columns",
            "x *' w = col2im(w' x)",
            "(conv2d_transpose ?p ?x ?w)",
            "(col2im ?c (conv2d {} ?x (reshape ?s (transpose ?t ?w))))",
        )
        .within(SUMS)
        .when(
            "w is a constant of floats, one group, the data has several elements along the spatial axes",
            |m| {
                let pixels: u64 = m.shape("?x")?[2..].iter().product();
                let one_group = m.attrs("?p")?.int_or("groups", 1) == 1;
                Some(m.is_constant("?w") && is_float(m, "?w")? && one_group && pixels > 1)
            },
        )
        .with("?c", columns)
        .with("?t", |_| Some(Node::attrs(transposing(&[1, 2, 3, 0]))))
        .with("?s", |m| {
            let weight = m.shape("?w")?;
            Some(Node::attrs(shaping(&[weight[1] * weight[2] * weight[3], weight[0], 1, 1])))
        }),
    ]
}

/// The window, with the extents of the kernel.
fn columns(m: &Match) -> Option<Node> {
    let (given, weight) = (m.attrs("?p")?, m.shape("?w")?);
    let kernel: Vec<i64> = weight[2..].iter().map(|&n| n as i64).collect();
    let mut attrs = Attrs::new().with("kernel", kernel);
    for name in ["strides", "padding", "output_padding", "dilation"] {
        given.get(name).into_iter().for_each(|value| attrs.set(name, value.clone()));
    }
    Some(Node::attrs(attrs))
}
