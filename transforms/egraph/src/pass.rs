//! The pass: each block of each function is read, saturated, planned and written.

use super::applications::Log;
use super::bodies::{self, Bodies};
use super::extract::rates::Rates;
use super::extract::search::Freedom;
use super::planned::{Means, Planned, planned};
use super::proof;
use super::read;
use super::remarks::{self, Remarks};
use super::rules::{Family, Rules};
use super::settings::{OPTIONS, Settings, Strategy};
use super::unrolling::{self, LoopKernels};
use super::write;
use fusion_dialects::module::FpMath;
use fusion_dialects::module::{attach_target, target_of};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Op, OpExt, OperationLike, OptionSpec, Pass, PassError, RunContext, StatisticSpec, top_level,
};
use fusion_machine::Target;
use fusion_relay::fuse_ops::{MOST, Outliner, PRIMITIVE, blocks_under, fuse_module};

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
    let fp_math = FpMath::of(module)?;
    let rates = Rates::of(&target(module, settings)?).with(fp_math);
    let said = unrolling::said(module);
    let written = match settings.strategy {
        Strategy::EGraph => bodies::rewrite(module, &rates, (settings, &mut *log), cx)?,
        _ => Bodies::default(),
    };
    let loops = unrolling::decide(module, &rates.loops, &said, written);
    let families = match settings.strategy {
        Strategy::None => return fuse_module(module, 1, cx),
        Strategy::Relay => return fuse_module(module, MOST, cx),
        Strategy::Xla => &[],
        Strategy::EGraph => &settings.families[..],
    };
    let wrong_rule = |wrong: super::rule::RuleError| PassError::new(module.location(), wrong.to_string());
    let Some(outliner) = Outliner::new(module) else { return Ok(()) };
    let mut optimizer = Optimizer {
        rules: Rules::of(families).map_err(wrong_rule)?.allowed_by(fp_math),
        rates,
        loops,
        settings,
        outliner,
        remarks: Remarks::default(),
        log,
    };
    for function in top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func))) {
        if function.attr(PRIMITIVE).is_none() {
            let name = function.text("sym_name").unwrap_or_default();
            for (number, block) in blocks_under(function).into_iter().enumerate() {
                optimizer.block(name, (number, block), cx)?;
            }
        }
    }
    match &settings.remarks {
        Some(path) => {
            let written = optimizer.remarks.write(path);
            written.map_err(|error| PassError::new(module.location(), error))
        }
        None => Ok(()),
    }
}

/// The target. Without the family, nothing is made by the inner-product trick: definitions of kernels ask the target, which is then said to add at no other time.
fn target<'c>(module: Op<'c>, settings: &Settings) -> Result<Target, PassError<'c>> {
    let mut target = target_of(module)?;
    let without =
        settings.strategy == Strategy::EGraph && !settings.families.contains(&Family::InnerProductTrick);
    if without && target.additions > 0 {
        target.additions = 0;
        attach_target(&target, module);
    }
    Ok(target)
}

struct Optimizer<'a, 'c> {
    settings: &'a Settings,
    rules: Rules,
    rates: Rates,
    loops: LoopKernels,
    outliner: Outliner<'c>,
    remarks: Remarks,
    log: &'a mut Log,
}

impl<'c> Optimizer<'_, 'c> {
    fn block(
        &mut self,
        function: &str,
        (number, block): (usize, Block<'c>),
        cx: &mut RunContext,
    ) -> Result<(), PassError<'c>> {
        let freedom = match self.settings.strategy {
            Strategy::EGraph => Freedom { fuse: true, join: self.settings.join, moves: self.settings.moves },
            _ => Freedom { fuse: true, join: false, moves: 0 },
        };
        let means = Means { rules: &self.rules, rates: &self.rates, freedom };
        let read = || read::read(block, &self.rates, self.settings.proofs);
        let found = planned(&read, (function, number), &means, (self.settings, &mut *self.log), cx)?;
        let Some(Planned { mut program, saturation, space, plan, report, constants }) = found else {
            return Ok(());
        };
        let written = write::write(&program, &space, &plan, &constants, Some(&mut self.outliner))?;
        for one in &written {
            cx.count(0, 1);
            let members = &one.kernel.members;
            cx.count(1, if members.len() > 1 { members.len() as u64 } else { 0 });
            let made = members.iter().filter(|&&m| plan.state.candidate(&space, m).rule.is_some());
            cx.count(2, made.count() as u64);
        }
        if self.settings.remarks.is_some() {
            let names = remarks::names(&program, &space, "");
            let block = remarks::Block {
                program: &program,
                space: &space,
                plan: &plan,
                names,
                written: &written,
                rules: &self.rules,
                orders: remarks::ImageOrders::of(&space),
            };
            let runs = program.uses.first().map_or(1, |used| unrolling::runs(used.by));
            let mut entry = block.entry((function, runs), saturation, report);
            unrolling::tell(&block, &self.loops, &mut entry);
            let names = block.names;
            entry.aliases.extend(remarks::aliases(
                &mut program,
                &space,
                &plan,
                (&names, self.settings.proofs),
            ));
            if self.settings.proofs {
                entry.proofs.extend(proof::proofs(&mut program, &space, &plan, &names));
            }
            self.remarks.block(entry);
        }
        Ok(())
    }
}
