//! `convert-loop-to-scf`: loops, guards and buffers in upstream's terms, for the CPU.
//!
//!     loop.for 8 serial iter(%a) { ... }      scf.for %i = 0 to 8 step 1 iter_args(%a)
//!     loop.for 8 parallel { ... }         =>  scf.parallel (inside of one that `outline` made a function)
//!     loop.guard %c else(%a) { ... }          scf.if %c
//!     loop.load %x[%i] -> vector<16xf32>      vector.load
//!
//! Loops that are still vectorized or unrolled run one iteration after another, which is what they mean.

mod control;
mod dot4;
pub mod math;
pub mod memory;
mod merge;
pub mod outline;
pub mod share;
mod stream;
mod strided;

pub use dot4::Dots;

use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError, RegionLike, RunContext,
    kind_of, none_left, ops_in,
};
use fusion_machine::{DOT4, Dot4};

/// The pass.
pub struct ConvertLoopToScf;

impl Pass for ConvertLoopToScf {
    const NAME: &'static str = "convert-loop-to-scf";
    const DESCRIPTION: &'static str = "Convert loop nests to scf, memref and vector for the CPU";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const DIALECTS: &'static [&'static str] = &["scf", "memref", "vector", "arith", "llvm"];
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "dot4",
            description: "The processor's instruction for dot products of four integers of 8 bits: vpdpbusd, vpmaddwd or sdot",
            kind: OptionKind::Text,
            initial: "",
        },
        OptionSpec {
            name: "vector-bytes",
            description: "Bytes of the widest vectors that it is for",
            kind: OptionKind::Int,
            initial: "16",
        },
    ];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let Some(body) = function.body(0) else { return Ok(()) };
        let name = cx.options.text("dot4");
        let dot4 = Dot4::named(name);
        if dot4.is_none() && !name.is_empty() {
            let known: Vec<&str> = DOT4.iter().map(|facts| facts.name).collect();
            let why = format!("has no conversion for dot4={name}; it is one of {}", known.join(", "));
            return Err(PassError::at(function, why));
        }
        let dots = Dots { dot4, vector_bytes: cx.options.int("vector-bytes").max(0) as u64 };
        stream::fence(function);
        convert_block(body, &dots)?;
        none_left(function, Self::NAME, |kind| matches!(kind, Kind::Loop(_)))
    }
}

/// Converts a block from the inside out.
pub fn convert_block<'c>(block: Block<'c>, dots: &Dots) -> Result<(), PassError<'c>> {
    for op in ops_in(block) {
        for region in op.regions() {
            for inner in
                std::iter::successors(region.first_block(), fusion_dialects::BlockLike::next_in_region)
            {
                convert_block(inner, dots)?;
            }
        }
        match kind_of(op) {
            Some(Kind::Loop(Loop::For | Loop::Upto)) => control::for_loop(op)?,
            Some(Kind::Loop(Loop::Guard)) => control::guard(op),
            Some(Kind::Loop(Loop::Alloc)) => memory::alloc(op)?,
            Some(Kind::Loop(Loop::Load)) => memory::load(op),
            Some(Kind::Loop(Loop::Store)) => memory::store(op),
            Some(Kind::Loop(Loop::Gather)) => memory::gather(op),
            Some(Kind::Loop(Loop::Scatter)) => memory::scatter(op),
            Some(Kind::Loop(Loop::LoadStrided)) if strided::load(op) => {}
            Some(Kind::Loop(Loop::LoadStrided)) => memory::load_strided(op),
            Some(Kind::Loop(Loop::LoadPacked)) => dot4::load_packed(op),
            Some(Kind::Loop(Loop::Dot4Add)) => dot4::add(op, dots),
            Some(Kind::Loop(Loop::StoreStrided)) => memory::store_strided(op),
            Some(Kind::Loop(Loop::Prefetch)) => memory::prefetch(op),
            // A block of threads is a GPU's, and so is what only it has: see `loop_to_gpu`.
            Some(Kind::Loop(Loop::Barrier)) if !in_gpu_function(op) => {
                return Err(PassError::at(
                    op,
                    "has no meaning on a CPU, where a block is one thread; do not bind loops to GPU threads",
                ));
            }
            Some(Kind::Loop(Loop::Barrier)) => {
                fusion_dialects::Build::before(op).op("gpu.barrier", &[], &[], &[]);
                op.erase();
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether an operation is in a function of a GPU: no function of the host is around it.
fn in_gpu_function(op: Op) -> bool {
    function_of(op).is_none()
}

/// The function an operation stands in.
fn function_of<'c>(op: Op<'c>) -> Option<Op<'c>> {
    std::iter::successors(Some(op), |o| o.parent_operation())
        .find(|o| matches!(kind_of(*o), Some(Kind::Upstream(Upstream::Func))))
}
