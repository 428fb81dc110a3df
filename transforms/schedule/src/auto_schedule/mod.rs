//! `te-schedule`: gives each kernel without a schedule a default one.
//!
//! First which stages are computed where they are used (`placement`) and which row by row (`rows`) or in blocks (`blocks`); then how the loops of each
//! nest are tiled, unrolled and vectorized, a file a kind: `contraction`, `transposing`, `reductions` along memory and
//! `columns` across it (`narrow` where rows are short, `shared_sums` where threads find too few results), `windows` over neighbours, and `tiling` for the rest. `parallel` says what threads share, and `even_shares` what they share where an outermost loop
//! has few iterations. `accesses` and `operands` say what a nest reads and how; `machine` has the numbers of the
//! processor that the kinds calculate with; `gpu` has the kinds of GPUs. The result is an ordinary `te.schedule`, printed with the kernel, to
//! read, edit and lower.

mod accesses;
mod chance;
mod choice;
mod cover;
mod cpu;
mod driver;
mod fusion;
mod gpu;
mod kind;
mod operands;
mod parts;
mod placement;
mod rearranging;
mod reductions;
mod remarks;
mod row_groups;
mod space;
mod traffic;
mod writer;

pub use accesses::LANE_BYTES;
pub use choice::{CHOICES, Choice, attach_choices, choices_of};
pub use cpu::iterated::side_by_side;
pub use cpu::kinds::about;
pub use cpu::kinds::contraction::Convolution;
pub use cpu::kinds::inner_product_trick::Tile as InnerProductTile;
use driver::Given;
use fusion_dialects::module::FpMath;
use fusion_dialects::module::target_of;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError, RunContext, defining_op, kind_of,
    name_of_location, nested_ops, report_fault, tensor_type, top_level,
};
use fusion_machine::{Machine, Target};
pub use gpu::kinds::about as about_gpu;
pub use kind::About;
pub use reductions::{fits_lanes, reads_once};
pub use remarks::{KindRemark, ScheduleRemarks};
pub use space::{KernelSpace, MatchSpace};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use writer::Writer;

/// The pass.
pub struct TeSchedule;

impl Pass for TeSchedule {
    const NAME: &'static str = "te-schedule";
    const DESCRIPTION: &'static str = "Give each kernel without a schedule a default one";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "vector-bytes",
            description: "Bytes of a vector register, in place of the target's; 0 for those",
            kind: OptionKind::Int,
            initial: "0",
        },
        OptionSpec {
            name: "remarks",
            description: "A file for the kinds of schedules that matched each kernel, with their estimates, as JSON",
            kind: OptionKind::Text,
            initial: "",
        },
    ];
    const DIALECTS: &'static [&'static str] = &["te", "loop", "arith", "vector"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let target = match cx.options.int("vector-bytes") {
            ..=0 => target_of(module)?,
            bytes => {
                target_of(module)?.with_vectors((bytes as u64).clamp(choice::LEAST_BYTES, choice::MOST_BYTES))
            }
        };
        let machines = Machines::of(module, &target)?;
        let constant = constant_arguments(module);
        let (mut remarks, path) = (ScheduleRemarks::default(), cx.options.text("remarks").to_owned());
        let (is_told, seed) = (!path.is_empty(), chance::seed());
        for kernel in unscheduled(module) {
            let name = kernel.text("sym_name").unwrap_or_default();
            let constant = constant.get(name).map(Vec::as_slice).unwrap_or_default();
            let choices = choices_of(kernel).map_err(|why| refused(kernel, &why))?;
            let machine = machines.for_choices(choices.as_deref()).map_err(|why| refused(kernel, &why))?;
            let given = Given { target: &target, machine: &machine, constant, seed: None };
            let mut write = |given: &Given| {
                Writer::write(kernel, |writer| {
                    let mut told = Vec::new();
                    decide(writer, given, choices.as_deref(), is_told.then_some(&mut told))?;
                    remarks.kernels.insert(name.to_owned(), told);
                    Ok(())
                })
            };
            // What is drawn may be refused, as a search may meet such points as well.
            let drawn = |seed: u64| {
                (seed..seed.saturating_add(DRAWS)).map(|seed| Given { seed: Some(seed), ..given })
            };
            if seed.is_some_and(|seed| drawn(seed).any(|given| write(&given).is_ok())) {
                continue;
            }
            let Err(why) = write(&given) else { continue };
            if choices.is_some() {
                return Err(refused(kernel, &why));
            }
            let message = format!("the default schedule of kernel \"{name}\" {why}");
            report_fault(kernel.location(), &message, "the kernel gets the plain schedule")?;
            write_plain(kernel, &target)?;
        }
        match is_told {
            true => remarks.write(Path::new(&path)).map_err(|why| PassError::at(module, why)),
            false => Ok(()),
        }
    }
}

