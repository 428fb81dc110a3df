//! What normwise forms may be off by, and plans that keep an error budget.
//!
//!     spent(x) = error of its form + the largest spent of its operands            a path from an input to x
//!
//! An error is a part of the largest result near the element. What is spent before is carried on as it is: an operator that makes it more
//! makes as much of the rounding of every other form. A plan that spends more than the budget loses normwise forms, those first on the path that
//! save the least time for their error, and is searched again.

use super::plan::Plan;
use super::search::{Freedom, SearchReport, search};
use super::space::{Candidate, ClassId, Space};

/// Plans that are searched again for a budget; then no normwise form is left.
const MOST_SEARCHES: usize = 6;

/// A plan that spends at most a budget, if there is one.
pub fn search_within(space: &mut Space, freedom: Freedom, budget: Option<f64>) -> (Plan, SearchReport) {
    let mut found = search(space, freedom);
    let Some(budget) = budget else { return found };
    for round in 0..=MOST_SEARCHES {
        let (path, spent) = longest(space, &found.0);
        if spent <= budget {
            break;
        }
        let dropped =
            if round < MOST_SEARCHES { dearest(space, &found.0, &path, spent - budget) } else { Vec::new() };
        for class in 0..space.classes.len() {
            let gone = |c: &Candidate| c.error > 0.0 && (round == MOST_SEARCHES || dropped.contains(&class));
            space.classes[class].candidates.retain(|c| !gone(c));
        }
        found = search(space, freedom);
    }
    found
}

/// The classes on the path that spends most, and what it spends.
fn longest(space: &Space, plan: &Plan) -> (Vec<ClassId>, f64) {
    let mut spent: Vec<Option<f64>> = vec![None; space.classes.len()];
    let operands = |class: ClassId| match space.classes[class].is_external {
        true => &[][..],
        false => &plan.state.candidate(space, class).operands[..],
    };
    let own = |class: ClassId| match space.classes[class].is_external {
        true => 0.0,
        false => plan.state.candidate(space, class).error,
    };
    let most = |spent: &[Option<f64>], class: ClassId| {
        let of = |a: &ClassId| spent[*a].unwrap_or(0.0);
        operands(class).iter().copied().max_by(|a, b| of(a).total_cmp(&of(b)))
    };
    let mut waiting: Vec<ClassId> = space.roots.clone();
    while let Some(&class) = waiting.last() {
        let open: Vec<ClassId> = operands(class).iter().copied().filter(|o| spent[*o].is_none()).collect();
        if spent[class].is_none() && !open.is_empty() {
            waiting.extend(open);
            continue;
        }
        waiting.pop();
        let before = most(&spent, class).and_then(|o| spent[o]).unwrap_or(0.0);
        spent[class].get_or_insert(before + own(class));
    }
    let of = |class: &ClassId| spent[*class].unwrap_or(0.0);
    let Some(&root) = space.roots.iter().max_by(|a, b| of(a).total_cmp(&of(b))) else {
        return (Vec::new(), 0.0);
    };
    let path = std::iter::successors(Some(root), |class| most(&spent, *class)).collect();
    (path, of(&root))
}

/// The classes of a path whose normwise forms save the least time for their error, as many as spend what is too much.
fn dearest(space: &Space, plan: &Plan, path: &[ClassId], too_much: f64) -> Vec<ClassId> {
    let rate = |class: &ClassId| {
        let chosen = plan.state.candidate(space, *class);
        let others = space.classes[*class].candidates.iter().filter(|c| c.error == 0.0);
        let plain = others.map(|c| c.seconds).fold(f64::INFINITY, f64::min);
        (plain - chosen.seconds).max(0.0) / chosen.error
    };
    let spends = |class: &&ClassId| {
        !space.classes[**class].is_external && plan.state.candidate(space, **class).error > 0.0
    };
    let mut all: Vec<ClassId> = path.iter().filter(spends).copied().collect();
    all.sort_by(|a, b| rate(a).total_cmp(&rate(b)).then(a.cmp(b)));
    let mut left = too_much;
    let needed = |class: &ClassId| {
        let before = left;
        left -= plan.state.candidate(space, *class).error;
        before > 0.0
    };
    all.into_iter().take_while(needed).collect()
}
