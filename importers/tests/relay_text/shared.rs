//! Graph variables that blocks share: wherever they are written first, they are read, and come back.

use super::{read, round_trip};
use fusion_operators::random::{Random, seeds};
use std::fmt::Write as _;

/// Writes functions whose nodes are used anywhere behind the place they are written at.
struct Nodes {
    random: Random,
    count: usize,
}

impl Nodes {
    fn below(&mut self, bound: usize) -> usize {
        (self.random.next_u64() % bound as u64) as usize
    }

    /// A parameter or any node written so far, in whatever block.
    fn value(&mut self) -> String {
        match self.below(self.count + 2) {
            0 => "%x".into(),
            1 => "%y".into(),
            node => format!("%{}", node - 2),
        }
    }

    fn expr(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 2 } else { 6 }) {
            0 => format!("multiply({}, {})", self.value(), self.value()),
            1 => format!("add({}, {})", self.value(), self.value()),
            2 | 3 => {
                let (then, other) = (self.block(depth - 1), self.block(depth - 1));
                format!("if (%c) {{ {then} }} else {{ {other} }}")
            }
            4 => {
                let body = self.block(depth - 1);
                format!("(fn () {{ {body} }})()")
            }
            _ => format!("({{ {} }})", self.block(depth - 1)),
        }
    }

    fn block(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(3) {
            let value = self.expr(depth.saturating_sub(1));
            write!(text, "%{} = {value}; ", self.count).expect("a string takes all");
            self.count += 1;
        }
        text.push_str(&self.expr(depth));
        text
    }
}

#[test]
fn shared_nodes_come_back() {
    for seed in seeds(300) {
        let mut nodes = Nodes { random: Random::new(seed), count: 0 };
        let body = nodes.block(4);
        round_trip(&format!("def @main(%x: float32, %y: float32, %c: bool) -> float32 {{ {body} }}"));
    }
}

#[test]
fn a_node_is_evaluated_where_it_is_needed() {
    let (ir, _) = read("def @main(%x: float32, %c: bool) { %0 = exp(%x); if (%c) { %0 } else { log(%x) } }")
        .expect("it is read");
    let (exp, branch) = (ir.find("relay.exp"), ir.find("relay.if"));
    assert!(exp.is_some() && exp > branch, "{ir}");
    let (ir, _) = read("def @main(%x: float32, %c: bool) { if (%c) { %0 = exp(%x); %0 } else { log(%0) } }")
        .expect("it is read");
    assert_eq!(ir.matches("relay.exp").count(), 1, "{ir}");
    assert!(ir.find("relay.exp") < ir.find("relay.if"), "{ir}");
}

#[test]
fn nodes_do_not_nest_deeper_than_brackets_may() {
    let mut text = String::from("def @main(%x: float32) -> float32 { %0 = fn () { %x }; ");
    for i in 1..2000 {
        write!(text, "%{i} = fn () {{ %{}() }}; ", i - 1).expect("a string takes all");
    }
    text.push_str("%1999() }");
    read(&text).unwrap_or_else(|e| panic!("{e}"));
}