fn refused<'c>(kernel: Op<'c>, why: &str) -> PassError<'c> {
    PassError::at(kernel, format!("kernel \"{}\" {why}", kernel.text("sym_name").unwrap_or_default()))
}

fn decide(
    writer: &mut Writer,
    given: &Given,
    choices: Option<&[Choice]>,
    told: Option<&mut Vec<KindRemark>>,
) -> Result<(), String> {
    match given.target.is_gpu() {
        true => gpu::decide(writer, given, choices, told),
        false => cpu::decide(writer, given, choices, told),
    }
}

/// What a search may choose for each kernel of a module, by name. A kernel that has a schedule has no choice.
pub fn spaces<'c>(module: Op<'c>) -> Result<BTreeMap<String, KernelSpace>, PassError<'c>> {
    let target = target_of(module)?;
    let machines = Machines::of(module, &target)?;
    let widths = [target.vector_bytes / 2, target.vector_bytes * 2].into_iter();
    let others: Vec<(u64, Machine)> = widths
        .filter(|bytes| WIDTHS.contains(bytes) && !target.is_gpu())
        .map(|bytes| (bytes, machines.with_vectors(bytes)))
        .collect();
    let constant = constant_arguments(module);
    let mut all = BTreeMap::new();
    for kernel in unscheduled(module) {
        let name = kernel.text("sym_name").unwrap_or_default();
        let constant = constant.get(name).map(Vec::as_slice).unwrap_or_default();
        let of = |machine: &Machine| {
            let given = Given { target: &target, machine, constant, seed: None };
            Writer::asked(kernel, |writer| match target.is_gpu() {
                true => gpu::space(writer, &given),
                false => cpu::space(writer, &given),
            })
        };
        // Of a kernel that no schedule is found for, te-schedule tells.
        let Ok(mut space) = of(&machines.own) else { continue };
        for (bytes, machine) in &others {
            if let Ok(other) = of(machine) {
                space.add(other, *bytes);
            }
        }
        all.insert(name.to_owned(), space);
    }
    Ok(all)
}

/// Takes choices that are not possible away from the kernels of a module, and says why, a sentence each.
pub fn refused_choices<'c>(module: Op<'c>) -> Result<Vec<String>, PassError<'c>> {
    let target = target_of(module)?;
    let machines = Machines::of(module, &target)?;
    let constant = constant_arguments(module);
    let mut all = Vec::new();
    for kernel in unscheduled(module) {
        let name = kernel.text("sym_name").unwrap_or_default();
        let constant = constant.get(name).map(Vec::as_slice).unwrap_or_default();
        let is_possible = |choices: Option<Vec<Choice>>| {
            let Some(choices) = choices else { return Ok(()) };
            let machine = machines.for_choices(Some(&choices))?;
            let given = Given { target: &target, machine: &machine, constant, seed: None };
            Writer::asked(kernel, |writer| decide(writer, &given, Some(&choices), None))
        };
        let refused = choices_of(kernel).and_then(is_possible).err();
        if let Some(why) = refused {
            kernel.remove_attr(CHOICES);
            all.push(format!("kernel \"{name}\" {why}"));
        }
    }
    Ok(all)
}

/// Schedules that are drawn by chance for a kernel until one is taken.
const DRAWS: u64 = 8;

