//! The body of a loop kernel: the algebra that takes the fewest operations.
//!
//!     for 100 { d = (4/3 - cos t (c cos t)) / 2 ; a = n / d ; x = x + 0.02 (f - (a k) cos t) ; .. }
//!                                              =>      q = k cos t ; d = 2/3 - q cos t ; a = n / d ; x = x + 0.02 (f - a q) ; ..
//!
//! A loop kernel keeps its state in registers: nothing in its body is read from memory or stored, and all of it is one kernel already. So its
//! plan has no kernels to choose, and memory costs nothing; what counts is each operation once, however many read it, in all steps. A sum is
//! half an operation, since it is part of a multiply-add or done by another unit. The search is that of all blocks; what it finds is written
//! where the body was. Counters and other scalars stay as they are: `counting` knows them by their form.

use super::applications::Log;
use super::extract::rates::Rates;
use super::extract::search::Freedom;
use super::extract::space::ClassId;
use super::planned::{Means, Planned, planned};
use super::proof::{self, Proof};
use super::read;
use super::remarks::{self, Alias, OperatorEntry};
use super::rules::{Family, Rules};
use super::settings::Settings;
use super::write;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Op, OpExt, OperationLike, PassError, RunContext, tensor_type, top_level};
use fusion_relay::fuse_ops::PRIMITIVE;
use fusion_relay::loop_kernels::loop_of;
use indexmap::IndexMap;

/// Rules of single elements. The others know of axes, matrices and images.
const FAMILIES: [Family; 2] = [Family::Algebra, Family::Activation];

/// A body as it was written.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Its operators.
    pub operators: Vec<OperatorEntry>,
    /// By which rules values came to be computed as they are, where that was asked for.
    pub proofs: Vec<Proof>,
    /// Values of the source that are not computed under their own name.
    pub aliases: Vec<Alias>,
}

/// The bodies, by the names of their functions; none where no remarks tell of them.
pub type Bodies = IndexMap<String, Body>;

/// Rewrites the bodies of all loop kernels.
pub fn rewrite<'c>(
    module: Op<'c>,
    rates: &Rates,
    (settings, log): (&Settings, &mut Log),
    cx: &mut RunContext,
) -> Result<Bodies, PassError<'c>> {
    let functions = top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func)));
    let kernels: Vec<Op> = functions.into_iter().filter(|f| f.attr(PRIMITIVE).is_some()).collect();
    if !kernels.iter().any(|kernel| loop_of(*kernel).is_some()) {
        return Ok(Bodies::default());
    }
    let families: Vec<Family> = FAMILIES.into_iter().filter(|f| settings.families.contains(f)).collect();
    let rules = Rules::of(&families).map_err(|wrong| PassError::new(module.location(), wrong.to_string()))?;
    let rules = rules.allowed_by(rates.fp_math);
    let freedom = Freedom { fuse: false, join: false, moves: settings.moves };
    let means = Means { rules: &rules, rates: &rates.in_registers(), freedom };
    let mut bodies = Bodies::default();
    for kernel in kernels {
        if let Some(made) = body(kernel, &means, (settings, &mut *log), cx)? {
            bodies.insert(kernel.text("sym_name").unwrap_or_default().to_owned(), made);
        }
    }
    Ok(bodies)
}

/// Rewrites the body of a loop kernel, whose function is given; `None` where it is none, computes nothing but scalars, or is not to be told of.
fn body<'c>(
    function: Op<'c>,
    means: &Means,
    (settings, log): (&Settings, &mut Log),
    cx: &mut RunContext,
) -> Result<Option<Body>, PassError<'c>> {
    let Some(body) = loop_of(function).and_then(|op| op.body(1)) else { return Ok(None) };
    let name = function.text("sym_name").unwrap_or_default();
    let read = || {
        let mut program = read::read(body, means.rates, settings.proofs);
        program.uses.retain(|used| tensor_type(used.value).is_some_and(|t| t.rank() > 0));
        program
    };
    let Some(found) = planned(&read, (name, 0), means, (settings, log), cx)? else { return Ok(None) };
    let Planned { mut program, space, plan, constants, .. } = found;
    let written = write::write(&program, &space, &plan, &constants, None)?;
    let members: Vec<ClassId> = written.iter().flat_map(|one| &one.kernel.members).copied().collect();
    let is_made = |&&member: &&ClassId| plan.state.candidate(&space, member).rule.is_some();
    cx.count(2, members.iter().filter(is_made).count() as u64);
    if settings.remarks.is_none() {
        return Ok(None);
    }
    let names = remarks::names(&program, &space, &format!("{name}."));
    let operator = |member: ClassId| remarks::operator(&program, &space, &plan, (member, &names[member]));
    let operators = members.into_iter().filter_map(operator).collect();
    let proofs = match settings.proofs {
        true => proof::proofs(&mut program, &space, &plan, &names),
        false => Vec::new(),
    };
    let aliases = remarks::aliases(&mut program, &space, &plan, (&names, settings.proofs));
    Ok(Some(Body { operators, proofs, aliases }))
}
