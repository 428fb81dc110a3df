//! Operators that move elements by their position.
//!
//! `y[i] = x[p(i)]` with `p` fixed by the attributes. After NumPy's array manipulation routines and
//! the ONNX operators Reshape, Slice, Pad and Resize.

use crate::form::{any, dims, float, floats, form, int, ints, operand, text};
use crate::operator::cost::{elements, free};
use crate::operator::{Reference, Related};
pub use crate::parameters::shape::{Sliced, padding, permutation, slices};
use crate::reference::{resize, shape};
use crate::relation::{axes_or_all, checked_axis, int_attr, ints_attr, normalize_axes};
use crate::{Call, Dim, FusionKind, Operator, Relation, TensorType, Violation, operators, require};

const fn mover(name: &'static str, relation: Relation, reference: Reference) -> Operator {
    Operator::new(name, FusionKind::Injective, relation, free, reference)
}

/// An extent from an attribute; constraint `number` is violated by a negative one.
fn extents(shape: &[i64], number: u32) -> Result<Vec<u64>, Violation> {
    let extent = |&n: &i64| {
        u64::try_from(n).map_err(|_| Violation::new(number, format!("{n} in {shape:?} must not be negative")))
    };
    shape.iter().map(extent).collect()
}

fn product<'a>(extents: impl IntoIterator<Item = &'a u64>) -> Option<u64> {
    extents.into_iter().try_fold(1u64, |n, &d| n.checked_mul(d))
}

/// The attribute `name`, a list of extents; constraint `number` is violated when there is none.
fn dims_attr(call: &Call, name: &str, number: u32) -> Result<Vec<Dim>, Violation> {
    let missing = || Violation::new(number, format!("attribute {name} must be a list of extents"));
    call.attrs.dims(name).ok_or_else(missing)
}

/// C1: one -1 at most, others not negative. C2: the number of elements stays.
fn reshape_relation(call: &Call) -> Related {
    let data = &call.operands[0];
    let mut shape = dims_attr(call, "shape", 1)?;
    if let Some(numbers) = call.attrs.ints("shape") {
        let given: Vec<i64> = numbers.iter().copied().filter(|&n| n != -1).collect();
        extents(&given, 1)?;
    }
    let inferred: Vec<usize> = (0..shape.len()).filter(|&i| shape[i] == Dim::Any).collect();
    require!(inferred.len() <= 1, C 1, "shape {} has {} extents of -1, expected one at most", list(&shape), inferred.len());
    let fixed: Vec<u64> = shape.iter().filter_map(Dim::known).collect();
    let Some(fixed) = product(&fixed) else {
        return Err(Violation::new(
            2,
            format!("shape {} has more elements than can be counted", list(&shape)),
        ));
    };
    require!(inferred.is_empty() || fixed != 0, C 2, "shape {} does not determine -1, its other extents multiply to 0", list(&shape));
    let others = Dim::product(shape.iter().filter(|&dim| *dim != Dim::Any));
    let all = Dim::product(&data.dims);
    let rest = match (data.elements(), inferred.first()) {
        (Some(0), Some(_)) => Dim::Static(0),
        (_, Some(_)) => {
            let exact = all.expression().zip(others.expression()).map(|(a, b)| a.exactly_over(&b));
            match exact {
                Some(Some(exact)) => Dim::of(exact),
                // Numbers that do not divide contradict; of expressions, run time says more.
                Some(None) if all.known().is_some() && others.known().is_some() => {
                    return Err(differ(data, &shape));
                }
                _ => Dim::Any,
            }
        }
        (_, None) => Dim::Static(1),
    };
    let known = product(&data.dims.iter().filter_map(Dim::known).collect::<Vec<_>>());
    let dynamic = data.dims.iter().any(|dim| dim.known().is_none());
    let fits = match known {
        _ if !inferred.is_empty() => true,
        Some(n) if !dynamic || others.known().is_none() => {
            data.elements().is_none_or(|_| others.known().is_none_or(|fixed| fixed == n))
                && all.compatible(&others)
        }
        // The extents that are not known make up for the rest.
        Some(n) => fixed == 0 || (n != 0 && fixed.is_multiple_of(n)),
        None => true,
    };
    if !fits {
        return Err(differ(data, &shape));
    }
    if let Some(&place) = inferred.first() {
        shape[place] = rest;
    }
    Ok(vec![TensorType::new(shape, data.dtype)])
}

