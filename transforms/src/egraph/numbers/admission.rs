//! Whether a rule may make the constants of its right side.
//!
//!     (x c) d = x (c d)        c d must be a normal number of its type, and made of no more constants than the source has operations
//!
//! The second is the measure by which rules end: a constant that rules make has a number of *parts*, the constants of the source that were
//! multiplied or added to make it, each as often as it takes part. A program of n operations makes no constant of more than n + 1 parts when it is
//! run, whatever their order, and no more are needed. So finitely many constants are made of those of the source.

use super::super::analysis::{self, Graph};
use super::super::language::Constant;
use super::folding::{self, Folded};
use egg::Id;
use fusion_operators::{Attrs, Call, Operator, TensorType};

/// The constants of a term that is to be made, node by node.
pub struct Admission<'g> {
    graph: &'g Graph,
    made: Vec<Option<Made>>,
}

/// A constant of a term.
struct Made {
    ty: TensorType,
    constant: Option<Constant>,
    parts: u32,
}

impl<'g> Admission<'g> {
    /// Of a term over a graph.
    pub fn new(graph: &'g Graph) -> Self {
        Admission { graph, made: Vec::new() }
    }

    /// A node that is no value: attributes.
    pub fn attributes(&mut self) {
        self.made.push(None);
    }

    /// A node that is a class of the graph.
    pub fn class(&mut self, id: Id) {
        let data = &self.graph[id].data;
        let made = data.is_constant.then(|| {
            let ty = analysis::only_type(self.graph, id)?.clone();
            Some(Made { ty, constant: data.constant.clone(), parts: data.parts })
        });
        self.made.push(made.flatten());
    }

    /// A node that is a call of earlier ones; false where its constant may not be made.
    pub fn call(&mut self, operator: &'static Operator, attrs: Option<&Attrs>, operands: &[usize]) -> bool {
        let made = match (attrs, self.constants(operands)) {
            (Some(attrs), Some(constants)) => made(operator, attrs, &constants),
            _ => Ok(None),
        };
        let most = self.graph.analysis.most_parts;
        let is_admitted = match &made {
            Ok(Some(made)) => most.is_none_or(|most| made.parts <= most),
            Ok(None) => true,
            Err(OutOfRange) => false,
        };
        self.made.push(made.unwrap_or(None));
        is_admitted
    }

    fn constants(&self, operands: &[usize]) -> Option<Vec<&Made>> {
        if operands.is_empty() {
            return None;
        }
        operands.iter().map(|&place| self.made.get(place)?.as_ref()).collect()
    }
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
