//! From a block to an e-graph.
//!
//! Calls of operators become nodes. Every other operation (control flow, calls, references, the terminator) is *pinned*: it stays where it
//! is, its results are leaves of the graph, known from its place on, and what it reads are the values that the graph must give. So
//! effects keep their order, and nothing is computed before it can be.

use super::analysis::{Facts, Graph};
use super::contents::Contents;
use super::extract::calls::bytes;
use super::extract::rates::{Rates, are_bytes};
use super::language::{Constant, Head, Node};
use super::large_constants::LargeConstants;
use super::numbers::{folding, roundings};
use egg::Id;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Attribute, Block, Location, Op, OpExt, OperationLike, Value, argument_owner, arguments, array_elements,
    defining_op, dictionary_text, key, kind_of, name_of_location, nested_ops, ops_in, parent_of, read_tensor,
    relay, splat, tensor_type,
};
use fusion_operators::ops::shape::{EXPAND_DIMS, RESHAPE, SLICE, SPLIT, SQUEEZE};
use fusion_operators::{Attrs, Call, Operator, TensorType};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// A value that a pinned operation reads.
#[derive(Clone, Copy)]
pub struct Use<'c> {
    /// The operation.
    pub by: Op<'c>,
    /// The value.
    pub value: Value<'c>,
    /// Its class.
    pub class: Id,
}

/// Sums over kernels.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Kernels.
    pub kernels: usize,
    /// Bytes read and written.
    pub bytes: f64,
    /// Arithmetic operations.
    pub flops: f64,
}

/// A block as a graph.
pub struct Program<'c> {
    /// The graph.
    pub graph: Graph,
    /// What pinned operations read, in order.
    pub uses: Vec<Use<'c>>,
    /// The values that leaves stand for.
    pub leaves: Vec<Value<'c>>,
    /// The numbers of large constants.
    pub constants: Vec<Attribute<'c>>,
    /// The calls that the graph stands for, in order.
    pub calls: Vec<Op<'c>>,
    /// Where each of these comes from.
    pub locations: Vec<Location<'c>>,
    /// The same as a name.
    pub sources: Vec<String>,
    /// The terms of the source that calls and constants give, as they were added.
    pub results: Vec<Id>,
    /// The number of the call that gives each of them.
    pub origins: Vec<u32>,
    /// What the results of the function are called that the block returns, and what the source calls each value.
    pub outputs: Vec<(String, String)>,
    /// What each call as a kernel of its own comes to.
    pub before: Totals,
}

impl Program<'_> {
    /// The first term of the source in a class, of the operation of a name where one is given.
    pub fn first_term(&self, class: Id, name: Option<&str>) -> Option<Id> {
        let is_named = |origin: u32| name.is_none_or(|name| self.sources[origin as usize] == name);
        let all = self.results.iter().zip(&self.origins);
        all.filter(|(_, origin)| is_named(**origin))
            .map(|(term, _)| *term)
            .find(|term| self.graph.find(*term) == class)
    }
}

/// Reads a block, for a target of those rates.
pub fn read<'c>(block: Block<'c>, rates: &Rates, explain: bool) -> Program<'c> {
    let mut graph = Graph::new(Facts { rates: rates.clone(), ..Facts::default() });
    if explain {
        graph = graph.with_explanations_enabled();
    }
    let mut reader = Reader {
        program: Program {
            graph,
            uses: Vec::new(),
            leaves: Vec::new(),
            constants: Vec::new(),
            calls: Vec::new(),
            locations: Vec::new(),
            sources: Vec::new(),
            results: Vec::new(),
            origins: Vec::new(),
            outputs: Vec::new(),
            before: Totals::default(),
        },
        classes: HashMap::new(),
        large: LargeConstants::default(),
        around: HashSet::new(),
    };
    for argument in arguments(block) {
        reader.leaf(argument, 0);
    }
    for (place, op) in ops_in(block).into_iter().enumerate() {
        reader.op(op, place as u32);
    }
    let mut program = reader.program;
    roundings::mark(&mut program.graph);
    program.graph.analysis.most_parts = Some(program.calls.len() as u32 + 1);
    program
}

/// Bytes up to which the elements of a constant are looked at, one by one: weights are many.
const MOST_READ: u64 = 4 << 20;