fn list(shape: &[Dim]) -> String {
    let texts: Vec<String> =
        shape.iter().map(|dim| if *dim == Dim::Any { "-1".to_owned() } else { dim.to_string() }).collect();
    format!("[{}]", texts.join(", "))
}

fn differ(data: &TensorType, shape: &[Dim]) -> Violation {
    Violation::new(2, format!("{data} cannot have shape {}, the numbers of elements differ", list(shape)))
}

fn transpose_relation(call: &Call) -> Related {
    let data = &call.operands[0];
    let dims = permutation(call)?.into_iter().map(|a| data.dims[a].clone()).collect();
    Ok(vec![TensorType::new(dims, data.dtype)])
}

/// C1: axes are in range. C2: their extents are 1; without axes, which are 1 is known.
fn squeeze_relation(call: &Call) -> Related {
    let data = &call.operands[0];
    let one = Dim::Static(1);
    let axes: Vec<usize> = match call.attrs.ints("axes") {
        Some(axes) => normalize_axes(axes, data.rank(), 1)?,
        None => {
            let known = data.dims.iter().all(|d| d.known().is_some());
            require!(known, C 2, "which extents of {data} are 1 is not known; name the axes to remove");
            (0..data.rank()).filter(|&a| data.dims[a] == one).collect()
        }
    };
    for &a in &axes {
        require!(data.dims[a].compatible(&one), C 2, "axis {a} of {data} has extent {}, expected 1", data.dims[a]);
    }
    let kept = (0..data.rank()).filter(|a| !axes.contains(a));
    Ok(vec![TensorType::new(kept.map(|a| data.dims[a].clone()).collect(), data.dtype)])
}

/// C1: axes are in range of the result's rank and named once.
fn expand_dims_relation(call: &Call) -> Related {
    let data = &call.operands[0];
    let axes = ints_attr(call, "axes", 1)?;
    let rank = data.rank() + axes.len();
    let axes = normalize_axes(axes, rank, 1)?;
    let mut kept = data.dims.iter().cloned();
    let dim = |a| if axes.contains(&a) { Dim::Static(1) } else { kept.next().unwrap_or(Dim::Static(1)) };
    Ok(vec![TensorType::new((0..rank).map(dim).collect(), data.dtype)])
}

/// C1: the operand's shape broadcasts to `shape`.
fn broadcast_to_relation(call: &Call) -> Related {
    let data = &call.operands[0];
    let dims = dims_attr(call, "shape", 1)?;
    if let Some(numbers) = call.attrs.ints("shape") {
        extents(numbers, 1)?;
    }
    require!(!dims.contains(&Dim::Any), C 1, "shape {} must say all extents", list(&dims));
    let mut pairs = data.dims.iter().rev().zip(dims.iter().rev());
    let fits = data.rank() <= dims.len() && pairs.all(|(a, b)| *a == Dim::Static(1) || a.compatible(b));
    require!(fits, C 1, "{data} does not broadcast to shape {}", list(&dims));
    Ok(vec![TensorType::new(dims, data.dtype)])
}

