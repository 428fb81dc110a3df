//! Orders of axes that a call names.

use crate::{Attrs, Call, Layout, TensorType, Violation, require};

/// The axes of images.
pub const IMAGES: &str = "NCHW";

/// The axes of weights: filters, channels of a group, kernel.
pub const WEIGHTS: &str = "OIHW";

/// The orders of a call's operands and of its result.
pub struct Layouts {
    /// Of the operands, the data first.
    pub operands: Vec<Layout>,
    /// Of the result.
    pub result: Layout,
}

impl Layouts {
    /// Those that the attributes name: `data_layout` is NCHW when absent, `kernel_layout` OIHW, `out_layout` that of the data. Violates C6.
    pub fn of(call: &Call) -> Result<Layouts, Violation> {
        let data = named(call.attrs, "data_layout", IMAGES, IMAGES)?;
        let result = named(call.attrs, "out_layout", &data.to_string(), IMAGES)?;
        let mut operands = vec![data];
        if call.operands.len() > 1 {
            operands.push(named(call.attrs, "kernel_layout", WEIGHTS, WEIGHTS)?);
        }
        Ok(Layouts { operands, result })
    }

    /// The types of the values that the operands lay out. Violates C6.
    pub fn values(&self, operands: &[TensorType]) -> Result<Vec<TensorType>, Violation> {
        let value = |(layout, ty): (&Layout, &TensorType)| {
            layout.value(ty).ok_or_else(|| {
                Violation::new(6, format!("{ty} has not the extents of something laid out as {layout}"))
            })
        };
        self.operands.iter().zip(operands).map(value).collect()
    }
}

fn named(attrs: &Attrs, name: &str, default: &str, axes: &str) -> Result<Layout, Violation> {
    Layout::parse(attrs.str_or(name, default), axes).map_err(|why| Violation::new(6, format!("{name} {why}")))
}

/// The two orders of a `layout_transform`. C1: both are orders of the same axes.
pub fn orders(attrs: &Attrs) -> Result<(Layout, Layout), Violation> {
    let (from, to) = (attrs.str_or("src_layout", ""), attrs.str_or("dst_layout", ""));
    let axes: String = from.chars().filter(char::is_ascii_uppercase).collect();
    require!(
        !axes.is_empty(),
        C 1,
        "src_layout and dst_layout must name orders of axes, as NCHW and NCHW16c, found {from:?} and {to:?}"
    );
    let parse = |name: &str| Layout::parse(name, &axes).map_err(|why| Violation::new(1, why.to_string()));
    Ok((parse(from)?, parse(to)?))
}
