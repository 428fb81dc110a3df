//! Numbers while rules are applied: constants are exact and bounded, rules end, contradictions are seen.

use crate::common::Reader;
use egg::Id;
use fusion_egraph::analysis::{Facts, Graph};
use fusion_egraph::language::{Constant, Head, Node};
use fusion_egraph::rule::{Rule, rule};
use fusion_egraph::rules::{Family, Rules};
use fusion_egraph::saturate::{Budget, Open, Stop, saturate};
use fusion_operators::{DType, TensorType};

fn all() -> Rules {
    let families: Vec<Family> = Family::ALL.iter().map(|(family, _)| *family).collect();
    Rules::of(&families).unwrap()
}

/// Applies a rule wherever its left side is.
fn apply(reader: &mut Reader, rule: Rule) -> usize {
    let ready = rule.build().unwrap();
    reader.graph.rebuild();
    let found = ready.search(&reader.graph, 100);
    let applied = found
        .into_iter()
        .filter(|(class, subst)| ready.apply(&mut reader.graph, *class, subst.clone()).is_some());
    let applied = applied.count();
    reader.graph.rebuild();
    applied
}

fn named(name: &str) -> Rule {
    let all = Family::ALL.iter().flat_map(|(family, _)| family.rules());
    all.into_iter().find(|rule| rule.name == name).unwrap()
}

/// The constants of a class, as numbers.
fn constants(graph: &Graph) -> Vec<f64> {
    let nodes = graph.classes().flat_map(|class| class.nodes.iter());
    let number = |node: &Node| match &node.head {
        Head::Constant(constant) => constant.splat(),
        _ => None,
    };
    nodes.filter_map(number).collect()
}

#[test]
fn saturation_ends_on_programs_that_repeat_a_constant() {
    let rules = all();
    for text in [
        "(mul {} (mul {} (div {} x:[4] 0.1) 0.1) 0.1)",
        "(div {} (add {} (mul {} x:[2,3,4] 0.02) (mul {} x:[2,3,4] 0.02)) 0.02)",
        "(div {} (add {} (div {} (mul {} x:[2,3,4] 0.5) 0.5) 2.0) 2.0)",
        "(mul {} (add {} (mul {} x:[4] 1e-12) (mul {} (mul {} x:[4] 1e12) 1e-12)) 1e12)",
    ] {
        let mut reader = Reader::new(text, 1);
        reader.term();
        reader.graph.analysis.most_parts = Some(6);
        let budget = Budget { rounds: 40, ..Budget::for_nodes(reader.graph.total_number_of_nodes()) };
        let report = saturate(&mut reader.graph, &rules, budget, &mut Open);
        assert_eq!(report.stop, Stop::Saturated, "{text}: {} nodes", report.nodes);
        assert!(report.nodes < 300, "{text}: {} nodes", report.nodes);
    }
}

#[test]
fn constants_that_rules_make_are_rounded_once() {
    let mut reader = Reader::new("(mul {} (mul {} (mul {} x:[a] 0.1) 0.7) 0.3)", 1);
    let root = reader.term();
    saturate(&mut reader.graph, &all(), Budget::for_nodes(20), &mut Open);
    let (tenth, seven, three) = (f64::from(0.1f32), f64::from(0.7f32), f64::from(0.3f32));
    let product = |node: &Node| node.children.get(2).and_then(|&c| reader.graph[c].data.constant.clone());
    let root = reader.graph.find(root);
    let made: Vec<Constant> = reader.graph[root].nodes.iter().filter_map(product).collect();
    let once = made.iter().find(|c| matches!(c, Constant::Exact { .. })).expect("an exact product");
    // The exact product has 72 bits; f64 holds that of two of them.
    assert_eq!(once.scalar().unwrap().f64_at(0) as f32, (tenth * seven * three) as f32);
}

#[test]
fn a_constant_that_is_no_normal_number_is_not_made() {
    for (text, name) in [
        ("(mul {} (mul {} x:[a] 1e-30) 1e-30)", "mul-constants"),
        ("(mul {} (mul {} x:[a] 1e30) 1e30)", "mul-constants"),
        ("(add {} (add {} (exp {} x:[a]) 3e38) 3e38)", "add-constants"),
        // The reciprocal of the greatest power of two is denormal.
        ("(div {} x:[a] 1.7014118346046923e38)", "div-constant"),
    ] {
        let mut reader = Reader::new(text, 1);
        reader.term();
        let before = constants(&reader.graph);
        assert_eq!(apply(&mut reader, named(name)), 0, "{text}");
        assert_eq!(constants(&reader.graph), before, "{text}");
    }
}

#[test]
fn a_quotient_by_a_number_stays_one() {
    for (text, applies) in [
        ("(div {} x:[a] 3.0)", 0),
        ("(div {} x:[a] 0.1)", 0),
        ("(div {} x:[a] 0.0)", 0),
        ("(div {} x:[a] 0.125)", 1),
        ("(div {} x:[a] -4.0)", 1),
    ] {
        let mut reader = Reader::new(text, 1);
        reader.term();
        assert_eq!(apply(&mut reader, named("div-constant")), applies, "{text}");
    }
}

#[test]
fn sums_of_constants_that_cancel_are_left() {
    let applied = |text| {
        let mut reader = Reader::new(text, 1);
        reader.term();
        apply(&mut reader, named("add-constants"))
    };
    // Adding and taking off 1.5 2^23 rounds to an integer.
    assert_eq!(applied("(add {} (add {} (exp {} x:[a]) 12582912.0) -12582912.0)"), 0);
    assert_eq!(applied("(add {} (add {} (exp {} x:[a]) 3.0) 0.5)"), 1);
}