/// What the source calls a value: the place or name of the operation that gives it, or the name of the function's argument.
pub fn source_name(value: Value) -> Option<String> {
    if let Some(op) = defining_op(value) {
        return Some(name_of_location(op.location())).filter(|name| !name.is_empty());
    }
    let function = argument_owner(value)?;
    let number = arguments(function.body(0)?).iter().position(|argument| key(*argument) == key(value))?;
    let attributes = array_elements(function.attr("arg_attrs")?);
    dictionary_text(*attributes.get(number)?, relay::NAME)
}

struct Reader<'c> {
    program: Program<'c>,
    // Only looked up, never iterated.
    classes: HashMap<usize, Id>,
    large: LargeConstants,
    /// Constants from around the block: operations that stay read them as they are.
    around: HashSet<usize>,
}

impl<'c> Reader<'c> {
    fn op(&mut self, op: Op<'c>, place: u32) {
        match kind_of(op) {
            Some(Kind::Relay(relay::Op::Constant)) => {
                if let Some(constant) = self.constant(op) {
                    let id = self.program.graph.add(Node::leaf(Head::Constant(constant)));
                    self.classes.insert(key(op.result_values()[0]), id);
                    self.program.results.push(id);
                    self.program.origins.push(self.program.calls.len() as u32);
                    self.remember(op);
                    return;
                }
                self.pinned(op, place);
            }
            Some(Kind::Operator(_)) if self.call(op).is_some() => {}
            _ => self.pinned(op, place),
        }
    }

    /// A call as nodes; `None` when it has operands or results that are no tensors.
    fn call(&mut self, op: Op<'c>) -> Option<()> {
        let Some(Kind::Operator(operator)) = kind_of(op) else { return None };
        let results = op.result_values();
        let types: Vec<TensorType> = results.iter().map(|v| tensor_type(*v)).collect::<Option<_>>()?;
        let operands: Vec<Id> =
            op.operand_values().into_iter().map(|v| self.value(v)).collect::<Option<_>>()?;
        let origin = self.program.calls.len() as u32;
        self.remember(op);
        self.count(operator, op, &types);
        let ids = if operator.is(&SPLIT) {
            self.pieces(op, operands[0], &types)
        } else if let Some(constant) = self.folded(operator, op, (&operands, &types)) {
            vec![self.program.graph.add(Node::leaf(Head::Constant(constant)))]
        } else {
            let attrs = self.program.graph.add(Node::attrs(op.attrs()));
            // The term as the source has it, even where it is folded at once.
            let call = self.program.graph.add_uncanonical(Node::call(operator, attrs, operands));
            match results.len() {
                1 => vec![call],
                count => (0..count)
                    .map(|i| {
                        let node = Node { head: Head::Get(i as u32), children: vec![call] };
                        self.program.graph.add(node)
                    })
                    .collect(),
            }
        };
        for (result, term) in results.into_iter().zip(ids) {
            self.program.results.push(term);
            self.program.origins.push(origin);
            let id = self.program.graph.find(term);
            let data = &mut self.program.graph[id].data;
            if !data.origins.contains(&origin) {
                data.origins.push(origin);
            }
            self.classes.insert(key(result), id);
        }
        Some(())
    }

    /// The constant that a call of a few constants is, as the program would compute it.
    fn folded(
        &self,
        operator: &'static Operator,
        op: Op<'c>,
        (operands, types): (&[Id], &[TensorType]),
    ) -> Option<Constant> {
        let ([ty], graph) = (types, &self.program.graph) else { return None };
        let known: Vec<&Constant> =
            operands.iter().map(|&id| graph[id].data.constant.as_ref()).collect::<Option<_>>()?;
        let operands: Vec<TensorType> = known.iter().map(|c| c.ty().clone()).collect();
        let call = Call { op: operator, operands: &operands, attrs: &op.attrs() };
        folding::of_source(&call, ty, &known)
    }

    fn remember(&mut self, op: Op<'c>) {
        self.program.calls.push(op);
        self.program.locations.push(op.location());
        self.program.sources.push(name_of_location(op.location()));
    }

    /// Adds a call that is a kernel of its own to what the program comes to.
    fn count(&mut self, operator: &'static Operator, op: Op<'c>, results: &[TensorType]) {
        if [&RESHAPE, &SQUEEZE, &EXPAND_DIMS].iter().any(|v| operator.is(v)) {
            return;
        }
        let operands: Vec<TensorType> = op.operand_values().into_iter().filter_map(tensor_type).collect();
        let call = Call { op: operator, operands: &operands, attrs: &op.attrs() };
        let before = &mut self.program.before;
        before.kernels += 1;
        before.flops += (operator.cost)(&call, results);
        before.bytes += bytes(&operands) + bytes(results);
    }

