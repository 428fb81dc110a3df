//! `relay-optimize`: one e-graph chooses algebra, layout and fusion together.
//!
//! ```text
//!     block --read--> e-graph --rules--> e-graph --snapshot--> space --search--> plan --write--> block of kernel calls
//! ```
//!
//! The e-graph (Willsey et al., "egg: Fast and Extensible Equality Saturation", 2021) holds all forms of a block that rules can reach.
//! A *plan* says for each class which of its nodes computes it and whether its value is stored: the stored classes are the kernels, and
//! each computes the lazy classes it reaches. So algebra and kernel boundaries have one cost, that of the program as it would run. Why
//! boundaries are part of the plan and not of the graph is in docs/egraph.md.
//!
//! A block with its operations of control flow is a graph of its own; so is each block inside them.

pub mod analysis;
pub mod extract;
mod fold;
pub mod language;
pub mod ledger;
mod read;
pub mod rule;
pub mod rules;
pub mod saturate;
pub mod search_rule;
mod write;

use crate::relay::fuse_ops::{Outliner, PRIMITIVE, blocks_under};
use crate::target::Target;
use extract::rates::Rates;
use extract::search::{Freedom, search};
use extract::space::Space;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec, top_level,
};
use ledger::Ledger;
use rules::{Family, Rules};
use saturate::{Budget, saturate};

/// The pass.
pub struct RelayOptimize;

/// How kernels are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Every operator is a kernel.
    None,
    /// Relay's groups under post-dominators, without rules.
    Relay,
    /// Fusion by priority of gain, without rules (as XLA does).
    Xla,
    /// Rules, layout and fusion in one.
    EGraph,
}

impl Strategy {
    /// All strategies with their names.
    pub const ALL: &'static [(Strategy, &'static str)] = &[
        (Strategy::None, "none"),
        (Strategy::Relay, "relay"),
        (Strategy::Xla, "xla"),
        (Strategy::EGraph, "egraph"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Strategy::ALL.iter().find(|(strategy, _)| *strategy == self).map_or("", |(_, name)| name)
    }
}

/// What the options say.
struct Settings {
    strategy: Strategy,
    families: Vec<Family>,
    moves: usize,
    join: bool,
    explain: bool,
    skip: Vec<(String, usize)>,
    ledger: Option<std::path::PathBuf>,
}

impl Settings {
    fn of<'c>(module: Op<'c>, cx: &RunContext) -> Result<Settings, PassError<'c>> {
        let wrong = |message: String| PassError::new(module.location(), message);
        let name = cx.options.text("strategy");
        let Some((strategy, _)) = Strategy::ALL.iter().find(|(_, known)| *known == name) else {
            let known: Vec<_> = Strategy::ALL.iter().map(|(_, name)| *name).collect();
            return Err(wrong(format!(
                "the option strategy of relay-optimize must be one of {}, found {name:?}",
                known.join(", ")
            )));
        };
        let mut families: Vec<Family> = Family::ALL.iter().map(|(family, _)| *family).collect();
        let mut join = true;
        for off in cx.options.text("off").split('+').filter(|s| !s.is_empty()) {
            if off == "joining" {
                join = false;
                continue;
            }
            let Some((family, _)) = Family::ALL.iter().find(|(_, known)| *known == off) else {
                let known: Vec<_> = Family::ALL.iter().map(|(_, name)| *name).collect();
                return Err(wrong(format!(
                    "the option off of relay-optimize names families of rules joined by +, or joining; there is no {off:?}, but {}",
                    known.join(", ")
                )));
            };
            families.retain(|f| f != family);
        }
        let moves = usize::try_from(cx.options.int("moves"))
            .map_err(|_| wrong("the option moves of relay-optimize must not be negative".to_owned()))?;
        let ledger = Some(cx.options.text("ledger")).filter(|path| !path.is_empty()).map(Into::into);
        Ok(Settings { strategy: *strategy, families, moves, join, explain: false, skip: Vec::new(), ledger })
    }
}

