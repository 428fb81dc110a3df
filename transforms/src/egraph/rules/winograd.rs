//! Winograd's convolutions (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016).
//!
//!     x * w = winograd(x, G w G'){tile}
//!
//! The weight is transformed when compiling. Whether the tiles of 2 x 2 or of 4 x 4 results pay is the model's answer in
//! `relay/winograd.rs`, which also gives the cost that extraction compares.

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use crate::relay::winograd::Shape;
use fusion_operators::Attrs;

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule(
            "winograd",
            "x * w = winograd(x, G w G')",
            "(conv2d ?p ?x ?w)",
            "(winograd_conv2d ?q ?x (winograd_weight ?t ?w))",
        )
        .when("a constant kernel of 3 x 3, stride 1, one group, f32, and a tile that pays", |m| {
            Some(m.is_constant("?w") && tile(m).is_some())
        })
        .with("?q", |m| {
            let mut attrs = Attrs::new().with("tile", tile(m)?);
            if let Some(padding) = m.attrs("?p")?.get("padding") {
                attrs.set("padding", padding.clone());
            }
            Some(Node::attrs(attrs))
        })
        .with("?t", |m| Some(Node::attrs(Attrs::new().with("tile", tile(m)?)))),
    ]
}

fn tile(found: &Match) -> Option<i64> {
    Shape::of(found.attrs("?p")?, found.ty("?x")?, found.ty("?w")?, found.result()?)?.best_tile()
}
