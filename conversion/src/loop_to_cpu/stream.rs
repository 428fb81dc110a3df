//! Stores past the caches.
//!
//!     loop.store %v, %y[%i] {stream}     =>     scf.if %begin_at_lines   vector.store %v, %y[%i] {nontemporal}
//!                                               else                       vector.store %v, %y[%i]
//!
//! Callers give buffers that begin anywhere, so that the function asks once where those that it is given begin; LLVM takes the choice out of loops. Such
//! stores are seen by other threads in any order, so that a fence stands at the function's end.

use super::function_of;
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::{Compare, Scalars};
use fusion_dialects::{
    Attribute, Build, Op, OpExt, Value, ValueLike, arguments, attr_to_mlir, buffer_parts, index_type,
    int_attr, key, kind_of, nested_ops, ops_in,
};
use fusion_loops::stream::{LINE, bytes_of};
use fusion_operators::Attr;

/// The strongest order of a fence, as LLVM numbers them.
const SEQUENTIALLY_CONSISTENT: i64 = 7;

/// Replaces a store that is a stream; false where its buffer is none that the function is given.
pub fn store(store: Op) -> bool {
    let operands = store.operand_values();
    let Some((_, alignment)) = bytes_of(operands[0]) else { return false };
    let Some(condition) = begin_at_lines(store, operands[1]) else { return false };
    let build = Build::before(store);
    let branch = |attrs: &[(&str, Attribute)]| {
        build.region(&[], |inner, _| {
            inner.op("vector.store", &operands, &[], attrs);
            inner.op("scf.yield", &[], &[], &[]);
        })
    };
    let past_caches = [
        ("nontemporal", attr_to_mlir(build.context(), &Attr::Bool(true))),
        ("alignment", int_attr(build.context(), alignment as i64)),
    ];
    build.op_with_regions("scf.if", &[condition], &[], &[], vec![branch(&past_caches), branch(&[])]);
    store.erase();
    true
}

/// Puts a fence at the end of a function that has streams.
pub fn fence(function: Op) {
    let is_stream =
        |op: &Op| matches!(kind_of(*op), Some(Kind::Loop(Loop::Store))) && op.attr("stream").is_some();
    let end = function.body(0).and_then(|body| ops_in(body).last().copied());
    if let (Some(end), true) = (end, nested_ops(function).iter().any(is_stream)) {
        let build = Build::before(end);
        let order = int_attr(build.context(), SEQUENTIALLY_CONSISTENT);
        build.op("llvm.fence", &[], &[], &[("ordering", order)]);
    }
}

/// Whether all buffers that the function is given begin at a line, where that which is stored is one of them. Vectors that are loaded from
/// two lines each hold the buffers of lines up that streams need: with them `y = f(a, b)` of 16.8 MB each takes a fifth longer as a stream, and
/// a sixth less without.
fn begin_at_lines<'c>(store: Op<'c>, stored: Value<'c>) -> Option<Value<'c>> {
    let body = function_of(store)?.body(0)?;
    let given = arguments(body).into_iter().filter(|argument| buffer_parts(argument.r#type()).is_some());
    let buffers: Vec<Value> = given.collect();
    buffers.iter().find(|buffer| key(**buffer) == key(stored))?;
    let scalars = Scalars { build: Build::before(*ops_in(body).first()?) };
    let build = &scalars.build;
    let index = index_type(build.context());
    let begin =
        |buffer: Value<'c>| build.value("memref.extract_aligned_pointer_as_index", &[buffer], index, &[]);
    let together =
        buffers.into_iter().map(begin).reduce(|a, b| build.value("arith.ori", &[a, b], index, &[]))?;
    let rest = scalars.index_remainder(together, scalars.index(LINE as i64));
    Some(scalars.index_compare(Compare::Equal, rest, scalars.index(0)).value)
}
