//! What closures say of types: that of the function they make, and which variables are chosen anew for each use.
//!
//!     %f = relay.fn (%x: !relay.hole) { yield %x }, used at two places      %f : fn(A) -> A, A chosen at each of them
//!
//! A closure generalises over what was made inside of it alone: levels (Rémy, "Extension of ML type system with a sorted equational theory
//! on types", 1992) tell these variables from those of what is around it.

use super::constraints::{Step, push};
use super::functions::{Inference, Place};
use super::nodes::{Form, Role, Term};
use super::solver::Failure;
use super::written::Scheme;
use fusion_dialects::relay::RECURSIVE;
use fusion_dialects::{Op, OpExt, OperationLike, PassError, arguments, key, ops_in, users};
use std::rc::Rc;

impl<'c> Inference<'c> {
    /// A closure begins: its type, the variables that are its own, and its body to be walked.
    pub(super) fn enter_fn(
        &mut self,
        op: Op<'c>,
        result: Term,
        steps: &mut Vec<Step<'c>>,
    ) -> Result<(), Failure<'c>> {
        let before = self.solver.born.len();
        // The closure's own holes were made on the outside; they are its own to generalise as well.
        self.solver.level += 1;
        let level = self.solver.level;
        let taken = op.body(0).map(arguments).unwrap_or_default().into_iter().enumerate();
        let mut taken: Vec<Term> = taken.map(|(i, v)| self.value(v, op, Place::Argument(i))).collect();
        let itself = (op.attr(RECURSIVE).is_some() && !taken.is_empty()).then(|| taken.remove(0));
        let mut own = Scheme::default();
        for term in taken.iter().chain([&result]) {
            let names = self.solver.names(*term);
            own.extend(&names);
        }
        for outer in &self.scope {
            own.types.retain(|name| !outer.types.contains(name));
            own.dims.retain(|name| !outer.dims.contains(name));
        }
        if self.solver.form(result).is_none() {
            let result = self.solver.find(result);
            self.solver.raise(result, level);
            let yields = op.body(0).and_then(|block| ops_in(block).last().map(|last| last.operand_count()));
            let outputs: Vec<Term> = (0..yields.unwrap_or(0)).map(|_| self.solver.variable()).collect();
            let function = self.solver.term(Form::Function(taken.clone().into(), outputs.into()));
            self.solver.equal(function, result, op, Role::Result(0))?;
        }
        let Some(Form::Function(inputs, outputs)) = self.solver.form(result).cloned() else {
            let found = self.solver.shown(result);
            return Err(PassError::at(op, format!("makes a function, which is no {found}")));
        };
        if inputs.len() != taken.len() {
            let (has, written) = (taken.len(), inputs.len());
            return Err(PassError::at(op, format!("takes {has} arguments, its type {written}")));
        }
        for (i, (input, taken)) in inputs.iter().zip(&taken).enumerate() {
            for open in self.solver.variables(*input) {
                self.solver.raise(open, level);
            }
            self.solver.equal(*input, *taken, op, Role::Parameter(i))?;
        }
        for output in outputs.iter() {
            for open in self.solver.variables(*output) {
                self.solver.raise(open, level);
            }
        }
        if let Some(itself) = itself {
            self.solver.equal(itself, result, op, Role::Callee)?;
        }
        if !own.is_empty() {
            let value = op.result_values()[0];
            self.schemes.insert(key(value), Rc::new(own.clone()));
        }
        self.scope.push(own);
        steps.push(Step::LeaveFn(op, outputs.to_vec(), before));
        if let Some(block) = op.body(0) {
            push(block, steps);
        }
        Ok(())
    }

    /// A closure is done: variables of its own, when it is used several times, are chosen anew for each use.
    pub(super) fn leave_fn(
        &mut self,
        op: Op<'c>,
        results: &[Term],
        before: usize,
    ) -> Result<(), Failure<'c>> {
        self.yields(op, 0, results)?;
        let mut own = self.scope.pop().unwrap_or_default();
        self.solver.level -= 1;
        let level = self.solver.level;
        let value = op.result_values()[0];
        let term = self.plain(value, op);
        if users(value).len() > 1 {
            for variable in self.solver.variables(term) {
                let (born, pinned) = self.solver.variable_state(variable);
                if born > level && !pinned {
                    let name = self.fresh_type();
                    own.types.insert(name.clone());
                    self.solver.bind(variable, Form::Rigid(name));
                }
            }
        }
        if !own.is_empty() {
            self.schemes.insert(key(value), Rc::new(own));
        }
        for index in before..self.solver.born.len() {
            let variable = self.solver.born[index];
            self.solver.lower(variable, level);
        }
        self.solver.solve()
    }
}
