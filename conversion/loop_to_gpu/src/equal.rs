//! `loop-merge-equal`: elements of a thread's own buffer that always have the same value become one.
//!
//! ```text
//!   m[0] = lowest ; m[1] = lowest                              m[0] = lowest
//!   for k {                                                    for k {
//!     a = m[0] ; m[0] = max(a, s[k])              =>             a = m[0] ; m[0] = max(a, s[k])
//!     b = m[1] ; m[1] = max(b, s[k])                             (b is a)
//!   }                                                          }
//! ```
//!
//! A reduction of several results has all of them for each element, also those that are the same for a row (the maximum and the sum of an online
//! softmax). Elements are taken to be equal until a store shows that they are not: two are when their stores stand in the same blocks and
//! store equal values, where loads of equal elements after as many stores are equal (the partitions of Alpern, Wegman and Zadeck,
//! "Detecting equality of variables in programs", 1988). What is computed twice then, `cse` finds.

use super::launches::scope;
use super::result;
use fusion_dialects::loops::KERNEL;
use fusion_dialects::loops::{Op as Loop, Scope};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, Value, ValueLike, defining_op,
    is_pure, key, nested_ops, op_key, users, vector_parts,
};
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The pass.
pub struct MergeEqual;

impl Pass for MergeEqual {
    const NAME: &'static str = "loop-merge-equal";
    const DESCRIPTION: &'static str = "Keep elements of a thread's buffers once that are always equal";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "merged", description: "Number of elements that others stand for" }];
    const DIALECTS: &'static [&'static str] = &["loop"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        if function.attr(KERNEL).is_none() {
            return Ok(());
        }
        let mut elements = Elements::of(function);
        elements.refine();
        cx.count(0, elements.merge());
        Ok(())
    }
}

/// An access of an element: which operation, in which it stands, and how many stores of the element come before.
#[derive(Clone, Copy)]
struct Access<'c> {
    op: Op<'c>,
    inside: usize,
    version: usize,
}

/// An element of a thread's own buffer, with all accesses in order.
struct Element<'c> {
    ty: String,
    stores: Vec<Access<'c>>,
    loads: Vec<Access<'c>>,
}

/// What gives a value: the same of two values makes them equal.
#[derive(PartialEq, Eq, Hash)]
enum Form {
    /// Something of which nothing is known.
    Value(usize),
    /// A load of one of equal elements: which, where it stands, and after how many stores.
    Load(usize, usize, usize),
    /// An operation of that kind, and the numbers of its operands.
    Computed(String, Vec<usize>),
}

struct Elements<'c> {
    ops: Vec<Op<'c>>,
    all: Vec<Element<'c>>,
    /// Which elements are taken to be equal: the first of them.
    class: Vec<usize>,
    /// The element that a load loads, and which of its loads that is.
    loaded: HashMap<usize, (usize, usize)>,
}

