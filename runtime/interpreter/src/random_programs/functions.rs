//! Functions of a random program, and calls of them.
//!
//! A helper is straight, counts down, goes along a list, or counts down in turns with another. It calls only those before it.

use super::Writer;
use super::types::{Ty, texts};

impl Writer {
    /// A call of a helper or of a polymorphic function.
    pub(super) fn call(&mut self, ty: &Ty, depth: usize) -> Option<String> {
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

    /// A function of the module.
    pub(super) fn helper(&mut self, number: usize) {
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

    pub(super) fn main(&mut self) {
        self.scope.clear();
        self.budget = 2 * self.contents.size;
        let count = 1 + self.below(3);
        let parts: Vec<Ty> = (0..count).map(|_| self.shown()).collect();
        let result = Ty::Tuple(parts.clone());
        let parameters = self.parameters(&[Ty::Float, Ty::Int, Ty::Vector]);
        let takes: Vec<String> = parameters.iter().map(|(n, t)| format!("{n}: {}", t.text())).collect();
        let gives = if self.contents.language { result.text() } else { texts(&parts) };
        self.line(&format!("func.func @main({}) -> ({gives}) {{", takes.join(", ")));
        self.scope.extend(parameters);
        for _ in 0..4 {
            self.statement(4);
        }
        let values: Vec<String> = parts.iter().map(|part| self.expression(part, 5)).collect();
        if self.contents.language {
            let value = self.tuple(&values, &result, &parts);
            self.finish(&value, &result);
        } else {
            self.line(&format!("return {} : {gives}", values.join(", ")));
            self.line("}");
        }
    }
}
