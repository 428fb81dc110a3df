//! The rules, by subject.
//!
//! A file of rules is a list, one line of equation each. How to add one is in docs/how-to/add-a-rule.md; docs/reference/rules.md lists them all.

pub mod activation;
pub mod algebra;
pub mod atrous;
pub mod attention;
pub mod axes;
pub mod batches;
pub mod columns;
pub mod conditions;
pub mod contents;
pub mod contraction;
pub mod convolution;
pub mod factors;
pub mod few_bits;
pub mod groups;
pub mod half;
pub mod inner_product_trick;
pub mod layout;
mod needs;
pub mod normalization;
mod numerics;
pub mod pieces;
pub mod products;
pub mod quantization;
mod quotients;
pub mod resampling;
pub mod scales;
pub mod siblings;
pub mod stacks;
pub mod strassen;
pub mod winograd;

use super::analysis::Graph;
use super::rule::{Ready, Rounding, Rule, RuleError};
use super::search_rule::{Draft, SearchRule};
use egg::{Id, Subst};
use fusion_dialects::module::FpMath;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// A subject. Families can be switched off one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Sums, products and elementwise functions.
    Algebra,
    /// Axes that are moved, inserted, removed, merged and split.
    Axes,
    /// Pieces of tensors, cut and joined.
    Pieces,
    /// Products of matrices.
    Contraction,
    /// Convolutions and what is folded into them.
    Convolution,
    /// Activations in the forms that exporters write.
    Activation,
    /// Normalizations in the forms that exporters write.
    Normalization,
    /// Calls that share an operand become one.
    Siblings,
    /// Attention without scores in memory.
    Attention,
    /// Winograd's convolutions.
    Winograd,
    /// Products of matrices by Strassen's algorithm.
    Strassen,
    /// Products of matrices by the inner-product trick.
    InnerProductTrick,
    /// Orders of images.
    Layout,
    /// Products of quantized numbers, as sums of integers.
    Quantization,
}

impl Family {
    /// All families with their names.
    pub const ALL: &'static [(Family, &'static str)] = &[
        (Family::Algebra, "algebra"),
        (Family::Axes, "axes"),
        (Family::Pieces, "pieces"),
        (Family::Contraction, "contraction"),
        (Family::Convolution, "convolution"),
        (Family::Activation, "activation"),
        (Family::Normalization, "normalization"),
        (Family::Siblings, "siblings"),
        (Family::Attention, "attention"),
        (Family::Winograd, "winograd"),
        (Family::Strassen, "strassen"),
        (Family::InnerProductTrick, "inner-product-trick"),
        (Family::Layout, "layout"),
        (Family::Quantization, "quantization"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Family::ALL.iter().find(|(family, _)| *family == self).map_or("", |(_, name)| name)
    }

    /// Its rules that are equations between terms.
    pub fn rules(self) -> Vec<Rule> {
        match self {
            Family::Algebra => {
                [algebra::rules(), contents::rules(), factors::rules(), scales::rules()].concat()
            }
            Family::Axes => [axes::rules(), resampling::rules()].concat(),
            Family::Pieces => pieces::rules(),
            Family::Contraction => {
                [contraction::rules(), products::rules(), quotients::of_products(), contents::of_products()]
                    .concat()
            }
            Family::Convolution => [
                convolution::rules(),
                columns::rules(),
                quotients::of_convolutions(),
                contents::of_convolutions(),
            ]
            .concat(),
            Family::Activation => activation::rules(),
            Family::Normalization => normalization::rules(),
            Family::Siblings | Family::Strassen | Family::InnerProductTrick | Family::Quantization => {
                Vec::new()
            }
            Family::Attention => [attention::rules(), quotients::of_attention()].concat(),
            Family::Winograd => winograd::rules(),
            Family::Layout => layout::rules(),
        }
    }

    /// Its rules that look at the whole graph.
    pub fn search_rules(self) -> impl Iterator<Item = &'static SearchRule> {
        let lists: &[&[SearchRule]] = match self {
            Family::Axes => &[axes::SEARCH_RULES],
            Family::Pieces => &[pieces::SEARCH_RULES, stacks::SEARCH_RULES],
            Family::Contraction => &[half::SEARCH_RULES],
            Family::Convolution => &[groups::SEARCH_RULES, atrous::SEARCH_RULES],
            Family::Strassen => &[strassen::SEARCH_RULES],
            Family::InnerProductTrick => &[inner_product_trick::SEARCH_RULES],
            Family::Layout => &[layout::SEARCH_RULES],
            Family::Quantization => &[quantization::SEARCH_RULES, few_bits::SEARCH_RULES],
            Family::Siblings => &[siblings::SEARCH_RULES, batches::SEARCH_RULES],
            _ => &[],
        };
        lists.iter().copied().flatten()
    }
}

/// A rule of a program that uses this library, with its family.
type Added = (Family, Arc<dyn Fn() -> Rule + Send + Sync>);

