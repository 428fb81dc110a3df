//! Random well-typed programs of the whole language, as text, for tests of passes and of other ways to run programs.
//!
//! ```text
//!   seed -> helpers (loops, folds, maps, mutual recursion), then @main(f32, i32, 3xf32) -> a tuple
//! ```
//! An expression of a wanted type is made from what is in scope: operators, tuples, lists, options, closures, branches, matches,
//! cells, loops, calls. Every program ends: recursions count down from at most 4 or go along a list, and helpers call only those
//! made before them. No operation in them can fail. The same seed gives the same text on every machine.

use fusion_operators::random::Random;
use fusion_operators::{DType, Tensor};
use std::fmt::Write;

/// What a program may contain.
#[derive(Clone, Copy, Debug)]
pub struct Contents {
    /// Functions with type variables; passes that want one type a function need programs without.
    pub polymorphic: bool,
    /// Cells.
    pub references: bool,
    /// About how many operations a function has.
    pub size: usize,
}

impl Default for Contents {
    fn default() -> Self {
        Contents { polymorphic: true, references: true, size: 40 }
    }
}

/// The program of a seed. `@main` takes [`inputs`].
pub fn program(seed: u64, contents: Contents) -> String {
    let random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(1));
    let mut writer = Writer {
        random,
        contents,
        text: DECLARATIONS.to_owned(),
        next: 0,
        budget: 0,
        scope: Vec::new(),
        helpers: Vec::new(),
    };
    if contents.polymorphic {
        writer.text.push_str(POLYMORPHIC);
    }
    for number in 0..1 + writer.below(4) {
        writer.helper(number);
    }
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

/// A type.
#[derive(Clone, PartialEq)]
enum Ty {
    Float,
    Int,
    Bool,
    Vector,
    Tuple(Vec<Ty>),
    List(Box<Ty>),
    Option(Box<Ty>),
    Function(Vec<Ty>, Box<Ty>),
    Ref(Box<Ty>),
}

impl Ty {
    fn text(&self) -> String {
        match self {
            Ty::Float => "tensor<f32>".into(),
            Ty::Int => "tensor<i32>".into(),
            Ty::Bool => "tensor<i1>".into(),
            Ty::Vector => "tensor<3xf32>".into(),
            Ty::Tuple(parts) => format!("tuple<{}>", texts(parts)),
            Ty::List(of) => format!("!relay.adt<@List, [{}]>", of.text()),
            Ty::Option(of) => format!("!relay.adt<@Option, [{}]>", of.text()),
            Ty::Function(inputs, result) => format!("({}) -> ({})", texts(inputs), result.text()),
            Ty::Ref(of) => format!("!relay.ref<{}>", of.text()),
        }
    }
}

impl Ty {
    fn has_function(&self) -> bool {
        match self {
            Ty::Function(..) => true,
            Ty::Tuple(parts) => parts.iter().any(Ty::has_function),
            Ty::List(of) | Ty::Option(of) | Ty::Ref(of) => of.has_function(),
            Ty::Float | Ty::Int | Ty::Bool | Ty::Vector => false,
        }
    }
}

