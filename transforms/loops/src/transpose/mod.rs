//! `loop-transpose`: strided accesses side by side become contiguous ones, and a transpose in registers.
//!
//!     %a = loop.load_strided %x[%i + 0] by n          %r0 = loop.load %x[%i + 0 n]       a | b | c | d
//!     %b = loop.load_strided %x[%i + 1] by n    =>    %r1 = loop.load %x[%i + 1 n]       ------------- r0
//!     %c = loop.load_strided %x[%i + 2] by n          %r2 = loop.load %x[%i + 2 n]       ------------- r1
//!     %d = loop.load_strided %x[%i + 3] by n          ...                                ------------- ...
//!
//! A schedule asks for it by vectorizing one loop and unrolling the other of a copy that transposes. `n` lanes times `n`
//! rows take `n log n` shuffles of two registers: stage `s` swaps, in each pair of rows that differ in bit `s` of their
//! numbers, the lanes whose numbers differ in bit `s` (Eklundh, "A Fast Computer Method for Matrix Transposing", 1972).
//! Stores go the other way round.

mod group;
mod network;

use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Block, BlockLike, Op, OpExt, OperationLike, Pass, PassError, RegionLike, RunContext, StatisticSpec,
};

/// The pass.
pub struct LoopTranspose;

impl Pass for LoopTranspose {
    const NAME: &'static str = "loop-transpose";
    const DESCRIPTION: &'static str =
        "Make contiguous accesses and transposes of strided accesses side by side";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "loads", description: "Blocks loaded and transposed" },
        StatisticSpec { name: "stores", description: "Blocks transposed and stored" },
    ];
    const DIALECTS: &'static [&'static str] = &["arith", "affine", "vector", "ub"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        for region in function.regions() {
            for block in std::iter::successors(region.first_block(), BlockLike::next_in_region) {
                transpose_in(block, cx);
            }
        }
        Ok(())
    }
}

/// Of a block, and of the blocks inside its loops.
fn transpose_in(block: Block, cx: &mut RunContext) {
    for op in fusion_dialects::ops_in(block) {
        if matches!(op.kind(), Some(Kind::Loop(Loop::For | Loop::Guard)))
            && let Some(body) = op.body(0)
        {
            transpose_in(body, cx);
        }
    }
    for group in group::loads(block) {
        network::load(&group);
        cx.count(0, 1);
    }
    for group in group::stores(block) {
        network::store(&group);
        cx.count(1, 1);
    }
}
