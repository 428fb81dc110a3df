//! How alike two images are where one is moved (Dosovitskiy et al., "FlowNet", 2015, section 3).
//!
//!     y[n, q, i, j] = mean over c and the window at (i, j) of  a[n, c, place] * b[n, c, place + displacement q]
//!
//! One product of moved images for each displacement, and the mean of its windows.

use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::contraction::padding;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_operators::Attrs;
use fusion_operators::ops::{elementwise as ew, pooling, reduction};

const ATTRIBUTES: &[&str] =
    &["kernel_size", "max_displacement", "stride1", "stride2", "padding", "is_multiply", "layout"];
/// Each displacement is some operations of the program.
const MOST_DISPLACEMENTS: i64 = 4096;

pub const BUILT: &[Built] = &[built("nn.correlation", 2, ATTRIBUTES, correlation)];

fn correlation<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    call.require("layout", "NCHW", &["NCHW"])?;
    let number = |name: &str, default: i64| -> Outcome<i64> {
        let value = call.int(name, default)?;
        call.moderate(&[value])?;
        Ok(value)
    };
    let (kernel, far) = (number("kernel_size", 1)?, number("max_displacement", 1)?);
    let (stride, step) = (number("stride1", 1)?, number("stride2", 1)?);
    if kernel < 1 || kernel % 2 == 0 || far < 0 || stride < 1 || step < 1 {
        return call
            .fault("kernel_size must be odd, stride1 and stride2 above 0, and max_displacement not below 0");
    }
    let padding = padding(call, 2)?;
    call.moderate(&padding)?;
    let multiplied = call.flag("is_multiply", true)?;
    let operands = [call.operand(0), call.operand(1)];
    let dims = fixed(call, operands[0])?;
    if dims.len() != 4 || fixed(call, operands[1])? != dims {
        return call.fault("takes two tensors of one shape with two image axes");
    }
    let [top, left, bottom, right] = padding[..] else { return call.fault("padding has two axes") };
    let mut images = Vec::new();
    for image in operands {
        images.push(call.padded(image, &[0, 0, top, left], &[0, 0, bottom, right], 0.0)?);
    }
    let border = far + kernel / 2;
    let extent = |data: i64, padding: i64| (data + padding - 2 * border + stride - 1) / stride;
    let counts = [extent(dims[2], top + bottom), extent(dims[3], left + right)];
    if counts.iter().any(|&count| count < 1) {
        return call.fault(format!(
            "the images {dims:?} are too small for displacements of {far}; give more padding"
        ));
    }
    let lengths = counts.map(|count| (count - 1) * stride + kernel);
    let radius = far / step;
    let places = 2 * radius + 1;
    if places > MOST_DISPLACEMENTS || places * places > MOST_DISPLACEMENTS {
        return call.fault(format!("{places} x {places} displacements are more than {MOST_DISPLACEMENTS}"));
    }
    let mut alike = Vec::new();
    for place in 0..places * places {
        let moved = [(place / places - radius) * step, (place % places - radius) * step];
        let from = |moved: [i64; 2]| [far + moved[0], far + moved[1]];
        let end = |begin: [i64; 2]| [begin[0] + lengths[0], begin[1] + lengths[1]];
        let (here, there) = (from([0, 0]), from(moved));
        let a = call.sliced(images[0], &[2, 3], &here, &end(here))?;
        let b = call.sliced(images[1], &[2, 3], &there, &end(there))?;
        let of_each = match multiplied {
            true => call.mul(a, b)?,
            false => {
                let between = call.sub(a, b)?;
                call.plain(&ew::ABS, &[between])?
            }
        };
        let mean = call.reduced(&reduction::REDUCE_MEAN, of_each, &[1], true)?;
        let attrs = Attrs::new().with("kernel", [kernel, kernel]).with("strides", [stride, stride]);
        alike.push(call.row(&pooling::AVG_POOL2D, &[mean], attrs)?);
    }
    call.joined(&alike, 1).map(Made::Value)
}
