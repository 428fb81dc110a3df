//! How kernels are chosen: what `relay-optimize` is told in a compilation.

use fusion_egraph::Strategy;
use fusion_egraph::rules::Family;
use std::path::PathBuf;

/// The name under which kernels of several results are switched off, beside those of the families.
pub const JOINING: &str = "joining";

/// The name under which kernels of whole loops are switched off.
pub const LOOPS: &str = "loops";

/// How kernels are chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Planning {
    /// How kernels are found.
    pub strategy: Strategy,
    /// Families of rules that are left out, [`JOINING`] or [`LOOPS`].
    pub off: Vec<&'static str>,
    /// A file for the remarks, which the strategies `xla` and `egraph` write.
    pub remarks: Option<PathBuf>,
    /// A file for the kinds of schedules that match each kernel, with their estimates.
    pub kinds: Option<PathBuf>,
    /// Whether remarks have proofs.
    pub proofs: bool,
    /// Operations up to which all forms of all values of a block are computed and compared; 0 for never.
    pub check: u64,
}

impl Default for Planning {
    fn default() -> Self {
        Planning {
            strategy: Strategy::EGraph,
            off: Vec::new(),
            remarks: None,
            kinds: None,
            proofs: false,
            check: 0,
        }
    }
}

/// What can be switched off.
pub fn switches() -> impl Iterator<Item = &'static str> {
    Family::ALL.iter().map(|(_, name)| *name).chain([JOINING, LOOPS])
}

impl Planning {
    /// The stages that differ from the usual ones: each with its pipeline, or without one where it is left out.
    pub fn instead(&self) -> Vec<(&'static str, Option<String>)> {
        let mut options = Vec::new();
        if self.strategy != Strategy::EGraph {
            options.push(format!("strategy={}", self.strategy.name()));
        }
        let rules: Vec<&str> = self.off.iter().copied().filter(|off| *off != LOOPS).collect();
        if !rules.is_empty() {
            options.push(format!("off={}", rules.join("+")));
        }
        if let Some(remarks) = &self.remarks {
            options.push(format!("remarks='{}'", remarks.display()));
        }
        if self.proofs {
            options.push("proofs=true".to_owned());
        }
        if self.check > 0 {
            options.push(format!("check={}", self.check));
        }
        let mut instead = Vec::new();
        if !options.is_empty() {
            let pipeline = format!("builtin.module(relay-optimize{{{}}})", options.join(" "));
            instead.push(("relay-optimize", Some(pipeline)));
        }
        if self.strategy == Strategy::None || self.off.contains(&LOOPS) {
            instead.push(("relay-loop-kernels", None));
        }
        if let Some(kinds) = &self.kinds {
            let pipeline = format!("builtin.module(te-schedule{{remarks='{}'}})", kinds.display());
            instead.push(("te-schedule", Some(pipeline)));
        }
        instead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_plan_changes_no_stage() {
        assert_eq!(Planning::default().instead(), []);
    }

    #[test]
    fn a_plan_becomes_options_of_the_pass() {
        let remarks = Some(PathBuf::from("/a b/l.json"));
        let off = vec!["axes", JOINING];
        let planning = Planning { strategy: Strategy::None, off, remarks, ..Planning::default() };
        let text = "builtin.module(relay-optimize{strategy=none off=axes+joining remarks='/a b/l.json'})";
        let wanted = [("relay-optimize", Some(text.to_owned())), ("relay-loop-kernels", None)];
        assert_eq!(planning.instead(), wanted);
        let names = crate::pipelines::RELAY.iter().map(|stage| stage.name).collect::<Vec<_>>();
        assert!(wanted.iter().all(|(name, _)| names.contains(name)));
    }
}
