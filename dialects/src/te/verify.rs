//! Verifiers of te.

use super::Op as Te;
use crate::rows::Kind;
use crate::{
    Op, OpExt, Value, ValueLike, arguments, array_elements, buffer_type, ops_in, scalar_type, tensor_type,
};
use fusion_operators::TensorType;

/// Checks an operation of te.
pub fn verify(kind: Te, op: Op) -> Result<(), String> {
    match kind {
        Te::Compute => compute(op),
        Te::Extern => extern_nest(op),
        Te::Load => load(op, 0),
        Te::LoadIf => load(op, 2),
        Te::View => view(op),
        Te::Split => split(op).map_err(|why| in_schedule(op, &why)),
        Te::StorageAlign => storage_align(op).map_err(|why| in_schedule(op, &why)),
        Te::Recompute => recompute(op).map_err(|why| in_schedule(op, &why)),
        Te::Prefetch => prefetch(op).map_err(|why| in_schedule(op, &why)),
        Te::Intrinsic => intrinsic(op),
        _ => Ok(()),
    }
}

/// What is wrong with a primitive, with the loops or stages and the kernel that it is about.
fn in_schedule(primitive: Op, why: &str) -> String {
    format!("{why} {}", super::handles::context_of(primitive))
}

fn prefetch(op: Op) -> Result<(), String> {
    match op.int("ahead").unwrap_or(0) {
        1.. => Ok(()),
        ahead => Err(format!("violates constraint C1: it must be some iterations ahead, found {ahead}")),
    }
}

fn recompute(op: Op) -> Result<(), String> {
    match op.ints("part").as_deref() {
        None => Ok(()),
        Some(&[axis, from, to]) if axis >= 0 && (0..to).contains(&from) => Ok(()),
        Some(part) => Err(format!(
            "violates constraint C1: a part is an axis, where it begins and where it ends, behind that, found {part:?}"
        )),
    }
}

fn split(op: Op) -> Result<(), String> {
    match (op.int("factor"), op.int("parts")) {
        (Some(n), None) if n < 1 => {
            Err(format!("violates constraint C1: the factor must be above 0, found {n}"))
        }
        (None, Some(n)) if n < 1 => {
            Err(format!("violates constraint C1: the number of parts must be above 0, found {n}"))
        }
        (Some(_), None) | (None, Some(_)) => Ok(()),
        _ => Err("violates constraint C1: it needs either a factor or a number of parts".into()),
    }
}

/// Rows that are further apart than this are no rows.
const MOST_APART: i64 = 1 << 16;

fn storage_align(op: Op) -> Result<(), String> {
    let number = |name: &str| op.int(name).unwrap_or(0);
    let (dim, factor, offset) = (number("dim"), number("factor"), number("offset"));
    if dim >= 0 && (1..=MOST_APART).contains(&factor) && (0..factor).contains(&offset) {
        return Ok(());
    }
    Err(format!(
        "violates constraint C1: the factor must be from 1 to {MOST_APART}, the offset from 0 to below it and the axis not \
         negative, found {factor}, {offset} and {dim}"
    ))
}

/// The types that the second body of an intrinsic, or a nest that computes in parts, takes for tensors: a buffer, a place, and a distance an axis.
fn places(op: Op, tensors: &[TensorType]) -> Option<Vec<String>> {
    let mut taken = Vec::new();
    for ty in tensors {
        taken.push(buffer_type(op.context_ref(), ty.elements()?, ty.dtype).to_string());
        taken.extend(vec!["index".to_owned(); 1 + ty.rank()]);
    }
    Some(taken)
}

