//! Convolutions and their transposes over 1, 2 or 3 spatial axes, NCHW / OIHW.
//!
//! `y[n, f, o] = sum_{c, k} x[n, g C + c, o s + k d - p] * w[f, c, k]`, and the gradient of that with
//! respect to its data (ONNX `Conv`, `ConvTranspose`; Dumoulin and Visin, 2016).

use super::window::Window;
use crate::form::{Form, dtype, form, int, ints, operand};
use crate::operator::{Cost, Reference, Related, Relation, cost::elements};
use crate::quantization::{DATA, Operand as Quantized, Partition, Quantization, WEIGHT};
use crate::reference::convolution as reference;
use crate::relation::{product_dtype, same_dtype};
use crate::{Call, Dim, FusionKind, Operator, TensorType, Violation, operators, require};

const fn row(name: &'static str, relation: Relation, cost: Cost, reference: Reference) -> Operator {
    Operator::new(name, FusionKind::Contraction, relation, cost, reference)
}

const fn forward(name: &'static str, relation: Relation) -> Operator {
    row(name, relation, forward_cost, reference::convolution)
}

const fn transpose(name: &'static str, relation: Relation) -> Operator {
    row(name, relation, transpose_cost, reference::transpose)
}

/// C2: data and weight have the rank of the operator plus 2.
fn operands<'a, const RANK: usize>(call: &Call<'a>) -> Result<[&'a TensorType; 2], Violation> {
    let (data, weight) = (&call.operands[0], &call.operands[1]);
    require!(
        data.rank() == RANK + 2 && weight.rank() == RANK + 2,
        C 2,
        "data and weight must have rank {}, found {data} and {weight}",
        RANK + 2
    );
    Ok([data, weight])
}

/// False when the extent is known and not a multiple.
fn divides(groups: u64, extent: &Dim) -> bool {
    extent.known().is_none_or(|n| n % groups == 0)
}

/// The extent times the groups; `None` when that overflows.
fn times(groups: u64, extent: &Dim) -> Option<Dim> {
    match extent {
        Dim::Static(n) => n.checked_mul(groups).filter(|&n| n <= i64::MAX as u64).map(Dim::Static),
        unknown if groups == 1 => Some(unknown.clone()),
        _ => Some(Dim::Any),
    }
}

/// C1 as [`product_dtype`], C2 as [`operands`]. C3: attributes have one number an axis (two for padding); the kernel's
/// extents, strides, dilation and groups are above 0, padding is not negative. C4: groups divides the
/// filters, and the channels are groups times those of the weight. C5: the dilated kernel fits the
/// padded data.
fn convolution<const RANK: usize>(call: &Call) -> Related {
    let sums = product_dtype(call)?;
    let [data, weight] = operands::<RANK>(call)?;
    let window = Window::of_convolution(call.attrs, weight)?;
    let (groups, filters, channels) = (window.groups, &weight.dims[0], &data.dims[1]);
    require!(divides(groups, filters), C 4, "groups must divide the filters, found {groups} groups and {filters} filters");
    require!(
        divides(groups, channels) && times(groups, &weight.dims[1]).is_some_and(|c| c.compatible(channels)),
        C 4,
        "the data's channels must be groups times the weight's, found {channels} channels, {groups} groups and {} of the weight",
        weight.dims[1]
    );
    let mut dims = vec![data.dims[0].clone(), filters.clone()];
    dims.extend(window.output(&data.dims[2..], 5)?);
    Ok(vec![TensorType::new(dims, sums)])
}

/// C1: operands have one element type. C2, C3 as [`convolution`], for `output_padding` too. C4: groups divides the channels, and the
/// channels are the weight's first extent. C5: the extents are above 0.
fn transposed<const RANK: usize>(call: &Call) -> Related {
    same_dtype(call.operands, 1)?;
    let [data, weight] = operands::<RANK>(call)?;
    let window = Window::of_transpose(call.attrs, weight)?;
    let (groups, channels) = (window.groups, data.dims[1].meet(&weight.dims[0]));
    require!(
        data.dims[1].compatible(&weight.dims[0]),
        C 4,
        "the data's channels must be the weight's first extent, found {} and {}",
        data.dims[1],
        weight.dims[0]
    );
    require!(divides(groups, &channels), C 4, "groups must divide the channels, found {groups} groups and {channels} channels");
    let Some(filters) = times(groups, &weight.dims[1]) else {
        return Err(Violation::new(
            4,
            format!(
                "groups times the weight's second extent must fit 63 bits, found {groups} and {}",
                weight.dims[1]
            ),
        ));
    };
    let mut dims = vec![data.dims[0].clone(), filters];
    dims.extend(window.transposed_output(&data.dims[2..], 5)?);
    Ok(vec![TensorType::new(dims, data.dtype)])
}

