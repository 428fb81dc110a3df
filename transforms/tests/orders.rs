//! The orders of images, as saturation finds them, and as the remarks names them.

use crate::common::Reader;
use fusion_egraph::extract::rates::Rates;
use fusion_egraph::extract::space::Space;
use fusion_egraph::orders::{CHANNELS_LAST, IN_BLOCKS, Orders, PLAIN};
use fusion_egraph::remarks::ImageOrders;
use fusion_egraph::rules::{Family, Rules};
use fusion_egraph::saturate::{Budget, Open, saturate};
use fusion_machine::Target;

/// The orders of a program's result, before rules of layout and after them, and how often such a rule was applied.
fn orders(text: &str, rule: &str) -> ([Orders; 2], bool) {
    let mut reader = Reader::new(text, 1);
    let root = reader.term();
    let mut graph = reader.graph;
    graph.rebuild();
    let before = graph[root].data.orders;
    let rules = Rules::of(&[Family::Layout, Family::Axes]).unwrap();
    saturate(&mut graph, &rules, Budget::for_nodes(100), &mut Open);
    let applied = graph.analysis.made_by.iter().any(|(_, by)| by.as_str() == rule);
    ([before, graph[root].data.orders], applied)
}

const UNBLOCKED: &str = "(layout_transform {src_layout=\"NCHW32c\",dst_layout=\"NCHW\"} x:[1,2,7,7,32])";

#[test]
fn what_comes_from_outside_lies_as_it_comes() {
    let of = |text: &str| orders(text, "").0[0];
    assert_eq!(of("(relu {} x:[1,64,7,7])"), PLAIN);
    assert_eq!(of("(transpose {axes=[0,3,1,2]} x:[1,7,7,64])"), CHANNELS_LAST);
    assert_eq!(of(&format!("(relu {{}} (add {{}} {UNBLOCKED} c:[64,1,1]))")), IN_BLOCKS);
    assert_eq!(of("(relu {} x:[64,7])"), Orders::default());
}

#[test]
fn a_convolution_that_gains_is_to_be_had_in_several_orders() {
    let ([before, after], applied) =
        orders("(relu {} (conv2d {strides=[2,2]} x:[1,32,14,14] c:[64,32,1,1]))", "conv2d-in-blocks");
    assert!(applied && before == PLAIN);
    assert!([PLAIN, CHANNELS_LAST, IN_BLOCKS].iter().all(|order| after.has(*order)), "{after:?}");
}

#[test]
fn less_gain_is_enough_behind_what_lies_in_the_order() {
    let convolution = |x: &str| format!("(conv2d {{padding=[1,1,1,1]}} {x} c:[64,64,3,3])");
    let applied = |x: &str, rule| orders(&convolution(x), rule).1;
    assert!(!applied("x:[1,64,7,7]", "conv2d-in-blocks"));
    assert!(applied(UNBLOCKED, "conv2d-in-blocks"));
    assert!(!applied(UNBLOCKED, "conv2d-channels-last"), "it lies in blocks");
    // Behind a convolution that gains enough by itself.
    let first = "(conv2d {strides=[2,2]} y:[1,32,14,14] d:[64,32,1,1])";
    let layers = |graph_of: &str| orders(&convolution(graph_of), "conv2d-in-blocks").0[1];
    assert!(layers(first).has(IN_BLOCKS));
    assert_eq!(layers("y:[1,64,7,7]"), PLAIN);
}

/// The names of the orders of a program's values, of the first operand up from the result; "-" for what is no image.
fn named(text: &str) -> Vec<String> {
    let mut reader = Reader::new(text, 1);
    let root = reader.term();
    reader.graph.rebuild();
    let space = Space::of(&reader.graph, &[root], &Rates::of(&Target::default()));
    let orders = ImageOrders::of(&space);
    let below = |class: &usize| space.classes[*class].candidates.first().map(|c| c.operands[0]);
    let name = |class| orders.get(class).map_or("-".to_owned(), |order| order.to_string());
    std::iter::successors(Some(space.roots[0]), below).map(name).collect()
}

#[test]
fn the_remarks_names_orders_by_what_windows_read_and_store() {
    let convolution = |x: &str| {
        format!(
            "(layout_conv2d {{data_layout=\"NHWC\",out_layout=\"NCHW\",padding=[0,0,0,0]}} {x} c:[32,3,1,1])"
        )
    };
    assert_eq!(named(&convolution("x:[1,8,8,3]")), ["NCHW", "NHWC"]);
    assert_eq!(
        named(&format!("(tanh {{}} {})", convolution("(relu {} x:[1,8,8,3])"))),
        ["NCHW", "NCHW", "NHWC", "NHWC"]
    );
    assert_eq!(named("(conv2d {} (add {} y:[1,64,7,7] b:[64,1,1]) c:[32,64,1,1])"), ["NCHW"; 3]);
}

#[test]
fn orders_are_carried_by_changes_both_ways() {
    let pool = |x: &str| format!("(max_pool2d {{kernel=[2,2]}} {x})");
    assert_eq!(named(&pool("(transpose {axes=[0,3,1,2]} x:[1,8,8,3])")), ["NCHW", "NCHW", "NHWC"]);
    assert_eq!(
        named(&format!("(transpose {{axes=[0,2,3,1]}} {})", pool("x:[1,3,8,8]"))),
        ["NHWC", "NCHW", "NCHW"]
    );
    assert_eq!(named(&format!("(concat {{axis=1}} {UNBLOCKED} {UNBLOCKED})")), ["NCHW", "NCHW", "NCHW32c"]);
}

#[test]
fn what_no_window_reads_is_no_image() {
    let heads = "(softmax {} (transpose {axes=[0,2,1,3]} x:[1,7,4,8]))";
    assert_eq!(named(heads), ["-"; 3]);
    // A reshape begins anew.
    assert_eq!(
        named("(conv2d {} (reshape {shape=[1,4,5,5]} x:[1,4,5,5,1]) c:[2,4,1,1])"),
        ["NCHW", "NCHW", "-"]
    );
}