/// C1: one element type and rank. C2: axis is in range. C3: the other extents agree.
fn concat_relation(call: &Call) -> Related {
    let first = &call.operands[0];
    let axis = int_attr(call, "axis", 2)?;
    for other in call.operands {
        let same = other.dtype == first.dtype && other.rank() == first.rank();
        require!(same, C 1, "operands must have one element type and rank, found {first} and {other}");
    }
    let axis = checked_axis(axis, first.rank(), 2)?;
    let mut dims = first.dims.clone();
    for other in &call.operands[1..] {
        for (a, dim) in other.dims.iter().enumerate() {
            dims[a] = match (&dims[a], dim) {
                (Dim::Static(m), Dim::Static(n)) if a == axis => match m.checked_add(*n) {
                    Some(sum) => Dim::Static(sum),
                    None => {
                        return Err(Violation::new(3, format!("extents {m} and {n} are too large to join")));
                    }
                },
                (known, dim) if a == axis => known.plus(dim),
                (known, dim) if known.compatible(dim) => known.meet(dim),
                (known, dim) => {
                    let message =
                        format!("{other} has extent {dim} on axis {a}, expected {known} as before it");
                    return Err(Violation::new(3, message));
                }
            };
        }
    }
    Ok(vec![TensorType::new(dims, first.dtype)])
}

/// C1: axis is in range. C2: sections are not negative and sum to the extent.
fn split_relation(call: &Call) -> Related {
    let data = &call.operands[0];
    let axis = checked_axis(int_attr(call, "axis", 1)?, data.rank(), 1)?;
    let sections = ints_attr(call, "sections", 2)?;
    let pieces = extents(sections, 2)?;
    let sum = pieces.iter().try_fold(0u64, |n, &d| n.checked_add(d));
    let fits = sum.is_some_and(|n| data.dims[axis].compatible(&Dim::Static(n)));
    require!(fits, C 2, "sections {sections:?} must sum to extent {} of axis {axis}", data.dims[axis]);
    let piece = |n| {
        let mut ty = data.clone();
        ty.dims[axis] = Dim::Static(n);
        ty
    };
    Ok(pieces.into_iter().map(piece).collect())
}

fn slice_relation(call: &Call) -> Related {
    let mut ty = call.operands[0].clone();
    for slice in slices(call)? {
        let dim = &mut ty.dims[slice.axis];
        if let Dim::Static(extent) = *dim {
            *dim = Dim::Static(slice.of(extent).1);
        } else if !slice.keeps_all() {
            *dim = slice.of_dynamic(dim);
        }
    }
    Ok(vec![ty])
}

/// C1, and C2: a known mode. C3: no extent becomes negative; reflection is shorter than the axis;
/// edge and wrap of an axis that is not empty. Elements are removed first, then added.
fn pad_relation(call: &Call) -> Related {
    let mut ty = call.operands[0].clone();
    let padding = padding(call)?;
    let mode = call.attrs.str_or("mode", "constant");
    require!(shape::PAD_MODES.contains(&mode), C 2, "mode {mode:?} must be one of {:?}", shape::PAD_MODES);
    for (a, (before, after)) in padding.into_iter().enumerate() {
        let Dim::Static(extent) = ty.dims[a] else {
            if let (Ok(before), Ok(after)) = (u64::try_from(before), u64::try_from(after)) {
                ty.dims[a] = ty.dims[a].plus(&Dim::Static(before)).plus(&Dim::Static(after));
            } else {
                ty.dims[a] = Dim::Any;
            }
            continue;
        };
        let left = i128::from(extent) + before.min(0) + after.min(0);
        require!(left >= 0, C 3, "axis {a} has extent {extent}, padding ({before}, {after}) removes more");
        let most = before.max(after);
        let filled = match mode {
            "reflect" => most <= 0 || most < left,
            "edge" | "wrap" => most <= 0 || left > 0,
            _ => true,
        };
        require!(filled, C 3, "axis {a} with {left} elements is too short for {mode} padding ({before}, {after})");
        let Ok(padded) = u64::try_from(left + before.max(0) + after.max(0)) else {
            return Err(Violation::new(3, format!("padding ({before}, {after}) of axis {a} is too large")));
        };
        ty.dims[a] = Dim::Static(padded);
    }
    Ok(vec![ty])
}

