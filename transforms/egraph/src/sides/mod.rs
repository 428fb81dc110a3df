//! Whether both sides of a rule have one type, on samples, when the rule is built.
//!
//! ```text
//!     (add ?a ?x ?y) => (equal ?a ?x ?y)      x, y: tensor<4x4xf32>      tensor<4x4xf32> and tensor<4x4xi1>: refused
//! ```
//!
//! The variables of the left side get values of some element types and numbers of axes, as inputs, as numbers and as constants, and
//! attributes as operators take them ([`attributes`]). Samples whose left side has types, and for which all conditions hold, are
//! parted by their element type and by the axes of the left side. Of each part one at least must have a right side of the same types.
//! So a rule needs a condition where element types or numbers of axes would differ; for extents it needs none, as what differs in them is
//! not applied. Where no sample meets the conditions, these are left out, and one sample of all must agree. What no sample says anything
//! about is left to the check of each application, and to the rule's own sample in the tests. A rule takes some milliseconds: rules that
//! programs add are checked when they are built, once a process, those of the library in its tests.

mod attributes;
mod build;
mod values;

use super::analysis::{Facts, Graph};
use super::language::{Constant, Head, Node};
use super::rule::{Ready, Typed, attributes_of};
use egg::{ENodeOrVar, Id, PatternAst, Subst, Var};
use fusion_operators::ops::elementwise::MUL;
use fusion_operators::{Attrs, DType, FusionKind, TensorType};
use indexmap::{IndexMap, IndexSet};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use values::{Kind, identity, kinds, types};

/// The most axes of a sample.
const MOST_AXES: usize = 5;
/// Element types of samples.
const DTYPES: [DType; 3] = [DType::F32, DType::I64, DType::Bool];
/// Calls that are typed for each element type and number of axes.
const MOST_CALLS: usize = 600;
/// Samples that are tried of each.
const MOST_SAMPLES: usize = 24;
/// Samples of each that are tried with constants in all places.
const MOST_WITH_CONSTANTS: usize = 8;
/// How often the search begins anew at other samples, where none met the conditions, and how far it goes each time.
const BEGINNINGS: u64 = 200;
const MOST_CALLS_ANEW: usize = 150;
const MOST_SAMPLES_ANEW: usize = 4;

/// What is known of the rules of this process that were checked: rules are built anew for every module.
static KNOWN: Mutex<Option<HashMap<Vec<&'static str>, Verdict>>> = Mutex::new(None);

/// What samples say of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Both sides have one type where the conditions hold.
    Agree,
    /// They have where conditions are left out; no sample meets them.
    AgreeWithoutConditions,
    /// No sample has types on both sides.
    Unknown,
    /// They differ, for this reason.
    Differ(String),
}

/// What samples say of a rule.
pub fn verdict(rule: &Ready) -> Verdict {
    let (left, right) = rule.rule.sides();
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    let key = [rule.rule.name, left, right].into_iter().chain(rule.rule.conditions()).collect();
    known.entry(key).or_insert_with(|| Samples::of(rule).verdict()).clone()
}

/// What a node of the left side is in a sample.
enum Part {
    /// Attributes that are not chosen yet: which there are depends on the operator.
    Open(Var),
    Attrs(Attrs),
    Types(Vec<TensorType>),
}

/// The element type, and the number of axes of the left side.
type Group = (DType, usize);

struct Samples<'r> {
    rule: &'r Ready,
    left: &'r PatternAst<Node>,
    as_attrs: IndexSet<Var>,
    graph: Graph,
    dtype: DType,
    /// The types that variables may have.
    choices: Vec<TensorType>,
    attrs: IndexMap<Var, Attrs>,
    values: IndexMap<Var, TensorType>,
    inputs: IndexSet<(usize, TensorType)>,
    /// True when a sample of the element type had types.
    has_types: bool,
    /// True when a sample of any did.
    ever_typed: bool,
    calls: usize,
    tried: usize,
    /// Calls and samples up to which it goes.
    most: (usize, usize),
    /// Where lists of choices begin: at their first one, or at random.
    begin: Option<u64>,
    /// Of each group whether the types of a sample agreed, and how those of the first that did not differ.
    groups: IndexMap<Group, (bool, String)>,
    /// The same without conditions.
    any: Option<(bool, String)>,
}

impl<'r> Samples<'r> {
    fn of(rule: &'r Ready) -> Self {
        let left = rule.left();
        Samples {
            rule,
            left,
            as_attrs: attributes_of(left),
            graph: Graph::new(Facts::default()),
            dtype: DType::F32,
            choices: Vec::new(),
            attrs: IndexMap::new(),
            values: IndexMap::new(),
            inputs: IndexSet::new(),
            has_types: false,
            ever_typed: false,
            calls: 0,
            tried: 0,
            most: (MOST_CALLS, MOST_SAMPLES),
            begin: None,
            groups: IndexMap::new(),
            any: None,
        }
    }

