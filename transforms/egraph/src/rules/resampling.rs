//! Linear interpolation goes one axis after another.
//!
//!     y[i, j] = sum of 2 neighbours of i x 2 of j       9 operations an element, at places that each column has by itself
//!     t[k, j] = sum of 2 neighbours of j                3, for the rows of x
//!     y[i, j] = sum of 2 rows t[k, ..]                  3, side by side
//!
//! The last axis goes first: it has few elements yet where an image becomes larger, and what is left of the work reads whole rows, which are
//! vectors. Where an image becomes smaller, all rows of `t` are more than the result, and extraction keeps the one step. Both round alike, as
//! the reference interpolates the inner axes first (ONNX operator Resize).

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use fusion_operators::{Attrs, DType};

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule(
            "resize-by-axes",
            "resize over i, j of x = resize over i of (resize over j of x)",
            "(resize ?a ?x)",
            "(resize ?o (resize ?i ?x))",
        )
        .within("a rounding for each axis; none in the reference")
        .when("linear, of f32 or f64", |m| {
            let linear = m.attrs("?a")?.str_or("method", "nearest") == "linear";
            Some(linear && matches!(m.ty("?x")?.dtype, DType::F32 | DType::F64))
        })
        .when("several axes are resized", |m| Some(resized(m)?.len() > 1))
        .with("?i", |m| along(m, |axis, last| axis == last))
        .with("?o", |m| along(m, |axis, last| axis < last)),
    ]
}

/// The axes that are resized.
fn resized(m: &Match) -> Option<Vec<usize>> {
    let (attrs, from) = (m.attrs("?a")?, m.shape("?x")?);
    let (size, scales) = (attrs.ints("size")?, attrs.floats("scales")?);
    let changes = |&axis: &usize| from[axis] as i64 != size[axis] || scales[axis] != 1.0;
    Some((0..from.len()).filter(changes).collect())
}

/// The attributes that resize some axes; beside an axis stands the last that is resized.
fn along(m: &Match, takes: fn(usize, usize) -> bool) -> Option<Node> {
    let (attrs, from, last) = (m.attrs("?a")?, m.shape("?x")?, *resized(m)?.last()?);
    let (mut size, mut scales) = (attrs.ints("size")?.to_vec(), attrs.floats("scales")?.to_vec());
    for axis in 0..from.len() {
        if !takes(axis, last) {
            scales[axis] = 1.0;
            // What was resized before has that size already.
            size[axis] = if axis < last { from[axis] as i64 } else { size[axis] };
        }
    }
    let attrs: Attrs = attrs.clone().with("size", size).with("scales", scales);
    Some(Node::attrs(attrs))
}
