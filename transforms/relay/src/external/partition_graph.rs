//! `relay-partition-graph`: each region becomes a function, which its code generator compiles.
//!
//! ```text
//!   %0 = conv2d %x, W {relay.compiler = "npu", relay.region = 0}       %1 = call @npu_0(%x, W)
//!   %1 = relu %0 {relay.compiler = "npu", relay.region = 0}       =>   func private @npu_0 {relay.compiler = "npu", relay.primitive,
//!                                                                                            relay.global_symbol = "npu_0"}
//! ```
//! An annotated operator without a region is one of its own. The function is a kernel (`relay.primitive`): `relay-optimize` leaves it as it
//! is, and without its code generator it is compiled as any other. Constants of one number stand inside, others are arguments. TVM has the
//! pass as `PartitionGraph`.

use super::{COMPILER, GLOBAL_SYMBOL, REGION};
use crate::fuse_ops::{PRIMITIVE, blocks_under, is_copied};
use crate::language::{functions, private_function};
use fusion_dialects::rows::Upstream;
use fusion_dialects::{
    Block, Build, Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, Type, Value,
    ValueLike, ValueMap, defining_op, key, op_key, ops_in, parent_of, replace_uses, str_attr, symbol_attr,
    unit_attr, unused, users,
};
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet};

/// The pass.
pub struct PartitionGraph;

impl Pass for PartitionGraph {
    const NAME: &'static str = "relay-partition-graph";
    const DESCRIPTION: &'static str = "Make functions of the regions of code generators";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "functions", description: "Functions made" }];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let functions = functions(module);
        let mut names =
            Names { taken: functions.keys().map(|&name| name.to_owned()).collect(), next: HashMap::new() };
        for function in functions.into_values().filter(|f| f.attr(COMPILER).is_none()) {
            for block in blocks_under(function) {
                for region in regions(block)? {
                    cx.count(0, u64::from(region.outline(module, &mut names)));
                }
            }
        }
        Ok(())
    }
}

/// Names of functions: the generator's, and a number.
struct Names {
    taken: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Names {
    fn fresh(&mut self, compiler: &str) -> String {
        let next = self.next.entry(compiler.to_owned()).or_default();
        loop {
            let name = format!("{compiler}_{next}");
            *next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

struct Region<'c> {
    compiler: &'c str,
    ops: Vec<Op<'c>>,
    results: Vec<Value<'c>>,
}

/// The regions of a block, in order.
fn regions<'c>(block: Block<'c>) -> Result<Vec<Region<'c>>, PassError<'c>> {
    let ops = ops_in(block);
    let places: HashMap<usize, usize> = ops.iter().enumerate().map(|(i, op)| (op_key(*op), i)).collect();
    let mut groups: IndexMap<(&str, Option<i64>, usize), Vec<usize>> = IndexMap::new();
    for (at, op) in ops.iter().enumerate() {
        if let Some(compiler) = op.text(COMPILER) {
            let region = op.int(REGION);
            let alone = if region.is_some() { 0 } else { at };
            groups.entry((compiler, region, alone)).or_default().push(at);
        }
    }
    let mut found = Vec::new();
    for ((compiler, ..), members) in groups {
        let inside: HashSet<usize> = members.iter().map(|&at| op_key(ops[at])).collect();
        let last = members.last().copied().unwrap_or_default();
        let mut results = Vec::new();
        for value in members.iter().flat_map(|&at| ops[at].result_values()) {
            let outside: Vec<Op> =
                users(value).into_iter().filter(|user| !inside.contains(&op_key(*user))).collect();
            let early = |user: &&Op<'c>| place(**user, &places).is_some_and(|at| at < last);
            if let Some(user) = outside.iter().find(early) {
                return Err(PassError::at(
                    *user,
                    format!(
                        "uses a value of a region of {compiler:?} that ends behind it; run \
                         relay-merge-compiler-regions, which puts regions together"
                    ),
                ));
            }
            if !outside.is_empty() {
                results.push(value);
            }
        }
        found.push(Region { compiler, ops: members.into_iter().map(|at| ops[at]).collect(), results });
    }
    Ok(found)
}

/// Where in a block an operation stands, or the one that it is inside of.
fn place(op: Op, places: &HashMap<usize, usize>) -> Option<usize> {
    std::iter::successors(Some(op), |op| parent_of(*op)).find_map(|op| places.get(&op_key(op)).copied())
}

fn types<'c>(values: &[Value<'c>]) -> Vec<Type<'c>> {
    values.iter().map(|value| value.r#type()).collect()
}

impl<'c> Region<'c> {
    /// Makes the function and calls it; false where nothing needs the region.
    fn outline(&self, module: Op<'c>, names: &mut Names) -> bool {
        for op in &self.ops {
            op.remove_attr(REGION);
            op.remove_attr(COMPILER);
        }
        let (Some(last), false) = (self.ops.last(), self.results.is_empty()) else { return false };
        let (context, name) = (module.context_ref(), names.fresh(self.compiler));
        let (taken, constants) = self.inputs();
        let compiler = str_attr(context, self.compiler);
        let body = Build::before(*last).region(&types(&taken), |inner, arguments| {
            let mut map = ValueMap::new();
            taken.iter().zip(arguments).for_each(|(old, new)| map.insert(*old, *new));
            for op in constants.iter().chain(&self.ops) {
                map.clone_op(&inner.at(op.location()), *op);
            }
            let given: Vec<Value> = self.results.iter().map(|value| map.lookup(*value)).collect();
            inner.op(Upstream::Return.name(), &given, &[], &[]);
        });
        let made =
            private_function(module, &name, &types(&taken), &types(&self.results), last.location(), body);
        let Some(function) = made else { return false };
        function.set_attr(COMPILER, compiler);
        function.set_attr(GLOBAL_SYMBOL, str_attr(context, &name));
        function.set_attr(PRIMITIVE, unit_attr(context));
        let callee = ("callee", symbol_attr(context, &name));
        let call = Build::before(*last).op(Upstream::Call.name(), &taken, &types(&self.results), &[callee]);
        self.results.iter().zip(call.result_values()).for_each(|(old, new)| replace_uses(*old, new));
        self.ops.iter().rev().for_each(|op| op.erase());
        constants.iter().filter(|op| op.result_values().into_iter().all(unused)).for_each(|op| op.erase());
        true
    }

    /// The values that the region takes, and the constants that are copied into it.
    fn inputs(&self) -> (Vec<Value<'c>>, Vec<Op<'c>>) {
        let mut seen: HashSet<usize> = self.ops.iter().flat_map(|op| op.result_values()).map(key).collect();
        let (mut taken, mut constants) = (Vec::new(), Vec::new());
        for value in self.ops.iter().flat_map(|op| op.operand_values()) {
            if seen.insert(key(value)) {
                match defining_op(value).filter(|_| is_copied(value)) {
                    Some(constant) => constants.push(constant),
                    None => taken.push(value),
                }
            }
        }
        (taken, constants)
    }
}
