//! The options of `relay-optimize`.

use super::applications::{Alike, Chosen};
use super::rules::Family;
use fusion_dialects::{Op, OperationLike, OptionKind, OptionSpec, PassError, RunContext};

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
pub struct Settings {
    /// How kernels are found.
    pub strategy: Strategy,
    /// The families of rules that are used.
    pub families: Vec<Family>,
    /// The most moves that improve a plan.
    pub moves: usize,
    /// Whether kernels may store several results.
    pub join: bool,
    /// Operations up to which a block is checked; 0 for never.
    pub check: f64,
    /// Whether remarks have proofs.
    pub proofs: bool,
    /// Which applications of rules are made.
    pub applications: Chosen,
    /// Where remarks are written.
    pub remarks: Option<std::path::PathBuf>,
}

impl Settings {
    /// Reads the options.
    pub fn of<'c>(module: Op<'c>, cx: &RunContext) -> Result<Settings, PassError<'c>> {
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
        let check = cx.options.int("check").max(0) as f64;
        let applications = match (cx.options.text("only"), cx.options.int("applications")) {
            ("", count) => usize::try_from(count).map_or(Chosen::All, Chosen::First),
            (keys, _) => {
                let number = |key: &str| {
                    u64::from_str_radix(key, 16).map_err(|_| {
                        wrong(format!(
                            "the option only of relay-optimize has keys of applications, of hexadecimal digits joined by +; {key:?} is none"
                        ))
                    })
                };
                let keys = keys.split('+').map(number).collect::<Result<_, _>>()?;
                Chosen::Only { keys, alike: Alike::new() }
            }
        };
        let remarks = Some(cx.options.text("remarks")).filter(|path| !path.is_empty()).map(Into::into);
        Ok(Settings {
            strategy: *strategy,
            families,
            moves,
            join,
            check,
            proofs: cx.options.flag("proofs"),
            applications,
            remarks,
        })
    }
}

/// The options.
pub const OPTIONS: &[OptionSpec] = &[
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
        name: "check",
        description: "Compute all forms of all values on random inputs, as long as one takes less than that many operations",
        kind: OptionKind::Int,
        initial: "0",
    },
    OptionSpec {
        name: "proofs",
        description: "Put into the remarks by which rules each value came to be computed as it is",
        kind: OptionKind::Flag,
        initial: "false",
    },
    OptionSpec {
        name: "applications",
        description: "The most applications of rules, counted in the order they are made; -1 for all",
        kind: OptionKind::Int,
        initial: "-1",
    },
    OptionSpec {
        name: "only",
        description: "The keys of the applications of rules that are made, joined by +, as --bisect-rules tells them",
        kind: OptionKind::Text,
        initial: "",
    },
    OptionSpec {
        name: "remarks",
        description: "A file to write the remarks to, as JSON",
        kind: OptionKind::Text,
        initial: "",
    },
];
