//! `te-schedule`: gives each kernel without a schedule a default one.
//!
//! The decisions, each in its file: which stages are computed where they are used (`placement`), which are computed row by
//! row (`rows`), what the accesses of a nest look like along an axis (`accesses`), how its loops are tiled, unrolled and
//! vectorized (`tiling`), and how reductions along memory (`reductions`) and across it (`columns`) are. The result is an ordinary `te.schedule`, printed with the kernel, to read, edit and lower.

mod accesses;
mod columns;
mod placement;
mod reductions;
mod rows;
mod tiling;
mod writer;

use super::schedule::Schedule;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, OptionKind, OptionSpec, Pass, PassError, RunContext, top_level};
use placement::Nest;
use std::collections::HashSet;
use writer::Writer;

/// The pass.
pub struct TeSchedule;

impl Pass for TeSchedule {
    const NAME: &'static str = "te-schedule";
    const DESCRIPTION: &'static str = "Give each kernel without a schedule a default one";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "vector-bytes",
        description: "Bytes of a vector register of the target",
        kind: OptionKind::Int,
        initial: "64",
    }];
    const DIALECTS: &'static [&'static str] = &["te"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let vector_bytes = cx.options.int("vector-bytes").clamp(8, 256) as u64;
        let schedules = top_level(module, |k| matches!(k, Kind::Te(Te::Schedule)));
        let scheduled: HashSet<&str> = schedules.iter().filter_map(|s| s.text("kernel")).collect();
        for kernel in top_level(module, |k| matches!(k, Kind::Te(Te::Kernel))) {
            if scheduled.contains(kernel.text("sym_name").unwrap_or_default()) {
                continue;
            }
            let tree = Schedule::of(kernel);
            Writer::write(kernel, tree, |writer| {
                let nests = placement::place(writer)?;
                let groups = rows::find(&writer.tree, &nests);
                groups.iter().try_for_each(|rows| rows::schedule(writer, rows, vector_bytes))?;
                let alone = nests.iter().filter(|nest| !groups.iter().any(|rows| rows.has(nest.stage)));
                alone.into_iter().try_for_each(|nest| self::nest(writer, nest, vector_bytes))
            })
            .map_err(|why| PassError::at(kernel, why))?;
        }
        Ok(())
    }
}

/// Writes the primitives of a nest that stands alone.
fn nest(writer: &mut Writer, nest: &Nest, vector_bytes: u64) -> Result<(), String> {
    let reduction = nest.reduction.unwrap_or(nest.stage);
    if !columns::is_columns(&writer.tree, reduction) {
        return tiling::tile(writer, nest, vector_bytes);
    }
    columns::schedule(writer, reduction, vector_bytes)?;
    if nest.stage == reduction {
        return Ok(());
    }
    tiling::tile(writer, &Nest { stage: nest.stage, reduction: None }, vector_bytes)
}
