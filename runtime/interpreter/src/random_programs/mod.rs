//! Random well-typed programs of the whole language, as text, for tests of passes and of other ways to run programs.
//!
//! ```text
//!   seed -> helpers (loops, folds, maps, mutual recursion), then @main(f32, i32, 3xf32) -> a tuple
//! ```
//! An expression of a wanted type is made from what is in scope: operators, tuples, lists, options, closures, branches, matches,
//! cells, loops, calls. Every program ends: recursions count down from at most 4 or go along a list, and helpers call only those
//! made before them. No operation in them can fail. The same seed gives the same text on every machine.

mod expressions;
mod functions;
mod loops;
mod regions;
mod types;

use fusion_operators::random::Random;
use fusion_operators::{DType, Tensor};
use std::fmt::Write;
use types::Ty;

/// What a program may contain.
#[derive(Clone, Copy, Debug)]
pub struct Contents {
    /// Functions with type variables; passes that want one type a function need programs without.
    pub polymorphic: bool,
    /// Cells.
    pub references: bool,
    /// Functions, data types and tuples; without them, programs are models of operators, branches and loops.
    pub language: bool,
    /// About how many operations a function has.
    pub size: usize,
}

impl Default for Contents {
    fn default() -> Self {
        Contents { polymorphic: true, references: true, language: true, size: 40 }
    }
}

/// The program of a seed. `@main` takes [`inputs`].
pub fn program(seed: u64, contents: Contents) -> String {
    let random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(1));
    let mut writer = Writer {
        random,
        contents,
        text: if contents.language { DECLARATIONS.to_owned() } else { String::new() },
        next: 0,
        budget: 0,
        scope: Vec::new(),
        helpers: Vec::new(),
    };
    if contents.language && contents.polymorphic {
        writer.text.push_str(POLYMORPHIC);
    }
    let helpers = if contents.language { 1 + writer.below(4) } else { 0 };
    (0..helpers).for_each(|number| writer.helper(number));
    writer.main();
    writer.text
}

/// Inputs of `@main`.
pub fn inputs(seed: u64) -> Vec<Tensor> {
    let mut random = Random::new(seed ^ 0x5bd1_e995);
    let mut number = |n: u64| (random.next_u64() % n) as i128;
    let scalar = Tensor::from_f64s(DType::F32, &[], &[number(17) as f64 / 4.0 - 2.0]);
    let count = Tensor::from_ints(DType::I32, &[], &[number(7) - 2]);
    let elements: Vec<f64> = (0..3).map(|_| number(17) as f64 / 4.0 - 2.0).collect();
    let vector = Tensor::from_f64s(DType::F32, &[3], &elements);
    [scalar, count, vector].into_iter().flatten().collect()
}

const DECLARATIONS: &str = r#"relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]
relay.data @Option ["a"] [#relay.constructor<"None">, #relay.constructor<"Some", [!relay.var<"a">]>]
"#;

const POLYMORPHIC: &str = r#"func.func private @map(%f: (!relay.var<"a">) -> (!relay.var<"b">), %l: !relay.adt<@List, [!relay.var<"a">]>) -> !relay.adt<@List, [!relay.var<"b">]> attributes {relay.type_params = ["a", "b"]} {
  %r = relay.match %l : (!relay.adt<@List, [!relay.var<"a">]>) -> (!relay.adt<@List, [!relay.var<"b">]>)
  case [@List::@Nil] {
    %0 = relay.construct @List::@Nil() : () -> !relay.adt<@List, [!relay.var<"b">]>
    relay.yield %0 : !relay.adt<@List, [!relay.var<"b">]>
  }
  case [@List::@Cons, "x", "rest"] {
  ^bb0(%x: !relay.var<"a">, %rest: !relay.adt<@List, [!relay.var<"a">]>):
    %y = relay.apply %f(%x) : (!relay.var<"a">) -> (!relay.var<"b">), (!relay.var<"a">) -> (!relay.var<"b">)
    %ys = relay.call @map(%f, %rest) : ((!relay.var<"a">) -> (!relay.var<"b">), !relay.adt<@List, [!relay.var<"a">]>) -> (!relay.adt<@List, [!relay.var<"b">]>)
    %0 = relay.construct @List::@Cons(%y, %ys) : (!relay.var<"b">, !relay.adt<@List, [!relay.var<"b">]>) -> !relay.adt<@List, [!relay.var<"b">]>
    relay.yield %0 : !relay.adt<@List, [!relay.var<"b">]>
  }
  return %r : !relay.adt<@List, [!relay.var<"b">]>
}
func.func private @pair(%x: !relay.var<"a">, %y: !relay.var<"b">) -> tuple<!relay.var<"b">, !relay.var<"a">> attributes {relay.type_params = ["a", "b"]} {
  %0 = relay.tuple %y, %x : (!relay.var<"b">, !relay.var<"a">) -> tuple<!relay.var<"b">, !relay.var<"a">>
  return %0 : tuple<!relay.var<"b">, !relay.var<"a">>
}
"#;

struct Writer {
    random: Random,
    contents: Contents,
    text: String,
    next: usize,
    budget: usize,
    scope: Vec<(String, Ty)>,
    /// Functions made so far: their names, inputs and results. An integer first is a count from 4 down.
    helpers: Vec<(String, Vec<Ty>, Ty)>,
}

impl Writer {
    fn below(&mut self, n: usize) -> usize {
        (self.random.next_u64() % n.max(1) as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// An operation of one result.
    fn op(&mut self, what: &str) -> String {
        let name = self.name();
        self.budget = self.budget.saturating_sub(1);
        let _ = writeln!(self.text, "{name} = {what}");
        name
    }
}
