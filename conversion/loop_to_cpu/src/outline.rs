//! `loop-outline-parallel`: the iterations of a parallel loop become a function of a range, which threads can share.
//!
//! ```text
//!   func @k(%x) {                     func @k(%x) { call @k_parallel_0(64, %x) }
//!     loop.for 64 parallel {          func @k_parallel_0(index, memref) attributes {fusion.part = @k_part_0}
//!     ^bb0(%i): ... %x ...      =>    func @k_part_0(%begin, %end, %x) {
//!     }                                 scf.for %i = %begin to %end { ... %x ... }
//!   }                                 }
//! ```
//!
//! What the loop uses from outside becomes parameters of both; constants and views are made anew in the part. The declared
//! function gets its body from `fusion-parallel-calls`, where pointers are plain. Loops inside of a parallel one stay in it:
//! they run on its thread. Parts that are the same are one function ([`merge`](super::merge)). Buffers of a part stand on the stack of the thread that calls it, so no two threads share one.

use super::control::{count_of, with_terminator};
use super::merge::merge;
use fusion_dialects::loops::{LoopKind, Op as Loop, loop_kind};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Attribute, Build, Op, OpExt, OperationLike, Pass, PassError, RunContext, Type, Value, ValueLike,
    ValueMap, arguments, array_attr, array_elements, defining_op, dict_attr, function_type, index_type, key,
    kind_of, nested_ops, position, str_attr, symbol_attr, top_level, type_attr,
};
use indexmap::{IndexMap, IndexSet};

/// On the declared function: the function that runs a range of the iterations.
pub const PART: &str = "fusion.part";

/// The pass.
pub struct OutlineParallel;

impl Pass for OutlineParallel {
    const NAME: &'static str = "loop-outline-parallel";
    const DESCRIPTION: &'static str =
        "Make the iterations of parallel loops functions that threads can share";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const DIALECTS: &'static [&'static str] = &["func", "scf", "arith"];

    fn run<'c>(module: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        for function in top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func))) {
            for (number, parallel) in outermost(function).into_iter().enumerate() {
                Outline::of(function, parallel, number).write();
            }
        }
        merge(module, PART);
        Ok(())
    }
}

/// The parallel loops of a function that are worth a function, but for those inside of another one.
fn outermost<'c>(function: Op<'c>) -> Vec<Op<'c>> {
    let mut inside = IndexSet::new();
    let mut found = Vec::new();
    for op in nested_ops(function) {
        let several = match kind_of(op) {
            Some(Kind::Loop(Loop::For)) => op.int("extent").is_some_and(|n| n > 1),
            Some(Kind::Loop(Loop::Upto)) => true,
            _ => false,
        };
        let shared = several && loop_kind(op) == LoopKind::Parallel;
        if shared && !inside.contains(&fusion_dialects::op_key(op)) {
            inside.extend(nested_ops(op).into_iter().map(fusion_dialects::op_key));
            found.push(op);
        }
    }
    found
}

struct Outline<'c> {
    function: Op<'c>,
    parallel: Op<'c>,
    /// Names of the function that is called and of the one that runs a range.
    names: [String; 2],
    /// What the loop uses from outside.
    captured: Vec<Value<'c>>,
    /// What is made anew inside, operands first.
    remade: Vec<Op<'c>>,
}

impl<'c> Outline<'c> {
    fn of(function: Op<'c>, parallel: Op<'c>, number: usize) -> Self {
        let stem = function.text("sym_name").unwrap_or_default();
        let names = ["parallel", "part"].map(|what| format!("{stem}_{what}_{number}"));
        let mut uses = Uses::default();
        let inner = nested_ops(parallel);
        let defined: IndexSet<usize> = inner.iter().chain([&parallel]).flat_map(|op| own(*op)).collect();
        for value in inner.iter().flat_map(|op| op.operand_values()) {
            if !defined.contains(&key(value)) {
                uses.add(value);
            }
        }
        let captured = uses.captured.into_values().collect();
        let remade = uses.remade.into_values().collect();
        Outline { function, parallel, names, captured, remade }
    }

