//! The pass: each block of each function is read, saturated, planned and written.

use super::applications::Log;
use super::bodies::Bodies;
use super::check::{self, Disagreement};
use super::extract::rates::Rates;
use super::extract::search::{Freedom, search};
use super::extract::space::Space;
use super::ledger::{self, Ledger};
use super::proof::{self, Proof};
use super::read::{self, Program};
use super::rules::Rules;
use super::saturate::{Budget, saturate};
use super::settings::{OPTIONS, Settings, Strategy};
use super::unrolling::{self, LoopKernels};
use super::write;
use crate::relay::fuse_ops::{MOST, Outliner, PRIMITIVE, blocks_under, fuse_module};
use crate::target::Target;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Op, OpExt, OperationLike, OptionSpec, Pass, PassError, RunContext, StatisticSpec, read_tensor,
    top_level,
};

/// The pass.
pub struct RelayOptimize;

impl Pass for RelayOptimize {
    const NAME: &'static str = "relay-optimize";
    const DESCRIPTION: &'static str = "Choose algebra, layout and kernels together in an e-graph";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = OPTIONS;
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "kernels", description: "Kernels written" },
        StatisticSpec { name: "fused", description: "Operators that share a kernel with another" },
        StatisticSpec { name: "rewritten", description: "Operators that a rule made" },
        StatisticSpec { name: "nodes", description: "Nodes of e-graphs" },
        StatisticSpec { name: "unchecked", description: "Blocks that are too large to check" },
        StatisticSpec { name: "moves", description: "Moves of the search tried" },
    ];
    const DIALECTS: &'static [&'static str] = &["func", "relay"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let settings = Settings::of(module, cx)?;
        let mut log = Log { chosen: settings.applications.clone(), ..Log::default() };
        optimize(module, &settings, &mut log, cx)
    }
}

/// What the pass does, with the applications of rules that a log chooses.
pub(super) fn optimize<'c>(
    module: Op<'c>,
    settings: &Settings,
    log: &mut Log,
    cx: &mut RunContext,
) -> Result<(), PassError<'c>> {
    let rates = Rates::of(&Target::of(module)?);
    let said = unrolling::said(module);
    let whole = match settings.strategy {
        Strategy::None => Some(1),
        Strategy::Relay => Some(MOST),
        Strategy::Xla | Strategy::EGraph => None,
    };
    if let Some(most) = whole {
        unrolling::decide(module, &rates.loops, &said, Bodies::default());
        return fuse_module(module, most, cx);
    }
    let families = if settings.strategy == Strategy::EGraph { &settings.families[..] } else { &[] };
    let wrong_rule = |wrong: super::rule::RuleError| PassError::new(module.location(), wrong.to_string());
    let Some(outliner) = Outliner::new(module) else { return Ok(()) };
    let mut optimizer = Optimizer {
        rules: Rules::of(families).map_err(wrong_rule)?,
        rates,
        bodies: Bodies::default(),
        loops: LoopKernels::default(),
        settings,
        outliner,
        ledger: Ledger::default(),
        log,
    };
    let functions = top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func)));
    let (kernels, functions): (Vec<Op>, Vec<Op>) =
        functions.into_iter().partition(|f| f.attr(PRIMITIVE).is_some());
    if settings.strategy == Strategy::EGraph && !said.is_empty() {
        let rules = optimizer.rules_of_bodies().map_err(wrong_rule)?;
        for kernel in kernels {
            optimizer.body(kernel, &rules, cx)?;
        }
    }
    let written = std::mem::take(&mut optimizer.bodies);
    optimizer.loops = unrolling::decide(module, &optimizer.rates.loops, &said, written);
    for function in functions {
        let name = function.text("sym_name").unwrap_or_default();
        for (number, block) in blocks_under(function).into_iter().enumerate() {
            optimizer.block(name, (number, block), cx)?;
        }
    }
    match &settings.ledger {
        Some(path) => {
            let written = optimizer.ledger.write(path);
            written.map_err(|error| PassError::new(module.location(), error))
        }
        None => Ok(()),
    }
}

