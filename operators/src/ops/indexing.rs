//! Operators that move elements by computed indices.
//!
//! Gathers read `x[index]`, scatters write `y[index]`. After the ONNX operators Gather,
//! GatherElements, GatherND, ScatterElements, ScatterND and OneHot.

use crate::form::{form, int, operand, text};
use crate::operator::cost::{free, one_each};
use crate::operator::{Reference, Related};
pub use crate::parameters::indexing::{axis, batch_dims, one_hot_axis};
use crate::reference::{indexing, scatter};
use crate::relation::{int_attr, same_dtype};
use crate::{Call, DType, Dim, FusionKind, Operator, Relation, TensorType, Violation, operators, require};

const fn gather(name: &'static str, relation: Relation, reference: Reference) -> Operator {
    Operator::new(name, FusionKind::Injective, relation, free, reference)
}

/// One operation for each update that is combined with what is there.
const fn scatter(name: &'static str, relation: Relation, reference: Reference) -> Operator {
    let cost = |call: &Call, _: &[TensorType]| match call.attrs.str_or("reduction", "none") {
        "none" => 0.0,
        _ => crate::operator::cost::elements(&call.operands[2..]),
    };
    Operator::new(name, FusionKind::Opaque, relation, cost, reference)
}

/// C1: indices are i32 or i64.
fn index_type(ty: &TensorType) -> Result<(), Violation> {
    require!(matches!(ty.dtype, DType::I32 | DType::I64), C 1, "indices must be i32 or i64, found {ty}");
    Ok(())
}

/// C1, C2.
fn gather_relation(call: &Call) -> Related {
    let (data, indices) = (&call.operands[0], &call.operands[1]);
    index_type(indices)?;
    let axis = axis(call)?;
    let dims = [&data.dims[..axis], &indices.dims, &data.dims[axis + 1..]].concat();
    Ok(vec![TensorType::new(dims, data.dtype)])
}

/// C3: ranks agree and off `axis` no extent of the indices exceeds the data's.
fn same_region(data: &TensorType, indices: &TensorType, axis: usize) -> Result<(), Violation> {
    require!(data.rank() == indices.rank(), C 3, "indices must have the rank of the data, found {data} and {indices}");
    for (a, (n, m)) in data.dims.iter().zip(&indices.dims).enumerate() {
        let within = a == axis || n.known().zip(m.known()).is_none_or(|(n, m)| m <= n);
        require!(within, C 3, "indices have extent {m} on axis {a}, the data only {n}");
    }
    Ok(())
}

/// C1, C2, C3.
fn gather_elements_relation(call: &Call) -> Related {
    let (data, indices) = (&call.operands[0], &call.operands[1]);
    index_type(indices)?;
    same_region(data, indices, axis(call)?)?;
    Ok(vec![indices.with_dtype(data.dtype)])
}

/// The last extent of indices, which address as many axes. C3: it is known and at most `rank`.
fn index_length(indices: &TensorType, rank: usize) -> Result<usize, Violation> {
    let length = indices.dims.last().and_then(Dim::known).and_then(|k| usize::try_from(k).ok());
    match length {
        Some(k) if k <= rank => Ok(k),
        _ => Err(Violation::new(
            3,
            format!("the last extent of indices must be known and {rank} at most, found {indices}"),
        )),
    }
}

/// C1, C2: the batch extents agree. C3: the last extent of indices is known and at most the rank
/// left.
fn gather_nd_relation(call: &Call) -> Related {
    let (data, indices) = (&call.operands[0], &call.operands[1]);
    index_type(indices)?;
    let batch = batch_dims(call)?;
    let k = index_length(indices, data.rank() - batch)?;
    let shared = data.dims.iter().zip(&indices.dims).take(batch).map(|(a, b)| a.meet(b));
    let outer = &indices.dims[batch..indices.rank() - 1];
    let dims = shared.chain(outer.iter().cloned()).chain(data.dims[batch + k..].iter().cloned());
    Ok(vec![TensorType::new(dims.collect(), data.dtype)])
}

/// C4: updates have the data's element type. C5: a known reduction.
fn updates_and_reduction(call: &Call) -> Result<(), Violation> {
    let (data, updates) = (&call.operands[0], &call.operands[2]);
    require!(data.dtype == updates.dtype, C 4, "updates must have element type {}, found {updates}", data.dtype);
    let reduction = call.attrs.str_or("reduction", "none");
    let known = scatter::REDUCTIONS;
    require!(known.contains(&reduction), C 5, "reduction {reduction:?} must be one of {known:?}");
    let moves = data.dtype != DType::String || reduction == "none";
    require!(moves, C 5, "reduction {reduction:?} is arithmetic, which strings have not; it must be \"none\" for them");
    Ok(())
}