impl Pass for RelayOptimize {
    const NAME: &'static str = "relay-optimize";
    const DESCRIPTION: &'static str = "Choose algebra, layout and kernels together in an e-graph";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "strategy",
            description: "none, relay (post-dominators), xla (priority) or egraph",
            kind: OptionKind::Text,
            initial: "egraph",
        },
        OptionSpec {
            name: "off",
            description: "Families of rules to leave out, joined by +; or joining, kernels of several results",
            kind: OptionKind::Text,
            initial: "",
        },
        OptionSpec {
            name: "moves",
            description: "The most moves that improve the plan of a block",
            kind: OptionKind::Int,
            initial: "4000",
        },
        OptionSpec {
            name: "ledger",
            description: "A file to write the decisions to, as JSON",
            kind: OptionKind::Text,
            initial: "",
        },
    ];
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "kernels", description: "Kernels written" },
        StatisticSpec { name: "fused", description: "Operators that share a kernel with another" },
        StatisticSpec { name: "rewritten", description: "Operators that a rule made" },
        StatisticSpec { name: "nodes", description: "Nodes of e-graphs" },
        StatisticSpec { name: "moves", description: "Moves of the search tried" },
    ];
    const DIALECTS: &'static [&'static str] = &["func", "relay"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let settings = Settings::of(module, cx)?;
        if settings.strategy == Strategy::Relay || settings.strategy == Strategy::None {
            let most = if settings.strategy == Strategy::None { 1 } else { crate::relay::fuse_ops::MOST };
            return crate::relay::fuse_ops::fuse_module(module, most, cx);
        }
        let families = if settings.strategy == Strategy::EGraph { &settings.families[..] } else { &[] };
        let rules =
            Rules::of(families).map_err(|wrong| PassError::new(module.location(), wrong.to_string()))?;
        let Some(mut outliner) = Outliner::new(module) else { return Ok(()) };
        let rates = Rates::of(&Target::of(module)?);
        let mut ledger = Ledger::default();
        for function in top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func))) {
            if function.attr(PRIMITIVE).is_some() {
                continue;
            }
            let name = function.text("sym_name").unwrap_or_default().to_owned();
            for block in blocks_under(function) {
                let mut program = read::read(block, settings.explain);
                if program.uses.is_empty() {
                    continue;
                }
                let budget = Budget::for_nodes(program.graph.total_number_of_nodes());
                let skip = |rule: &str, applied: usize| {
                    settings.skip.iter().any(|(r, n)| r == rule && *n <= applied)
                };
                let saturation = saturate(&mut program.graph, &rules, budget, &skip);
                let used: Vec<egg::Id> = program.uses.iter().map(|u| u.class).collect();
                let space = Space::of(&program.graph, &used, &rates);
                let freedom = Freedom { fuse: true, join: settings.join, moves: settings.moves };
                let freedom = if settings.strategy == Strategy::Xla {
                    Freedom { moves: 0, join: false, ..freedom }
                } else {
                    freedom
                };
                let (plan, report) = search(&space, freedom);
                let written = write::write(&program, &space, &plan, &mut outliner)?;
                for one in &written {
                    cx.count(0, 1);
                    let members = &one.kernel.members;
                    cx.count(1, if members.len() > 1 { members.len() as u64 } else { 0 });
                    let made = members.iter().filter(|&&m| plan.state.candidate(&space, m).rule.is_some());
                    cx.count(2, made.count() as u64);
                }
                cx.count(3, saturation.nodes as u64);
                cx.count(4, report.tried as u64);
                if settings.ledger.is_some() {
                    let names = ledger::names(&program, &space);
                    let block = ledger::Block {
                        program: &program,
                        space: &space,
                        plan: &plan,
                        names,
                        written: &written,
                    };
                    ledger.block(block.entry(&name, saturation, report));
                }
            }
        }
        match &settings.ledger {
            Some(path) => ledger.write(path).map_err(|error| PassError::new(module.location(), error)),
            None => Ok(()),
        }
    }
}
