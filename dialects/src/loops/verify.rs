//! Verifiers of loop.

use super::matrix::Instruction;
use super::tensor_copy::TensorCopy;
use super::{LoopKind, Op as Loop, SWIZZLED_BYTES, Scope, loop_kind};
use crate::rows::Kind;
use crate::{
    Block, Op, OpExt, Type, Value, ValueLike, arguments, buffer_parts, defining_op, dtype_of, is_index_type,
    ops_in, scalar_type, storage_type, vector_parts, vector_type,
};
use fusion_operators::DType;

/// Checks an operation of loop.
pub fn verify(kind: Loop, op: Op) -> Result<(), String> {
    match kind {
        Loop::For => {
            let extent = op.int("extent").unwrap_or(-1);
            if extent < 0 {
                return Err(format!("violates constraint C1: the extent is {extent}"));
            }
            for_loop(op, &op.operand_values())
        }
        Loop::Upto => {
            let kind = loop_kind(op);
            if !matches!(kind, LoopKind::Serial | LoopKind::Parallel) {
                return Err(format!("violates constraint C5: it must be serial or parallel, found {kind:?}"));
            }
            for_loop(op, &op.operand_values()[1..])
        }
        Loop::Guard => guard(op),
        Loop::Load | Loop::LoadStrided => {
            element(op.operand_values()[0], op.result_values()[0].r#type(), "the result")
        }
        Loop::LoadPacked => load_packed(op),
        Loop::Dot4Add => packed(op.result_values()[0].r#type(), 1, "the numbers"),
        Loop::Store | Loop::StoreStrided => {
            let value = op.operand_values()[0].r#type();
            if op.attr("stream").is_some() && vector_parts(value).is_none() {
                return Err(format!("violates constraint C3: a stream stores a vector, found {value}"));
            }
            element(op.operand_values()[1], value, "the value")
        }
        Loop::Prefetch => match buffer_parts(op.operand_values()[0].r#type()) {
            Some(_) => Ok(()),
            None => Err(format!(
                "violates constraint C1: {} is no flat buffer of known length, memref<NxT>",
                op.operand_values()[0].r#type()
            )),
        },
        Loop::ThreadIndex => threads(op),
        Loop::AllReduce => all_reduce(op),
        Loop::Alloc => alloc(op),
        Loop::MultiplyMatrix => multiply_matrix(op),
        Loop::MultiplyShared => multiply_shared(op),
        Loop::LoadMatrix => load_matrix(op),
        Loop::CopyAsync => copy_async(op),
        Loop::CopyTensor => tensor_copy(op),
        Loop::MbarrierInit | Loop::MbarrierExpect | Loop::MbarrierArrive | Loop::MbarrierWait => {
            mbarrier(kind, op)
        }
        Loop::Registers => registers(op),
        Loop::CopyWait if op.int("groups").is_some_and(|n| n < 0) => {
            Err("violates constraint C1: a number of groups is not negative".into())
        }
        _ => Ok(()),
    }
}

fn multiply_matrix(op: Op) -> Result<(), String> {
    let number = op.int("instruction").unwrap_or(-1);
    let Some(row) = Instruction::numbered(number) else {
        return Err(format!("violates constraint C1: there is no instruction {number}"));
    };
    if row.reads_shared() {
        return Err(format!(
            "violates constraint C1: {} takes a and b from shared memory; use loop.multiply_shared",
            row.name
        ));
    }
    let context = op.context_ref();
    let wanted = row.registers().map(|(dtype, n)| {
        let element = scalar_type(context, dtype);
        if n == 1 { element } else { vector_type(element, n) }
    });
    let found = types(&op.operand_values());
    if found == wanted {
        return Ok(());
    }
    Err(format!(
        "violates constraint C1: {} takes ({}) of each thread, found ({})",
        row.name,
        listed(&wanted),
        listed(&found)
    ))
}

fn multiply_shared(op: Op) -> Result<(), String> {
    let number = op.int("instruction").unwrap_or(-1);
    let Some(row) = Instruction::numbered(number).filter(|row| row.reads_shared()) else {
        return Err(format!(
            "violates constraint C1: instruction {number} does not take a and b from shared memory; use loop.multiply_matrix"
        ));
    };
    let operands = op.operand_values();
    let element = scalar_type(op.context_ref(), row.dtype);
    for (name, at) in [("a", 0), ("b", 2)] {
        let ty = operands[at].r#type();
        if buffer_parts(ty).is_none_or(|(found, _)| found != element) {
            return Err(format!(
                "violates constraint C1: {} takes a flat buffer of {element} as {name}, found {ty}",
                row.name
            ));
        }
    }
    if op.attr("transposed").is_some() && row.dtype.size() != 2 {
        return Err(format!(
            "violates constraint C3: {} reads columns of b only, which lie together",
            row.name
        ));
    }
    let sums = op.result_values()[0].r#type();
    let wanted = vector_type(scalar_type(op.context_ref(), DType::F32), row.elements[2]);
    if sums != wanted {
        return Err(format!(
            "violates constraint C2: {} takes {wanted} of each thread, found {sums}",
            row.name
        ));
    }
    Ok(())
}

fn load_matrix(op: Op) -> Result<(), String> {
    let (buffer, ty) = (op.operand_values()[0], op.result_values()[0].r#type());
    element(buffer, ty, "the result")?;
    let wide = |ty: Type| dtype_of(ty).map_or(0, DType::size);
    match vector_parts(ty) {
        Some((element, 2 | 4 | 8)) if wide(element) == 2 => Ok(()),
        _ => Err(format!(
            "violates constraint C2: the result must be a vector of 2, 4 or 8 elements of two bytes, found {ty}"
        )),
    }
}

fn types<'c>(values: &[Value<'c>]) -> Vec<Type<'c>> {
    values.iter().map(|v| v.r#type()).collect()
}

fn listed(types: &[Type]) -> String {
    types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ")
}

fn yielded(block: Block<'_>) -> Result<Vec<Type<'_>>, String> {
    let last = ops_in(block).last().copied().filter(|t| matches!(t.kind(), Some(Kind::Loop(Loop::Yield))));
    last.map(|t| types(&t.operand_values())).ok_or_else(|| "the body must end with loop.yield".into())
}

fn for_loop(op: Op, inits: &[Value]) -> Result<(), String> {
    let body = op.body(0).ok_or("the body is empty")?;
    let (carried, taken) = (types(inits), types(&arguments(body)));
    if !taken.first().is_some_and(|ty| is_index_type(*ty)) || taken[1..] != carried[..] {
        return Err(format!(
            "violates constraint C2: the body must take (index, {}), found ({})",
            listed(&carried),
            listed(&taken)
        ));
    }
    let (results, next) = (types(&op.result_values()), yielded(body)?);
    if results != carried || next != carried {
        return Err(format!(
            "violates constraint C3: carried ({}), yielded ({}), resulting ({}) types must agree",
            listed(&carried),
            listed(&next),
            listed(&results)
        ));
    }
    if loop_kind(op) == LoopKind::Parallel && !carried.is_empty() {
        return Err(
            "violates constraint C4: a parallel loop carries nothing from one iteration to the next".into()
        );
    }
    Ok(())
}

fn alloc(op: Op) -> Result<(), String> {
    let Some((element, elements)) = buffer_parts(op.result_values()[0].r#type()) else {
        return Err("must give a flat buffer of known length, memref<NxT>".into());
    };
    let bytes = elements.saturating_mul(dtype_of(element).map_or(1, DType::size) as u64);
    let shared = op.int("scope") == Some(Scope::Shared as i64);
    if op.attr("swizzled").is_some() && !(shared && bytes.is_multiple_of(SWIZZLED_BYTES)) {
        return Err(format!(
            "violates constraint C2: a swizzled buffer is shared and of whole {SWIZZLED_BYTES} bytes, found {bytes}"
        ));
    }
    match op.int("slots").map(u64::try_from) {
        Some(Ok(slots)) if slots >= 2 && elements.is_multiple_of(slots) => Ok(()),
        None => Ok(()),
        Some(_) => Err(format!(
            "violates constraint C1: {elements} elements in {} slots; there are at least two, of the same size",
            op.int("slots").unwrap_or(0)
        )),
    }
}

fn copy_async(op: Op) -> Result<(), String> {
    let operands = op.operand_values();
    let parts = |at: usize| operands.get(at).and_then(|v| buffer_parts(v.r#type()));
    let (Some((from, _)), Some((to, _))) = (parts(0), parts(2)) else {
        return Err("violates constraint C1: both must be flat buffers of known length, memref<NxT>".into());
    };
    if from != to {
        return Err(format!("violates constraint C1: copies elements of type {from} to a buffer of {to}"));
    }
    let size = dtype_of(from).map_or(0, |t| t.size() as i64);
    match op.int("elements").unwrap_or(0).saturating_mul(size) {
        4 | 8 | 16 => Ok(()),
        bytes => Err(format!("violates constraint C2: copies {bytes} bytes; 4, 8 or 16 can be copied")),
    }
}

fn tensor_copy(op: Op) -> Result<(), String> {
    let Some(copy) = TensorCopy::of(op) else {
        return Err(
            "violates constraint C2: there must be a place, an extent and a box for each of one to five axes"
                .into(),
        );
    };
    let (source, buffer) = (copy.source.r#type(), copy.buffer.r#type());
    let (Some((from, room)), Some((to, _))) = (buffer_parts(source), buffer_parts(buffer)) else {
        return Err("violates constraint C1: both must be flat buffers of known length, memref<NxT>".into());
    };
    if from != to {
        return Err(format!("violates constraint C1: copies elements of type {from} to a buffer of {to}"));
    }
    if let Some((mbarriers, _)) = copy.mbarrier {
        of_mbarriers(mbarriers)?;
    }
    let elements = copy.extents.iter().fold(1u64, |all, n| all.saturating_mul(*n));
    if elements > room {
        return Err(format!(
            "violates constraint C2: a tensor of {elements} elements is in a buffer of {room}"
        ));
    }
    let swizzled = defining_op(copy.buffer).is_some_and(|op| op.attr("swizzled").is_some());
    copy.limits(dtype_of(from).map_or(0, |t| t.size() as u64), swizzled)
}

fn of_mbarriers(mbarriers: Value) -> Result<(), String> {
    let ty = mbarriers.r#type();
    match buffer_parts(ty).and_then(|(element, _)| dtype_of(element)) {
        Some(DType::I64) => Ok(()),
        _ => Err(format!("violates constraint C1: mbarriers are in a flat buffer of i64, found {ty}")),
    }
}

fn mbarrier(kind: Loop, op: Op) -> Result<(), String> {
    of_mbarriers(op.operand_values()[0])?;
    let number = match kind {
        Loop::MbarrierInit => op.int("count"),
        Loop::MbarrierExpect => op.int("bytes"),
        _ => None,
    };
    match number.filter(|n| *n < 1) {
        Some(number) => Err(format!("violates constraint C2: {number} is not above 0")),
        None => Ok(()),
    }
}

fn registers(op: Op) -> Result<(), String> {
    match op.int("count").unwrap_or(0) {
        count if (24..=256).contains(&count) && count % 8 == 0 => Ok(()),
        count => Err(format!("violates constraint C1: {count} is no multiple of 8 from 24 to 256")),
    }
}

fn threads(op: Op) -> Result<(), String> {
    let extent = op.int("extent").unwrap_or(0);
    if loop_kind(op).is_thread() && extent > 0 {
        return Ok(());
    }
    Err(format!("violates constraint C1: {extent} of {:?} are no threads of a block", loop_kind(op)))
}

fn all_reduce(op: Op) -> Result<(), String> {
    threads(op)?;
    let extent = op.int("extent").unwrap_or(0);
    if !(extent as u64).is_power_of_two() {
        return Err(format!("violates constraint C1: {extent} threads are no power of two"));
    }
    let body = op.body(0).ok_or("the body is empty")?;
    let count = op.result_values().len();
    let operands = op.operand_values();
    let (values, scratch) = operands.split_at(count.min(operands.len()));
    let (given, results) = (types(values), types(&op.result_values()));
    let twice = [given.as_slice(), &given].concat();
    if types(&arguments(body)) != twice || yielded(body)? != given || results != given {
        return Err(format!(
            "violates constraint C2: the body must combine two of each of ({})",
            listed(&given)
        ));
    }
    let agree = scratch.len() == values.len()
        && scratch.iter().zip(values).all(|(buffer, value)| {
            let ty = value.r#type();
            let element = vector_parts(ty).map_or(ty, |(element, _)| element);
            let stored = dtype_of(element).map_or(element, |dtype| storage_type(op.context_ref(), dtype));
            buffer_parts(buffer.r#type()).is_some_and(|(held, _)| held == stored)
        });
    match agree {
        true => Ok(()),
        false => Err("violates constraint C3: there must be a flat buffer of its type for each value".into()),
    }
}

fn guard(op: Op) -> Result<(), String> {
    let otherwise = types(&op.operand_values()[1..]);
    let given = yielded(op.body(0).ok_or("the body is empty")?)?;
    let results = types(&op.result_values());
    if given == otherwise && results == otherwise {
        Ok(())
    } else {
        Err(format!(
            "yields ({}), else ({}), results ({}) must agree",
            listed(&given),
            listed(&otherwise),
            listed(&results)
        ))
    }
}

fn element(buffer: Value, ty: Type, what: &str) -> Result<(), String> {
    let Some((element, _)) = buffer_parts(buffer.r#type()) else {
        return Err(format!(
            "violates constraint C1: {} is no flat buffer of known length, memref<NxT>",
            buffer.r#type()
        ));
    };
    let scalar = vector_parts(ty).map_or(ty, |(scalar, _)| scalar);
    if scalar == element {
        Ok(())
    } else {
        Err(format!("violates constraint C2: {what} must be {element} or a vector of it, found {ty}"))
    }
}

fn load_packed(op: Op) -> Result<(), String> {
    let buffer = op.operand_values()[0].r#type();
    let of_bytes = buffer_parts(buffer)
        .and_then(|(element, _)| dtype_of(element))
        .is_some_and(|dtype| dtype == DType::I8);
    if !of_bytes {
        return Err(format!("violates constraint C1: {buffer} is no flat buffer of i8, memref<Nxi8>"));
    }
    packed(op.result_values()[0].r#type(), 2, "the result")
}

fn packed(ty: Type, constraint: u32, what: &str) -> Result<(), String> {
    let scalar = vector_parts(ty).map_or(ty, |(scalar, _)| scalar);
    if dtype_of(scalar) == Some(DType::I32) {
        return Ok(());
    }
    Err(format!("violates constraint C{constraint}: {what} must be i32 or vectors of it, found {ty}"))
}
