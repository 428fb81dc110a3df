//! `te-lower`: each kernel and its schedule become one function of loop nests over flat buffers.
//!
//!     te.kernel @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32>        func.func private @k(%x: memref<32xf32>, %y: memref<32xf32>)
//!     te.schedule for @k { ... }                            =>      loop.for 4 serial { loop.for 8 vectorized { ... } }
//!
//! The schedule's tree is complete before the first loop is made (`fusion_schedule::schedule`); the loops are then
//! generated from it in one go: `kernel` makes the function, `nest` makes the loops of a stage, `attached` what is computed inside them, `bounds` infers
//! what that must compute, `sharing` lets threads share loops of several parts, `parts` makes the loops of nests written by hand, `lanes` combines in vectors and `threads` across threads, `intrinsics` puts declared code in place of inner loops, `padding` passes over zeros, `prefetch`
//! prefetches, `bulk` copies boxes of tensors (TMA), `body` writes the scalar expressions with inlined stages in place, `index` turns index expressions into
//! operations.
//! Intermediate stages that stand on their own live in a workspace that the caller passes.
//! With `until=N` only the first N primitives are applied: what each does can be seen, and is right by itself.

mod attached;
mod axes;
mod body;
mod bounds;
mod bulk;
mod interface;
mod intrinsics;
mod kernel;
mod lanes;
mod nest;
mod padding;
mod parts;
mod prefetch;
mod ranges;
mod reduction;
mod sharing;
mod threads;
mod ways;
mod workspace;

pub use body::combine;

use super::dynamic;
use super::roundings::{Roundings, kernels_that_round_as_written};
use fusion_dialects::indices::Indices;
use fusion_dialects::indices::expr::{Expr, flatten};
use fusion_dialects::loops::KERNEL;
use fusion_dialects::loops::{Buffer, LoopKind, Loops};
use fusion_dialects::module::{FpMath, target_of};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec,
    Value, ValueMap, key, report_fault, tensor_type, top_level,
};
use fusion_schedule::auto_schedule::{is_default, write_plain};
use fusion_schedule::layout::Layout;
use fusion_schedule::schedule::{AxisId, Refusal, Schedule, StageId, apply_schedule};
use std::collections::{HashMap, HashSet};

/// The attribute with the bytes of workspace a kernel needs.
pub const WORKSPACE: &str = "loop.workspace";
/// The attribute with the argument that the only result starts as: the caller puts its elements there.
pub const UPDATES: &str = "loop.updates";
const ALIGNMENT: u64 = 64;

/// The pass.
pub struct TeLower;

impl Pass for TeLower {
    const NAME: &'static str = "te-lower";
    const DESCRIPTION: &'static str = "Generate the loops of each kernel from its schedule";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "until",
        description: "Apply only the first N primitives of each schedule (-1 for all)",
        kind: OptionKind::Int,
        initial: "-1",
    }];
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "kernels", description: "Number of kernels lowered" },
        StatisticSpec { name: "workspace", description: "Bytes of workspace of all kernels" },
    ];
    const DIALECTS: &'static [&'static str] =
        &["te", "loop", "func", "affine", "arith", "math", "memref", "vector"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let until = cx.options.int("until");
        if until < -1 {
            let why =
                format!("until is {until}, which is no number of primitives; write 0 or more, or -1 for all");
            return Err(PassError::new(module.location(), why));
        }
        let kernels = top_level(module, |k| matches!(k, Kind::Te(Te::Kernel)));
        let schedules = top_level(module, |k| matches!(k, Kind::Te(Te::Schedule)));
        let mut by_kernel: HashMap<String, Vec<Op<'c>>> = HashMap::new();
        for schedule in &schedules {
            by_kernel
                .entry(schedule.text("kernel").unwrap_or_default().to_owned())
                .or_default()
                .push(*schedule);
        }
        let (as_written, fp_math) = (kernels_that_round_as_written(module), FpMath::of(module)?);
        for kernel in kernels {
            let name = kernel.text("sym_name").unwrap_or_default().to_owned();
            let roundings = Roundings::of(&name, &as_written, fp_math);
            if dynamic::is_dynamic(kernel) {
                dynamic::lower(kernel, roundings)?;
                cx.count(0, 1);
                kernel.erase();
                continue;
            }
            let schedule = match by_kernel.remove(&name).unwrap_or_default().as_slice() {
                [] => None,
                [schedule] => Some(*schedule),
                [_, second, ..] => {
                    return Err(PassError::at(*second, format_args!("is a second schedule for @{name}")));
                }
            };
            let workspace = match schedule.filter(|schedule| is_default(*schedule)) {
                None => lower(kernel, schedule, until, roundings)?,
                Some(default) => lower_default(kernel, default, until, roundings)?,
            };
            cx.count(0, 1);
            cx.count(1, workspace);
        }
        if let Some(schedule) =
            schedules.iter().find(|s| by_kernel.contains_key(s.text("kernel").unwrap_or_default()))
        {
            return Err(PassError::at(
                *schedule,
                format_args!(
                    "is for @{}, which is no kernel of the module",
                    schedule.text("kernel").unwrap_or_default()
                ),
            ));
        }
        for op in schedules.into_iter().chain(top_level(module, |k| matches!(k, Kind::Te(Te::Intrinsic)))) {
            op.erase();
        }
        Ok(())
    }
}