/// C1: one number, not negative, an axis.
fn tile_relation(call: &Call) -> Related {
    let mut ty = call.operands[0].clone();
    let reps = ints_attr(call, "reps", 1)?;
    require!(reps.len() == ty.rank(), C 1, "reps {reps:?} must have one number for each axis of {ty}");
    for (dim, n) in ty.dims.iter_mut().zip(extents(reps, 1)?) {
        *dim = match (dim.known(), n) {
            (_, 1) => continue,
            (_, 0) => Dim::Static(0),
            (None, n) => dim.times(&Dim::Static(n)),
            (Some(extent), n) => match extent.checked_mul(n) {
                Some(product) => Dim::Static(product),
                None => {
                    return Err(Violation::new(
                        1,
                        format!("{n} repetitions of extent {extent} are too many"),
                    ));
                }
            },
        };
    }
    Ok(vec![ty])
}

/// C1: one size and scale an axis, above 0. C2: known method, coordinates, rounding. C3: linear
/// interpolates floats.
fn resize_relation(call: &Call) -> Related {
    let data = &call.operands[0];
    let size = dims_attr(call, "size", 1)?;
    let scales = call.attrs.floats("scales");
    let one_each = size.len() == data.rank() && scales.is_none_or(|scales| scales.len() == data.rank());
    let given = scales.unwrap_or_default();
    require!(one_each, C 1, "size {} and scales {given:?} must have one number for each axis of {data}", list(&size));
    let above = size.iter().all(|n| *n != Dim::Static(0) && *n != Dim::Any);
    require!(above, C 1, "size {} must be above 0", list(&size));
    let above_zero = |&s: &f64| s > 0.0 && s.is_finite();
    require!(given.iter().all(above_zero), C 1, "scales {given:?} must be finite and above 0");
    require!(!data.dims.contains(&Dim::Static(0)), C 1, "{data} has no elements to sample");
    for (name, known) in resize::CHOICES {
        let choice = call.attrs.str_or(name, known[0]);
        require!(known.contains(&choice), C 2, "{name} {choice:?} must be one of {known:?}");
    }
    let linear = call.attrs.str_or("method", "nearest") == "linear";
    require!(!linear || data.dtype.is_float(), C 3, "linear interpolation needs floats, found {data}");
    Ok(vec![TensorType::new(size, data.dtype)])
}

/// Two products and a sum for each pair of neighbours: over k axes `2^k - 1` pairs become one number.
fn resize_cost(call: &Call, results: &[TensorType]) -> f64 {
    if call.attrs.str_or("method", "nearest") == "nearest" {
        return 0.0;
    }
    let resized = results[0].dims.iter().zip(&call.operands[0].dims).filter(|(a, b)| a != b).count();
    3.0 * ((1u64 << resized.min(32)) - 1) as f64 * elements(results)
}

/// C1: axes are in range and named once.
fn reverse_relation(call: &Call) -> Related {
    ints_attr(call, "axes", 1)?;
    axes_or_all(call, call.operands[0].rank(), 1)?;
    Ok(vec![call.operands[0].clone()])
}