    fn write(self) {
        let build = Build::before(self.function).at(self.parallel.location());
        let context = build.context();
        let index = index_type(context);
        let types: Vec<Type> = self.captured.iter().map(|v| v.r#type()).collect();
        let whole = [&[index], types.as_slice()].concat();
        let range = [&[index, index], types.as_slice()].concat();

        let body = build.region(&range, |inner, parameters| self.body(inner, parameters));
        let part = self.declaration(&self.names[1], &range, &[]);
        build.op_with_regions(Upstream::Func.name(), &[], &[], &part, vec![body]);
        let link = [(PART, symbol_attr(context, &self.names[1]))];
        let start = self.declaration(&self.names[0], &whole, &link);
        build.op_with_regions(Upstream::Func.name(), &[], &[], &start, vec![fusion_dialects::Region::new()]);

        let place = Build::before(self.parallel);
        let (count, _) = count_of(self.parallel, &Scalars { build: place });
        let operands = [&[count], self.captured.as_slice()].concat();
        place.op(Upstream::Call.name(), &operands, &[], &[("callee", symbol_attr(context, &self.names[0]))]);
        self.parallel.erase();
    }

    fn body(&self, build: Build<'c>, parameters: &[Value<'c>]) {
        let mut map = ValueMap::new();
        for (value, parameter) in self.captured.iter().zip(&parameters[2..]) {
            map.insert(*value, *parameter);
        }
        for op in &self.remade {
            map.clone_op(&build, *op);
        }
        let one = Scalars { build }.index(1);
        let copy = map.clone_op(&build, self.parallel);
        if let Some(region) = copy.regions().next() {
            let region = with_terminator(region, Upstream::ScfYield.name());
            let operands = [parameters[0], parameters[1], one];
            build.op_with_regions("scf.for", &operands, &[], &[], vec![region]);
        }
        copy.erase();
        build.op(Upstream::Return.name(), &[], &[], &[]);
    }

    /// The attributes of a private function. Parameters keep what is known of the kernel's: that they do not overlap.
    fn declaration<'a>(
        &self,
        name: &str,
        types: &[Type<'c>],
        more: &[(&'a str, Attribute<'c>)],
    ) -> Vec<(&'a str, Attribute<'c>)> {
        let context = self.function.context_ref();
        let known = self.function.attr("arg_attrs").map(array_elements).unwrap_or_default();
        let entry = self.function.body(0).map(arguments).unwrap_or_default();
        let of = |value: &Value<'c>| {
            let parameter = entry.iter().any(|v| key(*v) == key(*value));
            parameter.then(|| known.get(position(*value)).copied()).flatten()
        };
        let nothing = dict_attr(context, &[]);
        let mut attributes = vec![nothing; types.len() - self.captured.len()];
        attributes.extend(self.captured.iter().map(|v| of(v).unwrap_or(nothing)));
        let mut all = vec![
            ("sym_name", str_attr(context, name)),
            ("sym_visibility", str_attr(context, "private")),
            ("function_type", type_attr(function_type(context, types, &[]))),
            ("arg_attrs", array_attr(context, &attributes)),
        ];
        all.extend_from_slice(more);
        all
    }
}

/// What a loop uses from outside, in order of first use.
#[derive(Default)]
struct Uses<'c> {
    captured: IndexMap<usize, Value<'c>>,
    remade: IndexMap<usize, Op<'c>>,
}

impl<'c> Uses<'c> {
    fn add(&mut self, value: Value<'c>) {
        let maker = defining_op(value).filter(|op| {
            matches!(kind_of(*op), Some(Kind::Upstream(Upstream::ArithConstant | Upstream::View)))
        });
        match maker {
            Some(op) if !self.remade.contains_key(&key(value)) => {
                op.operand_values().into_iter().for_each(|operand| self.add(operand));
                self.remade.insert(key(value), op);
            }
            Some(_) => {}
            None => {
                self.captured.insert(key(value), value);
            }
        }
    }
}

/// Keys of the values an operation defines: its results and its blocks' arguments.
fn own(op: Op) -> Vec<usize> {
    use fusion_dialects::{BlockLike, RegionLike};
    let blocks = op.regions().flat_map(|region| {
        std::iter::successors(region.first_block(), |b| b.next_in_region()).collect::<Vec<_>>()
    });
    let values = blocks.flat_map(arguments).chain(op.result_values());
    values.map(key).collect()
}