/// Elements of the weight for one of its first extent; unknown extents count as 1.
fn kernel_elements(weight: &TensorType) -> f64 {
    weight.dims.iter().skip(1).map(|d| d.known().unwrap_or(1) as f64).product()
}

/// A multiplication and an addition for each element of the result and of a filter; positions in the
/// padding are counted, as most kernels compute them.
fn forward_cost(call: &Call, results: &[TensorType]) -> f64 {
    2.0 * elements(&results[..1]) * kernel_elements(&call.operands[1])
}

fn transpose_cost(call: &Call, _: &[TensorType]) -> f64 {
    2.0 * elements(&call.operands[..1]) * kernel_elements(&call.operands[1])
}

const CONVOLUTION: Form = form(&[operand("data"), operand("weight")])
    .attributes(&[ints("strides"), ints("padding"), ints("dilation"), int("groups"), dtype("out_dtype")])
    .about(
        "Data [N, C, spatial...], weight [F, C / groups, kernel...]. `strides` and `dilation` (one number an \
     axis) and\n\
     `groups` are 1 when absent; `padding` has all beginnings, then all ends, and is 0 when absent.\n\
     The type of the result as in relay.matmul.\n\
     - C1: operands have one element type, or as in relay.matmul with `out_dtype`.\n\
     - C2: data and weight have the rank of the operator plus 2.\n\
     - C3: attributes have one number an axis (two for padding); the kernel's extents, strides, dilation \
     and\n\
     groups are above 0, padding is not negative.\n\
     - C4: groups divides the filters, and the channels are groups times those of the weight.\n\
     - C5: the dilated kernel fits the padded data.",
    );
const TRANSPOSED: Form = form(&[operand("data"), operand("weight")])
    .attributes(&[ints("strides"), ints("padding"), ints("output_padding"), ints("dilation"), int("groups")])
    .about(
        "y[n, g F + f, i s + k d - p] += x[n, g C + c, i] * w[g C + c, f, k]. Data [N, C, spatial...], \
     weight [C, F / groups, kernel...].\n\
     The extent of an axis is (x - 1) s + (k - 1) d + 1 + output_padding - padding. Attributes and \
     constraints as the convolution's;\n\
     C4: groups divides the channels, and the channels are the weight's first extent. C5: the extents \
     are above 0.",
    );

const fn products(operands: &'static [Quantized]) -> Quantization {
    Quantization { partition: Partition::Sums, operands }
}

const FORWARD_PRODUCTS: &Quantization = &products(&[
    Quantized { place: 0, computed: DATA, constant: WEIGHT, channels: |_, _| None },
    Quantized { place: 1, computed: DATA, constant: WEIGHT, channels: |_, _| Some(0) },
]);
/// Filters of one group share the second axis of the weight, so that with groups there is none for them.
const TRANSPOSED_PRODUCTS: &Quantization = &products(&[
    Quantized { place: 0, computed: DATA, constant: WEIGHT, channels: |_, _| None },
    Quantized {
        place: 1,
        computed: DATA,
        constant: WEIGHT,
        channels: |attrs, _| (attrs.int_or("groups", 1) == 1).then_some(1),
    },
]);

operators! {
    /// y[n, f, o] = sum_{c, k} x[n, g C + c, o s + k d - p] * w[f, c, k]
    CONV1D = forward("conv1d", convolution::<1>).of(CONVOLUTION).quantized(FORWARD_PRODUCTS);
    /// y[n, f, o] = sum_{c, k} x[n, g C + c, o s + k d - p] * w[f, c, k]
    CONV2D = forward("conv2d", convolution::<2>).of(CONVOLUTION).quantized(FORWARD_PRODUCTS);
    /// y[n, f, o] = sum_{c, k} x[n, g C + c, o s + k d - p] * w[f, c, k]
    CONV3D = forward("conv3d", convolution::<3>).of(CONVOLUTION).quantized(FORWARD_PRODUCTS);
    /// The gradient of a convolution with respect to its data
    CONV1D_TRANSPOSE = transpose("conv1d_transpose", transposed::<1>).of(TRANSPOSED).quantized(TRANSPOSED_PRODUCTS);
    /// The gradient of a convolution with respect to its data
    CONV2D_TRANSPOSE = transpose("conv2d_transpose", transposed::<2>).of(TRANSPOSED).quantized(TRANSPOSED_PRODUCTS);
    /// The gradient of a convolution with respect to its data
    CONV3D_TRANSPOSE = transpose("conv3d_transpose", transposed::<3>).of(TRANSPOSED).quantized(TRANSPOSED_PRODUCTS);
}
