//! The graph of a block, saturated, and a plan of it.

use super::applications::Log;
use super::check::{self, Disagreement};
use super::extract::plan::Plan;
use super::extract::rates::Rates;
use super::extract::search::{Freedom, SearchReport, search};
use super::extract::space::Space;
use super::read::Program;
use super::rules::Rules;
use super::saturate::{Budget, Report, saturate};
use super::settings::Settings;
use fusion_dialects::{OperationLike, PassError, RunContext, read_tensor};

/// What a block is planned with.
pub struct Means<'a> {
    pub rules: &'a Rules,
    pub rates: &'a Rates,
    pub freedom: Freedom,
}

/// What was found.
pub struct Planned {
    pub saturation: Report,
    pub space: Space,
    pub plan: Plan,
    pub report: SearchReport,
}

/// Saturates the graph of a block, that of a number in a function, and plans it.
pub fn planned<'c>(
    program: &mut Program<'c>,
    (function, number): (&str, usize),
    means: &Means,
    (settings, log): (&Settings, &mut Log),
    cx: &mut RunContext,
) -> Result<Planned, PassError<'c>> {
    let budget = Budget::for_nodes(program.graph.total_number_of_nodes());
    let mut gate = log.gate(function, number, &program.sources);
    let saturation = saturate(&mut program.graph, means.rules, budget, &mut gate);
    gate.close(&program.graph);
    if settings.check > 0.0 {
        check(program, settings, cx)?;
    }
    let used: Vec<egg::Id> = program.uses.iter().map(|u| u.class).collect();
    let space = Space::of(&program.graph, &used, means.rates);
    let (plan, report) = search(&space, means.freedom);
    cx.count(3, saturation.nodes as u64);
    cx.count(5, report.tried as u64);
    Ok(Planned { saturation, space, plan, report })
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
