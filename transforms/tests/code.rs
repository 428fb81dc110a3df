//! What the code of kernels takes, and what the search makes of it.

use crate::common::Reader;
use crate::pressure::one_kernel;
use fusion_egraph::extract::code::{passes, reason, seconds};
use fusion_egraph::extract::cost;
use fusion_egraph::extract::kernel::Kernel;
use fusion_egraph::extract::rates::Rates;
use fusion_egraph::extract::search::{Freedom, search};
use fusion_egraph::extract::space::Space;
use fusion_egraph::extract::state::State;
use fusion_machine::Target;

/// So many operations, each of which waits for the one before it.
fn chain(count: usize, shape: &str) -> String {
    let sign = ["neg", "abs", "relu"];
    (0..count).fold(format!("x:{shape}"), |term, at| format!("({} {{}} {term})", sign[at % 3]))
}

/// Seconds of the code of a program as one kernel.
fn of_one(text: &str) -> f64 {
    let (space, state, kernel) = one_kernel(text);
    seconds(&space, &state, &kernel)
}

/// What of the code of a kernel takes time.
fn why(space: &Space, state: &State, kernel: &Kernel) -> Option<String> {
    reason(space, state, kernel, cost::kernel(space, state, kernel))
}

#[test]
fn small_kernels_have_no_cost_of_code() {
    assert_eq!(of_one(&chain(60, "[4096]")), 0.0);
    assert_eq!(of_one("(softmax {} (mul {} x:[64,4096] 0.5))"), 0.0);
    let (space, state, kernel) = one_kernel(&chain(60, "[4096]"));
    assert_eq!(why(&space, &state, &kernel), None);
}

#[test]
fn longer_chains_take_more() {
    let taken: Vec<f64> = [60, 100, 200, 400, 800].iter().map(|&n| of_one(&chain(n, "[4096]"))).collect();
    assert!(taken.is_sorted() && taken[1] < taken[2] && taken[3] < taken[4], "{taken:?}");
    let (space, state, kernel) = one_kernel(&chain(200, "[4096]"));
    let said = why(&space, &state, &kernel).unwrap();
    assert_eq!(said, "200 operations in it wait for each other, and a core looks 70 ahead");
}

#[test]
fn one_vector_waits_for_itself_in_any_kernel() {
    assert_eq!(of_one(&chain(200, "[8]")), 0.0);
}

#[test]
fn passes_between_reductions_have_code_of_their_own() {
    let inner = chain(60, "[64,4096]");
    let text = format!("(exp {{}} (sub {{}} {inner} (reduce_max {{axes=[1],keepdims=true}} {inner})))");
    let (space, state, kernel) = one_kernel(&text);
    let (passes, together) = passes(&space, &state, &kernel).unwrap();
    let operations: Vec<f64> = passes.iter().map(|pass| pass.operations.round()).collect();
    assert_eq!((operations, together), (vec![61.0, 11.0], 1.0));
    assert!(seconds(&space, &state, &kernel) < of_one(&chain(72, "[64,4096]")));
}

#[test]
fn what_follows_a_product_need_not_wait_but_is_written_out() {
    let text = chain(100, "[64,64]").replace("x:[64,64]", "(matmul {} x:[64,64] w:[64,64])");
    let (space, state, kernel) = one_kernel(&text);
    assert!(seconds(&space, &state, &kernel) > 0.0);
    assert!(why(&space, &state, &kernel).unwrap().contains("compiling"));
}

/// The kernels that a chain of some operations becomes.
fn kernels(count: usize, shape: &str) -> usize {
    let text = chain(count, shape);
    let mut reader = Reader::new(&text, 1);
    let root = reader.term();
    reader.graph.rebuild();
    let space = Space::of(&reader.graph, &[root], &Rates::of(&Target::default()));
    let (plan, _) = search(&space, Freedom { fuse: true, join: true, moves: 100 });
    (0..space.classes.len()).filter(|&class| plan.has_kernel(&space, class)).count()
}

#[test]
fn a_chain_is_one_kernel_where_that_pays() {
    assert_eq!(kernels(150, "[8]"), 1);
    let parts = kernels(150, "[65536]");
    assert!((2..=5).contains(&parts), "{parts}");
}