pub(super) struct Optimizer<'a, 'c> {
    pub settings: &'a Settings,
    rules: Rules,
    pub rates: Rates,
    pub bodies: Bodies,
    loops: LoopKernels,
    outliner: Outliner<'c>,
    ledger: Ledger,
    pub log: &'a mut Log,
}

impl<'c> Optimizer<'_, 'c> {
    fn block(
        &mut self,
        function: &str,
        (number, block): (usize, Block<'c>),
        cx: &mut RunContext,
    ) -> Result<(), PassError<'c>> {
        let mut program = read::read(block, &self.rates, self.settings.proofs);
        if program.uses.is_empty() {
            return Ok(());
        }
        let budget = Budget::for_nodes(program.graph.total_number_of_nodes());
        let mut gate = self.log.gate(function, number, &program.sources);
        let saturation = saturate(&mut program.graph, &self.rules, budget, &mut gate);
        gate.close(&program.graph);
        if self.settings.check > 0.0 {
            self.check(&program, cx)?;
        }
        let used: Vec<egg::Id> = program.uses.iter().map(|u| u.class).collect();
        let space = Space::of(&program.graph, &used, &self.rates);
        let freedom = match self.settings.strategy {
            Strategy::EGraph => Freedom { fuse: true, join: self.settings.join, moves: self.settings.moves },
            _ => Freedom { fuse: true, join: false, moves: 0 },
        };
        let (plan, report) = search(&space, freedom);
        let written = write::write(&program, &space, &plan, Some(&mut self.outliner))?;
        for one in &written {
            cx.count(0, 1);
            let members = &one.kernel.members;
            cx.count(1, if members.len() > 1 { members.len() as u64 } else { 0 });
            let made = members.iter().filter(|&&m| plan.state.candidate(&space, m).rule.is_some());
            cx.count(2, made.count() as u64);
        }
        cx.count(3, saturation.nodes as u64);
        cx.count(5, report.tried as u64);
        if self.settings.ledger.is_some() {
            let names = ledger::names(&program, &space);
            let block = ledger::Block {
                program: &program,
                space: &space,
                plan: &plan,
                names,
                written: &written,
                rules: &self.rules,
                orders: ledger::ImageOrders::of(&space),
            };
            let runs = program.uses.first().map_or(1, |used| unrolling::runs(used.by));
            let mut entry = block.entry((function, runs), saturation, report);
            unrolling::tell(&block, &self.loops, &mut entry);
            if self.settings.proofs {
                let names = ledger::names(&program, &space);
                entry.proofs = proofs(&mut program, &space, &plan, &names);
            }
            self.ledger.block(entry);
        }
        Ok(())
    }

    /// Computes all forms of all values of a block on random inputs.
    pub fn check(&self, program: &Program<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        if check::operations(&program.graph) > self.settings.check {
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
}

/// The error, relative to the largest element, up to which forms are equal.
const TOLERANCE: f64 = 1e-4;

/// The proofs of all values that are not computed as the source says.
fn proofs(
    program: &mut Program,
    space: &Space,
    plan: &super::extract::plan::Plan,
    names: &[String],
) -> Vec<Proof> {
    let mut proofs = Vec::new();
    for (class, facts) in space.classes.iter().enumerate() {
        if facts.is_external || !plan.state.is_live(class) {
            continue;
        }
        let candidate = plan.state.candidate(space, class);
        let sources = program.results.clone();
        let source = sources.into_iter().find(|&id| program.graph.find(id) == facts.id);
        if let (Some(_), Some(source)) = (candidate.rule, source) {
            let steps = proof::steps(&mut program.graph, source, &candidate.node);
            proofs.push(Proof { value: names[class].clone(), steps });
        }
    }
    proofs
}
