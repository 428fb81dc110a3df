//! Pools: the greatest element or the mean of each window over `[N, C, spatial...]`.
//!
//! `y[n, c, o] = max_k x[n, c, o s + k d - p]`, or the mean (ONNX `MaxPool`, `AveragePool`,
//! `GlobalMaxPool`, `GlobalAveragePool`; PyTorch for `ceil_mode`).

use super::window::Window;
use crate::form::{Form, flag, form, ints, operand};
use crate::operator::cost::{elements, one_each_input};
use crate::operator::{Cost, Reference, Related, Relation};
use crate::reference::pooling as reference;
use crate::{Call, Dim, FusionKind, Operator, Precision, TensorType, operators, require};

const fn row(name: &'static str, relation: Relation, cost: Cost, reference: Reference) -> Operator {
    Operator::new(name, FusionKind::Reduction, relation, cost, reference)
}

/// C1: the data has the rank of the operator plus 2. C2: attributes have one number an axis (two for
/// padding); kernel, strides and dilation are above 0. C3: the dilated kernel fits the padded data.
fn pool<const RANK: usize>(call: &Call) -> Related {
    let data = &call.operands[0];
    require!(data.rank() == RANK + 2, C 1, "the data must have rank {}, found {data}", RANK + 2);
    let window = Window::of_pool(call.attrs, RANK)?;
    let mut dims = data.dims[..2].to_vec();
    dims.extend(window.output(&data.dims[2..], 3)?);
    Ok(vec![TensorType::new(dims, data.dtype)])
}

/// C1 to C3 as [`pool`]. C4: the data is a float tensor.
fn mean_pool<const RANK: usize>(call: &Call) -> Related {
    let data = &call.operands[0];
    let result = pool::<RANK>(call)?;
    require!(data.dtype.is_float(), C 4, "the data must be a float tensor, found {data}");
    Ok(result)
}

/// C1: the data has rank 3 or more.
fn global(call: &Call) -> Related {
    let data = &call.operands[0];
    require!(data.rank() >= 3, C 1, "the data must have rank 3 or more, found {data}");
    let mut dims = data.dims[..2].to_vec();
    dims.resize(data.rank(), Dim::Static(1));
    Ok(vec![TensorType::new(dims, data.dtype)])
}

/// C1 as [`global`]. C2: the data is a float tensor.
fn global_mean(call: &Call) -> Related {
    let data = &call.operands[0];
    let result = global(call)?;
    require!(data.dtype.is_float(), C 2, "the data must be a float tensor, found {data}");
    Ok(result)
}

/// One operation for each element of the result and of the kernel.
fn window_cost(call: &Call, results: &[TensorType]) -> f64 {
    let kernel: f64 = call.attrs.ints("kernel").unwrap_or(&[]).iter().map(|&k| k as f64).product();
    elements(&results[..1]) * kernel
}

const MAX_POOL: Form = form(&[operand("data")])
    .attributes(&[
        ints("kernel").required(),
        ints("strides"),
        ints("padding"),
        ints("dilation"),
        flag("ceil_mode"),
    ])
    .about(
        "Attributes as the convolution's. With `ceil_mode` the last window may hang over the end; a window \
     that would start in the\n\
     padding at the end is left out. Padding is never the greatest: a window of nothing else has the \
     type's least value.\n\
     - C1: the data has the rank of the operator plus 2.\n\
     - C2: attributes have one number an axis (two for padding); kernel, strides and dilation are above \
     0.\n\
     - C3: the dilated kernel fits the padded data; with ceil_mode the only window may hang over its end \
     by less than a stride.",
    );
const MEAN_POOL: Form = form(&[operand("data")])
    .attributes(&[
        ints("kernel").required(),
        ints("strides"),
        ints("padding"),
        ints("dilation"),
        flag("ceil_mode"),
        flag("count_include_pad"),
    ])
    .about(
        "As the maximum's. The divisor counts the window's elements inside the data; with \
     `count_include_pad` also those in the\n\
     padding (never those beyond it); a window of nothing that counts has the mean NaN. C4: the data is \
     a float tensor.",
    );
const GLOBAL_POOL: Form = form(&[operand("operand")]);

operators! {
    /// The greatest element of each window
    MAX_POOL1D = row("max_pool1d", pool::<1>, window_cost, reference::max_pool).of(MAX_POOL).computes(Precision::Follow);
    /// The greatest element of each window
    MAX_POOL2D = row("max_pool2d", pool::<2>, window_cost, reference::max_pool).of(MAX_POOL).computes(Precision::Follow);
    /// The greatest element of each window
    MAX_POOL3D = row("max_pool3d", pool::<3>, window_cost, reference::max_pool).of(MAX_POOL).computes(Precision::Follow);
    /// The mean of each window
    AVG_POOL1D = row("avg_pool1d", mean_pool::<1>, window_cost, reference::avg_pool).of(MEAN_POOL);
    /// The mean of each window
    AVG_POOL2D = row("avg_pool2d", mean_pool::<2>, window_cost, reference::avg_pool).of(MEAN_POOL);
    /// The mean of each window
    AVG_POOL3D = row("avg_pool3d", mean_pool::<3>, window_cost, reference::avg_pool).of(MEAN_POOL);
    /// Maximum over all spatial axes, which become 1
    GLOBAL_MAX_POOL = row("global_max_pool", global, one_each_input, reference::global_max_pool).of(GLOBAL_POOL).computes(Precision::Follow);
    /// Mean over all spatial axes, which become 1
    GLOBAL_AVG_POOL = row("global_avg_pool", global_mean, one_each_input, reference::global_avg_pool).of(GLOBAL_POOL);
}
