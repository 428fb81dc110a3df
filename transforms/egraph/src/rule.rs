//! Rules: equations that hold in one direction, with named side conditions.
//!
//!     rule("transpose-transpose", "(x^q)^p = x^(q then p)", "(transpose ?p (transpose ?q ?x))", "(transpose ?r ?x)")
//!         .with("?r", composed_axes)
//!
//! The right side may have variables that the left side does not bind: attributes or constants that are computed from a match. A rule
//! is applied where all its conditions hold and the right side has the types of the left: no rule can change a type. What is
//! wrong with a rule by itself (a term that is none, a variable that nothing binds, sides of different types) is found when it is built.

use super::analysis::{self, Graph};
use super::contents::Contents;
use super::language::{Constant, Node};
use super::numbers::admission::{Part, admits};
use super::orders::Orders;
use egg::{ENodeOrVar, Id, Language, Pattern, PatternAst, RecExpr, Searcher, Subst, Symbol, Var};
use fusion_operators::{Attrs, TensorType, Violation};
use indexmap::IndexSet;
use std::sync::Arc;

/// A match of a rule's left side.
pub struct Match<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The class that matched.
    pub class: Id,
    subst: &'a Subst,
}

impl<'a> Match<'a> {
    /// The class that a variable stands for. Panics when the left side has no such variable.
    pub fn id(&self, var: &str) -> Id {
        self.subst[var.parse().expect("a variable's name begins with ?")]
    }

    /// The type of a variable's value.
    pub fn ty(&self, var: &str) -> Option<&'a TensorType> {
        analysis::only_type(self.graph, self.id(var))
    }

    /// The type of what matched.
    pub fn result(&self) -> Option<&'a TensorType> {
        analysis::only_type(self.graph, self.class)
    }

    /// The extents of a variable's value, when all are known.
    pub fn shape(&self, var: &str) -> Option<Vec<u64>> {
        self.ty(var)?.shape()
    }

    /// The attributes that a variable stands for.
    pub fn attrs(&self, var: &str) -> Option<&'a Attrs> {
        analysis::attrs(self.graph, self.id(var))
    }

    /// The largest error that a normwise form may have in this program.
    pub fn largest_normwise_error(&self) -> f64 {
        self.graph.analysis.rates.fp_math.largest_normwise_error()
    }

    /// The constant that a variable's value is known to be.
    pub fn constant(&self, var: &str) -> Option<&'a Constant> {
        self.graph[self.id(var)].data.constant.as_ref()
    }

    /// The number that all elements of a variable's value are.
    pub fn splat(&self, var: &str) -> Option<f64> {
        self.constant(var)?.splat()
    }

    /// The orders in which a variable's value is to be had.
    pub fn orders(&self, var: &str) -> Orders {
        self.graph[self.id(var)].data.orders
    }

    /// What is known of the elements of a variable's value.
    pub fn contents(&self, var: &str) -> &'a Contents {
        &self.graph[self.id(var)].data.contents
    }

    /// True when a variable's value is computed of constants alone.
    pub fn is_constant(&self, var: &str) -> bool {
        self.graph[self.id(var)].data.is_constant
    }
}

/// A side condition.
pub type Condition = Arc<dyn Fn(&Match) -> Option<bool> + Send + Sync>;

/// Gives a leaf, attributes or a constant, for a variable of the right side.
pub type Compute = fn(&Match) -> Option<Node>;