/// Makes the function of a kernel, which goes; gives the bytes of its workspace.
fn lower<'c>(
    kernel: Op<'c>,
    schedule: Option<Op<'c>>,
    until: i64,
    roundings: Roundings,
) -> Result<u64, PassError<'c>> {
    let mut tree = Schedule::of(kernel);
    if let Some(schedule) = schedule {
        apply_schedule(&mut tree, schedule, until)?;
    }
    let workspace = kernel::lower(kernel, &tree, roundings)?;
    kernel.erase();
    Ok(workspace)
}

/// The same with a schedule that te-schedule decided. That one does not fit is no fault of the program's: the kernel gets the plain one.
fn lower_default<'c>(
    kernel: Op<'c>,
    schedule: Op<'c>,
    until: i64,
    roundings: Roundings,
) -> Result<u64, PassError<'c>> {
    // Some primitives edit the kernel.
    let spare = ValueMap::new().clone_op(&Build::after(kernel), kernel);
    match lower(kernel, Some(schedule), until, roundings) {
        Ok(workspace) => {
            spare.erase();
            Ok(workspace)
        }
        Err(why) => {
            kernel.erase();
            let name = spare.text("sym_name").unwrap_or_default();
            let message =
                format!("the default schedule of kernel \"{name}\" cannot be lowered: {}", why.message);
            report_fault(spare.location(), &message, "the kernel gets the plain schedule")?;
            let plain = write_plain(spare, &target_of(spare)?)?;
            let workspace = lower(spare, Some(plain), -1, roundings)?;
            plain.erase();
            Ok(workspace)
        }
    }
}

/// The same place, where what is made comes from where it does elsewhere.
fn from<'c>(place: &Loops<'c>, elsewhere: &Loops<'c>) -> Loops<'c> {
    Loops { build: place.build.at(elsewhere.build.location) }
}

/// Where a tensor's elements are.
#[derive(Clone)]
enum Place<'c> {
    /// In memory: the part of a tensor that starts at `origin` and has the extents `shape`, row-major.
    Memory(Part<'c>),
    /// One element, as a value.
    Value(Value<'c>),
}

/// The part of a tensor that a buffer holds.
#[derive(Clone)]
struct Part<'c> {
    buffer: Buffer<'c>,
    /// Indices of its first element.
    origin: Vec<Expr>,
    shape: Vec<u64>,
    /// The order of its elements; row-major without one.
    layout: Option<Layout>,
    /// Where in the buffer the part begins.
    base: Expr,
}

impl Part<'_> {
    /// Where in the buffer an element is.
    fn offset(&self, indices: &[Expr]) -> Expr {
        let local: Vec<Expr> = indices.iter().zip(&self.origin).map(|(i, o)| i.minus(o)).collect();
        let place = match &self.layout {
            None => flatten(&local, &self.shape),
            Some(layout) => layout.offset(&local, &self.shape),
        };
        place.plus(&self.base)
    }
}

