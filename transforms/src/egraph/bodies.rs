//! The body of a loop kernel: the algebra that takes the fewest operations.
//!
//!     for 100 { d = (4/3 - cos t (c cos t)) / 2 ; a = n / d ; x = x + 0.02 (f - (a k) cos t) ; .. }
//!                                              =>      q = k cos t ; d = 2/3 - q cos t ; a = n / d ; x = x + 0.02 (f - a q) ; ..
//!
//! A loop kernel keeps its state in registers: nothing in its body is read from memory or stored, and all of it is one kernel already. So its
//! plan has no kernels to choose, and memory costs nothing; what counts is each operation once, however many read it, in all steps. A sum is
//! half an operation, since it is part of a multiply-add or done by another unit. The search is that of all blocks; what it finds is written
//! where the body was. Counters and other scalars stay as they are: `counting` knows them by their form.

use super::extract::search::{Freedom, search};
use super::extract::space::Space;
use super::pass::Optimizer;
use super::read;
use super::rules::{Family, Rules};
use super::saturate::{Budget, saturate};
use super::write;
use crate::relay::loop_kernels::loop_of;
use fusion_dialects::{Op, OpExt, PassError, RunContext, tensor_type};
use indexmap::IndexMap;

/// Rules of single elements. The others know of axes, matrices and images.
const FAMILIES: [Family; 2] = [Family::Algebra, Family::Activation];

/// An operator of a body that was written, and the rule that made it.
pub type Made = (String, Option<String>);

/// The operators of bodies, by the names of their functions.
pub type Bodies = IndexMap<String, Vec<Made>>;

impl<'c> Optimizer<'_, 'c> {
    /// Rewrites the body of a loop kernel, whose function is given.
    pub(super) fn body(
        &mut self,
        function: Op<'c>,
        rules: &Rules,
        cx: &mut RunContext,
    ) -> Result<(), PassError<'c>> {
        let Some(body) = loop_of(function).and_then(|op| op.body(1)) else { return Ok(()) };
        let name = function.text("sym_name").unwrap_or_default();
        let rates = self.rates.in_registers();
        let mut program = read::read(body, &rates, false);
        program.uses.retain(|used| tensor_type(used.value).is_some_and(|t| t.rank() > 0));
        if program.uses.is_empty() {
            return Ok(());
        }
        let budget = Budget::for_nodes(program.graph.total_number_of_nodes());
        let mut gate = self.log.gate(name, 0, &program.sources);
        let saturation = saturate(&mut program.graph, rules, budget, &mut gate);
        gate.close(&program.graph);
        if self.settings.check > 0.0 {
            self.check(&program, cx)?;
        }
        let used: Vec<egg::Id> = program.uses.iter().map(|u| u.class).collect();
        let space = Space::of(&program.graph, &used, &rates);
        let freedom = Freedom { fuse: false, join: false, moves: self.settings.moves };
        let (plan, report) = search(&space, freedom);
        let written = write::write(&program, &space, &plan, None)?;
        let candidates = || {
            let members = written.iter().flat_map(|one| &one.kernel.members);
            members.map(|&member| plan.state.candidate(&space, member))
        };
        cx.count(2, candidates().filter(|c| c.rule.is_some()).count() as u64);
        cx.count(3, saturation.nodes as u64);
        cx.count(5, report.tried as u64);
        let made =
            candidates().filter_map(|c| Some((c.operator?.name.to_owned(), c.rule.map(|r| r.to_string()))));
        self.bodies.insert(name.to_owned(), made.collect());
        Ok(())
    }

    /// The rules for bodies, of the families that are used.
    pub(super) fn rules_of_bodies(&self) -> Result<Rules, super::rule::RuleError> {
        let used: Vec<Family> =
            FAMILIES.into_iter().filter(|family| self.settings.families.contains(family)).collect();
        Rules::of(&used)
    }
}
