//! Relations of operators over images: windows, samples, channels.
//!
//!     windows    (extent + padding - span) / stride + 1

use super::constraints::{at_most, row, said};
use super::steps::Steps;
use crate::definitions::known_from;
use crate::definitions::resize::needs_known;
use fusion_operators::ops::window::Window;
use fusion_operators::{Call, Dim, TensorType};

/// Any number of images of any extents, of as many channels as the weight has.
pub fn convolution(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let weight = known_from(&call.operands[1], 0)?;
    let window = Window::of_convolution(call.attrs, &call.operands[1]).map_err(said)?;
    channels_are(steps, call, weight[1].saturating_mul(window.groups));
    slide(steps, call, &window, "violates constraint C5: the dilated kernel must fit the padded data")
}

/// The same transposed: an image of `extent` gives `(extent - 1) * stride + span + output padding - padding`.
pub fn transposed(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let weight = known_from(&call.operands[1], 0)?;
    let window = Window::of_transpose(call.attrs, &call.operands[1]).map_err(said)?;
    channels_are(steps, call, weight[0]);
    for (dim, axis) in
        call.operands[0].dims[2..].iter().zip(&window.axes).filter(|(dim, _)| dim.known().is_none())
    {
        let span = axis.span().ok_or("has a kernel whose extents are not known")?;
        let sum = |numbers: &[u64]| Dim::Static(numbers.iter().fold(0, |a: u64, n| a.saturating_add(*n)));
        let grown = steps.times(dim, &Dim::Static(axis.stride));
        let grown = steps.plus(&grown, &sum(&[span, axis.output_padding]));
        let least = sum(&[axis.stride, axis.begin, axis.end, 1]);
        at_most(steps, &least, &grown, "violates constraint C5: the result's extents must be above 0");
    }
    row(call)
}

pub fn pool(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let rank = call.operands[0].rank().saturating_sub(2);
    let window = Window::of_pool(call.attrs, rank).map_err(said)?;
    slide(steps, call, &window, "violates constraint C3: the dilated kernel must fit the padded data")
}

/// Checks that windows fit over extents that are not known; how many there are is in the row.
fn slide(steps: &mut Steps, call: &Call, window: &Window, text: &str) -> Result<Vec<TensorType>, String> {
    let spatial = call.operands[0].dims[2..].iter().zip(&window.axes);
    for (dim, axis) in spatial.filter(|(dim, _)| dim.known().is_none()) {
        let span = Dim::Static(axis.span().ok_or("has a kernel whose extents are not known")?);
        let mut reached = axis.begin.saturating_add(axis.end);
        if window.ceil_mode {
            // The only window may hang over the end by less than a stride, but begins before it.
            reached = reached.saturating_add(axis.stride - 1);
            let before_end = steps.plus(dim, &Dim::Static(axis.begin));
            at_most(steps, &Dim::Static(1), &before_end, text);
        }
        let padded = steps.plus(dim, &Dim::Static(reached));
        at_most(steps, &span, &padded, text);
    }
    row(call)
}

/// Samples of an axis that has elements, at places that do not depend on how many.
pub fn resize(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let result = row(call)?;
    let coordinates = call.attrs.str_or("coordinates", "half_pixel");
    let mut axes = call.operands[0].dims.iter().zip(&result[0].dims);
    if axes.any(|(from, to)| needs_known(coordinates, from, to)) {
        return Err("aligns the corners of an extent that is not known".to_owned());
    }
    for dim in call.operands[0].dims.iter().filter(|dim| dim.known().is_none()) {
        at_most(steps, &Dim::Static(1), dim, "violates constraint C1: there must be elements to sample");
    }
    Ok(result)
}

/// All but the number of images and the extents of an image is known.
pub fn channels(_: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    channels_are_known(call)?;
    call.operands[1..].iter().try_for_each(|ty| known_from(ty, 0).map(drop))?;
    row(call)
}

/// Checks that data has the channels of a weight.
fn channels_are(steps: &mut Steps, call: &Call, number: u64) {
    let text = "violates constraint C4: the channels of the data must be those that the weight takes";
    steps.equal(&call.operands[0].dims[1], &Dim::Static(number), text);
}

fn channels_are_known(call: &Call) -> Result<(), String> {
    let channels = call.operands[0].dims.get(1).and_then(Dim::known);
    channels.map(drop).ok_or_else(|| "has channels whose number is not known".to_owned())
}
