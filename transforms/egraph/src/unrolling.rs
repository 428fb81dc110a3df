//! Loops of known length: how often what is in them runs, and how many steps of a loop kernel stand behind each other.
//!
//!     relay.while { i < 200 }                      =>    trips = 200     kernels in it run 200 times
//!     func @loop_0 { relay.while { i < 200 } }     =>    unroll = 4      where that takes the least (`extract/looped`)
//!
//! Both are said by attributes of the loops. The remarks has a loop kernel beside those that were planned, and a remark for each number of
//! steps that was weighed.

use super::bodies::{Bodies, Body};
use super::extract::calls::bytes;
use super::extract::looped::LoopRates;
use super::extract::rates::Rates;
use super::extract::space::ClassId;
use super::language::Head;
use super::remarks::{Block, BlockRemarks, KernelEntry, OperatorEntry, Remark, Subject, TensorEntry};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Op, OpExt, OperationLike, int_attr, kind_of, name_of_location, nested_ops, relay, tensor_type, top_level,
};
use fusion_machine::roof;
use fusion_operators::{Call, TensorType};
use fusion_relay::fuse_ops::PRIMITIVE;
use fusion_relay::loop_kernels::{Steps, UNROLL, counting, loop_of, steps};
use indexmap::IndexMap;

/// The attribute of a loop with the number of its steps.
pub const TRIPS: &str = "trips";

/// Less gain than this share is noise of the model.
const NOISE: f64 = 1e-2;

/// A kernel that is a loop.
pub struct LoopKernel {
    steps: Steps,
    /// Steps that stand behind each other.
    together: u64,
    /// The numbers of steps that were weighed; none where one was asked for.
    weighed: Vec<u64>,
    /// The body as it is written.
    body: Body,
    /// What the source says.
    said: Said,
    /// Operations of all steps of the body as it is written.
    flops: f64,
}

/// What a loop's body comes to.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// Its operators.
    operators: Vec<OperatorEntry>,
    /// Bytes and operations of all steps, with each operator as a kernel of its own.
    bytes: f64,
    flops: f64,
}

/// The loop kernels of a module, by the names of their functions.
pub type LoopKernels = IndexMap<String, LoopKernel>;

/// What the bodies of loop kernels say, by the names of their functions.
pub fn said(module: Op) -> IndexMap<String, Said> {
    let functions = top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func)));
    let loops = functions.into_iter().filter(|f| f.attr(PRIMITIVE).is_some()).filter_map(|function| {
        let op = loop_of(function)?;
        Some((function.text("sym_name")?.to_owned(), body(op, trips_of(op)?)))
    });
    loops.collect()
}

/// Says of all loops of known length how long they are, and of loop kernels how many steps stand behind each other where
/// nobody asked for a number. The bodies of some were written anew.
pub fn decide(
    module: Op,
    rates: &LoopRates,
    said: &IndexMap<String, Said>,
    mut written: Bodies,
) -> LoopKernels {
    let mut kernels = LoopKernels::new();
    for function in top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func))) {
        if function.attr(PRIMITIVE).is_none() {
            for (op, trips) in nested_ops(function).into_iter().filter_map(|op| Some((op, trips_of(op)?))) {
                op.set_attr(TRIPS, int_attr(op.context_ref(), trips as i64));
            }
            continue;
        }
        let Some((op, steps)) = loop_of(function).and_then(|op| Some((op, steps(op)?))) else { continue };
        let asked = op.int(UNROLL).and_then(|n| u64::try_from(n).ok());
        let together = asked.unwrap_or_else(|| rates.choose(&steps, NOISE)).max(1);
        if asked.is_none() && together > 1 {
            op.set_attr(UNROLL, int_attr(op.context_ref(), together as i64));
        }
        let weighed = if asked.is_some() { Vec::new() } else { rates.choices(&steps) };
        let name = function.text("sym_name").unwrap_or_default();
        let (now, said) = (body(op, steps.trips), said.get(name).cloned().unwrap_or_default());
        let written = written.swap_remove(name);
        let body = written.unwrap_or_else(|| Body { operators: now.operators, ..Body::default() });
        let kernel = LoopKernel { steps, together, weighed, body, said, flops: now.flops };
        kernels.insert(name.to_owned(), kernel);
    }
    kernels
}

fn trips_of(op: Op) -> Option<u64> {
    matches!(kind_of(op), Some(Kind::Relay(relay::Op::While))).then(|| counting(op))?.map(|c| c.trips)
}

/// How often what is in an operation runs, by the loops of known length that it is in.
pub fn runs(op: Op) -> u64 {
    let around = std::iter::successors(Some(op), |o| o.parent_operation());
    let trips = around.filter_map(|o| u64::try_from(o.int(TRIPS)?).ok());
    trips.fold(1, u64::saturating_mul)
}

/// The operators of a loop's body, and their bytes and operations in all steps.
fn body(op: Op, trips: u64) -> Said {
    let mut said = Said::default();
    for op in op.body(1).map(fusion_dialects::ops_in).unwrap_or_default() {
        let Some(Kind::Operator(operator)) = kind_of(op) else { continue };
        let types = |values: Vec<fusion_dialects::Value>| -> Vec<TensorType> {
            values.into_iter().filter_map(tensor_type).collect()
        };
        let (operands, results) = (types(op.operand_values()), types(op.result_values()));
        let attrs = op.attrs();
        let call = Call { op: operator, operands: &operands, attrs: &attrs };
        said.flops += (operator.cost)(&call, &results) * trips as f64;
        said.bytes += (bytes(&operands) + bytes(&results)) * trips as f64;
        let source = name_of_location(op.location());
        said.operators.push(OperatorEntry {
            operator: operator.name.to_owned(),
            rule: None,
            value: source.clone(),
            sources: vec![source],
        });
    }
    said
}