    fn verdict(mut self) -> Verdict {
        for dtype in DTYPES {
            (self.dtype, self.has_types) = (dtype, false);
            for rank in 0..=MOST_AXES {
                self.choices = types(rank, dtype);
                self.round();
            }
            // Conditions of a selection are booleans, indices are integers.
            for rank in 0..=MOST_AXES {
                if self.has_types {
                    break;
                }
                let few = |dtype| types(rank, dtype).into_iter().take(3);
                self.choices = [dtype, DType::Bool, DType::I64].into_iter().flat_map(few).collect();
                self.round();
            }
        }
        if self.groups.is_empty() {
            self.begin_anew();
        }
        if !self.ever_typed && self.is_elementwise() {
            let why =
                "no values give its left side a type: element types of its operators contradict each other";
            return Verdict::Differ(why.to_owned());
        }
        match (self.groups.values().find(|(agreed, _)| !agreed), self.any) {
            (Some((_, why)), _) => Verdict::Differ(why.clone()),
            (None, _) if !self.groups.is_empty() => Verdict::Agree,
            (None, None) => Verdict::Unknown,
            (None, Some((true, _))) => Verdict::AgreeWithoutConditions,
            (None, Some((false, why))) => Verdict::Differ(why),
        }
    }

    /// Looks at samples from all over. The first in order have the types of the first variable in common, and conditions that several variables
    /// must meet are met far behind them.
    fn begin_anew(&mut self) {
        self.dtype = DType::F32;
        self.most = (MOST_CALLS_ANEW, MOST_SAMPLES_ANEW);
        for begin in 1..=BEGINNINGS {
            self.begin = Some(begin.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            for rank in 0..=MOST_AXES {
                self.choices = types(rank, self.dtype);
                self.round();
            }
            if !self.groups.is_empty() && self.groups.values().all(|(agreed, _)| *agreed) {
                return;
            }
        }
    }

    /// A list of choices in the order in which they are tried.
    fn ordered<T>(&mut self, mut choices: Vec<T>) -> Vec<T> {
        if let Some(state) = &mut self.begin
            && !choices.is_empty()
        {
            // Xorshift (Marsaglia, 2003).
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            let first = *state % choices.len() as u64;
            choices.rotate_left(first as usize);
        }
        choices
    }

    /// True when the types of the left side hardly depend on attributes, so that the samples have all there are.
    fn is_elementwise(&self) -> bool {
        self.left.into_iter().all(|node| match node {
            ENodeOrVar::ENode(call) => call
                .operator()
                .is_none_or(|o| matches!(o.fusion, FusionKind::Elementwise | FusionKind::Broadcast)),
            ENodeOrVar::Var(_) => true,
        })
    }

    fn round(&mut self) {
        (self.calls, self.tried) = (0, 0);
        self.descend(&mut Vec::new());
    }

    /// Goes on from the parts of the left side that are chosen, operands first.
    fn descend(&mut self, parts: &mut Vec<Part>) {
        if self.calls > self.most.0 || self.tried > self.most.1 {
            return;
        }
        let left = self.left;
        let Some(node) = left.into_iter().nth(parts.len()) else {
            if let Some(Part::Types(types)) = parts.last() {
                let types = types.clone();
                self.try_all_kinds(&types);
            }
            return;
        };
        match node {
            ENodeOrVar::Var(var) if self.as_attrs.contains(var) => self.with(parts, Part::Open(*var)),
            ENodeOrVar::Var(var) => match self.values.get(var).cloned() {
                Some(ty) => self.with(parts, Part::Types(vec![ty])),
                None => {
                    for ty in self.ordered(self.choices.clone()) {
                        self.values.insert(*var, ty.clone());
                        self.with(parts, Part::Types(vec![ty]));
                    }
                    self.values.shift_remove(var);
                }
            },
            ENodeOrVar::ENode(node) => match &node.head {
                Head::Attrs(attrs) => self.with(parts, Part::Attrs((*attrs.attrs).clone())),
                _ => {
                    self.call(parts, node);
                }
            },
        }
    }

    fn with(&mut self, parts: &mut Vec<Part>, part: Part) {
        parts.push(part);
        self.descend(parts);
        parts.pop();
    }

    /// A call of parts that are chosen, with all attributes that it may have.
    fn call(&mut self, parts: &mut Vec<Part>, node: &Node) -> Option<()> {
        let operator = node.operator()?;
        let (first, rest) = node.children.split_first()?;
        let one = |c: &Id| match &parts[usize::from(*c)] {
            Part::Types(types) if types.len() == 1 => Some(types[0].clone()),
            _ => None,
        };
        let operands: Vec<TensorType> = rest.iter().map(one).collect::<Option<_>>()?;
        let (var, choices) = match &parts[usize::from(*first)] {
            Part::Attrs(attrs) => (None, vec![attrs.clone()]),
            Part::Open(var) => match self.attrs.get(var) {
                Some(attrs) => (None, vec![attrs.clone()]),
                None => (Some(*var), attributes::of(operator, operands.first().map_or(0, |t| t.rank()))),
            },
            Part::Types(_) => return None,
        };
        for attrs in self.ordered(choices) {
            self.calls += 1;
            if let Ok(types) = operator.infer(&operands, &attrs) {
                if let Some(var) = var {
                    self.attrs.insert(var, attrs);
                }
                self.with(parts, Part::Types(types));
            }
        }
        if let Some(var) = var {
            self.attrs.shift_remove(&var);
        }
        Some(())
    }

    /// Tries the sample that is chosen, with its values as inputs and as constants.
    fn try_all_kinds(&mut self, types: &[TensorType]) {
        let group = (self.dtype, types.first().map_or(0, |t| t.rank()));
        if group.1 > MOST_AXES || self.groups.get(&group).is_some_and(|(agreed, _)| *agreed) {
            return;
        }
        self.tried += 1;
        (self.has_types, self.ever_typed) = (true, true);
        let asks = self.rule.rule.conditions().next().is_some() || self.rule.computes();
        let with_constants = asks && self.tried <= MOST_WITH_CONSTANTS;
        for kinds in kinds(self.values.len(), with_constants) {
            if self.try_one(group, &kinds) {
                return;
            }
        }
    }

    /// Tries one sample; true when it says all that is to be known of its group.
    fn try_one(&mut self, group: Group, kinds: &[Kind]) -> bool {
        let mut subst = Subst::default();
        for (var, attrs) in &self.attrs {
            let id = self.graph.add(Node::attrs(attrs.clone()));
            subst.insert(*var, id);
        }
        for (place, (kind, (var, ty))) in kinds.iter().zip(self.values.clone()).enumerate() {
            let node = match *kind {
                Kind::Number(number) => match Node::number(number, &ty) {
                    Some(node) => node,
                    None => return false,
                },
                Kind::Constant => Node::leaf(Head::Constant(Constant::Large { ty, number: place as u32 })),
                Kind::Identity => match identity(&ty) {
                    Some(node) => node,
                    None => return false,
                },
                Kind::Input => self.input(place, ty),
                Kind::Scaled => match self.scaled(place, ty) {
                    Some(node) => node,
                    None => return false,
                },
            };
            let id = self.graph.add(node);
            subst.insert(var, id);
        }
        let Some(class) = self.add_left(&subst) else { return false };
        let types = self.graph[class].data.types.clone();
        let record = |graph: &mut Graph, conditions| {
            let right = self.rule.right_types(graph, class, &mut subst.clone(), conditions)?;
            Some((right.as_ref() == Ok(&types), describe(&self.values, &types, &right)))
        };
        if let Some((agrees, why)) = record(&mut self.graph, true) {
            let entry = self.groups.entry(group).or_insert((agrees, why));
            entry.0 |= agrees;
            return agrees;
        }
        if self.groups.is_empty()
            && self.any.as_ref().is_none_or(|(agreed, _)| !agreed)
            && let Some((agrees, why)) = record(&mut self.graph, false)
        {
            let entry = self.any.get_or_insert((agrees, why));
            entry.0 |= agrees;
        }
        false
    }

    /// The same, scaled.
    fn scaled(&mut self, place: usize, ty: TensorType) -> Option<Node> {
        // No power of two: a product with one has no rounding.
        let part = Node::number(0.75, &TensorType::fixed(&[], ty.dtype)).filter(|_| ty.dtype.is_float())?;
        let input = self.input(place, ty);
        let [input, part, attrs] = [input, part, Node::attrs(Attrs::new())].map(|node| self.graph.add(node));
        Some(Node::call(&MUL, attrs, [input, part]))
    }

    /// An input for the variable at a place: two variables of one type are two inputs.
    fn input(&mut self, place: usize, ty: TensorType) -> Node {
        let (number, new) = self.inputs.insert_full((place, ty.clone()));
        if new {
            self.graph.analysis.leaf_types.push(ty);
            self.graph.analysis.leaf_places.push(0);
        }
        Node::leaf(Head::Leaf(number as u32))
    }

    /// Adds the left side to the graph.
    fn add_left(&mut self, subst: &Subst) -> Option<Id> {
        let mut ids: Vec<Id> = Vec::new();
        for node in self.left {
            ids.push(match node {
                ENodeOrVar::Var(var) => *subst.get(*var)?,
                ENodeOrVar::ENode(node) => {
                    let children = node.children.iter().map(|c| ids[usize::from(*c)]).collect();
                    self.graph.add(Node { head: node.head.clone(), children })
                }
            });
        }
        ids.pop()
    }
}

fn describe(values: &IndexMap<Var, TensorType>, left: &[TensorType], right: &Typed) -> String {
    let list = |types: &[TensorType]| types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
    let given: Vec<String> = values.iter().map(|(var, ty)| format!("{var} of type {ty}")).collect();
    let right = match right {
        Ok(types) => format!("its right side has type {}", list(types)),
        Err(Some(violation)) => format!("its right side has none, as it {violation}"),
        Err(None) => "its right side has none".to_owned(),
    };
    format!(
        "with {} its left side has type {}, and {right}; write a right side of the same type, or a condition that leaves these values out",
        given.join(", "),
        list(left)
    )
}
