//! `loop-stream`: whole vectors of a result that is stored past the caches become streams.
//!
//!     func @k(.., %y: memref<4194304xf32> {loop.streamed = true})
//!       loop.store %v, %y[16 %i]            =>      loop.store %v, %y[16 %i] {stream}
//!
//! A vector has to begin at a multiple of its bytes, or of 64 where it has more: what is known of its index must say so. Elements and
//! vectors of which it does not are stored as ever. (`te.stream` says which results; see its page in docs/reference/schedules.md.)

use super::divisor::divisor;
use fusion_dialects::loops::{Op as Loop, STREAMED};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Attribute, Op, OpExt, Pass, PassError, RunContext, StatisticSpec, Value, ValueLike, arguments,
    array_attr, array_elements, dict_attr, dictionary_attr, dictionary_entries, dtype_of, key, kind_of,
    nested_ops, unit_attr, vector_parts,
};
use fusion_operators::Attr;
use std::collections::HashSet;

/// The bytes of a line, as whose multiple a buffer has to begin.
pub const LINE: u64 = 64;

/// The pass.
pub struct LoopStream;

impl Pass for LoopStream {
    const NAME: &'static str = "loop-stream";
    const DESCRIPTION: &'static str = "Store whole vectors of results past the caches";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "streams", description: "Stores that go past the caches" }];
    const DIALECTS: &'static [&'static str] = &["loop"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let streamed = streamed(function);
        if streamed.is_empty() {
            return Ok(());
        }
        forget(function);
        for op in nested_ops(function) {
            if matches!(kind_of(op), Some(Kind::Loop(Loop::Store))) && is_whole(op, &streamed) {
                op.set_attr("stream", unit_attr(op.context_ref()));
                cx.count(0, 1);
            }
        }
        Ok(())
    }
}

/// The buffers that are stored past the caches.
fn streamed(function: Op) -> HashSet<usize> {
    let parameters = function.body(0).map(arguments).unwrap_or_default();
    let notes = function.attr("arg_attrs").map(array_elements).unwrap_or_default();
    let said = parameters.into_iter().zip(notes);
    said.filter(|(_, note)| dictionary_attr(*note, STREAMED) == Some(Attr::Bool(true)))
        .map(|(parameter, _)| key(parameter))
        .collect()
}

/// Takes the notes away, which LLVM's dialect has no meaning for.
fn forget(function: Op) {
    let notes = function.attr("arg_attrs").map(array_elements).unwrap_or_default();
    let kept: Vec<_> = notes.into_iter().map(|note| without(function, note)).collect();
    if !kept.is_empty() {
        function.set_attr("arg_attrs", array_attr(function.context_ref(), &kept));
    }
}

fn without<'c>(function: Op<'c>, note: Attribute<'c>) -> Attribute<'c> {
    let entries = dictionary_entries(note).unwrap_or_default();
    let kept = entries.iter().filter(|(name, _)| name != STREAMED);
    dict_attr(function.context_ref(), &kept.map(|(name, attr)| (name.as_str(), *attr)).collect::<Vec<_>>())
}

/// True for a store of a vector that begins at a multiple of its bytes.
fn is_whole(store: Op, streamed: &HashSet<usize>) -> bool {
    let [value, buffer, index] = store.operand_values()[..] else { return false };
    let Some((bytes, whole)) = bytes_of(value).filter(|_| streamed.contains(&key(buffer))) else {
        return false;
    };
    whole >= LEAST_BYTES
        && whole.is_power_of_two()
        && divisor(index).unsigned_abs().saturating_mul(bytes).is_multiple_of(whole)
}

/// The bytes of an element of a vector, and those as whose multiple it begins as a stream.
pub fn bytes_of(vector: Value) -> Option<(u64, u64)> {
    let (element, lanes) = vector_parts(vector.r#type())?;
    let bytes = dtype_of(element)?.size() as u64;
    Some((bytes, (lanes * bytes).min(LINE)))
}

/// Smaller vectors do not fill lines quickly enough to be put together again.
const LEAST_BYTES: u64 = 16;