impl LoopKernel {
    /// Seconds with so many steps behind each other, where so much is read and written.
    fn seconds(&self, rates: &Rates, together: u64, memory: f64) -> f64 {
        rates.call + roof(rates.loops.seconds(&self.steps, together), memory)
    }
}

/// Adds the loop kernels that a block calls to what is told of it.
pub fn tell(block: &Block, kernels: &LoopKernels, entry: &mut BlockRemarks) {
    let mut calls: Vec<Op> = Vec::new();
    for one in &block.program.uses {
        if matches!(kind_of(one.by), Some(Kind::Upstream(Upstream::Call))) && !calls.contains(&one.by) {
            calls.push(one.by);
        }
    }
    for call in calls {
        let name = call.text("callee").unwrap_or_default();
        if let Some(kernel) = kernels.get(name) {
            add(block, (call, name), kernel, entry);
        }
    }
}

fn add(block: &Block, (call, name): (Op, &str), kernel: &LoopKernel, entry: &mut BlockRemarks) {
    let (space, place) = (block.space, entry.kernels.len());
    let class_of = |id| space.classes.iter().position(|c| c.id == block.program.graph.find(id));
    let used = block.program.uses.iter().filter(|u| u.by == call);
    let inputs: Vec<ClassId> = used.filter_map(|u| class_of(u.class)).collect();
    let results: Vec<ClassId> = call
        .result_values()
        .into_iter()
        .filter_map(|result| {
            let number = block.program.leaves.iter().position(|leaf| *leaf == result)?;
            let is_leaf = |head: &Head| matches!(head, Head::Leaf(n) if *n as usize == number);
            let has = |c: &super::extract::space::Class| {
                block.program.graph[c.id].nodes.iter().any(|n| is_leaf(&n.head))
            };
            space.classes.iter().position(has)
        })
        .collect();
    let own = |class: &ClassId| TensorEntry {
        kernel: Some(name.to_owned()),
        place: Some(place),
        ..block.tensor(*class)
    };
    let writes: Vec<TensorEntry> = results.iter().map(own).collect();
    for read in entry.kernels.iter_mut().flat_map(|k| &mut k.reads) {
        if let Some(written) = writes.iter().find(|w| w.value == read.value) {
            (read.kernel, read.place) = (written.kernel.clone(), written.place);
        }
    }
    let bytes_of = |class: &ClassId| space.classes[*class].bytes;
    let bytes: f64 = inputs.iter().chain(&results).map(bytes_of).sum();
    let memory = inputs.iter().chain(&results).map(|c| space.rates.moving(bytes_of(c))).sum();
    let source = name_of_location(call.location());
    let operator = |entry: &OperatorEntry| OperatorEntry {
        sources: [std::slice::from_ref(&source), &entry.sources[..]].concat(),
        ..entry.clone()
    };
    let seconds = kernel.seconds(&space.rates, kernel.together, memory);
    let others: f64 = entry.kernels.iter().map(|k| k.seconds).sum();
    let values: Vec<String> = writes.iter().map(|w| w.value.clone()).collect();
    for &number in kernel.weighed.iter().filter(|n| **n != 1 || kernel.together != 1) {
        let accepted = number == kernel.together;
        let other = if accepted { 1 } else { number };
        let (now, then) = (others + seconds, others + kernel.seconds(&space.rates, other, memory));
        let (before, after) = if accepted { (then, now) } else { (now, then) };
        let remark = Remark {
            subject: Subject::Unrolling,
            accepted,
            rule: match number {
                1 => "one step at a time".to_owned(),
                _ => format!("{number} of {} steps behind each other", kernel.steps.trips),
            },
            orders: None,
            values: values.clone(),
            kernels: vec![name.to_owned()],
            places: vec![place],
            before: Some(before),
            after: Some(after),
            reason: match accepted {
                true => "the loop counts less often".to_owned(),
                false if after < before => "it gains less than the model can tell".to_owned(),
                false => "it would not take less".to_owned(),
            },
        };
        entry.remarks.push(remark);
    }
    entry.proofs.extend(kernel.body.proofs.iter().cloned());
    entry.aliases.extend(kernel.body.aliases.iter().cloned());
    entry.before.kernels += kernel.said.operators.len();
    entry.before.bytes += kernel.said.bytes;
    entry.before.flops += kernel.said.flops;
    entry.after.kernels += 1;
    entry.after.bytes += bytes;
    entry.after.flops += kernel.flops;
    entry.kernels.push(KernelEntry {
        name: name.to_owned(),
        operators: kernel.body.operators.iter().map(operator).collect(),
        reads: inputs.iter().map(|&class| block.tensor(class)).collect(),
        writes,
        bytes,
        flops: kernel.flops,
        seconds,
        conversions: Vec::new(),
        normwise: Vec::new(),
        dot4: None,
    });
}