fn texts(types: &[Ty]) -> String {
    types.iter().map(Ty::text).collect::<Vec<_>>().join(", ")
}

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

    /// A type; tensors most of the time.
    fn ty(&mut self, depth: usize) -> Ty {
        let sorts = if depth == 0 { 4 } else { 10 };
        match self.below(sorts) {
            0 | 4 => Ty::Float,
            1 => Ty::Int,
            2 => Ty::Bool,
            3 => Ty::Vector,
            5 => {
                let count = 1 + self.below(3);
                Ty::Tuple((0..count).map(|_| self.ty(depth - 1)).collect())
            }
            6 => Ty::List(Box::new(self.ty(depth - 1))),
            7 => Ty::Option(Box::new(self.ty(depth - 1))),
            8 if self.contents.references => Ty::Ref(Box::new(self.ty(depth - 1))),
            _ => Ty::Function(vec![self.ty(0)], Box::new(self.ty(depth - 1))),
        }
    }

    /// A type whose values look the same whatever functions are made of.
    fn shown(&mut self) -> Ty {
        loop {
            let ty = self.ty(2);
            if !ty.has_function() {
                return ty;
            }
        }
    }

    fn known(&mut self, ty: &Ty) -> Option<String> {
        let found: Vec<String> = self.scope.iter().filter(|(_, t)| t == ty).map(|(n, _)| n.clone()).collect();
        if found.is_empty() { None } else { Some(found[self.below(found.len())].clone()) }
    }

    /// A value without operands, or nearly so.
    fn leaf(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Float => {
                let number = self.below(9) as f64 / 2.0 - 2.0;
                self.op(&format!("relay.constant dense<{number:?}> : tensor<f32>"))
            }
            Ty::Int => {
                let number = self.below(6) as i64 - 1;
                self.op(&format!("relay.constant dense<{number}> : tensor<i32>"))
            }
            Ty::Bool => {
                let truth = self.one_in(2);
                self.op(&format!("relay.constant dense<{truth}> : tensor<i1>"))
            }
            Ty::Vector => {
                let number = self.below(5) as f64 - 2.0;
                self.op(&format!("relay.constant dense<[{number:?}, 0.5, 1.0]> : tensor<3xf32>"))
            }
            Ty::Tuple(parts) => {
                let values: Vec<String> = parts.iter().map(|part| self.leaf(part)).collect();
                self.tuple(&values, ty, parts)
            }
            Ty::List(_) => self.op(&format!("relay.construct @List::@Nil() : () -> {}", ty.text())),
            Ty::Option(_) => self.op(&format!("relay.construct @Option::@None() : () -> {}", ty.text())),
            Ty::Function(inputs, result) => self.closure(ty, inputs, result, 0),
            Ty::Ref(of) => {
                let value = self.leaf(of);
                self.op(&format!("relay.ref.new {value} : {} -> {}", of.text(), ty.text()))
            }
        }
    }

    fn tuple(&mut self, values: &[String], ty: &Ty, parts: &[Ty]) -> String {
        self.op(&format!("relay.tuple {} : ({}) -> {}", values.join(", "), texts(parts), ty.text()))
    }

    /// A region: its operations, then a yield of that type.
    fn region(&mut self, parameters: &[(String, Ty)], ty: &Ty, depth: usize) {
        let mark = self.scope.len();
        if !parameters.is_empty() {
            let texts: Vec<String> = parameters.iter().map(|(n, t)| format!("{n}: {}", t.text())).collect();
            self.line(&format!("^bb0({}):", texts.join(", ")));
            self.scope.extend(parameters.iter().cloned());
        }
        self.statement(depth);
        let value = self.expression(ty, depth);
        self.line(&format!("relay.yield {value} : {}", ty.text()));
        self.scope.truncate(mark);
    }

    fn parameters(&mut self, types: &[Ty]) -> Vec<(String, Ty)> {
        types.iter().map(|ty| (self.name(), ty.clone())).collect()
    }

    fn closure(&mut self, ty: &Ty, inputs: &[Ty], result: &Ty, depth: usize) -> String {
        let name = self.name();
        self.line(&format!("{name} = relay.fn {{"));
        let parameters = self.parameters(inputs);
        self.region(&parameters, result, depth);
        self.line(&format!("}} : {}", ty.text()));
        name
    }

    /// Something whose value nobody has to use.
    fn statement(&mut self, depth: usize) {
        if depth == 0 || self.budget == 0 || !self.one_in(3) {
            return;
        }
        let cells: Vec<(String, Ty)> =
            self.scope.iter().filter(|(_, ty)| matches!(ty, Ty::Ref(_))).cloned().collect();
        if !cells.is_empty() && !self.one_in(3) {
            let (cell, ty) = cells[self.below(cells.len())].clone();
            if let Ty::Ref(of) = &ty {
                let value = self.expression(of, depth - 1);
                self.line(&format!("relay.ref.write {cell}, {value} : {}, {}", ty.text(), of.text()));
            }
            return;
        }
        let ty = self.ty(2);
        let value = self.expression(&ty, depth - 1);
        self.scope.push((value, ty));
    }

    /// A value of a type.
    fn expression(&mut self, ty: &Ty, depth: usize) -> String {
        if depth == 0 || self.budget == 0 {
            let known = self.known(ty);
            return known.unwrap_or_else(|| self.leaf(ty));
        }
        self.budget = self.budget.saturating_sub(1);
        let depth = depth - 1;
        match self.below(14) {
            0 => self.branch(ty, depth),
            1 => self.match_list(ty, depth),
            2 => self.match_option(ty, depth),
            3 => self.match_tuple(ty, depth),
            4 => {
                let inputs = vec![self.ty(1)];
                let function = Ty::Function(inputs.clone(), Box::new(ty.clone()));
                let callee = self.expression(&function, depth);
                self.apply(&callee, &function, &inputs, ty, depth)
            }
            5 | 6 => self.call(ty, depth).unwrap_or_else(|| self.made(ty, depth)),
            7 => match self.known(&Ty::Ref(Box::new(ty.clone()))) {
                Some(cell) => self.read(&cell, ty),
                None if self.contents.references => {
                    let value = self.expression(ty, depth);
                    let of = Ty::Ref(Box::new(ty.clone())).text();
                    let cell = self.op(&format!("relay.ref.new {value} : {} -> {of}", ty.text()));
                    self.scope.push((cell.clone(), Ty::Ref(Box::new(ty.clone()))));
                    self.statement(depth);
                    self.read(&cell, ty)
                }
                None => self.made(ty, depth),
            },
            8 => self.local_loop(ty, depth),
            9 => self.while_loop(ty, depth),
            10 => {
                let other = self.ty(1);
                let tuple = Ty::Tuple(vec![other, ty.clone()]);
                let value = self.expression(&tuple, depth);
                self.op(&format!("relay.get {value}[1] : {} -> {}", tuple.text(), ty.text()))
            }
            11 => self.known(ty).unwrap_or_else(|| self.made(ty, depth)),
            _ => self.made(ty, depth),
        }
    }

    fn read(&mut self, cell: &str, ty: &Ty) -> String {
        let of = Ty::Ref(Box::new(ty.clone())).text();
        self.op(&format!("relay.ref.read {cell} : {of} -> {}", ty.text()))
    }

    fn apply(&mut self, callee: &str, function: &Ty, inputs: &[Ty], ty: &Ty, depth: usize) -> String {
        let given: Vec<String> = inputs.iter().map(|input| self.expression(input, depth)).collect();
        self.op(&format!(
            "relay.apply {callee}({}) : {}, ({}) -> ({})",
            given.join(", "),
            function.text(),
            texts(inputs),
            ty.text()
        ))
    }

    /// What makes a value of that very type.
    fn made(&mut self, ty: &Ty, depth: usize) -> String {
        match ty {
            Ty::Float | Ty::Int | Ty::Vector => {
                let text = ty.text();
                if *ty == Ty::Float && self.one_in(5) {
                    let x = self.expression(&Ty::Vector, depth);
                    return self.op(&format!(
                        "relay.reduce_sum {x} {{axes = array<i64: 0>}} : (tensor<3xf32>) -> tensor<f32>"
                    ));
                }
                let a = self.expression(ty, depth);
                if self.one_in(5) {
                    return self.op(&format!("relay.neg {a} : ({text}) -> {text}"));
                }
                let other = if *ty == Ty::Vector && self.one_in(3) { Ty::Float } else { ty.clone() };
                let b = self.expression(&other, depth);
                let name = ["add", "sub", "mul", "maximum", "minimum"][self.below(5)];
                let value = self.op(&format!("relay.{name} {a}, {b} : ({text}, {}) -> {text}", other.text()));
                if name != "mul" || *ty == Ty::Int {
                    return value;
                }
                // Products of products stay in range.
                let most = self.op("relay.constant dense<64.0> : tensor<f32>");
                let value =
                    self.op(&format!("relay.minimum {value}, {most} : ({text}, tensor<f32>) -> {text}"));
                let least = self.op("relay.constant dense<-64.0> : tensor<f32>");
                self.op(&format!("relay.maximum {value}, {least} : ({text}, tensor<f32>) -> {text}"))
            }
            Ty::Bool => {
                let of = if self.one_in(2) { Ty::Float } else { Ty::Int };
                let (a, b) = (self.expression(&of, depth), self.expression(&of, depth));
                let name = ["less", "less_equal", "equal"][self.below(3)];
                let of = of.text();
                self.op(&format!("relay.{name} {a}, {b} : ({of}, {of}) -> tensor<i1>"))
            }
            Ty::Tuple(parts) => {
                let values: Vec<String> = parts.iter().map(|part| self.expression(part, depth)).collect();
                self.tuple(&values, ty, parts)
            }
            Ty::List(of) => {
                let rest = self.expression(ty, depth);
                let first = self.expression(of, depth);
                let (of, ty) = (of.text(), ty.text());
                self.op(&format!("relay.construct @List::@Cons({first}, {rest}) : ({of}, {ty}) -> {ty}"))
            }
            Ty::Option(of) => {
                let value = self.expression(of, depth);
                self.op(&format!(
                    "relay.construct @Option::@Some({value}) : ({}) -> {}",
                    of.text(),
                    ty.text()
                ))
            }
            Ty::Function(inputs, result) => self.closure(ty, inputs, result, depth),
            Ty::Ref(of) => {
                let value = self.expression(of, depth);
                self.op(&format!("relay.ref.new {value} : {} -> {}", of.text(), ty.text()))
            }
        }
    }

    fn branch(&mut self, ty: &Ty, depth: usize) -> String {
        let condition = self.expression(&Ty::Bool, depth);
        let name = self.name();
        self.line(&format!("{name} = relay.if {condition} {{"));
        self.region(&[], ty, depth);
        self.line("} else {");
        self.region(&[], ty, depth);
        self.line(&format!("}} : (tensor<i1>) -> ({})", ty.text()));
        name
    }

    fn clause(&mut self, pattern: &str, bound: &[Ty], ty: &Ty, depth: usize) {
        self.line(&format!("case {pattern} {{"));
        let parameters = self.parameters(bound);
        self.region(&parameters, ty, depth);
        self.line("}");
    }

    fn begin_match(&mut self, of: &Ty, ty: &Ty, depth: usize) -> String {
        let value = self.expression(of, depth);
        let name = self.name();
        self.line(&format!("{name} = relay.match {value} : ({}) -> ({})", of.text(), ty.text()));
        name
    }

    fn match_list(&mut self, ty: &Ty, depth: usize) -> String {
        let element = self.ty(1);
        let list = Ty::List(Box::new(element.clone()));
        let name = self.begin_match(&list, ty, depth);
        match self.below(3) {
            0 => {
                let bound = [element, list];
                self.clause(r#"[@List::@Cons, "_", [@List::@Cons, "x", "rest"]]"#, &bound, ty, depth);
                self.clause(r#""whole""#, &bound[1..], ty, depth);
            }
            1 => {
                self.clause("[@List::@Nil]", &[], ty, depth);
                self.clause(r#"[@List::@Cons, "x", "_"]"#, &[element], ty, depth);
            }
            _ => {
                self.clause(
                    r#"[@List::@Cons, "x", [@List::@Nil]]"#,
                    std::slice::from_ref(&element),
                    ty,
                    depth,
                );
                self.clause(r#"[@List::@Cons, "x", "rest"]"#, &[element, list], ty, depth);
                self.clause(r#""_""#, &[], ty, depth);
            }
        }
        name
    }

    fn match_option(&mut self, ty: &Ty, depth: usize) -> String {
        let of = self.ty(1);
        let name = self.begin_match(&Ty::Option(Box::new(of.clone())), ty, depth);
        self.clause(r#"[@Option::@Some, "x"]"#, &[of], ty, depth);
        self.clause("[@Option::@None]", &[], ty, depth);
        name
    }

    fn match_tuple(&mut self, ty: &Ty, depth: usize) -> String {
        let (a, b) = (self.ty(1), self.ty(0));
        let option = Ty::Option(Box::new(a.clone()));
        let name = self.begin_match(&Ty::Tuple(vec![option.clone(), b.clone()]), ty, depth);
        self.clause(r#"[[@Option::@Some, "x"], "y"]"#, &[a, b.clone()], ty, depth);
        self.clause(r#"["o", "y"]"#, &[option, b], ty, depth);
        name
    }

    /// A call of a helper or of a polymorphic function.
    fn call(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        if self.contents.polymorphic
            && let Ty::List(to) = ty
            && self.one_in(2)
        {
            let from = self.ty(1);
            let function = Ty::Function(vec![from.clone()], to.clone());
            let list = Ty::List(Box::new(from));
            let (f, l) = (self.expression(&function, depth), self.expression(&list, depth));
            let types = texts(&[function, list]);
            return Some(self.op(&format!("relay.call @map({f}, {l}) : ({types}) -> ({})", ty.text())));
        }
        if self.contents.polymorphic
            && let Ty::Tuple(parts) = ty
            && let [b, a] = &parts[..]
        {
            let (x, y) = (self.expression(a, depth), self.expression(b, depth));
            let types = texts(&[a.clone(), b.clone()]);
            return Some(self.op(&format!("relay.call @pair({x}, {y}) : ({types}) -> ({})", ty.text())));
        }
        let fitting: Vec<_> = self.helpers.iter().filter(|(_, _, result)| result == ty).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let (name, inputs, _) = fitting[self.below(fitting.len())].clone();
        let as_value = inputs.len() == 1 && inputs[0] != Ty::Int && self.one_in(2);
        if as_value {
            let function = Ty::Function(inputs.clone(), Box::new(ty.clone()));
            let callee = self.op(&format!("relay.global @{name} : {}", function.text()));
            return Some(self.apply(&callee, &function, &inputs, ty, depth));
        }
        let given: Vec<String> = inputs
            .iter()
            .enumerate()
            .map(|(at, input)| match input {
                Ty::Int if at == 0 => self.count(depth),
                input => self.expression(input, depth),
            })
            .collect();
        let call =
            format!("relay.call @{name}({}) : ({}) -> ({})", given.join(", "), texts(&inputs), ty.text());
        Some(self.op(&call))
    }

    /// An integer of at most 4.
    fn count(&mut self, depth: usize) -> String {
        let value = self.expression(&Ty::Int, depth.min(1));
        let most = self.op("relay.constant dense<4> : tensor<i32>");
        self.op(&format!("relay.minimum {value}, {most} : (tensor<i32>, tensor<i32>) -> tensor<i32>"))
    }

    fn ended(&mut self, count: &str) -> String {
        let zero = self.op("relay.constant dense<0> : tensor<i32>");
        self.op(&format!("relay.less_equal {count}, {zero} : (tensor<i32>, tensor<i32>) -> tensor<i1>"))
    }

    fn less_one(&mut self, count: &str) -> String {
        let one = self.op("relay.constant dense<1> : tensor<i32>");
        self.op(&format!("relay.sub {count}, {one} : (tensor<i32>, tensor<i32>) -> tensor<i32>"))
    }

    /// `if count <= 0 { state } else { again(count - 1, next state) }`, perhaps with something done afterwards.
    fn countdown(
        &mut self,
        again: &dyn Fn(&str, &str) -> String,
        count: &str,
        state: &str,
        ty: &Ty,
        depth: usize,
    ) -> String {
        let done = self.ended(count);
        let name = self.name();
        self.line(&format!("{name} = relay.if {done} {{"));
        self.line(&format!("relay.yield {state} : {}", ty.text()));
        self.line("} else {");
        let mark = self.scope.len();
        self.statement(depth);
        let next = self.expression(ty, depth);
        let less = self.less_one(count);
        let mut result = self.op(&again(&less, &next));
        if self.one_in(3) {
            self.scope.push((result.clone(), ty.clone()));
            result = self.expression(ty, depth);
        }
        self.line(&format!("relay.yield {result} : {}", ty.text()));
        self.line(&format!("}} : (tensor<i1>) -> ({})", ty.text()));
        self.scope.truncate(mark);
        name
    }

    /// A closure that calls itself.
    fn local_loop(&mut self, ty: &Ty, depth: usize) -> String {
        let inputs = vec![Ty::Int, ty.clone()];
        let function = Ty::Function(inputs.clone(), Box::new(ty.clone()));
        let closure = self.name();
        self.line(&format!("{closure} = relay.fn attributes {{relay.recursive}} {{"));
        let (own, mark) = (self.name(), self.scope.len());
        let parameters = self.parameters(&inputs);
        let (count, state) = (parameters[0].0.clone(), parameters[1].0.clone());
        self.line(&format!(
            "^bb0({own}: {}, {count}: tensor<i32>, {state}: {}):",
            function.text(),
            ty.text()
        ));
        self.scope.extend(parameters);
        let (shown, result) = (function.text(), ty.text());
        let again = |less: &str, next: &str| {
            format!("relay.apply {own}({less}, {next}) : {shown}, (tensor<i32>, {result}) -> ({result})")
        };
        let value = self.countdown(&again, &count, &state, ty, depth.min(2));
        self.line(&format!("relay.yield {value} : {}", ty.text()));
        self.scope.truncate(mark);
        self.line(&format!("}} : {}", function.text()));
        let count = self.count(depth);
        let start = self.expression(ty, depth);
        self.op(&format!(
            "relay.apply {closure}({count}, {start}) : {}, (tensor<i32>, {}) -> ({})",
            function.text(),
            ty.text(),
            ty.text()
        ))
    }

    fn while_loop(&mut self, ty: &Ty, depth: usize) -> String {
        let count = self.count(depth);
        let start = self.expression(ty, depth);
        let name = self.name();
        let state = [Ty::Int, ty.clone()];
        self.line(&format!("{name}:2 = relay.while ({count}, {start}) {{"));
        let own = self.parameters(&state);
        self.line(&format!("^bb0({}: tensor<i32>, {}: {}):", own[0].0, own[1].0, ty.text()));
        let zero = self.op("relay.constant dense<0> : tensor<i32>");
        let more =
            self.op(&format!("relay.less {zero}, {} : (tensor<i32>, tensor<i32>) -> tensor<i1>", own[0].0));
        self.line(&format!("relay.yield {more} : tensor<i1>"));
        self.line("} do {");
        let own = self.parameters(&state);
        self.line(&format!("^bb0({}: tensor<i32>, {}: {}):", own[0].0, own[1].0, ty.text()));
        let mark = self.scope.len();
        self.scope.extend(own.iter().cloned());
        self.statement(depth);
        let next = self.expression(ty, depth.min(2));
        let less = self.less_one(&own[0].0);
        self.line(&format!("relay.yield {less}, {next} : tensor<i32>, {}", ty.text()));
        self.scope.truncate(mark);
        let types = texts(&state);
        self.line(&format!("}} : ({types}) -> ({types})"));
        format!("{name}#1")
    }

    /// A function of the module.
    fn helper(&mut self, number: usize) {
        self.scope.clear();
        self.budget = self.contents.size;
        let result = self.ty(2);
        let name = format!("helper{number}");
        match self.below(4) {
            0 => {
                let input = self.ty(2);
                let inputs = vec![if input == Ty::Int { Ty::Float } else { input }];
                let parameters = self.begin(&name, &inputs, &result);
                self.scope.extend(parameters);
                self.statement(3);
                let value = self.expression(&result, 4);
                self.finish(&value, &result);
                self.helpers.push((name, inputs, result));
            }
            1 => {
                let inputs = vec![Ty::Int, result.clone()];
                let parameters = self.begin(&name, &inputs, &result);
                self.scope.extend(parameters.clone());
                let (count, state) = (parameters[0].0.clone(), parameters[1].0.clone());
                let shown = result.text();
                let again = |less: &str, next: &str| {
                    format!("relay.call @{name}({less}, {next}) : (tensor<i32>, {shown}) -> ({shown})")
                };
                let value = self.countdown(&again, &count, &state, &result, 3);
                self.finish(&value, &result);
                self.helpers.push((name, inputs, result));
            }
            2 => self.fold(name, result),
            _ => self.mutual(name, result),
        }
    }

    fn begin(&mut self, name: &str, inputs: &[Ty], result: &Ty) -> Vec<(String, Ty)> {
        let parameters = self.parameters(inputs);
        let texts: Vec<String> = parameters.iter().map(|(n, t)| format!("{n}: {}", t.text())).collect();
        self.line(&format!("func.func private @{name}({}) -> ({}) {{", texts.join(", "), result.text()));
        parameters
    }

    fn finish(&mut self, value: &str, result: &Ty) {
        self.line(&format!("return {value} : {}", result.text()));
        self.line("}");
    }

    /// Along a list: the state for an empty one; else the rest with the next state.
    fn fold(&mut self, name: String, result: Ty) {
        let element = self.ty(1);
        let list = Ty::List(Box::new(element.clone()));
        let step = Ty::Function(vec![element.clone()], Box::new(result.clone()));
        let inputs = vec![list.clone(), result.clone(), step];
        let parameters = self.begin(&name, &inputs, &result);
        let (value, state, function) =
            (parameters[0].0.clone(), parameters[1].0.clone(), parameters[2].0.clone());
        self.scope.extend(parameters[1..].iter().cloned());
        let matched = self.name();
        self.line(&format!("{matched} = relay.match {value} : ({}) -> ({})", list.text(), result.text()));
        self.line(&format!("case [@List::@Nil] {{\nrelay.yield {state} : {}\n}}", result.text()));
        self.line(r#"case [@List::@Cons, "x", "rest"] {"#);
        let own = self.parameters(&[element, list.clone()]);
        self.line(&format!("^bb0({}: {}, {}: {}):", own[0].0, own[0].1.text(), own[1].0, own[1].1.text()));
        self.scope.push(own[0].clone());
        self.statement(2);
        let next = self.expression(&result, 2);
        let call = format!(
            "relay.call @{name}({}, {next}, {function}) : ({}) -> ({})",
            own[1].0,
            texts(&inputs),
            result.text()
        );
        let again = self.op(&call);
        self.line(&format!("relay.yield {again} : {}\n}}", result.text()));
        self.finish(&matched, &result);
        self.helpers.push((name, inputs, result));
    }

    /// Two functions that count down by calling one another.
    fn mutual(&mut self, name: String, result: Ty) {
        let inputs = vec![Ty::Int, result.clone()];
        let names = [name.clone(), format!("{name}other")];
        for at in 0..2 {
            self.scope.clear();
            self.budget = self.contents.size / 2;
            let parameters = self.begin(&names[at], &inputs, &result);
            self.scope.extend(parameters.clone());
            let (count, state) = (parameters[0].0.clone(), parameters[1].0.clone());
            let (other, shown) = (&names[1 - at], result.text());
            let again = |less: &str, next: &str| {
                format!("relay.call @{other}({less}, {next}) : (tensor<i32>, {shown}) -> ({shown})")
            };
            let value = self.countdown(&again, &count, &state, &result, 2);
            self.finish(&value, &result);
        }
        self.helpers.extend(names.map(|name| (name, inputs.clone(), result.clone())));
    }

    fn main(&mut self) {
        self.scope.clear();
        self.budget = 2 * self.contents.size;
        let count = 1 + self.below(3);
        let parts: Vec<Ty> = (0..count).map(|_| self.shown()).collect();
        let result = Ty::Tuple(parts.clone());
        let parameters = self.parameters(&[Ty::Float, Ty::Int, Ty::Vector]);
        let texts: Vec<String> = parameters.iter().map(|(n, t)| format!("{n}: {}", t.text())).collect();
        self.line(&format!("func.func @main({}) -> ({}) {{", texts.join(", "), result.text()));
        self.scope.extend(parameters);
        for _ in 0..4 {
            self.statement(4);
        }
        let values: Vec<String> = parts.iter().map(|part| self.expression(part, 5)).collect();
        let value = self.tuple(&values, &result, &parts);
        self.finish(&value, &result);
    }
}