/// C1, C2. C3: indices and updates have one shape and the data's rank, and off `axis` no extent
/// exceeds the data's. C4, C5.
fn scatter_elements_relation(call: &Call) -> Related {
    let [data, indices, updates] = [0, 1, 2].map(|i| &call.operands[i]);
    index_type(indices)?;
    let axis = axis(call)?;
    let same = updates.compatible(&indices.with_dtype(updates.dtype));
    require!(same, C 3, "indices and updates must have one shape, found {indices} and {updates}");
    same_region(data, indices, axis)?;
    same_region(data, updates, axis)?;
    updates_and_reduction(call)?;
    Ok(vec![data.clone()])
}

/// C1. C3: updates have the shape indices.shape[:-1] + data.shape[k:]. C4, C5.
fn scatter_nd_relation(call: &Call) -> Related {
    let [data, indices, updates] = [0, 1, 2].map(|i| &call.operands[i]);
    index_type(indices)?;
    let k = index_length(indices, data.rank())?;
    let dims = [&indices.dims[..indices.rank() - 1], &data.dims[k..]].concat();
    let expected = TensorType::new(dims, updates.dtype);
    require!(updates.compatible(&expected), C 3, "updates must have type {expected}, found {updates}");
    updates_and_reduction(call)?;
    Ok(vec![data.clone()])
}

/// C1: indices are integers. C2: on and off are scalars of one element type. C3: axis is in range of
/// the result. C4: depth is not negative.
fn one_hot_relation(call: &Call) -> Related {
    let (indices, values) = (&call.operands[0], &call.operands[1..]);
    require!(indices.dtype.is_int(), C 1, "indices must be integers, found {indices}");
    same_dtype(values, 2)?;
    for value in values {
        require!(value.rank() == 0, C 2, "on and off must be scalars (rank 0), found {value}");
    }
    let axis = one_hot_axis(call)?;
    let depth = int_attr(call, "depth", 4)?;
    let Ok(extent) = u64::try_from(depth) else {
        return Err(Violation::new(4, format!("depth {depth} must not be negative")));
    };
    let mut dims = indices.dims.clone();
    dims.insert(axis, Dim::Static(extent));
    Ok(vec![TensorType::new(dims, values[0].dtype)])
}

operators! {
    /// y[a..., i..., b...] = x[a..., indices[i...], b...] with indices at `axis` (0 when absent)
    ///
    /// C1: indices are i32 or i64. C2: axis is in range.
    GATHER = gather("gather", gather_relation, indexing::gather)
        .of(form(&[operand("data"), operand("indices")]).attributes(&[int("axis")]))
        .of_strings();
    /// y[i] = x[i with indices[i] at `axis`]
    ///
    /// C1: indices are i32 or i64. C2: axis (0 when absent) is in range. C3: ranks agree; off `axis`, no extent of indices exceeds the data's.
    GATHER_ELEMENTS = gather("gather_elements", gather_elements_relation, indexing::gather_elements)
        .of(form(&[operand("data"), operand("indices")]).attributes(&[int("axis")]))
        .of_strings();
    /// y[b..., i..., r...] = x[b..., indices[b..., i..., :]..., r...]
    ///
    /// C1: indices are i32 or i64. C2: the batch extents agree. C3: the last extent of indices is known and at most the rank left.
    GATHER_ND = gather("gather_nd", gather_nd_relation, indexing::gather_nd)
        .of(form(&[operand("data"), operand("indices")]).attributes(&[int("batch_dims")]))
        .of_strings();
    /// y = x; y[i with indices[i] at `axis`] = updates[i]
    ///
    /// `reduction` is "none" (the default), "add", "mul", "max" or "min". C1: indices are i32 or i64. C2: axis (0 when absent) is in range. C3: indices and updates have one shape and the data's rank; off `axis`, no extent exceeds the data's. C4: updates have the data's element type. C5: a known reduction.
    SCATTER_ELEMENTS = scatter("scatter_elements", scatter_elements_relation, scatter::scatter_elements)
        .of(form(&[operand("data"), operand("indices"), operand("updates")])
            .attributes(&[int("axis"), text("reduction")]))
        .of_strings();
    /// y = x; y[indices[i..., :]...] = updates[i..., ...]
    ///
    /// As relay.scatter_elements. C3: updates have the shape indices.shape[:-1] + data.shape[k:], k the last extent of indices.
    SCATTER_ND = scatter("scatter_nd", scatter_nd_relation, scatter::scatter_nd)
        .of(form(&[operand("data"), operand("indices"), operand("updates")]).attributes(&[text("reduction")]))
        .of_strings();
    /// on where the index along the new axis is indices[i], else off
    ///
    /// `axis` is -1 when absent; an index out of range is nowhere on. C1: indices are integers. C2: on and off are scalars (rank 0) of one element type. C3: axis is in range of the result. C4: depth is not negative.
    ONE_HOT = Operator { cost: one_each, ..gather("one_hot", one_hot_relation, indexing::one_hot) }
        .of(form(&[operand("indices"), operand("on"), operand("off")])
            .attributes(&[int("depth").required(), int("axis")]));
}
