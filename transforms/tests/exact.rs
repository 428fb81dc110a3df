//! The integer program finds what trying all states finds, and the search is as good on small programs; plans that could not run are
//! mended.

use crate::common::Reader;
use fusion_egraph::extract::cost;
use fusion_egraph::extract::exact::solve;
use fusion_egraph::extract::kernel::Kernel;
use fusion_egraph::extract::plan::Plan;
use fusion_egraph::extract::rates::Rates;
use fusion_egraph::extract::search::{Freedom, search};
use fusion_egraph::extract::space::{ClassId, Space};
use fusion_egraph::extract::state::State;
use fusion_egraph::rules::{Family, Rules};
use fusion_egraph::saturate::{Budget, Open, saturate};
use fusion_machine::Target;

/// Small programs: chains, values used twice, recomputation, products that share an operand, views, and rows.
const PROGRAMS: &[&str] = &[
    "(relu {} (add {} (matmul {} x:[64,64] y:[64,64]) z:[64]))",
    "(mul {} (exp {} x:[512,512]) (add {} (exp {} x:[512,512]) y:[512,512]))",
    "(add {} (matmul {} (relu {} x:[32,64]) c:[64,64]) (relu {} x:[32,64]))",
    "(sub {} (tanh {} x:[1024]) (reduce_sum {axes=[0],keepdims=1} (tanh {} x:[1024])))",
    "(softmax {} (mul {} x:[64,128] 0.5))",
    "(transpose {} (transpose {} (exp {} x:[128,256])))",
    "(matmul {} (matmul {} x:[8,64] y:[64,64]) z:[64,8])",
];

/// States that are tried at most.
const MOST_STATES: u64 = 300_000;

fn space_of(text: &str, rounds: usize) -> Space {
    let mut reader = Reader::new(text, 3);
    let root = reader.term();
    let families: Vec<Family> = Family::ALL.iter().map(|(family, _)| *family).collect();
    let budget = Budget { rounds, nodes: 60, matches: 20 };
    saturate(&mut reader.graph, &Rules::of(&families).unwrap(), budget, &mut Open);
    let root = reader.graph.find(root);
    Space::of(&reader.graph, &[root], &Rates::of(&Target::default()))
}

/// Seconds of a state's kernels; `None` when one is not legal.
fn seconds(space: &Space, state: &State) -> Option<f64> {
    let stored = |c: &ClassId| !space.classes[*c].is_external && state.is_live(*c) && state.is_stored(*c);
    (0..space.classes.len())
        .filter(stored)
        .map(|class| {
            let kernel = Kernel::of(space, state, class);
            kernel.check(space, state).ok().map(|()| cost::kernel(space, state, &kernel))
        })
        .sum()
}

fn is_cyclic(space: &Space, choice: &[u32]) -> bool {
    let operands = |c: ClassId| match space.classes[c].is_external {
        true => &[][..],
        false => &space.classes[c].candidates[choice[c] as usize].operands[..],
    };
    (0..space.classes.len()).any(|class| {
        let mut stack = operands(class).to_vec();
        let mut seen = vec![false; space.classes.len()];
        while let Some(at) = stack.pop() {
            if at == class {
                return true;
            }
            if !std::mem::replace(&mut seen[at], true) {
                stack.extend(operands(at));
            }
        }
        false
    })
}

/// The least seconds of all states, every choice with every set of lazy classes; `None` when there are too many.
fn least(space: &Space) -> Option<f64> {
    let computed: Vec<ClassId> =
        (0..space.classes.len()).filter(|&c| !space.classes[c].is_external).collect();
    let choices = computed.iter().map(|&c| space.classes[c].candidates.len() as u64);
    let states = choices.clone().product::<u64>().checked_mul(1 << computed.len())?;
    if states > MOST_STATES {
        return None;
    }
    let mut best = f64::INFINITY;
    for mut number in 0..choices.clone().product::<u64>() {
        let mut choice = vec![0; space.classes.len()];
        for (&class, count) in computed.iter().zip(choices.clone()) {
            choice[class] = (number % count) as u32;
            number /= count;
        }
        if is_cyclic(space, &choice) {
            continue;
        }
        let stored = State::new(space, choice);
        for lazy in 0..1u64 << computed.len() {
            let mut state = stored.clone();
            for (bit, &class) in computed.iter().enumerate() {
                state.set_stored(class, lazy >> bit & 1 == 0 || space.roots.contains(&class));
            }
            best = seconds(space, &state).map_or(best, |s| s.min(best));
        }
    }
    Some(best)
}

#[test]
fn the_integer_program_finds_the_least_of_all_states() {
    let mut compared = 0;
    for text in PROGRAMS {
        for rounds in 0..=2 {
            let space = space_of(text, rounds);
            let Some(least) = least(&space) else { continue };
            let state =
                solve(&space, vec![0; space.classes.len()]).unwrap_or_else(|| panic!("{text} is not solved"));
            let found = seconds(&space, &state).unwrap_or_else(|| panic!("{text}: a kernel is not legal"));
            assert!(
                (found / least - 1.0).abs() < 1e-9,
                "{text} after {rounds} rounds: {found:e}, least {least:e}"
            );
            compared += 1;
        }
    }
    assert!(compared >= PROGRAMS.len(), "{compared} programs were compared");
}

#[test]
fn the_search_is_never_worse_where_it_is_exact() {
    for text in PROGRAMS {
        let space = space_of(text, 2);
        let (plan, report) = search(&space, Freedom { fuse: true, join: false, moves: 1000 });
        if let Some(exact) = report.exact {
            assert!(
                plan.total(&space) <= exact * (1.0 + 1e-6),
                "{text}: {:e}, exactly {exact:e}",
                plan.total(&space)
            );
        }
    }
}

#[test]
fn what_is_too_large_is_not_solved() {
    let mut text = "x:[64]".to_owned();
    for _ in 0..70 {
        text = format!("(tanh {{}} {text})");
    }
    let space = space_of(&text, 0);
    assert!(solve(&space, vec![0; space.classes.len()]).is_none());
}

#[test]
fn kernels_that_would_wait_for_each_other_are_parted() {
    let space = space_of("(mul {} (exp {} x:[512,512]) (tanh {} (exp {} x:[512,512])))", 0);
    let class = |name: &str| {
        let is = |c: &ClassId| {
            space.classes[*c].candidates.iter().any(|n| n.operator.is_some_and(|o| o.name == name))
        };
        (0..space.classes.len()).find(is).unwrap()
    };
    let (exp, tanh, mul) = (class("exp"), class("tanh"), class("mul"));
    let joined = |a: ClassId, b: ClassId| {
        let mut state = State::new(&space, vec![0; space.classes.len()]);
        state.join(a, b);
        let mut plan = Plan::new(&space, state);
        plan.part_cycles(&space);
        plan.state.group(a) == plan.state.group(b)
    };
    // The product needs what tanh makes of the exponential, which would be stored with it.
    assert!(!joined(exp, mul));
    assert!(joined(exp, tanh) && joined(tanh, mul));
}