/// How far the right side of a rule is from the left one when both are computed in floating point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Not said: taken for inexact.
    Unstated,
    /// Both sides have the same bits.
    Exact,
    /// The right side has other roundings, whose error each element bounds by itself; in words, how large the difference can be.
    Bounded(&'static str),
    /// The difference is bounded by the largest numbers that take part, and may be all of a small element; in words, how large it can be.
    Normwise(&'static str),
}

impl Rounding {
    /// Whether both sides have the same bits: integers have no roundings.
    pub fn keeps_bits(self, types: &[TensorType]) -> bool {
        self == Rounding::Exact || types.iter().all(|ty| !ty.dtype.is_float())
    }
}

/// A rule.
#[derive(Clone)]
pub struct Rule {
    /// Its name, of all rules.
    pub name: &'static str,
    /// What it says, as an equation.
    pub equation: &'static str,
    /// How far its sides are apart.
    pub rounding: Rounding,
    left: &'static str,
    right: &'static str,
    conditions: Vec<(&'static str, Condition)>,
    computed: Vec<(&'static str, Compute)>,
}

/// A rule without conditions.
pub fn rule(name: &'static str, equation: &'static str, left: &'static str, right: &'static str) -> Rule {
    let (conditions, computed) = (Vec::new(), Vec::new());
    Rule { name, equation, rounding: Rounding::Unstated, left, right, conditions, computed }
}

impl Rule {
    /// Whose sides have the same bits: nothing is rounded otherwise.
    pub fn exact(mut self) -> Self {
        self.rounding = Rounding::Exact;
        self
    }

    /// Whose sides differ by no more than that, in words.
    pub fn within(mut self, bound: &'static str) -> Self {
        self.rounding = Rounding::Bounded(bound);
        self
    }

    /// Whose sides differ by no more than that, in words, which speaks of the largest numbers that take part.
    pub fn normwise(mut self, bound: &'static str) -> Self {
        self.rounding = Rounding::Normwise(bound);
        self
    }

    /// Under a condition, whose name is a phrase of the documentation.
    pub fn when(
        mut self,
        name: &'static str,
        condition: impl Fn(&Match) -> Option<bool> + Send + Sync + 'static,
    ) -> Self {
        self.conditions.push((name, Arc::new(condition)));
        self
    }

    /// With a variable of the right side that is computed.
    pub fn with(mut self, variable: &'static str, compute: Compute) -> Self {
        self.computed.push((variable, compute));
        self
    }

    /// The names of its conditions.
    pub fn conditions(&self) -> impl Iterator<Item = &'static str> {
        self.conditions.iter().map(|(name, _)| *name)
    }

    /// Both sides as they were written.
    pub fn sides(&self) -> (&'static str, &'static str) {
        (self.left, self.right)
    }

    /// Makes the rule ready to search without comparing its sides on samples: those of the library's own rules are compared in its tests, and not in each program.
    pub(super) fn read(self) -> Result<Ready, RuleError> {
        let wrong = |message: String| RuleError { rule: self.name, message };
        let side = |text: &str| -> Result<Pattern<Node>, RuleError> {
            text.parse().map_err(|error| wrong(format!("{text:?} is no term: {error}")))
        };
        let (left, right) = (side(self.left)?, side(self.right)?);
        let bound = left.vars();
        let mut computed = Vec::new();
        for (name, compute) in &self.computed {
            let var: Var = name.parse().map_err(|_| wrong(format!("{name:?} is no variable")))?;
            if bound.contains(&var) {
                return Err(wrong(format!("{name} is computed, but its left side binds it already")));
            }
            computed.push((var, *compute));
        }
        let known = |var: &Var| bound.contains(var) || computed.iter().any(|(v, _)| v == var);
        if let Some(var) = right.vars().into_iter().find(|var| !known(var)) {
            return Err(wrong(format!("its right side has {var}, which nothing binds")));
        }
        check_places(&left.ast).and_then(|()| check_places(&right.ast)).map_err(wrong)?;
        if let Some(ENodeOrVar::Var(var)) = (&right.ast).into_iter().last()
            && attributes_of(&left.ast).contains(var)
        {
            return Err(wrong(format!("its right side is {var}, which stands for attributes")));
        }
        Ok(Ready { name: Symbol::from(self.name), rule: self, left, right, computed })
    }
}

/// Where a call has its attributes may only stand attributes or a variable, and elsewhere no attributes.
fn check_places(ast: &PatternAst<Node>) -> Result<(), String> {
    let mut as_attrs = std::collections::BTreeSet::new();
    let mut as_values = std::collections::BTreeSet::new();
    for node in ast {
        let ENodeOrVar::ENode(call) = node else { continue };
        for (place, child) in call.children().iter().enumerate() {
            match &ast[*child] {
                ENodeOrVar::Var(var) if place == 0 => _ = as_attrs.insert(var.to_string()),
                ENodeOrVar::Var(var) => _ = as_values.insert(var.to_string()),
                ENodeOrVar::ENode(node) if (place == 0) != (node.operator().is_none()) => {
                    return Err(format!("the child {place} of {call} must not be {node}"));
                }
                ENodeOrVar::ENode(_) => {}
            }
        }
    }
    match as_attrs.intersection(&as_values).next() {
        Some(var) => Err(format!("{var} stands for attributes in one place and for a value in another")),
        None => Ok(()),
    }
}

/// The variables that stand for attributes.
pub(super) fn attributes_of(ast: &PatternAst<Node>) -> IndexSet<Var> {
    let calls = ast.into_iter().filter_map(|node| match node {
        ENodeOrVar::ENode(call) => call.children().first(),
        ENodeOrVar::Var(_) => None,
    });
    let var = |attrs: &Id| match &ast[*attrs] {
        ENodeOrVar::Var(var) => Some(*var),
        ENodeOrVar::ENode(_) => None,
    };
    calls.filter_map(var).collect()
}

/// Why a rule is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rule {rule}: {message}")]
pub struct RuleError {
    /// The rule's name.
    pub rule: &'static str,
    /// What is wrong with it.
    pub message: String,
}

/// A rule that was checked.
pub struct Ready {
    /// The rule.
    pub rule: Rule,
    name: Symbol,
    left: Pattern<Node>,
    right: Pattern<Node>,
    computed: Vec<(Var, Compute)>,
}

impl Ready {
    /// What its left side matches, up to a number of matches.
    pub fn search(&self, graph: &Graph, most: usize) -> Vec<(Id, Subst)> {
        let found = self.left.search_with_limit(graph, most);
        found.into_iter().flat_map(|m| m.substs.into_iter().map(move |s| (m.eclass, s))).collect()
    }

    /// Applies the rule to a match; gives what became equal to the class when that changed the graph.
    pub fn apply(&self, graph: &mut Graph, class: Id, mut subst: Subst) -> Option<Id> {
        let data = &graph[class].data;
        let keeps_roundings = data.keeps_roundings;
        if keeps_roundings && !self.rule.rounding.keeps_bits(&data.types) {
            return None;
        }
        let types = self.right_types(graph, class, &mut subst, true)?;
        if types.as_ref() != Ok(&graph[class].data.types) || !self.may_make_constants(graph, &subst) {
            return None;
        }
        graph.analysis.applying = Some(self.name);
        let right = self.record(graph, &subst, keeps_roundings).map(|id| graph[id].data.oldest);
        let (_, changed) = graph.union_instantiations(&self.left.ast, &self.right.ast, &subst, self.name);
        graph.analysis.applying = None;
        right.filter(|_| changed)
    }

    /// Whether the constants of its right side may be made.
    fn may_make_constants(&self, graph: &Graph, subst: &Subst) -> bool {
        let ast = &self.right.ast;
        let attrs = |node: &Node| match &ast[node.children[0]] {
            ENodeOrVar::Var(var) => analysis::attrs(graph, subst[*var]),
            ENodeOrVar::ENode(attrs) => attrs.attributes(),
        };
        let part = |node| match node {
            &ENodeOrVar::Var(var) => Part::Class(subst[var]),
            ENodeOrVar::ENode(node) => Part::of(node, || attrs(node)),
        };
        admits(graph, ast.into_iter().map(part))
    }

    /// The types that the right side would have for a match, whose computed variables are added to it; `None` where conditions do not hold,
    /// unless these are left out, or where a variable cannot be computed.
    pub(super) fn right_types(
        &self,
        graph: &mut Graph,
        class: Id,
        subst: &mut Subst,
        with_conditions: bool,
    ) -> Option<Typed> {
        let found = Match { graph, class, subst };
        if with_conditions && !self.rule.conditions.iter().all(|(_, holds)| holds(&found) == Some(true)) {
            return None;
        }
        let computed: Option<Vec<Node>> = self.computed.iter().map(|(_, compute)| compute(&found)).collect();
        let computed = computed?;
        for ((var, _), node) in self.computed.iter().zip(computed) {
            let id = graph.add(node);
            subst.insert(*var, id);
        }
        Some(types_of_term(graph, &self.right.ast, subst))
    }

    /// The left side.
    pub(super) fn left(&self) -> &PatternAst<Node> {
        &self.left.ast
    }

    /// True when variables of the right side are computed.
    pub(super) fn computes(&self) -> bool {
        !self.computed.is_empty()
    }

    /// The classes of a match's variables, in the order of the left side.
    pub fn bound(&self, subst: &Subst) -> Vec<Id> {
        self.left.vars().into_iter().map(|var| subst[var]).collect()
    }

    /// The left side with what its variables stand for.
    pub fn show_left(&self, subst: &Subst, show: &dyn Fn(Id) -> String) -> String {
        let mut terms: Vec<String> = Vec::new();
        for node in &self.left.ast {
            terms.push(match node {
                ENodeOrVar::Var(var) => show(subst[*var]),
                ENodeOrVar::ENode(node) if node.children.is_empty() => node.to_string(),
                ENodeOrVar::ENode(node) => {
                    let children = node.children.iter().map(|c| format!(" {}", terms[usize::from(*c)]));
                    format!("({node}{})", children.collect::<String>())
                }
            });
        }
        terms.pop().unwrap_or_default()
    }

    /// Adds the right side, and remembers which of its nodes are new; gives its class. What is new keeps its roundings where the left side does.
    fn record(&self, graph: &mut Graph, subst: &Subst, keeps_roundings: bool) -> Option<Id> {
        let mut ids: Vec<Option<Id>> = Vec::new();
        for node in &self.right.ast {
            let id = match node {
                ENodeOrVar::Var(var) => Some(subst[*var]),
                ENodeOrVar::ENode(node) => {
                    let children: Option<Vec<Id>> =
                        node.children.iter().map(|c| ids[usize::from(*c)]).collect();
                    children.and_then(|children| {
                        let node = Node { head: node.head.clone(), children };
                        let known = graph.lookup(node.clone());
                        if known.is_none() {
                            let id = graph.add(node.clone());
                            graph[id].data.keeps_roundings |= keeps_roundings;
                            graph.analysis.made_by.push((node, self.name));
                            return Some(id);
                        }
                        known
                    })
                }
            };
            ids.push(id);
        }
        ids.pop().flatten()
    }
}

/// The types of a term; where it has none the constraint that a call violates, if that is the reason.
pub(super) type Typed = Result<Vec<TensorType>, Option<Violation>>;

/// The types that a term would have.
fn types_of_term(graph: &Graph, ast: &PatternAst<Node>, subst: &Subst) -> Typed {
    let mut types: Vec<Result<Vec<TensorType>, Attrs>> = Vec::new();
    for node in ast {
        types.push(match node {
            ENodeOrVar::Var(var) => match analysis::attrs(graph, subst[*var]) {
                Some(attrs) => Err(attrs.clone()),
                None => Ok(graph[subst[*var]].data.types.clone()),
            },
            ENodeOrVar::ENode(node) => match &node.head {
                super::language::Head::Attrs(attrs) => Err((*attrs.attrs).clone()),
                _ => {
                    let mut children = node.children.iter().map(|c| &types[usize::from(*c)]);
                    let attrs = children.next().and_then(|a| a.as_ref().err()).ok_or(None)?;
                    let operands = children.map(|c| match c {
                        Ok(types) if types.len() == 1 => Some(types[0].clone()),
                        _ => None,
                    });
                    let operands = operands.collect::<Option<Vec<_>>>().ok_or(None)?;
                    Ok(node.operator().ok_or(None)?.infer(&operands, attrs).map_err(Some)?)
                }
            },
        });
    }
    types.pop().and_then(Result::ok).ok_or(None)
}

/// A term without variables, for explanations.
pub type Term = RecExpr<Node>;
