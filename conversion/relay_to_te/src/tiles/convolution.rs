//! The convolution of a tile of windows.

use super::geometry::{Along, Geometry};
use super::operator_of;
use fusion_dialects::{Op, OpExt, tensor_type};
use fusion_operators::ops::convolution::{CONV1D, CONV2D, CONV3D};
use fusion_operators::ops::window::{Axis, Window};
use fusion_operators::{Operator, TensorType};

const CONVOLUTIONS: &[&Operator] = &[&CONV1D, &CONV2D, &CONV3D];

/// The attribute of a convolution's padding.
const PADDING: &str = "padding";

/// The convolution of images of dynamic extents among operations.
pub fn convolution_of<'c>(members: &[Op<'c>]) -> Option<Op<'c>> {
    members.iter().copied().find(|op| is_convolution(*op))
}

/// True for a convolution of images of dynamic extents.
pub fn is_convolution(op: Op) -> bool {
    let is = operator_of(op).is_some_and(|operator| CONVOLUTIONS.iter().any(|c| c.is(operator)));
    let spatial =
        |ty: TensorType| ty.dims.get(2..).is_some_and(|dims| dims.iter().any(|d| d.known().is_none()));
    is && op.result_values().first().and_then(|v| tensor_type(*v)).is_some_and(spatial)
}

/// Which windows a convolution's tiles have.
pub fn geometry(convolution: Op) -> Option<Geometry> {
    let weight = tensor_type(*convolution.operand_values().get(1)?)?;
    let result = tensor_type(*convolution.result_values().first()?)?;
    let window = Window::of_convolution(&convolution.attrs(), &weight).ok()?;
    let mut axis = 0;
    let mut windows = Vec::new();
    for (dim, along) in result.dims[2..].iter().zip(&window.axes) {
        if dim.known().is_some() {
            windows.push(None);
            continue;
        }
        axis += 1;
        windows.push(Some(Along { axis, stride: along.stride, span: along.span()?, begin: along.begin }));
    }
    let alone = |axis: &Axis| axis.span() == Some(1) && axis.stride == 1 && axis.begin == 0 && axis.end == 0;
    Some(Geometry { windows: Some(windows), pointwise: window.axes.iter().all(alone) })
}

/// The convolution's padding in a tile: none along axes whose border the tile's data has.
pub fn padding_in_tile(convolution: Op, geometry: &Geometry) -> Option<Vec<i64>> {
    let windows = geometry.windows.as_ref()?;
    let attrs = convolution.attrs();
    let mut padding = attrs.ints(PADDING).map_or_else(|| vec![0; 2 * windows.len()], <[i64]>::to_vec);
    for (at, _) in windows.iter().enumerate().filter(|(_, window)| window.is_some()) {
        *padding.get_mut(at)? = 0;
        *padding.get_mut(windows.len() + at)? = 0;
    }
    Some(padding)
}