/// A kernel being lowered.
struct Lowering<'c, 't> {
    kernel: Op<'c>,
    tree: &'t Schedule<'c>,
    /// Whether elementwise products and sums are rounded as the source does.
    roundings: Roundings,
    /// The stage and result a tensor is.
    stage_of: HashMap<usize, (StageId, usize)>,
    /// Where the tensors are that have a place now.
    places: HashMap<usize, Place<'c>>,
    /// The nest whose result the caller prepares.
    prepared: Option<Op<'c>>,
    /// Constants of the kernel's block.
    outside: ValueMap<'c>,
    /// The places around the loops that are being made, outermost first.
    around: Vec<Loops<'c>>,
    /// What loops inside are to prefetch.
    shares: Vec<prefetch::Share<'c>>,
    /// True when a stage is computed beyond its end.
    pads: bool,
    /// Stages with loops that became an intrinsic.
    replaced: Vec<StageId>,
    indices: Indices<'c>,
    /// The variables that are numbers of threads of a block.
    thread_vars: HashSet<usize>,
    /// What the caller passes, and how much of it is taken.
    workspace: Option<Value<'c>>,
    workspace_bytes: u64,
    /// Number of parallel loops around.
    parallel_loops: usize,
    /// Large buffers of a parallel loop whose iterations run in several ways.
    way_buffers: Option<sharing::Buffers<'c>>,
    error: Option<PassError<'c>>,
}

impl<'c> Lowering<'c, '_> {
    fn place_whole(&mut self, tensor: Value<'c>, buffer: Value<'c>) {
        let Some(ty) = tensor_type(tensor) else { return };
        let (origin, shape) = self.held(tensor);
        let buffer = Buffer { value: buffer, dtype: ty.dtype };
        let layout = self.layout_of(tensor);
        let base = Expr::constant(0);
        self.places.insert(key(tensor), Place::Memory(Part { buffer, origin, shape, layout, base }));
    }

    fn layout_of(&self, tensor: Value<'c>) -> Option<Layout> {
        let (stage, _) = self.stage_of.get(&key(tensor))?;
        self.tree.stages[*stage].layout.clone()
    }

    /// What the buffer of a tensor that stands on its own holds of it: where that begins, and its extents.
    fn held(&self, tensor: Value<'c>) -> (Vec<Expr>, Vec<u64>) {
        let whole = tensor_type(tensor).and_then(|t| t.shape()).unwrap_or_default();
        match self.stage_of.get(&key(tensor)).map(|(stage, _)| (*stage, &self.tree.stages[*stage])) {
            Some((stage, s)) if s.is_narrowed() && s.into.is_none() => self.computed(stage),
            of => {
                let origin = vec![Expr::constant(0); whole.len()];
                (origin, of.map_or(whole.clone(), |(_, s)| s.padded(whole)))
            }
        }
    }

    fn fail(&mut self, error: PassError<'c>) {
        self.error.get_or_insert(error);
    }

    /// Fails where the schedule says what cannot be.
    fn refuse(&mut self, refusal: Refusal) {
        if self.error.is_none() {
            self.error = Some(self.tree.refuse(refusal));
        }
    }

    /// What is made here comes from where the schedule says how a loop runs, so that later passes tell of that place.
    fn at_mark(&self, loops: &Loops<'c>, stage: StageId, axis: AxisId) -> Loops<'c> {
        let marks = &[Te::Bind, Te::Parallel, Te::Vectorize, Te::Unroll];
        let marked = self.tree.stages[stage].axes[axis].kind != LoopKind::Serial;
        let said = marked.then(|| self.tree.said_of_loop(stage, axis, marks)).flatten();
        said.map_or(*loops, |said| Loops { build: loops.build.at(said.op.location()) })
    }

    /// What is made here comes from where the schedule says in which memory a stage is.
    fn at_scope(&self, loops: &Loops<'c>, stage: StageId) -> Loops<'c> {
        let scoped = self.tree.stages[stage].scope.is_some();
        let said = scoped.then(|| self.tree.said_of(stage, None, &[Te::SetScope])).flatten();
        said.map_or(*loops, |said| Loops { build: loops.build.at(said.op.location()) })
    }
}
