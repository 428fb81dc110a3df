//! Values of a wanted type: one in scope, one without operands, or one that an operation makes of others.
//!
//! A depth and a budget bound how much there is; when either is used up, values are taken from the scope or made of nothing.

use super::Writer;
use super::types::{Ty, texts};

impl Writer {
    pub(super) fn known(&mut self, ty: &Ty) -> Option<String> {
        let found: Vec<String> = self.scope.iter().filter(|(_, t)| t == ty).map(|(n, _)| n.clone()).collect();
        if found.is_empty() { None } else { Some(found[self.below(found.len())].clone()) }
    }

    /// A value without operands, or nearly so.
    pub(super) fn leaf(&mut self, ty: &Ty) -> String {
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

    pub(super) fn tuple(&mut self, values: &[String], ty: &Ty, parts: &[Ty]) -> String {
        self.op(&format!("relay.tuple {} : ({}) -> {}", values.join(", "), texts(parts), ty.text()))
    }

    /// Something whose value nobody has to use.
    pub(super) fn statement(&mut self, depth: usize) {
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
    pub(super) fn expression(&mut self, ty: &Ty, depth: usize) -> String {
        if depth == 0 || self.budget == 0 {
            let known = self.known(ty);
            return known.unwrap_or_else(|| self.leaf(ty));
        }
        self.budget = self.budget.saturating_sub(1);
        let depth = depth - 1;
        let choice = match self.below(14) {
            choice if self.contents.language => choice,
            0 | 1 => 0,
            2 | 3 => 9,
            _ => 11 + self.below(3),
        };
        match choice {
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

    pub(super) fn apply(
        &mut self,
        callee: &str,
        function: &Ty,
        inputs: &[Ty],
        ty: &Ty,
        depth: usize,
    ) -> String {
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
}
