//! Columns added into an image: what each element of some data adds to the places of a window around it.
//!
//! `y[n, c, i s + k d - p] += x[n, c K + k, i]`, with K positions `k` of the window (PyTorch `Fold`, ONNX `Col2Im`). A transposed convolution
//! is a product of matrices whose columns are added so (Dumoulin and Visin, 2016, section 4.1).

use super::window::Window;
use crate::form::{form, ints, operand};
use crate::operator::{Related, cost::one_each_input};
use crate::reference::columns as reference;
use crate::{Call, DType, Dim, FusionKind, Operator, TensorType, Violation, operators, require};

/// C1: the data has rank 3 or more, and is no boolean. C2: attributes have one number an axis (two for padding); kernel, strides and dilation are
/// above 0. C3: the kernel's positions divide the channels. C4: the extents are above 0.
fn relation(call: &Call) -> Related {
    let data = &call.operands[0];
    let is_number = data.dtype != DType::Bool;
    require!(
        data.rank() >= 3 && is_number,
        C 1,
        "the data must have rank 3 or more and be made of numbers, found {data}"
    );
    let window = Window::of_columns(call.attrs, data.rank() - 2)?;
    let (known, kernel) = (data.dims[1].known(), call.attrs.ints("kernel").unwrap_or_default());
    let positions = window.kernel().and_then(|k| k.into_iter().try_fold(1u64, u64::checked_mul));
    let Some(positions) = positions.filter(|k| known.is_none_or(|n| n % k == 0)) else {
        let found = format!("found kernel {kernel:?} and {} channels", data.dims[1]);
        return Err(Violation::new(
            3,
            format!("the positions of the kernel must divide the channels, {found}"),
        ));
    };
    let channels = known.map_or(Dim::Any, |n| Dim::Static(n / positions));
    let mut dims = vec![data.dims[0].clone(), channels];
    dims.extend(window.transposed_output(&data.dims[2..], 4)?);
    Ok(vec![TensorType::new(dims, data.dtype)])
}

operators! {
    /// Columns added into an image
    ///
    /// y[n, c, i s + k d - p] += x[n, c K + k, i], with the K positions k of a window of extents `kernel`. Data [N, C K, spatial...], result [N, C, ...], with
    /// extents and attributes as a transposed convolution's.
    /// - C1: the data has rank 3 or more, and is made of numbers.
    /// - C2: attributes have one number an axis (two for padding); kernel, strides and dilation are above 0.
    /// - C3: the positions of the kernel divide the channels.
    /// - C4: the extents are above 0.
    COL2IM = Operator::new("col2im", FusionKind::Reduction, relation, one_each_input, reference::col2im)
        .of(form(&[operand("data")])
            .attributes(&[ints("kernel").required(), ints("strides"), ints("padding"), ints("output_padding"), ints("dilation")]));
}
