//! What is done again and again, at most four times: closures that call themselves, loops, and the countdown both use.

use super::Writer;
use super::types::{Ty, texts};

impl Writer {
    /// An integer of at most 4.
    pub(super) fn count(&mut self, depth: usize) -> String {
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
    pub(super) fn countdown(
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
    pub(super) fn local_loop(&mut self, ty: &Ty, depth: usize) -> String {
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

    pub(super) fn while_loop(&mut self, ty: &Ty, depth: usize) -> String {
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
}
