//! What each operation of the functional side says of types. Regions are walked with a stack of our own.

use super::functions::{Inference, Place};
use super::nodes::{Form, Role, Term};
use super::solver::Failure;
use super::written::Chosen;
use fusion_dialects::relay::Op as Functional;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Build, Op, OpExt, OperationLike, PassError, Value, arguments, hole_type, key, ops_in,
};

/// What is still to be done in a walk.
pub(super) enum Step<'c> {
    /// An operation, and what is in it.
    Enter(Op<'c>),
    /// An operation whose regions are done.
    Leave(Op<'c>),
    /// A closure whose body is done, its results, and the variables that were there before it.
    LeaveFn(Op<'c>, Vec<Term>, usize),
}

impl<'c> Inference<'c> {
    /// The body of a function.
    pub fn body(&mut self, block: Block<'c>) -> Result<(), Failure<'c>> {
        let mut steps = Vec::new();
        push(block, &mut steps);
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(op) => self.enter(op, &mut steps)?,
                Step::Leave(op) => self.leave(op)?,
                Step::LeaveFn(op, results, before) => self.leave_fn(op, &results, before)?,
            }
        }
        Ok(())
    }

    fn enter(&mut self, op: Op<'c>, steps: &mut Vec<Step<'c>>) -> Result<(), Failure<'c>> {
        let results: Vec<Term> = op
            .result_values()
            .into_iter()
            .enumerate()
            .map(|(i, v)| self.value(v, op, Place::Result(i)))
            .collect();
        match op.kind() {
            Some(Kind::Operator(operator)) => {
                let operands = self.operands(op);
                self.solver.relation(op, operator, op.attrs(), operands, results)
            }
            Some(Kind::Upstream(Upstream::Return)) => self.returned(op),
            Some(Kind::Upstream(Upstream::Call)) => self.call(op, &results),
            Some(Kind::Relay(kind)) => match kind {
                Functional::Constant | Functional::Yield | Functional::Data => Ok(()),
                Functional::Tuple => {
                    let elements = self.operands(op);
                    let tuple = self.solver.term(Form::Tuple(elements.into()));
                    self.solver.define(tuple, results[0], op, Role::Result(0))
                }
                Functional::Get => self.element(op, results[0]),
                Functional::Ascribe => {
                    self.annotations.push(op);
                    let value = self.operand(op, 0);
                    self.solver.define(value, results[0], op, Role::Annotated)
                }
                Functional::Apply => self.apply(op, &results),
                Functional::Call => self.call(op, &results),
                Functional::Global => self.global(op, results[0]),
                Functional::Instantiate => {
                    let value = op.operand_values()[0];
                    let (instance, _) = self.use_of(value, op);
                    self.solver.define(instance, results[0], op, Role::Result(0))
                }
                Functional::Construct => self.construct(op, results[0]),
                Functional::RefNew | Functional::RefRead | Functional::RefWrite => {
                    self.cell(op, kind, &results)
                }
                Functional::If => {
                    let (condition, scalar) = (self.operand(op, 0), self.solver.condition());
                    self.solver.flow(condition, scalar, op, Role::Condition)?;
                    push_regions(op, steps);
                    Ok(())
                }
                Functional::While => {
                    self.enter_while(op, &results)?;
                    push_regions(op, steps);
                    Ok(())
                }
                Functional::Match => {
                    self.patterns(op)?;
                    push_regions(op, steps);
                    Ok(())
                }
                Functional::Fn => self.enter_fn(op, results[0], steps),
            },
            _ => {
                push_regions(op, steps);
                Ok(())
            }
        }
    }

    /// The types of an operation's operands.
    pub fn operands(&mut self, op: Op<'c>) -> Vec<Term> {
        (0..op.operand_count()).map(|i| self.operand(op, i)).collect()
    }

    /// The type of an operand. A polymorphic closure is given a type for this use.
    pub fn operand(&mut self, op: Op<'c>, index: usize) -> Term {
        let value = op.operand_values()[index];
        if !self.schemes.contains_key(&key(value)) {
            return self.plain(value, op);
        }
        let (instance, _) = self.use_of(value, op);
        let name = Functional::Instantiate.name();
        let made = Build::before(op).value(name, &[value], hole_type(self.context), &[]);
        op.set_operand_value(index, made);
        self.instances += 1;
        let term = self.value(made, op, Place::Result(0));
        // A hole that was made just now: nothing can stand in the way.
        self.solver.link(term, instance);
        term
    }

    pub(super) fn plain(&mut self, value: Value<'c>, op: Op<'c>) -> Term {
        // Values are made before they are used; those of other regions' blocks were met there.
        self.value(value, op, Place::Result(0))
    }

    /// The type of a value at a use, and whether it was chosen for it.
    fn use_of(&mut self, value: Value<'c>, op: Op<'c>) -> (Term, bool) {
        let term = self.plain(value, op);
        match self.schemes.get(&key(value)).cloned() {
            Some(scheme) => (self.solver.instance(term, &scheme, &mut Chosen::default()), true),
            None => (term, false),
        }
    }

    fn element(&mut self, op: Op<'c>, result: Term) -> Result<(), Failure<'c>> {
        let tuple = self.operand(op, 0);
        let index = op.int("index").unwrap_or(-1);
        match usize::try_from(index) {
            Ok(index) => self.solver.element_of(op, tuple, index, result),
            Err(_) => {
                let found = self.solver.shown(tuple);
                let message = format!("violates constraint C1: index {index} is out of range for {found}");
                Err(PassError::at(op, message))
            }
        }
    }

    fn apply(&mut self, op: Op<'c>, results: &[Term]) -> Result<(), Failure<'c>> {
        let (callee, _) = self.use_of(op.operand_values()[0], op);
        let given = op.operand_count() - 1;
        if self.solver.form(callee).is_none() {
            let inputs: Vec<Term> = (0..given).map(|_| self.solver.variable()).collect();
            let outputs: Vec<Term> = results.iter().map(|_| self.solver.variable()).collect();
            let function = self.solver.term(Form::Function(inputs.into(), outputs.into()));
            self.solver.equal(callee, function, op, Role::Callee)?;
        }
        let Some(Form::Function(inputs, outputs)) = self.solver.form(callee).cloned() else {
            let found = self.solver.shown(callee);
            return Err(PassError::at(op, format!("calls a value that is no function but {found}")));
        };
        let named = self.solver.shown(callee);
        self.call_with(op, 1, &named, (&inputs, &outputs), results)
    }

    /// Arguments flow into parameters, results into the call's.
    fn call_with(
        &mut self,
        op: Op<'c>,
        first: usize,
        callee: &str,
        (inputs, outputs): (&[Term], &[Term]),
        results: &[Term],
    ) -> Result<(), Failure<'c>> {
        let given = op.operand_count() - first;
        if inputs.len() != given {
            let takes = inputs.len();
            return Err(PassError::at(
                op,
                format!("passes {given} arguments to {callee}, which takes {takes}"),
            ));
        }
        if outputs.len() != results.len() {
            let (wants, gives) = (results.len(), outputs.len());
            return Err(PassError::at(op, format!("has {wants} results, {callee} gives {gives}")));
        }
        for (i, input) in inputs.iter().enumerate() {
            let argument = self.operand(op, first + i);
            self.solver.flow(argument, *input, op, Role::Argument(i))?;
        }
        for (i, (output, result)) in outputs.iter().zip(results).enumerate() {
            self.solver.define(*output, *result, op, Role::Result(i))?;
        }
        Ok(())
    }

    /// The type of a function of the module at a use.
    fn function_at(&mut self, op: Op<'c>, attr: &str) -> Result<(String, Vec<Term>, Vec<Term>), Failure<'c>> {
        let name = op.text(attr).unwrap_or_default();
        let Some(function) = self.functions.get(name) else {
            let message = format!("violates constraint C1: the module has no function @{name}");
            return Err(PassError::at(op, message));
        };
        let (inputs, results) = (function.inputs.clone(), function.results.clone());
        let name = format!("@{name}");
        let Some(scheme) = function.scheme.clone() else { return Ok((name, inputs, results)) };
        let mut chosen = Chosen::default();
        let mut all = |terms: Vec<Term>| -> Vec<Term> {
            terms.into_iter().map(|t| self.solver.instance(t, &scheme, &mut chosen)).collect()
        };
        let inputs = all(inputs);
        Ok((name, inputs, all(results)))
    }

    fn call(&mut self, op: Op<'c>, results: &[Term]) -> Result<(), Failure<'c>> {
        let (name, inputs, outputs) = self.function_at(op, "callee")?;
        self.call_with(op, 0, &name, (&inputs, &outputs), results)
    }

    fn global(&mut self, op: Op<'c>, result: Term) -> Result<(), Failure<'c>> {
        let (_, inputs, outputs) = self.function_at(op, "function")?;
        let function = self.solver.term(Form::Function(inputs.into(), outputs.into()));
        self.solver.define(function, result, op, Role::Result(0))
    }

    fn returned(&mut self, op: Op<'c>) -> Result<(), Failure<'c>> {
        let values = self.operands(op);
        let results = self.functions[self.current].results.clone();
        if values.len() != results.len() {
            let (has, declared) = (values.len(), results.len());
            let message = format!("returns {has} values from a function of {declared} results");
            return Err(PassError::at(op, message));
        }
        for (i, (value, result)) in values.into_iter().zip(results).enumerate() {
            self.solver.define(value, result, op, Role::Returned(i))?;
        }
        Ok(())
    }

    fn cell(&mut self, op: Op<'c>, kind: Functional, results: &[Term]) -> Result<(), Failure<'c>> {
        if kind == Functional::RefNew {
            let (value, content) = (self.operand(op, 0), self.solver.variable());
            self.solver.flow(value, content, op, Role::Cell)?;
            let cell = self.solver.term(Form::Ref(content));
            return self.solver.define(cell, results[0], op, Role::Result(0));
        }
        let cell = self.operand(op, 0);
        if self.solver.form(cell).is_none() {
            let content = self.solver.variable();
            let made = self.solver.term(Form::Ref(content));
            self.solver.equal(cell, made, op, Role::Cell)?;
        }
        let Some(Form::Ref(content)) = self.solver.form(cell).cloned() else {
            let found = self.solver.shown(cell);
            return Err(PassError::at(op, format!("takes a cell, found {found}")));
        };
        if kind == Functional::RefRead {
            return self.solver.define(content, results[0], op, Role::Result(0));
        }
        let value = self.operand(op, 1);
        self.solver.flow(value, content, op, Role::Cell)
    }

    /// The state flows into both regions and out as the results.
    fn enter_while(&mut self, op: Op<'c>, results: &[Term]) -> Result<(), Failure<'c>> {
        let state = self.operands(op);
        let takes = |inference: &mut Self, region: usize| -> Vec<Term> {
            let taken = op.body(region).map(arguments).unwrap_or_default().into_iter().enumerate();
            taken.map(|(i, v)| inference.value(v, op, Place::Argument(i))).collect()
        };
        let (tested, next) = (takes(self, 0), takes(self, 1));
        if [tested.len(), next.len(), results.len()].iter().any(|n| *n != state.len()) {
            let message =
                format!("carries {} values, its regions take others or its results are", state.len());
            return Err(PassError::at(op, message));
        }
        for i in 0..state.len() {
            self.solver.flow(state[i], tested[i], op, Role::State(i))?;
            self.solver.flow(tested[i], next[i], op, Role::State(i))?;
            self.solver.flow(tested[i], results[i], op, Role::Result(i))?;
        }
        Ok(())
    }

    /// What a region yields.
    fn yielded(&mut self, op: Op<'c>, region: usize) -> Result<(Op<'c>, Vec<Term>), Failure<'c>> {
        let last = op.body(region).and_then(|block| ops_in(block).last().copied());
        match last.filter(|op| matches!(op.kind(), Some(Kind::Relay(Functional::Yield)))) {
            Some(last) => Ok((last, self.operands(last))),
            None => Err(PassError::at(op, "has a region that does not end with relay.yield")),
        }
    }

    pub(super) fn yields(&mut self, op: Op<'c>, region: usize, into: &[Term]) -> Result<(), Failure<'c>> {
        let (last, values) = self.yielded(op, region)?;
        if values.len() != into.len() {
            let (has, wants) = (values.len(), into.len());
            return Err(PassError::at(last, format!("yields {has} values, {wants} are taken")));
        }
        for (i, (value, to)) in values.into_iter().zip(into).enumerate() {
            self.solver.flow(value, *to, last, Role::Yield(region, i))?;
        }
        Ok(())
    }

    fn leave(&mut self, op: Op<'c>) -> Result<(), Failure<'c>> {
        let results: Vec<Term> = op.result_values().into_iter().map(|v| self.plain(v, op)).collect();
        match op.kind() {
            Some(Kind::Relay(Functional::While)) => {
                let (last, tested) = self.yielded(op, 0)?;
                let scalar = self.solver.condition();
                let [tested] = tested[..] else {
                    return Err(PassError::at(last, "yields no single condition"));
                };
                self.solver.flow(tested, scalar, last, Role::Condition)?;
                let state = op.body(0).map(arguments).unwrap_or_default();
                let state: Vec<Term> = state.into_iter().map(|v| self.plain(v, op)).collect();
                self.yields(op, 1, &state)
            }
            Some(Kind::Relay(Functional::If | Functional::Match)) => {
                (0..op.region_count()).try_for_each(|region| self.yields(op, region, &results))
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn push<'c>(block: Block<'c>, steps: &mut Vec<Step<'c>>) {
    steps.extend(ops_in(block).into_iter().rev().map(Step::Enter));
}

fn push_regions<'c>(op: Op<'c>, steps: &mut Vec<Step<'c>>) {
    if op.region_count() == 0 {
        return;
    }
    steps.push(Step::Leave(op));
    for region in (0..op.region_count()).rev() {
        if let Some(block) = op.body(region) {
            push(block, steps);
        }
    }
}
