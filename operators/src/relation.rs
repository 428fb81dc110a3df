//! Type relations: how the types of a call's results follow from its operands and attributes.
//!
//! A relation either gives the result types or the first constraint that is violated.

use crate::operator::Related;
use crate::{Attr, Call, DType, Dim, TensorType, Violation};

/// Normalises an axis that may count from the back. `None` when it is out of range.
pub fn normalize_axis(axis: i64, rank: usize) -> Option<usize> {
    let from_front = if axis < 0 { axis.checked_add(rank as i64)? } else { axis };
    usize::try_from(from_front).ok().filter(|&a| a < rank)
}

/// Normalises a list of axes; constraint `number` is violated by one out of range or named twice.
pub fn normalize_axes(axes: &[i64], rank: usize, number: u32) -> Result<Vec<usize>, Violation> {
    let mut found = Vec::with_capacity(axes.len());
    for &axis in axes {
        let Some(a) = normalize_axis(axis, rank) else {
            return Err(Violation::new(
                number,
                format!("axis {axis} is out of range for a tensor of rank {rank}"),
            ));
        };
        if found.contains(&a) {
            return Err(Violation::new(number, format!("axis {axis} is named twice")));
        }
        found.push(a);
    }
    Ok(found)
}

/// The attribute `name`, an integer; constraint `number` is violated when there is none.
pub fn int_attr(call: &Call, name: &str, number: u32) -> Result<i64, Violation> {
    match call.attrs.get(name) {
        Some(Attr::Int(value)) => Ok(*value),
        _ => Err(Violation::new(number, format!("attribute {name} must be an integer"))),
    }
}

/// The attribute `name`, a list of integers; constraint `number` is violated when there is none.
pub fn ints_attr<'a>(call: &Call<'a>, name: &str, number: u32) -> Result<&'a [i64], Violation> {
    call.attrs
        .ints(name)
        .ok_or_else(|| Violation::new(number, format!("attribute {name} must be a list of integers")))
}

/// Normalises an axis that the operator takes; constraint `number` is violated by one out of range.
pub fn checked_axis(axis: i64, rank: usize, number: u32) -> Result<usize, Violation> {
    Ok(normalize_axes(&[axis], rank, number)?[0])
}

/// The normalised attribute `axes`, or all axes when it is absent.
pub fn axes_or_all(call: &Call, rank: usize, number: u32) -> Result<Vec<usize>, Violation> {
    match call.attrs.ints("axes") {
        Some(axes) => normalize_axes(axes, rank, number),
        None => Ok((0..rank).collect()),
    }
}

/// NumPy broadcasting of one pair of extents (NumPy manual, "Broadcasting").
pub fn broadcast_dim(a: &Dim, b: &Dim) -> Option<Dim> {
    match (a, b) {
        (Dim::Static(1), other) | (other, Dim::Static(1)) => Some(other.clone()),
        (a, b) if a == b => Some(a.clone()),
        (Dim::Static(_), Dim::Static(_)) => None,
        // An unknown extent against one above 1 must be that extent (or 1) at run time.
        (Dim::Static(n), _) | (_, Dim::Static(n)) => Some(Dim::Static(*n)),
        // They are equal, or one of them is 1.
        (a, b) => Some(a.greatest(b)),
    }
}

/// NumPy broadcasting of two shapes, aligned at the innermost dimension.
pub fn broadcast_dims(a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    let rank = a.len().max(b.len());
    let at = |s: &[Dim], i: usize| match (i + s.len()).checked_sub(rank) {
        Some(k) => s[k].clone(),
        None => Dim::Static(1),
    };
    (0..rank).map(|i| broadcast_dim(&at(a, i), &at(b, i))).collect()
}

/// Broadcasts the shapes of all operands; constraint `number` is violated when they do not agree.
pub fn broadcast_all(types: &[TensorType], number: u32) -> Result<Vec<Dim>, Violation> {
    let mut dims: Vec<Dim> = Vec::new();
    for ty in types {
        dims = broadcast_dims(&dims, &ty.dims).ok_or_else(|| {
            let list: Vec<_> = types.iter().map(|t| t.to_string()).collect();
            Violation::new(number, format!("shapes do not broadcast: {}", list.join(", ")))
        })?;
    }
    Ok(dims)
}

/// The relation of elementwise operators of one operand: the result has the operand's type.
pub fn same_as_first(call: &Call) -> Related {
    Ok(vec![call.operands[0].clone()])
}

/// C1: operands have one element type. C2: their shapes broadcast. The result has that element type.
pub fn broadcast(call: &Call) -> Related {
    same_dtype(call.operands, 1)?;
    let dims = broadcast_all(call.operands, 2)?;
    Ok(vec![TensorType::new(dims, call.operands[0].dtype)])
}

/// As [`broadcast`], with a boolean result.
pub fn broadcast_to_bool(call: &Call) -> Related {
    let result = broadcast(call)?;
    Ok(vec![result[0].with_dtype(DType::Bool)])
}

/// The element type of sums of products of two operands: theirs, or attribute `out_dtype`, into which each is cast first. Constraint 1 is violated
/// where the operands have none in common, or it is not of their class and as wide as they are.
pub fn product_dtype(call: &Call) -> Result<DType, Violation> {
    let Some(out) = call.attrs.dtype("out_dtype") else {
        same_dtype(call.operands, 1)?;
        return Ok(call.operands[0].dtype);
    };
    let [a, b] = [call.operands[0].dtype, call.operands[1].dtype];
    let alike = a.is_float() && a == b && out.is_float() || a.is_int() && b.is_int() && out.is_int();
    if !alike || out.size() < a.size().max(b.size()) {
        return Err(Violation::new(
            1,
            format!(
                "products of {a} and {b} cannot be summed as {out}; out_dtype must be a type of integers for operands of \
                 integers, or of floats for those of one type of floats, and as wide as they are"
            ),
        ));
    }
    Ok(out)
}

/// Constraint `number` is violated unless all operands have one element type.
pub fn same_dtype(types: &[TensorType], number: u32) -> Result<(), Violation> {
    match types.iter().find(|t| t.dtype != types[0].dtype) {
        Some(other) => Err(Violation::new(
            number,
            format!(
                "operands must have one element type, found {} and {}; write relay.cast to convert one",
                types[0].dtype, other.dtype
            ),
        )),
        None => Ok(()),
    }
}
