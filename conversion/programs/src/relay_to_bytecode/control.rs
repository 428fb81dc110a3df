//! Branches and loops as jumps.
//!
//! ```text
//!   relay.if %c { A } else { B }            relay.while (%s) { C } do { B }
//!
//!        jump_unless c, else                     s = initial
//!        A;  jump join                     head: c = C(s);  jump_unless c, exit
//!   else: B                                      s = B(s);  jump head
//!   join:                                  exit:
//! ```
//!
//! What dies in a branch is dropped on the way on which it is not used, so that all ways come together with the same registers.

use super::function::{Body, To};
use super::liveness::Runs;
use fusion_bytecode::Instruction;
use fusion_dialects::{Op, OpExt, PassError, Value, arguments, key, ops_in};

impl<'c> Body<'_, 'c> {
    /// The values an operation uses that nobody needs afterwards.
    pub fn dying(&mut self, op: Op<'c>) -> Vec<Value<'c>> {
        let used = self.program.uses.of(&self.program.facts, op);
        used.iter().copied().filter(|v| self.registers.contains_key(&key(*v)) && !self.needed(*v)).collect()
    }

    /// Registers for the results of an operation with regions.
    pub fn results(&mut self, op: Op<'c>, end: Option<&To>) -> To {
        match end {
            Some(_) => To::Return,
            None => To::Registers(
                op.result_values()
                    .into_iter()
                    .map(|v| self.preferred.remove(&key(v)).unwrap_or_else(|| self.code.fresh()))
                    .collect(),
            ),
        }
    }

    /// After all regions: the results are there, what died is not.
    pub fn join(&mut self, op: Op<'c>, to: &To, dying: &[Value<'c>]) {
        for value in dying {
            if let Some(register) = self.registers.remove(&key(*value)) {
                self.code.release(register);
            }
        }
        if let To::Registers(registers) = to {
            self.registers.extend(op.result_values().into_iter().map(key).zip(registers.iter().copied()));
            self.settle(op);
        }
    }

    /// `relay.if`.
    pub fn branch(&mut self, op: Op<'c>, end: Option<&To>) -> Result<(), PassError<'c>> {
        let (Some(then), Some(otherwise)) = (op.body(0), op.body(1)) else {
            return Err(PassError::at(op, "has no regions"));
        };
        let (condition, made) = self.look(op, op.operand_values()[0])?;
        let dying = self.dying(op);
        let to = self.results(op, end);
        let (other, join) = (self.code.label(), self.code.label());
        self.code.emit(Instruction::JumpUnless { condition, target: other });
        let (mark, before) = (self.code.mark(), self.registers.clone());
        for (number, region) in [then, otherwise].into_iter().enumerate() {
            if number == 1 {
                self.code.bind(other);
                self.code.back_to(&mark);
                self.registers = before.clone();
            }
            if made {
                self.code.emit(Instruction::Drop { value: condition });
            }
            self.block(region, &to, &dying, Runs::Once)?;
            if number == 0 && end.is_none() {
                self.code.emit(Instruction::Jump { target: join });
            }
        }
        self.code.bind(join);
        self.code.back_to(&mark);
        self.registers = before;
        if made {
            self.code.release(condition);
        }
        self.join(op, &to, &dying);
        Ok(())
    }

    /// `relay.while`. The state has registers of its own, from before the first test until after the last.
    pub fn repeat(&mut self, op: Op<'c>) -> Result<(), PassError<'c>> {
        let (Some(test), Some(step)) = (op.body(0), op.body(1)) else {
            return Err(PassError::at(op, "has no regions"));
        };
        // What the regions use of around is needed in each iteration: the state gets copies.
        let inner: Vec<Op> = [test, step].into_iter().flat_map(ops_in).collect();
        let held: Vec<Value> =
            inner.into_iter().flat_map(|op| self.program.uses.of(&self.program.facts, op).to_vec()).collect();
        let state = self.take_keeping(op, &op.operand_values(), &held)?;
        let dying = self.dying(op);
        let (head, exit) = (self.code.label(), self.code.label());
        self.code.bind(head);
        let (mark, before) = (self.code.mark(), self.registers.clone());
        let condition = self.code.fresh();
        let held_by = |block| arguments(block).into_iter().map(key).zip(state.iter().copied());
        self.registers.extend(held_by(test));
        self.block(test, &To::Registers(vec![condition]), &[], Runs::Test)?;
        self.code.emit(Instruction::JumpUnless { condition, target: exit });
        self.code.drop_register(condition);
        self.code.back_to(&mark);
        self.registers = before.clone();
        self.registers.extend(held_by(step));
        self.block(step, &To::Registers(state.clone()), &arguments(step), Runs::Step)?;
        self.code.emit(Instruction::Jump { target: head });
        self.code.bind(exit);
        self.code.emit(Instruction::Drop { value: condition });
        self.code.back_to(&mark);
        self.registers = before;
        dying.into_iter().for_each(|v| self.drop_value(v));
        self.registers.extend(op.result_values().into_iter().map(key).zip(state));
        for value in op.result_values() {
            if !self.needed(value) {
                self.drop_value(value);
            }
        }
        Ok(())
    }
}
