//! Winograd's convolutions (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016).
//!
//!     x * w = winograd(x, G w G'){tile}
//!
//!     x * w {NHWC} = winograd(x^p, G w G'){tile}^q       of images with channels last, which are moved
//!
//! The weight is transformed when compiling. Whether the tiles of 2 x 2 or of 4 x 4 results pay is the model's answer in
//! `relay/winograd.rs`, which also gives the cost that extraction compares.

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use super::conditions::transposing;
use crate::layouts::Windows;
use fusion_operators::ops::layout::{IMAGES, LAYOUT_CONV2D};
use fusion_operators::{Attrs, Layout};
use fusion_relay::winograd::Shape;

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule(
            "winograd",
            "x * w = winograd(x, G w G')",
            "(conv2d ?p ?x ?w)",
            "(winograd_conv2d ?q ?x (winograd_weight ?t ?w))",
        ).normwise("4e-7 (tiles of 4 x 4) or 8e-8 (2 x 2) times the root of the channels, of the largest result near")
        .when("a constant kernel of 3 x 3, stride 1, one group, f32, a tile that pays and whose error fp_math allows", |m| {
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
        rule(
            "winograd-of-order",
            "x * w {NHWC} = winograd(x^p, G w G')^q",
            "(layout_conv2d ?l ?x ?w)",
            "(transpose ?q (winograd_conv2d ?v (transpose ?p ?x) (winograd_weight ?t ?w)))",
        ).normwise("4e-7 (tiles of 4 x 4) or 8e-8 (2 x 2) times the root of the channels, of the largest result near")
        .when("a constant kernel of 3 x 3, stride 1, one group, f32, orders of whole axes, a tile that pays and whose error fp_math allows", |m| {
            Some(m.is_constant("?w") && Ordered::of(m).is_some())
        })
        .with("?p", |m| Some(Node::attrs(transposing(&places(&Layout::plain(IMAGES), &Ordered::of(m)?.windows.data)?))))
        .with("?q", |m| Some(Node::attrs(transposing(&places(&Ordered::of(m)?.windows.result, &Layout::plain(IMAGES))?))))
        .with("?v", |m| {
            let Ordered { windows, tile } = Ordered::of(m)?;
            let mut attrs = Attrs::new().with("tile", tile);
            if let Some(padding) = windows.attrs.get("padding") {
                attrs.set("padding", padding.clone());
            }
            Some(Node::attrs(attrs))
        })
        .with("?t", |m| Some(Node::attrs(Attrs::new().with("tile", Ordered::of(m)?.tile)))),
    ]
}

/// A convolution in an order, and its best tile in the plain one.
struct Ordered {
    windows: Windows,
    tile: i64,
}

impl Ordered {
    fn of(found: &Match) -> Option<Ordered> {
        let windows = Windows::of(&LAYOUT_CONV2D, found.attrs("?l")?)?;
        let whole = |layout: &Layout| layout.parts().iter().all(|part| part.inner.is_none());
        let plain_weight = windows.weight.as_ref().is_some_and(|weight| *weight == weight.plain_one());
        if !whole(&windows.data) || !whole(&windows.result) || !plain_weight {
            return None;
        }
        let (data, result) = (windows.data.value(found.ty("?x")?)?, windows.result.value(found.result()?)?);
        let tile = Shape::of(&windows.attrs, &data, found.ty("?w")?, &result)?
            .best_tile(found.largest_normwise_error())?;
        Some(Ordered { windows, tile })
    }
}

/// Where each axis of an order of whole axes is in another.
fn places(order: &Layout, other: &Layout) -> Option<Vec<usize>> {
    let place = |axis: usize| other.parts().iter().position(|part| part.axis == axis);
    order.parts().iter().map(|part| place(part.axis)).collect()
}

fn tile(found: &Match) -> Option<i64> {
    Shape::of(found.attrs("?p")?, found.ty("?x")?, found.ty("?w")?, found.result()?)?
        .best_tile(found.largest_normwise_error())
}