static ADDED: Mutex<Vec<Added>> = Mutex::new(Vec::new());

/// Adds a rule of the program that uses this library, from now on and for all its threads; one of a name that was added before stays
/// what it was. What is wrong with the rule by itself is found by the pass.
pub fn add(family: Family, rule: impl Fn() -> Rule + Send + Sync + 'static) {
    let name = rule().name;
    let mut added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
    if added.iter().all(|(_, known)| known().name != name) {
        added.push((family, Arc::new(rule)));
    }
}

/// A rule of either kind with its family.
pub enum AnyRule {
    /// An equation between terms.
    Term(Family, Box<Ready>),
    /// A rule that looks at the whole graph.
    Search(Family, SearchRule),
}

/// Rules that were checked.
#[derive(Default)]
pub struct Rules(Vec<AnyRule>);

/// What a rule found.
pub enum Searched {
    /// Matches of a term.
    Terms(Vec<(Id, Subst)>),
    /// Replacements.
    Drafts(Vec<Draft>),
}

/// One of the things a rule found.
pub enum One {
    /// A match of a term.
    Term(Id, Subst),
    /// A replacement.
    Draft(Draft),
}

impl Searched {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Searched::Terms(terms) => terms.len(),
            Searched::Drafts(drafts) => drafts.len(),
        }
    }

    /// True when nothing was found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One after another.
    pub fn split(self) -> Box<dyn Iterator<Item = One>> {
        match self {
            Searched::Terms(terms) => {
                Box::new(terms.into_iter().map(|(class, subst)| One::Term(class, subst)))
            }
            Searched::Drafts(drafts) => Box::new(drafts.into_iter().map(One::Draft)),
        }
    }
}

impl Rules {
    /// The rules of families, and those [`add`]ed to them. A rule that is wrong in itself is an error that names it.
    pub fn of(families: &[Family]) -> Result<Self, RuleError> {
        let mut rules = Vec::new();
        let added = ADDED.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for &family in families {
            let added = added.iter().filter(|(to, _)| *to == family).map(|(_, rule)| rule().build());
            for rule in family.rules().into_iter().map(Rule::read).chain(added) {
                rules.push(AnyRule::Term(family, Box::new(rule?)));
            }
            rules.extend(family.search_rules().map(|rule| AnyRule::Search(family, *rule)));
        }
        Ok(Rules(rules))
    }

    /// Those of them that an arithmetic allows: where it is strict, the ones whose sides have the same bits.
    pub fn allowed_by(mut self, fp_math: FpMath) -> Self {
        self.0.retain(|rule| !fp_math.is_strict() || rule.rounding() == Rounding::Exact);
        self
    }

    /// One after another.
    pub fn iter(&self) -> impl Iterator<Item = &AnyRule> {
        self.0.iter()
    }
}

impl AnyRule {
    /// The rule's name.
    pub fn name(&self) -> &'static str {
        match self {
            AnyRule::Term(_, rule) => rule.rule.name,
            AnyRule::Search(_, rule) => rule.name,
        }
    }

    /// Its equation.
    pub fn equation(&self) -> &'static str {
        match self {
            AnyRule::Term(_, rule) => rule.rule.equation,
            AnyRule::Search(_, rule) => rule.equation,
        }
    }

    /// Its family.
    pub fn family(&self) -> Family {
        match self {
            AnyRule::Term(family, _) | AnyRule::Search(family, _) => *family,
        }
    }

    /// The names of its conditions.
    pub fn conditions(&self) -> Vec<&'static str> {
        match self {
            AnyRule::Term(_, rule) => rule.rule.conditions().collect(),
            AnyRule::Search(_, rule) => rule.conditions.to_vec(),
        }
    }

    /// How far its sides are apart.
    pub fn rounding(&self) -> Rounding {
        match self {
            AnyRule::Term(_, rule) => rule.rule.rounding,
            AnyRule::Search(_, rule) => rule.rounding,
        }
    }

    /// What it finds, and whether there was more than may be.
    pub fn search(&self, graph: &Graph, most: usize) -> (Searched, bool) {
        match self {
            AnyRule::Term(_, rule) => {
                let found = rule.search(graph, most);
                let exceeded = found.len() >= most;
                (Searched::Terms(found), exceeded)
            }
            AnyRule::Search(_, rule) => {
                let mut found = (rule.find)(graph);
                let exceeded = found.len() > most;
                found.truncate(most);
                (Searched::Drafts(found), exceeded)
            }
        }
    }

    /// Applies it to what it found; gives what became equal to the class when that changed the graph.
    pub fn apply(&self, graph: &mut Graph, one: One) -> Option<Id> {
        match (self, one) {
            (AnyRule::Term(_, rule), One::Term(class, subst)) => rule.apply(graph, class, subst),
            (AnyRule::Search(_, rule), One::Draft(draft)) => rule.apply(graph, &draft),
            _ => None,
        }
    }
}
