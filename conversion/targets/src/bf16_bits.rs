//! `bf16-as-bits`: numbers of bf16 are moved as integers of 16 bits.
//!
//! ```text
//!   %b = llvm.bitcast %i : i16 to bf16              %b = llvm.bitcast %i : i16 to i16
//!   %c = llvm.select %p, %a, %b : i1, bf16     =>   %c = llvm.select %p, %a, %b : i1, i16
//!   llvm.store %c, %y : bf16, !llvm.ptr             llvm.store %c, %y : i16, !llvm.ptr
//! ```
//!
//! Arithmetic of bf16 is in f32, and conversions are made of integers before. What is left moves numbers; where a processor has no bf16, LLVM
//! widens and rounds those by a function of the compiler's run-time library that GCC's has since version 13 only (`__truncsfbf2`). What does
//! more than move gets what it wants by a cast.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Build, Op, OpExt, OperationLike, Pass, PassError, RunContext, Type, Value, ValueLike, arguments,
    context_of_type, defining_op, dtype_of, nested_ops, ops_in, replace_uses, scalar_type, set_type,
    top_level, vector_parts, vector_type,
};
use fusion_operators::DType;

const CAST: Upstream = Upstream::LlvmBitcast;

/// The pass.
pub struct Bf16AsBits;

impl Pass for Bf16AsBits {
    const NAME: &'static str = "bf16-as-bits";
    const DESCRIPTION: &'static str = "Move numbers of bf16 as integers of 16 bits";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const DIALECTS: &'static [&'static str] = &["llvm"];

    fn run<'c>(module: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        top_level(module, |k| matches!(k, Kind::Upstream(Upstream::LlvmFunc))).into_iter().for_each(rewrite);
        Ok(())
    }
}

/// The integers of a type of bf16, or of a vector of it.
fn bits<'c>(ty: Type<'c>) -> Option<Type<'c>> {
    let (element, lanes) = match vector_parts(ty) {
        Some((element, lanes)) => (element, Some(lanes)),
        None => (ty, None),
    };
    let integer = scalar_type(context_of_type(ty), DType::I16);
    (dtype_of(element) == Some(DType::BF16)).then(|| lanes.map_or(integer, |n| vector_type(integer, n)))
}

/// True for operations that give the numbers they take.
fn moves(op: Op) -> bool {
    use Upstream as U;
    let Some(Kind::Upstream(kind)) = op.kind() else { return false };
    matches!(
        kind,
        U::LlvmBitcast
            | U::LlvmBr
            | U::LlvmCondBr
            | U::LlvmExtractElement
            | U::LlvmInsertElement
            | U::LlvmLoad
            | U::LlvmMaskedLoad
            | U::LlvmMaskedStore
            | U::LlvmSelect
            | U::LlvmShuffleVector
            | U::LlvmStore
    )
}

fn rewrite(function: Op) {
    let (Some(entry), ops) = (function.body(0), nested_ops(function)) else { return };
    let mut blocks: Vec<Block> = Vec::new();
    for op in &ops {
        if let Some(block) = op.block().filter(|block| *block != entry && blocks.last() != Some(block)) {
            blocks.push(block);
        }
    }
    let (movers, others): (Vec<Op>, Vec<Op>) = ops.iter().copied().partition(|op| moves(*op));
    // What others take, while types are still what they were.
    for op in &others {
        for (index, value) in op.operand_values().into_iter().enumerate() {
            let ty = value.r#type();
            if bits(ty).is_some() {
                op.set_operand_value(index, Build::before(*op).value(CAST.name(), &[value], ty, &[]));
            }
        }
    }
    // What they give, and what the function takes.
    for result in others.iter().flat_map(|op| op.result_values().into_iter().map(move |v| (*op, v))) {
        cast(result.1, Build::after(result.0));
    }
    if let Some(first) = ops_in(entry).first() {
        arguments(entry).into_iter().for_each(|argument| cast(argument, Build::before(*first)));
    }
    let moved = movers.iter().flat_map(|op| op.result_values());
    for value in moved.chain(blocks.into_iter().flat_map(arguments)) {
        if let Some(bits) = bits(value.r#type()) {
            set_type(value, bits);
        }
    }
}

/// Puts the bits of a value of bf16 in its place.
fn cast<'c>(value: Value<'c>, build: Build<'c>) {
    let Some(bits) = bits(value.r#type()) else { return };
    let integers = build.value(CAST.name(), &[value], bits, &[]);
    replace_uses(value, integers);
    if let Some(op) = defining_op(integers) {
        op.set_operand_value(0, value);
    }
}
