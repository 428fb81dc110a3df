//! The order of the axes of images and weights: the plain operator where it is the usual one, else the row that takes another.
//!
//!     nn.conv2d(%x, %w, data_layout="NHWC", kernel_layout="HWIO")
//!       =>  relay.layout_conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"}

use crate::relay_text::error::Outcome;
use crate::relay_text::operators::Call;
use fusion_operators::ops::layout::{
    IMAGES, LAYOUT_AVG_POOL2D, LAYOUT_CONV2D, LAYOUT_MAX_POOL2D, WEIGHTS, plain,
};
use fusion_operators::{Attrs, Layout, Operator};

/// The rows that take images in any order.
const ROWS: &[&Operator] = &[&LAYOUT_CONV2D, &LAYOUT_MAX_POOL2D, &LAYOUT_AVG_POOL2D];

/// What an operator says of orders: the name of its attribute for that of the data, the order it has without one, and that of the weights.
pub struct Usual {
    /// `data_layout` or `layout`.
    pub name: &'static str,
    /// NCHW and the like.
    pub data: &'static str,
    /// OIHW and the like, for what has weights.
    pub weights: Option<&'static str>,
}

/// The row for the orders of a call, with the attributes that say them.
pub fn ordered(
    call: &Call<'_, '_, '_>,
    row: &'static Operator,
    usual: &Usual,
) -> Outcome<(&'static Operator, Attrs)> {
    let Some(laid_out) = ROWS.iter().find(|laid_out| plain(laid_out).is_some_and(|of| of.is(row))) else {
        call.require(usual.name, usual.data, &[usual.data])?;
        call.require("out_layout", "", &[usual.data])?;
        if let Some(weights) = usual.weights {
            call.require("kernel_layout", weights, &[weights])?;
        }
        return Ok((row, Attrs::new()));
    };
    let order = |name: &str, default: &'static str, axes: &str| {
        let found = match call.text(name, default)? {
            "" => default,
            found => found,
        };
        match Layout::parse(found, axes) {
            Ok(_) => Ok(found.to_owned()),
            Err(why) => call.fault(format!("the attribute {name} {why}")),
        }
    };
    let data = order(usual.name, usual.data, IMAGES)?;
    let weights = usual.weights.map(|weights| order("kernel_layout", weights, WEIGHTS)).transpose()?;
    let result = match call.text("out_layout", "")? {
        "" => data.clone(),
        _ => order("out_layout", usual.data, IMAGES)?,
    };
    let mut attrs = Attrs::new();
    if result != data {
        attrs.set("out_layout", result);
    }
    if let Some(weights) = weights.filter(|weights| Some(weights.as_str()) != usual.weights) {
        attrs.set("kernel_layout", weights);
    }
    if data != usual.data {
        attrs.set("data_layout", data);
    }
    let other = attrs.iter().next().is_some();
    Ok((if other { *laid_out } else { row }, attrs))
}