operators! {
    /// The same elements in row-major order under another shape
    ///
    /// At most one extent may be -1: what is left over. C1: one -1 at most, others not negative. C2: the number of elements stays.
    RESHAPE = mover("reshape", reshape_relation, |_, r, x| shape::same_elements(&r[0], &x[0]))
        .of(form(&[operand("data")]).attributes(&[dims("shape").required()]))
        .of_strings();
    /// Axis i of the result is axis axes[i] of the operand; reversed when absent
    ///
    /// C1: axes are a permutation.
    TRANSPOSE = mover("transpose", transpose_relation, shape::transpose)
        .of(form(&[operand("data")]).attributes(&[ints("axes")]))
        .of_strings();
    /// Removes axes of extent 1 (all of them when absent)
    ///
    /// C1: axes are in range. C2: their extents are 1; without axes, all extents are known.
    SQUEEZE = mover("squeeze", squeeze_relation, |_, r, x| shape::same_elements(&r[0], &x[0]))
        .of(form(&[operand("data")]).attributes(&[ints("axes")]))
        .of_strings();
    /// Inserts axes of extent 1 at the places `axes` of the result
    ///
    /// C1: axes are in range of the result's rank and named once.
    EXPAND_DIMS = mover("expand_dims", expand_dims_relation, |_, r, x| shape::same_elements(&r[0], &x[0]))
        .of(form(&[operand("data")]).attributes(&[ints("axes").required()]))
        .of_strings();
    /// Repeats along axes of extent 1 and new leading axes
    ///
    /// C1: the operand's shape broadcasts to `shape`.
    BROADCAST_TO = Operator { fusion: FusionKind::Broadcast, ..mover("broadcast_to", broadcast_to_relation, |_, r, x| shape::broadcast_to(&r[0], &x[0])) }
        .of(form(&[operand("data")]).attributes(&[dims("shape").required()]))
        .of_strings();
    /// Joins tensors along `axis`
    ///
    /// C1: one element type and rank. C2: axis is in range. C3: the other extents agree.
    CONCAT = mover("concat", concat_relation, shape::concat)
        .of(form(&[any("inputs")]).attributes(&[int("axis").required()]))
        .of_strings();
    /// Cuts a tensor along `axis` into pieces of the extents `sections`
    ///
    /// C1: axis is in range. C2: sections are not negative and sum to the extent.
    SPLIT = mover("split", split_relation, shape::split)
        .of(form(&[operand("data")])
            .attributes(&[ints("sections").required(), int("axis").required()])
            .results(&[any("pieces")]))
        .of_strings();
    /// y[i] = x[begin + i * stride] along each of `axes`
    ///
    /// `axes` are the first ones and `strides` 1 when absent. Negative begin and end count from the back, both are clamped to the
    /// axis (Python slices; with a negative stride an end below -extent means "through the first element").
    /// - C1: begin, end, axes and strides have one length. C2: axes are in range and named once. C3: no stride is 0.
    SLICE = mover("slice", slice_relation, shape::slice)
        .of(form(&[operand("data")])
            .attributes(&[ints("begin").required(), ints("end").required(), ints("axes"), ints("strides")]))
        .of_strings();
    /// Extends each axis at its beginning and end
    ///
    /// `padding` has all beginnings, then all ends; negative ones remove. `mode` is "constant" (with `value`, 0 when absent), "edge",
    /// "reflect" (without repeating the edge) or "wrap".
    /// - C1: two numbers an axis. C2: a known mode. C3: no extent becomes negative; reflection is shorter than the axis; edge and wrap of an axis that is not empty.
    PAD = mover("pad", pad_relation, shape::pad)
        .of(form(&[operand("data")]).attributes(&[ints("padding").required(), text("mode"), float("value")]));
    /// Repeats the tensor reps[i] times along axis i
    ///
    /// C1: one number, not negative, an axis.
    TILE = mover("tile", tile_relation, |_, r, x| shape::tile(&r[0], &x[0]))
        .of(form(&[operand("data")]).attributes(&[ints("reps").required()]))
        .of_strings();
    /// Samples the last axes at another resolution
    ///
    /// `size` has one extent for each axis. `scales` are those that map coordinates; size / extent when absent.
    /// `method` is "nearest" or "linear"; `coordinates` is "half_pixel", "pytorch_half_pixel", "asymmetric" or "align_corners";
    /// `rounding`, for nearest, is "round_prefer_floor", "round_prefer_ceil", "floor" or "ceil". Defaults: nearest, half_pixel, round_prefer_floor.
    /// - C1: one size and scale an axis, above 0. C2: known method, coordinates, rounding. C3: linear interpolates floats.
    RESIZE = Operator { cost: resize_cost, ..mover("resize", resize_relation, resize::resize) }
        .of(form(&[operand("data")])
            .attributes(&[dims("size").required(), floats("scales"), text("method"), text("coordinates"), text("rounding")]));
    /// Runs backwards along `axes`
    ///
    /// C1: axes are in range and named once.
    REVERSE = mover("reverse", reverse_relation, shape::reverse)
        .of(form(&[operand("data")]).attributes(&[ints("axes").required()]))
        .of_strings();
}
