//! What kernels hold at once: values that wait in registers, and rows that are read several times; and what windows read one by one.

use crate::common::Reader;
use fusion_egraph::extract::cost;
use fusion_egraph::extract::kernel::Kernel;
use fusion_egraph::extract::pressure::{passes, reason, spilled, spills, waiting};
use fusion_egraph::extract::rates::Rates;
use fusion_egraph::extract::scattered;
use fusion_egraph::extract::space::{ClassId, Space};
use fusion_egraph::extract::state::State;
use fusion_machine::Target;

/// A program as one kernel.
pub fn one_kernel(text: &str) -> (Space, State, Kernel) {
    let mut reader = Reader::new(text, 1);
    let root = reader.term();
    reader.graph.rebuild();
    let space = Space::of(&reader.graph, &[root], &Rates::of(&Target::default()));
    let mut state = State::new(&space, vec![0; space.classes.len()]);
    let root: ClassId = space.roots[0];
    let computed = |c: &ClassId| !space.classes[*c].is_external && *c != root;
    (0..space.classes.len()).filter(computed).for_each(|class| state.set_stored(class, false));
    let kernel = Kernel::of(&space, &state, root);
    (space, state, kernel)
}

/// `max(.. max(f_n, f_n-1) .., f_1)` and the same again, so that all of `f_i = x * i` wait for the second.
fn twice(count: usize) -> String {
    let value = |i: usize| format!("(mul {{}} x:[4096] {i}.0)");
    let all =
        |f: &str| (2..=count).fold(value(1), |term, i| format!("({f} {{}} (neg {{}} {term}) {})", value(i)));
    format!("(sub {{}} {} {})", all("maximum"), all("minimum"))
}

#[test]
fn values_wait_until_they_are_read_last() {
    let (space, state, kernel) = one_kernel("(exp {} (tanh {} (relu {} x:[64])))");
    assert_eq!(waiting(&space, &state, &kernel), 2, "one that is read, and what is made of it");
    let (space, state, kernel) =
        one_kernel("(add {} (exp {} x:[64]) (add {} (tanh {} x:[64]) (relu {} x:[64])))");
    assert_eq!(waiting(&space, &state, &kernel), 4);
    // A single number for all elements takes no register of each vector.
    let (space, state, kernel) = one_kernel("(add {} (exp {} x:[64]) (exp {} y:[]))");
    assert_eq!(waiting(&space, &state, &kernel), 2);
}

#[test]
fn what_registers_do_not_hold_is_stored_and_loaded_again() {
    let registers = Target::default().vector_registers as usize;
    let (space, state, kernel) = one_kernel(&twice(registers / 2));
    assert_eq!(spilled(&space, &state, &kernel), 0);
    assert_eq!(reason(&space, &state, &kernel), None);
    let more = registers + 10;
    let (space, state, kernel) = one_kernel(&twice(more));
    let held = waiting(&space, &state, &kernel);
    assert!((more..more + 3).contains(&held), "{held}");
    assert_eq!(spilled(&space, &state, &kernel), held - registers);
    let spills = spills(&space, &state, &kernel);
    assert!(spills > 0.0 && spills < cost::kernel(&space, &state, &kernel));
    let why = reason(&space, &state, &kernel).unwrap();
    assert_eq!(why, format!("of {held} values that wait in it at once registers hold {registers}"));
}

#[test]
fn rows_beyond_the_first_cache_are_read_again_from_the_next() {
    let softmax = |columns: usize| one_kernel(&format!("(softmax {{}} (mul {{}} x:[4,{columns}] 0.5))"));
    let (space, state, kernel) = softmax(512);
    assert_eq!(passes(&space, &state, &kernel), 0.0);
    let (space, state, kernel) = softmax(65536);
    let again = passes(&space, &state, &kernel);
    assert!(again > 0.0 && reason(&space, &state, &kernel).unwrap().contains("rows that the first cache"));
    // One pass is what it reads in any case.
    let (space, state, kernel) = one_kernel("(reduce_sum {axes=[1]} (mul {} x:[4,65536] 0.5))");
    assert_eq!(passes(&space, &state, &kernel), 0.0);
}

#[test]
fn windows_read_what_is_moved_one_by_one() {
    let seconds = |text: &str| {
        let (space, state, kernel) = one_kernel(text);
        scattered::seconds(&space, &state, &kernel)
    };
    let pool = |image: &str| format!("(max_pool2d {{kernel=[3,3]}} {image})");
    assert_eq!(seconds(&pool("(relu {} x:[1,8,64,64])")), 0.0);
    let moved = seconds(&pool("(relu {} (transpose {axes=[0,3,1,2]} x:[1,64,64,8]))"));
    assert!(moved > 0.0);
    // What is moved behind the windows is no matter.
    assert_eq!(seconds(&format!("(transpose {{axes=[0,2,3,1]}} {})", pool("x:[1,8,64,64]"))), 0.0);
}

#[test]
fn images_alone_are_moved_in_tiles() {
    let seconds = |from: &str, to: &str, shape: &str| {
        let (space, state, kernel) = one_kernel(&format!(
            "(relu {{}} (layout_transform {{src_layout=\"{from}\",dst_layout=\"{to}\"}} x:{shape}))"
        ));
        scattered::seconds(&space, &state, &kernel)
    };
    assert_eq!(seconds("NCHW32c", "NCHW", "[1,4,28,28,32]"), 0.0);
    assert_eq!(seconds("NHWC", "NCHW", "[1,28,28,128]"), 0.0);
}