/// An access of a scalar at an index that is known: the buffer, the index and the value.
fn accessed<'c>(op: Op<'c>) -> Option<(Value<'c>, i64, Value<'c>)> {
    let (at, value) = match op.kind() {
        Some(Kind::Loop(Loop::Load)) => (0, result(op)?),
        Some(Kind::Loop(Loop::Store)) => (1, *op.operand_values().first()?),
        _ => return None,
    };
    let operands = op.operand_values();
    let (buffer, index) = (*operands.get(at)?, defining_op(*operands.get(at + 1)?)?);
    let constant = matches!(index.kind(), Some(Kind::Upstream(Upstream::ArithConstant)));
    let known = constant && vector_parts(value.r#type()).is_none();
    Some((buffer, index.int("value").filter(|_| known)?, value))
}

impl<'c> Elements<'c> {
    fn of(function: Op<'c>) -> Self {
        let own = |op: &Op<'c>| {
            let buffer = result(*op).filter(|_| scope(*op) == Some(Scope::Local))?;
            let plain = |user: Op<'c>| accessed(user).is_some_and(|(of, ..)| key(of) == key(buffer));
            users(buffer).into_iter().all(plain).then(|| key(buffer))
        };
        let ops = nested_ops(function);
        let buffers: HashSet<usize> = ops.iter().filter_map(own).collect();
        let mut found: IndexMap<(usize, i64), Element> = IndexMap::new();
        let mut loaded = HashMap::new();
        for op in &ops {
            let Some((buffer, index, value)) = accessed(*op).filter(|(b, ..)| buffers.contains(&key(*b)))
            else {
                continue;
            };
            let entry = found.entry((key(buffer), index));
            let number = entry.index();
            let ty = value.r#type().to_string();
            let element = entry.or_insert_with(|| Element { ty, stores: Vec::new(), loads: Vec::new() });
            let inside = op.parent_operation().map_or(0, op_key);
            let access = Access { op: *op, inside, version: element.stores.len() };
            if matches!(op.kind(), Some(Kind::Loop(Loop::Store))) {
                element.stores.push(access);
            } else {
                loaded.insert(op_key(*op), (number, element.loads.len()));
                element.loads.push(access);
            }
        }
        let all: Vec<Element> = found.into_values().collect();
        // At first all are that are stored to at the same places.
        let places = |e: &Element| (e.ty.clone(), e.stores.iter().map(|s| s.inside).collect::<Vec<_>>());
        let class = firsts(all.iter().map(places));
        Elements { ops, all, class, loaded }
    }

    /// Takes elements apart that differ, until none do.
    fn refine(&mut self) {
        loop {
            let alone = self.class.iter().enumerate().all(|(i, first)| i == *first);
            let numbers = if alone { HashMap::new() } else { self.numbers() };
            let stored = |(i, e): (usize, &Element<'c>)| {
                let values = e.stores.iter().map(|s| s.op.operand_values()[0]);
                (self.class[i], values.map(|v| numbers.get(&key(v)).copied()).collect::<Vec<_>>())
            };
            let next = firsts(self.all.iter().enumerate().map(stored));
            if next == self.class {
                return;
            }
            self.class = next;
        }
    }

    /// Numbers for all values, the same for values that are equal if the elements are that are taken to be.
    fn numbers(&self) -> HashMap<usize, usize> {
        let mut forms: HashMap<Form, usize> = HashMap::new();
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let mut number = |form: Form| {
            let next = forms.len();
            *forms.entry(form).or_insert(next)
        };
        for op in &self.ops {
            let operands = op.operand_values();
            for value in &operands {
                numbers.entry(key(*value)).or_insert_with(|| number(Form::Value(key(*value))));
            }
            let computed = is_pure(*op) && op.regions().next().is_none();
            for (n, value) in op.result_values().into_iter().enumerate() {
                let form = match self.loaded.get(&op_key(*op)) {
                    Some(&(element, load)) => {
                        let Access { inside, version, .. } = self.all[element].loads[load];
                        Form::Load(self.class[element], inside, version)
                    }
                    None if computed => {
                        let given = operands.iter().map(|v| numbers[&key(*v)]).collect();
                        Form::Computed(format!("{n} {}", kind_in_words(*op, value)), given)
                    }
                    None => Form::Value(key(value)),
                };
                numbers.insert(key(value), number(form));
            }
        }
        numbers
    }

    /// Has the first of equal elements stand for the others, where each load of these has one of the first before it; gives how many did.
    fn merge(&self) -> u64 {
        let mut merged = 0;
        for (i, element) in self.all.iter().enumerate().filter(|(i, _)| self.class[*i] != *i) {
            let first = &self.all[self.class[i]];
            let instead = |load: &Access<'c>| {
                let same = |other: &&Access| (other.inside, other.version) == (load.inside, load.version);
                let earlier = first.loads.iter().find(same).filter(|other| is_before(other.op, load.op))?;
                result(earlier.op)
            };
            let values: Option<Vec<Value>> = element.loads.iter().map(instead).collect();
            let Some(values) = values else { continue };
            for (load, value) in element.loads.iter().zip(values) {
                load.op.replace_all_uses(&[value]);
                load.op.erase();
            }
            element.stores.iter().for_each(|store| store.op.erase());
            merged += 1;
        }
        merged
    }
}

/// For each thing the place of the first that is the same.
fn firsts<T: Eq + Hash>(things: impl Iterator<Item = T>) -> Vec<usize> {
    let mut seen: HashMap<T, usize> = HashMap::new();
    things.enumerate().map(|(i, thing)| *seen.entry(thing).or_insert(i)).collect()
}

/// True when an operation comes before another, in the same block.
fn is_before(first: Op, second: Op) -> bool {
    std::iter::successors(first.next_in_block(), |op| op.next_in_block()).any(|op| op == second)
}

/// What an operation does, but for its operands.
fn kind_in_words(op: Op, value: Value) -> String {
    let all = op
        .attributes()
        .filter_map(|(name, value)| Some(format!("{}={value}", name.as_string_ref().as_str().ok()?)));
    let mut all: Vec<String> = all.collect();
    all.sort();
    format!("{} {} {}", op.full_name(), all.join(","), value.r#type())
}
