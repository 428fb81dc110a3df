//! Whether a rule may make the constants of its right side.
//!
//!     (x c) d = x (c d)        c d must be a normal number of its type, and made of no more constants than the source has operations
//!
//! The second is the measure by which rules end: a constant that rules make has a number of *parts*, the constants of the source that were
//! multiplied or added to make it, each as often as it takes part. A program of n operations makes no constant of more than n + 1 parts when it is
//! run, whatever their order, and no more are needed. So finitely many constants are made of those of the source.

use super::super::analysis::{self, Graph};
use super::super::language::{Constant, Node};
use super::folding::{self, Folded};
use egg::Id;
use fusion_operators::{Attrs, Call, Operator, TensorType};

/// A node of a term that is to be made.
pub enum Part<'a> {
    /// A class of the graph.
    Class(Id),
    /// Attributes.
    Attributes,
    /// A call of earlier nodes.
    #[allow(missing_docs)]
    Call { operator: &'static Operator, attrs: Option<&'a Attrs>, operands: &'a [Id] },
}

impl<'a> Part<'a> {
    /// Of a node that is a call, whose attributes are asked for, or attributes.
    pub fn of(node: &'a Node, attrs: impl FnOnce() -> Option<&'a Attrs>) -> Self {
        match node.operator() {
            Some(operator) => Part::Call { operator, attrs: attrs(), operands: &node.children[1..] },
            None => Part::Attributes,
        }
    }
}

/// A constant of a term.
struct Made {
    ty: TensorType,
    constant: Option<Constant>,
    parts: u32,
}

/// Whether all constants of a term may be made. The operands of its calls are places of earlier nodes.
pub fn admits<'a>(graph: &Graph, term: impl Iterator<Item = Part<'a>>) -> bool {
    let most = graph.analysis.most_parts.unwrap_or(u32::MAX);
    let mut term_so_far: Vec<Option<Made>> = Vec::new();
    for part in term {
        let made = match part {
            Part::Attributes => None,
            Part::Class(id) => of_class(graph, id),
            Part::Call { operator, attrs, operands } => {
                let constant = |place: &Id| term_so_far.get(usize::from(*place))?.as_ref();
                let operands: Option<Vec<&Made>> = operands.iter().map(constant).collect();
                match attrs.zip(operands.filter(|all| !all.is_empty())).map(|(a, o)| made(operator, a, &o)) {
                    None => None,
                    Some(Ok(made)) if made.as_ref().is_none_or(|made| made.parts <= most) => made,
                    Some(_) => return false,
                }
            }
        };
        term_so_far.push(made);
    }
    true
}

fn of_class(graph: &Graph, id: Id) -> Option<Made> {
    let data = &graph[id].data;
    let ty = analysis::only_type(graph, id).filter(|_| data.is_constant)?.clone();
    Some(Made { ty, constant: data.constant.clone(), parts: data.parts })
}

struct OutOfRange;

fn made(operator: &'static Operator, attrs: &Attrs, operands: &[&Made]) -> Result<Option<Made>, OutOfRange> {
    let types: Vec<TensorType> = operands.iter().map(|made| made.ty.clone()).collect();
    let Ok(results) = operator.infer(&types, attrs) else { return Ok(None) };
    let [ty] = &results[..] else { return Ok(None) };
    let known: Vec<Option<&Constant>> = operands.iter().map(|made| made.constant.as_ref()).collect();
    let constant = match folding::of_rule(&Call { op: operator, operands: &types, attrs }, ty, &known) {
        Folded::Constant(constant) => Some(constant),
        Folded::Call => None,
        Folded::OutOfRange => return Err(OutOfRange),
    };
    let parts = operands.iter().fold(0u32, |sum, made| sum.saturating_add(made.parts));
    Ok(Some(Made { ty: ty.clone(), constant, parts }))
}
