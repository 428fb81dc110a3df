//! The remarks of a block that was planned: what each was, and what the other way would cost.
//!
//!     fusion     a value that is computed where it is used, or could be
//!     algebra    a value that could be computed in another way
//!     joining    kernels that store together, or could

use super::super::extract::kernel::Kernel;
use super::super::extract::plan::Plan;
use super::super::extract::pressure;
use super::super::extract::space::{ClassId, Space};
use super::super::extract::{code, cost};
use super::super::rules::Family;
use super::{Block, Remark, Subject};

/// What some kernels of a plan hold, or their code, that takes time.
fn held(space: &Space, plan: &Plan, kernels: &std::collections::BTreeSet<ClassId>) -> Option<String> {
    kernels.iter().find_map(|&k| {
        let kernel = Kernel::of(space, &plan.state, k);
        let whole = || cost::kernel(space, &plan.state, &kernel);
        pressure::reason(space, &plan.state, &kernel)
            .or_else(|| code::reason(space, &plan.state, &kernel, whole()))
    })
}

impl Block<'_, '_> {
    /// All of the block.
    pub(super) fn remarks(&self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        let (space, plan) = (self.space, self.plan);
        let total = plan.total(space);
        for class in 0..space.classes.len() {
            if space.classes[class].is_external || !plan.state.is_live(class) {
                continue;
            }
            remarks.extend(self.fusion(class, total));
            remarks.extend(self.algebra(class, total));
        }
        remarks.extend(self.joining(total));
        remarks
    }

    /// Whether a class is lazy, and what the other way would cost.
    fn fusion(&self, class: ClassId, total: f64) -> Option<Remark> {
        let (space, plan) = (self.space, self.plan);
        let users: Vec<ClassId> = plan.state.users(space, class).collect();
        if users.is_empty() || plan.state.candidate(space, class).is_view {
            return None;
        }
        let mut values = vec![self.names[class].clone()];
        values.extend(users.iter().map(|&u| self.names[u].clone()));
        let remark = |accepted, places: Vec<usize>, before, after, reason| Remark {
            subject: Subject::Fusion,
            accepted,
            rule: "compute where it is used".to_owned(),
            orders: None,
            values: values.clone(),
            kernels: self.kernel_names(&places),
            places,
            before,
            after,
            reason,
        };
        if !plan.state.is_stored(class) {
            let kernels = plan.kernels_with(space, class);
            let count = kernels.len();
            let other = plan.stored(space, class);
            let reason = match count {
                1 => match held(space, plan, &kernels) {
                    Some(why) => format!("its only kernel needs no memory for it, though {why}"),
                    None => "its only kernel needs no memory for it".to_owned(),
                },
                _ => {
                    format!("computing it in each of {count} kernels takes less than storing and reading it")
                }
            };
            return Some(remark(true, self.places(kernels), Some(other), Some(total), reason));
        }
        let places = self.places(plan.readers(space, class).into_iter().chain([class]));
        if space.roots.contains(&class) && plan.readers(space, class).is_empty() {
            return None;
        }
        if space.roots.contains(&class) {
            let reason = "it is a result of the block, and must be stored".to_owned();
            return Some(remark(false, places, None, None, reason));
        }
        Some(match plan.lazy(space, class) {
            Err(why) => remark(false, places, None, None, format!("{why}")),
            Ok((other, gain)) => {
                let reason = match held(space, &other, &other.kernels_with(space, class)) {
                    Some(why) => format!("its kernel would take longer: {why}"),
                    None => "it would take longer".to_owned(),
                };
                remark(false, places, Some(total), Some(total - gain), reason)
            }
        })
    }

    /// The other ways to compute a class, and what each would cost with everything else as it is.
    fn algebra(&self, class: ClassId, total: f64) -> Vec<Remark> {
        let (space, plan) = (self.space, self.plan);
        let chosen = plan.state.choice(class);
        let mut remarks = Vec::new();
        for (number, candidate) in space.classes[class].candidates.iter().enumerate() {
            let Some(rule) = candidate.rule else { continue };
            let accepted = number == chosen;
            // Where the program's own form was left, the cost before is that of going back to it.
            let other = if accepted { 0 } else { number };
            if accepted && chosen == 0 {
                continue;
            }
            let cost = plan.with(space, class, other);
            let cost = cost.filter(|c| accepted || (c - total).abs() > 1e-9 * total);
            let Some(cost) = cost else { continue };
            let (before, after) = if accepted { (cost, total) } else { (total, cost) };
            let places = self.places(plan.kernels_with(space, class));
            remarks.push(Remark {
                subject: Subject::Algebra,
                accepted,
                rule: rule.to_string(),
                orders: self
                    .is_of(rule.as_str(), Family::Layout)
                    .then(|| self.orders.change(class, candidate))
                    .flatten(),
                values: vec![self.names[class].clone()],
                kernels: self.kernel_names(&places),
                places,
                before: Some(before),
                after: Some(after),
                reason: match accepted {
                    true => "the program takes less".to_owned(),
                    false => "the program would take longer".to_owned(),
                },
            });
        }
        remarks
    }

    /// Kernels that store several classes, and what each pair of neighbours would gain by that.
    fn joining(&self, total: f64) -> Vec<Remark> {
        let (space, plan) = (self.space, self.plan);
        let mut remarks = Vec::new();
        for (place, written) in self.written.iter().enumerate().filter(|(_, w)| w.kernel.stored.len() > 1) {
            let kernel: &Kernel = &written.kernel;
            let apart: f64 = plan.apart(space, &kernel.stored);
            remarks.push(Remark {
                subject: Subject::Joining,
                accepted: true,
                rule: "store together".to_owned(),
                orders: None,
                values: kernel.stored.iter().map(|&s| self.names[s].clone()).collect(),
                kernels: vec![written.name.clone()],
                places: vec![place],
                before: Some(apart),
                after: Some(total),
                reason: "one pass over what both read takes less".to_owned(),
            });
        }
        for (first, second) in plan.pairs(space) {
            let places = self.places([first, second]);
            let remark = |before, after, reason| Remark {
                subject: Subject::Joining,
                accepted: false,
                rule: "store together".to_owned(),
                orders: None,
                values: vec![self.names[first].clone(), self.names[second].clone()],
                kernels: self.kernel_names(&places),
                places: places.clone(),
                before,
                after,
                reason,
            };
            remarks.push(match plan.joined(space, first, second) {
                Err(why) => remark(None, None, format!("{why}")),
                Ok((other, gain)) => {
                    let reason = match held(space, &other, &[other.state.group(first)].into()) {
                        Some(why) => format!("it would not take less: {why}"),
                        None => "it would not take less".to_owned(),
                    };
                    remark(Some(total), Some(total - gain), reason)
                }
            });
        }
        remarks
    }
}