/// Widths of vectors that are tried in place of the target's, in bytes: processors have none that are narrower or wider.
const WIDTHS: std::ops::RangeInclusive<u64> = 16..=64;

/// What kinds calculate with, for vectors of the target's width and of others.
struct Machines<'t> {
    target: &'t Target,
    own: Machine,
    constants: u64,
}

impl<'t> Machines<'t> {
    fn of<'c>(module: Op<'c>, target: &'t Target) -> Result<Machines<'t>, PassError<'c>> {
        let (in_order, constants) = (FpMath::of(module)?.is_strict(), bytes_of_constants(module));
        Ok(Machines { target, own: Machine { in_order, ..Machine::of(target, constants) }, constants })
    }

    fn with_vectors(&self, bytes: u64) -> Machine {
        let target = self.target.clone().with_vectors(bytes);
        Machine { in_order: self.own.in_order, ..Machine::of(&target, self.constants) }
    }

    /// For what choices ask for; the error is the rest of a sentence about the kernel.
    fn for_choices(&self, choices: Option<&[Choice]>) -> Result<Cow<'_, Machine>, String> {
        let width = choices.map_or(Ok(None), choice::vector_bytes_of)?;
        Ok(width.map_or(Cow::Borrowed(&self.own), |bytes| Cow::Owned(self.with_vectors(bytes))))
    }
}

/// The kernels without a schedule.
fn unscheduled(module: Op<'_>) -> Vec<Op<'_>> {
    let schedules = top_level(module, |k| matches!(k, Kind::Te(Te::Schedule)));
    let scheduled: HashSet<&str> = schedules.iter().filter_map(|s| s.text("kernel")).collect();
    let kernels = top_level(module, |k| matches!(k, Kind::Te(Te::Kernel))).into_iter();
    kernels.filter(|k| !scheduled.contains(k.text("sym_name").unwrap_or_default())).collect()
}

/// Whether a schedule is one that this pass decided, as its location says: those that were read from a text are their author's.
pub fn is_default(schedule: Op<'_>) -> bool {
    let location = schedule.location();
    location.is_name() && name_of_location(location) == TeSchedule::NAME
}

/// Gives a kernel the plain schedule, and gives that.
pub fn write_plain<'c>(kernel: Op<'c>, target: &Target) -> Result<Op<'c>, PassError<'c>> {
    Writer::write(kernel, |writer| plain(writer, target)).map_err(|why| refused(kernel, &why))
}

/// Computes each stage by itself, in loops as the source has them: what no primitive can refuse.
fn plain(writer: &mut Writer, target: &Target) -> Result<(), String> {
    if !target.is_gpu() {
        return Ok(());
    }
    for stage in 0..writer.tree.stages.len() {
        if placement::is_compute(writer.tree.stages[stage].op) {
            gpu::kinds::elements::schedule(writer, &placement::Nest { stage, reduction: None }, target)?;
        }
    }
    Ok(())
}

/// Bytes of all constants that kernels are called with.
fn bytes_of_constants(module: Op<'_>) -> u64 {
    let constants =
        nested_ops(module).into_iter().filter(|op| matches!(kind_of(*op), Some(Kind::Te(Te::Constant))));
    constants.flat_map(|op| op.result_values()).filter_map(|value| tensor_type(value)?.bytes()).sum()
}

/// Which arguments of each kernel are constants in all its calls.
fn constant_arguments(module: Op<'_>) -> HashMap<&str, Vec<bool>> {
    let mut known: HashMap<&str, Vec<bool>> = HashMap::new();
    for call in nested_ops(module) {
        if !matches!(kind_of(call), Some(Kind::Te(Te::Call))) {
            continue;
        }
        let operands = call.operand_values().into_iter();
        let here = operands
            .map(|v| defining_op(v).is_some_and(|op| matches!(kind_of(op), Some(Kind::Te(Te::Constant)))));
        let here: Vec<bool> = here.collect();
        known
            .entry(call.text("kernel").unwrap_or_default())
            .and_modify(|all| all.iter_mut().zip(&here).for_each(|(a, h)| *a &= h))
            .or_insert(here);
    }
    known
}
