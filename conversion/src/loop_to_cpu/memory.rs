//! Buffers, loads and stores.

use super::{function_of, stream};
use fusion_dialects::loops::{LoopKind, Op as Loop, Scope, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, OperationLike, PassError, Type, Value, ValueLike, attr_to_mlir,
    buffer_parts, index_type, int_attr, kind_of, ops_in, vector_parts, vector_type,
};
use fusion_loops::masks;
use fusion_operators::{Attr, DType};

/// A buffer above this many bytes does not go on the stack.
const MOST_STACK_BYTES: u64 = 512 << 10;

/// A local buffer is made once a call of the function or, inside a parallel loop, once an iteration, since iterations must not
/// share it. It stands on the stack, a large one on the heap.
pub fn alloc(op: Op) -> Result<(), PassError> {
    let scope = op.int("scope").and_then(Scope::from_number);
    if let Some(scope @ (Scope::Shared | Scope::Fragment)) = scope {
        let what = if scope == Scope::Shared { "memory that a block of threads shares" } else { "fragments" };
        return Err(PassError::at(
            op,
            format_args!("is in {what}, which a CPU has not; use global or local memory"),
        ));
    }
    let ty = op.result_values()[0].r#type();
    let bytes = buffer_bytes(ty).unwrap_or(u64::MAX);
    let ops = home_of(op).map(ops_in).unwrap_or_default();
    let segments = fusion_dialects::segments_attr(op.context_ref(), &[0, 0]);
    let attrs = [("operandSegmentSizes", segments), ("alignment", int_attr(op.context_ref(), 64))];
    let (Some(first), Some(last)) = (ops.first(), ops.last()) else {
        return Err(PassError::at(op, "is a buffer outside of a function"));
    };
    let new = match bytes <= MOST_STACK_BYTES {
        true => Build::before(*first).op("memref.alloca", &[], &[ty], &attrs),
        false => {
            let buffer = Build::before(*first).op("memref.alloc", &[], &[ty], &attrs);
            Build::before(*last).op("memref.dealloc", &buffer.result_values(), &[], &[]);
            buffer
        }
    };
    op.replace_all_uses(&new.result_values());
    op.erase();
    Ok(())
}

/// Prefetches the line that an element is in, to be read and kept in all caches.
pub fn prefetch(op: Op) {
    let context = op.context_ref();
    let attrs = [
        ("isWrite", attr_to_mlir(context, &Attr::Bool(false))),
        ("localityHint", Attribute::parse(context, "3 : i32").unwrap_or_else(|| int_attr(context, 3))),
        ("isDataCache", attr_to_mlir(context, &Attr::Bool(true))),
    ];
    replace(op, "memref.prefetch", &op.operand_values(), &attrs);
}

/// The body of the innermost parallel loop around an operation, else that of its function.
fn home_of<'c>(op: Op<'c>) -> Option<Block<'c>> {
    let around = std::iter::successors(op.parent_operation(), |o| o.parent_operation());
    let parallel = around
        .filter(|o| matches!(kind_of(*o), Some(Kind::Loop(Loop::For | Loop::Upto))))
        .find(|o| loop_kind(*o) == LoopKind::Parallel);
    parallel.or_else(|| function_of(op))?.body(0)
}

/// Bytes of a flat buffer of that type; what is no number counts as eight.
pub fn buffer_bytes(ty: Type) -> Option<u64> {
    let (element, n) = buffer_parts(ty)?;
    Some(n.saturating_mul(fusion_dialects::dtype_of(element).map_or(8, |t: DType| t.size() as u64)))
}

/// A load of an element or of a vector.
pub fn load(op: Op) {
    let name =
        if vector_parts(op.result_values()[0].r#type()).is_some() { "vector.load" } else { "memref.load" };
    replace(op, name, &op.operand_values(), &[]);
}

/// A store of an element or of a vector.
pub fn store(op: Op) {
    let name =
        if vector_parts(op.operand_values()[0].r#type()).is_some() { "vector.store" } else { "memref.store" };
    if op.attr("stream").is_some() && stream::store(op) {
        return;
    }
    replace(op, name, &op.operand_values(), &[]);
}

/// Elements a stride apart.
pub fn load_strided(op: Op) {
    let [buffer, index] = op.operand_values()[..] else { return };
    let Some((_, lanes)) = vector_parts(op.result_values()[0].r#type()) else { return };
    gather_at(op, buffer, strided(op, index, lanes));
}

/// Elements written a stride apart.
pub fn store_strided(op: Op) {
    let [value, buffer, index] = op.operand_values()[..] else { return };
    let Some((_, lanes)) = vector_parts(value.r#type()) else { return };
    scatter_at(op, value, buffer, strided(op, index, lanes));
}

/// The indices of elements a stride apart.
fn strided<'c>(op: Op<'c>, first: Value<'c>, lanes: u64) -> Value<'c> {
    let build = Build::before(op);
    let ty = vector_type(index_type(build.context()), lanes);
    let every = |value: Value<'c>| build.value("vector.broadcast", &[value], ty, &[]);
    let stride = every(Scalars { build }.index(op.int("stride").unwrap_or(1)));
    let steps = build.value("vector.step", &[], ty, &[]);
    let apart = build.value("arith.muli", &[steps, stride], ty, &[]);
    build.value("arith.addi", &[every(first), apart], ty, &[])
}

/// Elements at a vector of indices.
pub fn gather(op: Op) {
    let [buffer, indices] = op.operand_values()[..] else { return };
    gather_at(op, buffer, indices);
}

fn gather_at<'c>(op: Op<'c>, buffer: Value<'c>, indices: Value<'c>) {
    let build = Build::before(op);
    let result = op.result_values()[0].r#type();
    let Some((element, lanes)) = vector_parts(result) else { return };
    let mask = masks::constant(&build, (0..lanes).map(|_| true));
    let zero = Attribute::parse(
        build.context(),
        &format!("dense<0{}> : {result}", if is_float(element) { ".0" } else { "" }),
    );
    let pass = build.value(
        "arith.constant",
        &[],
        result,
        &zero.map(|z| ("value", z)).into_iter().collect::<Vec<_>>(),
    );
    let base = Scalars { build }.index(0);
    replace(op, "vector.gather", &[buffer, base, indices, mask, pass], &[]);
}

/// Elements written at a vector of indices.
pub fn scatter(op: Op) {
    let [value, buffer, indices] = op.operand_values()[..] else { return };
    scatter_at(op, value, buffer, indices);
}

fn scatter_at<'c>(op: Op<'c>, value: Value<'c>, buffer: Value<'c>, indices: Value<'c>) {
    let build = Build::before(op);
    let Some((_, lanes)) = vector_parts(value.r#type()) else { return };
    let mask = masks::constant(&build, (0..lanes).map(|_| true));
    let base = Scalars { build }.index(0);
    replace(op, "vector.scatter", &[buffer, base, indices, mask, value], &[]);
}

fn is_float(ty: Type) -> bool {
    fusion_dialects::dtype_of(ty).is_some_and(DType::is_float)
}

fn replace<'c>(op: Op<'c>, name: &str, operands: &[Value<'c>], attrs: &[(&str, Attribute<'c>)]) {
    let results: Vec<Type> = op.result_values().iter().map(|v| v.r#type()).collect();
    let new = Build::before(op).op(name, operands, &results, attrs);
    op.replace_all_uses(&new.result_values());
    op.erase();
}