fn intrinsic(op: Op) -> Result<(), String> {
    let (Some(semantics), Some(lowering)) = (op.body(0), op.body(1)) else {
        return Err("violates constraint C1: a body is empty".into());
    };
    let wrong =
        "violates constraint C1: the first body must have one te.compute of one result, which it returns";
    let ops = ops_in(semantics);
    let computes: Vec<_> =
        ops.iter().filter(|o| matches!(o.kind(), Some(Kind::Te(Te::Compute)))).copied().collect();
    let [compute] = computes[..] else { return Err(wrong.into()) };
    let returned = ops
        .last()
        .filter(|o| matches!(o.kind(), Some(Kind::Te(Te::Return))))
        .map(|o| o.operand_values())
        .unwrap_or_default();
    let results = compute.result_values();
    if results.len() != 1 || returned != results {
        return Err(wrong.into());
    }
    let tensors = types(&[arguments(semantics), results].concat())?;
    let mut expected = places(op, &tensors).ok_or("violates constraint C2: every extent must be known")?;
    let result = &tensors[tensors.len() - 1];
    let is_scalar = result.rank() == 0;
    if is_scalar {
        // The sum so far, in place of a buffer and where it is in that.
        expected.truncate(expected.len() - 2);
        expected.push(crate::scalar_type(op.context_ref(), result.dtype).to_string());
    }
    let found: Vec<_> = arguments(lowering).iter().map(|v| v.r#type().to_string()).collect();
    let yields = |o: &Op| {
        let values: Vec<_> = o.operand_values().iter().map(|v| v.r#type().to_string()).collect();
        let wanted = expected.last().filter(|_| is_scalar);
        matches!(o.kind(), Some(Kind::Loop(crate::loops::Op::Yield))) && values.iter().eq(wanted)
    };
    let ends = ops_in(lowering).last().is_some_and(yields);
    if found == expected && ends {
        shared_by_lanes(op, compute, &tensors)
    } else {
        Err(format!(
            "violates constraint C2: the second body must take ({}) and end with loop.yield{}, found ({})",
            expected.join(", "),
            if is_scalar { " of the sum" } else { "" },
            found.join(", ")
        ))
    }
}

/// The axes that number threads, and those along which the arguments' elements lie together.
fn shared_by_lanes(op: Op, compute: Op, tensors: &[TensorType]) -> Result<(), String> {
    let lanes = op.ints("lanes").unwrap_or_default();
    let axes = compute.ints("axes").unwrap_or_default().len() as i64;
    let once = lanes.iter().enumerate().all(|(i, lane)| !lanes[..i].contains(lane));
    if !once || lanes.iter().any(|lane| !(0..axes).contains(lane)) {
        return Err(format!(
            "violates constraint C3: lanes must be some of its {axes} parallel axes, each once, found {lanes:?}"
        ));
    }
    let arguments = &tensors[..tensors.len() - 1];
    let dims: usize = arguments.iter().map(TensorType::rank).sum();
    if let Some(apart) = op.ints("apart").filter(|apart| apart.len() != dims) {
        return Err(format!(
            "violates constraint C4: apart must have a distance for each of the {dims} axes of its arguments, found {apart:?}"
        ));
    }
    let Some(contiguous) = op.ints("contiguous") else { return Ok(()) };
    let fits = |(dim, ty): (&i64, &TensorType)| (-1..ty.rank() as i64).contains(dim);
    if contiguous.len() == arguments.len() && contiguous.iter().zip(arguments).all(fits) {
        return Ok(());
    }
    Err(format!(
        "violates constraint C3: contiguous must name an axis of each of its {} arguments, or -1, found {contiguous:?}",
        arguments.len()
    ))
}

fn types(values: &[Value]) -> Result<Vec<TensorType>, String> {
    let of = |v: &Value| {
        tensor_type(*v)
            .ok_or_else(|| format!("has a value of type {}, which is no tensor of ours", v.r#type()))
    };
    values.iter().map(of).collect()
}

fn compute(op: Op) -> Result<(), String> {
    let (axes, reduce) = (op.ints("axes").unwrap_or_default(), op.ints("reduce").unwrap_or_default());
    let dims = super::dims_of(op);
    if (dims.is_none() || op.attr(super::NAMES).is_none())
        && let Some(extent) = axes.iter().chain(&reduce).find(|&&n| n < 0)
    {
        return Err(format!("violates constraint C1: an axis has the extent {extent} and no name"));
    }
    let parallel = &dims.unwrap_or_default()[..];
    let results = types(&op.result_values())?;
    for ty in &results {
        if parallel.get(..axes.len()) != Some(&ty.dims[..]) {
            return Err(format!(
                "violates constraint C2: the result is {ty}, the parallel axes have the extents {axes:?}"
            ));
        }
    }
    let body = op.body(0).ok_or("the body is empty")?;
    let inputs = arguments(body);
    if inputs.len() != axes.len() + reduce.len() || inputs.iter().any(|v| v.r#type().to_string() != "index") {
        return Err(format!(
            "violates constraint C3: the body takes {} indices, one an axis",
            axes.len() + reduce.len()
        ));
    }
    let scalars: Vec<_> =
        results.iter().map(|t| scalar_type(op.context_ref(), t.dtype).to_string()).collect();
    let given = ops_in(body)
        .last()
        .filter(|t| matches!(t.kind(), Some(Kind::Te(Te::Yield))))
        .map(|t| t.operand_values());
    let given: Vec<_> = given.unwrap_or_default().iter().map(|v| v.r#type().to_string()).collect();
    if given != scalars {
        return Err(format!(
            "violates constraint C3: the body must yield ({}), found ({})",
            scalars.join(", "),
            given.join(", ")
        ));
    }
    let neutral = op.attr("init").map(array_elements).unwrap_or_default();
    match (reduce.is_empty(), op.body(1)) {
        (true, None) if neutral.is_empty() => Ok(()),
        (true, _) => Err(
            "violates constraint C4: without reduction axes there is neither combiner nor neutral element"
                .into(),
        ),
        (false, Some(combiner)) => {
            if neutral.len() != results.len() {
                return Err(format!(
                    "violates constraint C4: {} neutral elements for {} results",
                    neutral.len(),
                    results.len()
                ));
            }
            let taken: Vec<_> = arguments(combiner).iter().map(|v| v.r#type().to_string()).collect();
            let expected = [scalars.clone(), scalars].concat();
            if taken == expected {
                Ok(())
            } else {
                Err(format!(
                    "violates constraint C4: the combiner must take ({}), found ({})",
                    expected.join(", "),
                    taken.join(", ")
                ))
            }
        }
        (false, None) => Err("violates constraint C4: reduction axes need a combiner".into()),
    }
}

fn extern_nest(op: Op) -> Result<(), String> {
    let tensors = types(&[op.operand_values(), op.result_values()].concat())?;
    if op.attr("axes").is_some() || op.attr("parts").is_some() {
        return parts(op, &tensors);
    }
    let buffers = tensors
        .iter()
        .map(|t| super::elements_of(t).map(|n| buffer_type(op.context_ref(), n, t.dtype).to_string()));
    let expected: Option<Vec<_>> = buffers.collect();
    let expected = expected.ok_or("violates constraint C1: every extent must be known or have a name")?;
    let body = op.body(0).ok_or("the body is empty")?;
    let found: Vec<_> = arguments(body).iter().map(|v| v.r#type().to_string()).collect();
    if found != expected {
        return Err(format!(
            "violates constraint C1: the body must take ({}), found ({})",
            expected.join(", "),
            found.join(", ")
        ));
    }
    let Some(updates) = op.int("updates") else { return Ok(()) };
    let inputs = op.operand_values();
    let updated = usize::try_from(updates).ok().and_then(|i| inputs.get(i));
    match (updated, &op.result_values()[..]) {
        (Some(input), [result]) if input.r#type() == result.r#type() => Ok(()),
        _ => Err(format!(
            "violates constraint C2: updates is {updates}, which names no input of the type of the only result"
        )),
    }
}

/// A nest that computes its result in parts.
fn parts(op: Op, tensors: &[TensorType]) -> Result<(), String> {
    let axes = op.ints("axes").unwrap_or_default();
    if axes.len() != 1 || axes[0] < 1 || op.int("updates").is_some() {
        return Err(format!(
            "violates constraint C3: axes must be one number above 0, without updates, found {axes:?}"
        ));
    }
    let (numbers, inputs) = (op.ints("parts").unwrap_or_default(), op.operand_values().len());
    let fits = |(i, (ty, n)): (usize, (&TensorType, &[i64]))| {
        let [dim, step, length] = n[..] else { return false };
        if i < inputs && n == [-1, 0, 0] {
            return true;
        }
        let extent = usize::try_from(dim).ok().and_then(|d| ty.dims.get(d)?.known());
        let end = (axes[0] - 1).checked_mul(step).and_then(|n| n.checked_add(length));
        let (Some(extent), Some(end)) = (extent, end.and_then(|n| u64::try_from(n).ok())) else {
            return false;
        };
        step > 0 && length > 0 && if i < inputs { end <= extent } else { end == extent && step == length }
    };
    let each = tensors.iter().zip(numbers.chunks(3)).enumerate();
    if op.result_values().len() != 1 || numbers.len() != 3 * tensors.len() || !each.clone().all(fits) {
        return Err(format!(
            "violates constraint C4: parts must be an axis, a step and a length for each tensor, inside of inputs and the whole of \
             the only result, found {numbers:?}"
        ));
    }
    let mut expected = vec!["index".to_owned()];
    expected.extend(places(op, tensors).ok_or("violates constraint C1: every extent must be known")?);
    let found = arguments(op.body(0).ok_or("the body is empty")?);
    let found: Vec<_> = found.iter().map(|v| v.r#type().to_string()).collect();
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "violates constraint C1: the body must take ({}), found ({})",
        expected.join(", "),
        found.join(", ")
    ))
}

/// `others` operands come behind the indices.
fn load(op: Op, others: usize) -> Result<(), String> {
    let operands = op.operand_values();
    let ty = &types(&operands[..1])?[0];
    let indices = operands.len() - 1 - others;
    if indices != ty.rank() {
        return Err(format!("violates constraint C1: {indices} indices for {ty}"));
    }
    let (found, expected) = (op.result_values()[0].r#type(), scalar_type(op.context_ref(), ty.dtype));
    if found == expected {
        Ok(())
    } else {
        Err(format!("violates constraint C2: an element of {ty} is {expected}, found {found}"))
    }
}

fn view(op: Op) -> Result<(), String> {
    let (from, to) = (&types(&op.operand_values())?[0], &types(&op.result_values())?[0]);
    let Some(offset) = op.int("offset") else {
        return match from.elements() == to.elements() && from.dtype == to.dtype {
            true => Ok(()),
            false => Err(format!("violates constraint C1: {from} and {to} do not have the same elements")),
        };
    };
    if from.dtype != to.dtype {
        return Err(format!("violates constraint C1: a piece of {from} has its element type, found {to}"));
    }
    let (Some(all), Some(some)) = (from.elements(), to.elements()) else {
        return Err(format!("violates constraint C2: a piece needs known extents, found {to} of {from}"));
    };
    let end = u64::try_from(offset).ok().and_then(|offset| offset.checked_add(some));
    match end.is_some_and(|end| end <= all) {
        true => Ok(()),
        false => Err(format!(
            "violates constraint C2: {some} elements from {offset} on do not lie inside of the {all} of {from}"
        )),
    }
}
