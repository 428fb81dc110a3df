//! The graph of a block, saturated, and a plan of it.
//!
//! ```text
//!     read -> saturate -> search -> fold             the plan, and its constants
//!               |                    |
//!               | a contradiction    | a constant that its element type does not hold
//!               v                    v
//!     read, without rules, and     read -> saturate without the rule that made it -> ..
//!     a warning that names them
//! ```
//!
//! A contradiction is a bug in a rule, so it is told; the block is compiled as its source has it. The environment variable FUSION_CONTRADICTION
//! makes it an error, as tests have it.

use super::applications::Log;
use super::check::{self, Disagreement};
use super::extract::accuracy::search_within;
use super::extract::plan::Plan;
use super::extract::rates::Rates;
use super::extract::search::{Freedom, SearchReport};
use super::extract::space::{ClassId, Space};
use super::fold::{Constants, FoldError, Folder};
use super::read::Program;
use super::rules::Rules;
use super::saturate::{Budget, Report, saturate_without};
use super::settings::Settings;
use egg::{Id, Symbol};
use fusion_dialects::{Location, OpExt, OperationLike, PassError, RunContext, read_tensor, report_fault};

/// What a block is planned with.
pub struct Means<'a> {
    pub rules: &'a Rules,
    pub rates: &'a Rates,
    pub freedom: Freedom,
}

/// What was found.
pub struct Planned<'c> {
    pub program: Program<'c>,
    pub saturation: Report,
    pub space: Space,
    pub plan: Plan,
    pub report: SearchReport,
    /// The constants that the plan needs.
    pub constants: Constants<'c>,
}

/// The most rules that are left out one by one as their constants do not fit; then all are.
const MOST_LEFT_OUT: usize = 8;

/// Reads a block, saturates its graph, that of a number in a function, and plans it; `None` for one that computes nothing.
pub fn planned<'c>(
    read: &dyn Fn() -> Program<'c>,
    (function, number): (&str, usize),
    means: &Means,
    (settings, log): (&Settings, &mut Log),
    cx: &mut RunContext,
) -> Result<Option<Planned<'c>>, PassError<'c>> {
    let none = Rules::default();
    let (mut rules, mut left_out) = (means.rules, Vec::<Symbol>::new());
    let mut is_bare = false;
    loop {
        let mut program = read();
        if program.uses.is_empty() {
            return Ok(None);
        }
        let budget = Budget::for_nodes(program.graph.total_number_of_nodes());
        let mut gate = log.gate(function, number, &program.sources);
        let saturation = saturate_without(&mut program.graph, rules, &left_out, budget, &mut gate);
        gate.close(&program.graph);
        if let Some(message) = contradiction(&program).filter(|_| !is_bare) {
            report_fault(place_of(&program), &message, "it is compiled without rules")?;
            (rules, is_bare) = (&none, true);
            continue;
        }
        if settings.check > 0.0 {
            check(&program, settings, cx)?;
        }
        let used: Vec<Id> = program.uses.iter().map(|u| u.class).collect();
        let mut space = Space::of(&program.graph, &used, means.rates);
        let (plan, report) = search_within(&mut space, means.freedom, means.rates.fp_math.max_error);
        match fold(&program, &space, &plan) {
            Ok(constants) => {
                cx.count(3, saturation.nodes as u64);
                cx.count(5, report.tried as u64);
                return Ok(Some(Planned { program, saturation, space, plan, report, constants }));
            }
            Err(FoldError::Unfit { .. }) if !is_bare && left_out.len() >= MOST_LEFT_OUT => {
                (rules, is_bare) = (&none, true);
            }
            Err(FoldError::Unfit { rule, .. }) if !left_out.contains(&rule) => left_out.push(rule),
            Err(error) => return Err(PassError::new(place_of(&program), error.to_string())),
        }
    }
}

/// What contradicts itself in a graph, and by which rules.
fn contradiction(program: &Program) -> Option<String> {
    let graph = &program.graph;
    let found = graph.analysis.contradiction.as_ref()?;
    let [rules, differs] = [found.rules(graph).join(", "), found.differs.clone()];
    let by = if rules.is_empty() { "rules of the e-graph".to_owned() } else { format!("rules {rules}") };
    let origin = found.classes.iter().find_map(|&id| graph[id].data.origins.first());
    let source = origin.and_then(|&o| program.sources.get(o as usize)).filter(|name| !name.is_empty());
    let at = source.map_or(String::new(), |name| format!(" at {name}"));
    Some(format!(
        "{by} contradict themselves in this block{at}: two values are said to be equal, but {differs}"
    ))
}

fn place_of<'c>(program: &Program<'c>) -> Location<'c> {
    program.locations.first().copied().unwrap_or(program.uses[0].by.location())
}

/// The constants that a plan needs.
fn fold<'c>(program: &Program<'c>, space: &Space, plan: &Plan) -> Result<Constants<'c>, FoldError> {
    let mut seen = vec![false; space.classes.len()];
    let mut stack: Vec<ClassId> = space.roots.clone();
    let mut needed: Vec<Id> = Vec::new();
    while let Some(class) = stack.pop() {
        if std::mem::replace(&mut seen[class], true) {
            continue;
        }
        let facts = &space.classes[class];
        match facts.is_external {
            true if program.graph[facts.id].data.is_constant => needed.push(facts.id),
            true => {}
            false => stack.extend(&plan.state.candidate(space, class).operands),
        }
    }
    let context = program.uses[0].by.context_ref();
    Folder::new(&program.graph, &program.constants).constants(context, &needed)
}

/// Computes all forms of all values of a block on random inputs.
fn check<'c>(program: &Program<'c>, settings: &Settings, cx: &mut RunContext) -> Result<(), PassError<'c>> {
    if check::operations(&program.graph) > settings.check {
        cx.count(4, 1);
        return Ok(());
    }
    let types = &program.graph.analysis.leaf_types;
    let Some(leaves) = check::random_tensors(types, 1) else {
        cx.count(4, 1);
        return Ok(());
    };
    let large = |number: u32| program.constants.get(number as usize).and_then(|attr| read_tensor(*attr));
    let wrong = |wrong: Disagreement| {
        let at = wrong.origin.and_then(|o| program.locations.get(o as usize));
        let location = at.or(program.locations.first()).copied();
        PassError::new(location.unwrap_or(program.uses[0].by.location()), wrong.to_string())
    };
    check::check(&program.graph, &leaves, &large, TOLERANCE).map_err(wrong)?;
    Ok(())
}

/// The error, relative to the largest element, up to which forms are equal.
const TOLERANCE: f64 = 1e-4;