#[test]
fn exponentials_over_their_sum_are_a_softmax_where_no_logit_is_infinity() {
    for (logits, applies) in [
        ("x:[a,b]", 0),
        ("(neg {} x:[a,b])", 0),
        ("(mul {} (exp {} x:[a,b]) 2.0)", 0),
        ("(tanh {} x:[a,b])", 1),
        ("(neg {} (exp {} x:[a,b]))", 1),
        ("(minimum {} x:[a,b] 40.0)", 1),
        ("(mul {} (clip {min=-3.0,max=3.0} x:[a,b]) 0.5)", 1),
        ("(sub {} x:[a,b] (reduce_max {axes=[1],keepdims=true} x:[a,b]))", 1),
    ] {
        let text = format!(
            "(div {{}} (exp {{}} {logits}) (reduce_sum {{axes=[0],keepdims=true}} (exp {{}} {logits})))"
        );
        let mut reader = Reader::new(&text, 1);
        reader.term();
        assert_eq!(apply(&mut reader, named("softmax-unshifted")), applies, "{text}");
    }
}

#[test]
fn what_is_exact_is_not_distributed() {
    let applied = |text| {
        let mut reader = Reader::new(text, 1);
        reader.term();
        apply(&mut reader, named("scale-of-shifted"))
    };
    // Where x is the constant's negative, x d - c d would be what is left of two roundings.
    assert_eq!(applied("(mul {} (add {} x:[a] -0.3) 0.7)"), 0);
    assert_eq!(applied("(mul {} (add {} (relu {} x:[a]) -0.3) 0.7)"), 0);
    assert_eq!(applied("(mul {} (add {} (exp {} x:[a]) -0.3) 0.7)"), 1);
}

#[test]
fn a_constant_has_no_more_parts_than_the_program_has_operations() {
    let mut reader = Reader::new("(mul {} (mul {} (mul {} x:[a] 3.0) 5.0) 7.0)", 1);
    reader.term();
    reader.graph.analysis.most_parts = Some(2);
    saturate(&mut reader.graph, &all(), Budget::for_nodes(20), &mut Open);
    let made = constants(&reader.graph);
    assert!(made.contains(&15.0) && made.contains(&35.0) && !made.contains(&105.0), "{made:?}");
    let parts = reader.graph.classes().map(|class| class.data.parts).max();
    assert_eq!(parts, Some(2));
}

#[test]
fn wrong_rules_are_contradictions() {
    let wrong = [
        rule("halves", "x / y = x y", "(div ?a ?x ?y)", "(mul ?a ?x ?y)"),
        rule("forgets", "x + y = x", "(add ?a ?x ?y)", "?x"),
        rule("root-of-square", "sqrt (x x) = x", "(sqrt ?a (mul ?b ?x ?x))", "?x")
            .when("floats", |m| Some(m.ty("?x")?.dtype.is_float())),
        rule("sum-as-mean", "sum x = mean x", "(reduce_sum ?a ?x)", "(reduce_mean ?a ?x)")
            .when("floats", |m| Some(m.ty("?x")?.dtype.is_float())),
        rule("turned", "x y = y' x", "(matmul ?a ?x ?y)", "(matmul ?a ?x (mul ?a ?y ?y))"),
    ];
    let texts = [
        "(div {} x:[a] 3.0)",
        "(add {} x:[a] y:[a])",
        "(sqrt {} (mul {} x:[a] x:[a]))",
        "(reduce_sum {axes=[0]} x:[4,a])",
        "(matmul {} x:[a,b] c:[b,b])",
    ];
    for (rule, text) in wrong.into_iter().zip(texts) {
        let name = rule.name;
        let mut reader = Reader::new(text, 1);
        reader.term();
        assert!(apply(&mut reader, rule) > 0, "{name} does not apply to {text}");
        let found = reader.graph.analysis.contradiction.clone();
        let found = found.unwrap_or_else(|| panic!("{name} is taken for right on {text}"));
        assert_eq!(found.rule.map(|rule| rule.to_string()), Some(name.to_owned()));
        assert!(found.rules(&reader.graph).contains(&name.to_owned()));
    }
}

#[test]
fn a_contradiction_ends_saturation() {
    let mut reader = Reader::new("(add {} (mul {} x:[a] 2.0) y:[a])", 1);
    let root = reader.term();
    let other: Id = reader.graph.add(Node::number(7.0, &TensorType::fixed(&[], DType::F32)).unwrap());
    let six = reader.graph.add(Node::number(6.0, &TensorType::fixed(&[], DType::F32)).unwrap());
    reader.graph.union(other, six);
    let report = saturate(&mut reader.graph, &all(), Budget::for_nodes(20), &mut Open);
    assert_eq!(report.stop, Stop::Contradiction);
    assert!(!reader.graph[root].nodes.is_empty());
}

#[test]
fn types_that_differ_are_a_contradiction() {
    let mut graph = Graph::new(Facts::default());
    let [a, b] = [DType::F32, DType::F16]
        .map(|dtype| graph.add(Node::number(1.0, &TensorType::fixed(&[], dtype)).unwrap()));
    graph.union(a, b);
    let found = graph.analysis.contradiction.clone().expect("a contradiction");
    assert!(found.differs.contains("f32") && found.differs.contains("f16"), "{}", found.differs);
}