    /// The results of a split as slices, which rules know.
    fn pieces(&mut self, op: Op<'c>, data: Id, types: &[TensorType]) -> Vec<Id> {
        let attrs = op.attrs();
        let (axis, mut begin) = (attrs.int_or("axis", 0), 0);
        let sections = attrs.ints("sections").unwrap_or_default();
        let mut pieces = Vec::new();
        for (_, size) in types.iter().zip(sections) {
            let slice = Attrs::new().with("begin", [begin]).with("end", [begin + size]).with("axes", [axis]);
            let attrs = self.program.graph.add(Node::attrs(slice));
            pieces.push(self.program.graph.add(Node::call(&SLICE, attrs, [data])));
            begin += size;
        }
        pieces
    }

    /// An operation that stays: its results are leaves, and what it reads must be there.
    fn pinned(&mut self, op: Op<'c>, place: u32) {
        self.name_outputs(op);
        let inside = nested_ops(op);
        let read = std::iter::once(&op).chain(&inside).flat_map(|o| o.operand_values());
        for value in read.collect::<Vec<_>>() {
            // Only what this block computes: values from inside and from around the block are not replaced.
            if !self.around.contains(&key(value))
                && let Some(&class) = self.classes.get(&key(value))
                && !self
                    .program
                    .uses
                    .iter()
                    .rev()
                    .take_while(|u| u.by == op)
                    .any(|u| key(u.value) == key(value))
            {
                self.program.uses.push(Use { by: op, value, class });
            }
        }
        for result in op.result_values() {
            self.leaf(result, place + 1);
        }
    }

    /// Notes what a function's results are called, where an operation returns them.
    fn name_outputs(&mut self, op: Op<'c>) {
        let returns = matches!(kind_of(op), Some(Kind::Upstream(Upstream::Return)));
        let attributes = parent_of(op).filter(|_| returns).and_then(|function| function.attr("res_attrs"));
        for (value, attribute) in
            op.operand_values().into_iter().zip(attributes.map(array_elements).unwrap_or_default())
        {
            let (name, source) = (dictionary_text(attribute, relay::NAME), source_name(value));
            self.program.outputs.extend(name.zip(source));
        }
    }

    /// The class of a value that a call reads; a leaf when it comes from outside.
    fn value(&mut self, value: Value<'c>) -> Option<Id> {
        if let Some(&id) = self.classes.get(&key(value)) {
            return Some(id);
        }
        // A few numbers from around the block are known here as well; large ones stay where they are.
        let around =
            defining_op(value).filter(|op| matches!(kind_of(*op), Some(Kind::Relay(relay::Op::Constant))));
        if let Some(constant) =
            around.and_then(|op| self.constant(op)).filter(|c| !matches!(c, Constant::Large { .. }))
        {
            let id = self.program.graph.add(Node::leaf(Head::Constant(constant)));
            self.classes.insert(key(value), id);
            self.around.insert(key(value));
            return Some(id);
        }
        self.leaf(value, 0)
    }

    fn leaf(&mut self, value: Value<'c>, place: u32) -> Option<Id> {
        let ty = tensor_type(value)?;
        let program = &mut self.program;
        let number = program.leaves.len() as u32;
        program.leaves.push(value);
        program.graph.analysis.leaf_types.push(ty);
        program.graph.analysis.leaf_places.push(place);
        let id = program.graph.add(Node::leaf(Head::Leaf(number)));
        self.classes.insert(key(value), id);
        Some(id)
    }

    fn constant(&mut self, op: Op<'c>) -> Option<Constant> {
        let attr = op.attr("value")?;
        let ty = tensor_type(op.result_values()[0])?;
        if let Some(one) = splat(attr) {
            return Some(Constant::Splat { ty, element: one.bytes().to_vec() });
        }
        if ty.bytes()? <= super::language::SMALL_BYTES as u64 {
            return Constant::of(&read_tensor(attr)?);
        }
        let known = self.program.constants.len();
        let number = self.large.number(attr, &ty, &mut self.program.constants);
        if number as usize == known {
            let content = || read_tensor(attr);
            let contents = match ty.bytes()? {
                ..=MOST_READ => content().map(|tensor| Contents::of_large(&tensor)),
                _ if are_bytes([&ty]) => content().map(|tensor| Contents::of_larger(&tensor)),
                _ => None,
            };
            let contents = contents.unwrap_or_default();
            self.program.graph.analysis.contents.push(contents);
        }
        Some(Constant::Large { ty, number })
    }
}
