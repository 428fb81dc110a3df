//! Relations of operators over images: windows, samples, channels.
//!
//!     windows    (extent + padding - span) / stride + 1

use super::constraints::{at_most, row, said};
use super::steps::Steps;
use crate::definitions::known_from;
use crate::definitions::resize::needs_known;
use fusion_operators::ops::window::Window;
use fusion_operators::{Call, Dim, TensorType};

/// Any number of images of known extents.
pub fn images(_: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    known_from(&call.operands[0], 1)?;
    call.operands[1..].iter().try_for_each(|ty| known_from(ty, 0).map(drop))?;
    row(call)
}

/// Any number of images of any extents, of known channels.
pub fn convolution(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    known_from(&call.operands[1], 0)?;
    let window = Window::of_convolution(call.attrs, &call.operands[1]).map_err(said)?;
    if call.operands[0].dims.get(1).and_then(Dim::known).is_none() {
        return Err("has channels whose number is not known".to_owned());
    }
    slide(steps, call, &window, "violates constraint C5: the dilated kernel must fit the padded data")
}

pub fn pool(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let rank = call.operands[0].rank().saturating_sub(2);
    let window = Window::of_pool(call.attrs, rank).map_err(said)?;
    slide(steps, call, &window, "violates constraint C3: the dilated kernel must fit the padded data")
}

/// Windows over extents that need not be known: `(extent + padding - span) / stride + 1` of them.
fn slide(steps: &mut Steps, call: &Call, window: &Window, text: &str) -> Result<Vec<TensorType>, String> {
    let mut result = row(call)?;
    for (at, axis) in window.axes.iter().enumerate() {
        let dim = &call.operands[0].dims[2 + at];
        if dim.known().is_some() {
            continue;
        }
        if window.ceil_mode {
            return Err("has windows that may hang over an end that is not known".to_owned());
        }
        let span = Dim::Static(axis.span().ok_or("has a kernel whose extents are not known")?);
        let padded = steps.plus(dim, &Dim::Static(axis.begin.saturating_add(axis.end)));
        at_most(steps, &span, &padded, text);
        let gaps = steps.minus(&padded, &span);
        let gaps = steps.over(&gaps, &Dim::Static(axis.stride));
        result[0].dims[2 + at] = steps.plus(&gaps, &Dim::Static(1));
    }
    Ok(result)
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
    if call.operands[0].dims.get(1).and_then(Dim::known).is_none() {
        return Err("has channels whose number is not known".to_owned());
    }
    call.operands[1..].iter().try_for_each(|ty| known_from(ty, 0).map(drop))?;
    row(call)
}
