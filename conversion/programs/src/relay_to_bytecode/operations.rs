//! Operations that are one instruction, or a few without branches.

use super::function::Body;
use super::known::Known;
use super::scalars::scalar_of;
use fusion_bytecode::{Instruction, Register};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Op, OpExt, PassError, Value, kind_of, relay, symbol_path};

/// What is called.
enum Callee {
    Function(u32),
    /// Its register is in front of the arguments'.
    Value,
}

impl<'c> Body<'_, 'c> {
    /// True for operations that can end a function in its place.
    pub fn may_end(&self, op: Op<'c>) -> bool {
        match kind_of(op) {
            Some(Kind::Relay(relay::Op::Apply | relay::Op::Call | relay::Op::If | relay::Op::Match)) => true,
            Some(Kind::Upstream(Upstream::Call)) => {
                !self.program.is_kernel(op.text("callee").unwrap_or_default())
            }
            _ => false,
        }
    }

    /// Lowers an operation without regions, or a closure.
    pub fn simple(&mut self, op: Op<'c>, end: bool) -> Result<(), PassError<'c>> {
        use relay::Op as R;
        match kind_of(op) {
            Some(Kind::Upstream(Upstream::Call)) => {
                let name = op.text("callee").unwrap_or_default();
                match self.program.kernel(name)? {
                    Some(kernel) => self.kernel(op, kernel),
                    None => self.call(op, end),
                }
            }
            Some(Kind::Relay(R::Apply | R::Call)) => self.call(op, end),
            Some(Kind::Relay(R::Tuple)) => self.make(op, |to, elements| Instruction::Tuple { to, elements }),
            Some(Kind::Relay(R::Construct)) => self.construct(op),
            Some(Kind::Relay(R::Fn)) => self.closure(op),
            Some(Kind::Relay(R::RefNew)) => {
                self.make(op, |to, taken| Instruction::NewCell { to, value: taken[0] })
            }
            Some(Kind::Relay(R::RefRead)) => self.part(op, |to, cell| Instruction::ReadCell { to, cell }),
            Some(Kind::Relay(R::RefWrite)) => self.write(op),
            Some(Kind::Relay(R::Get)) => {
                let index = op.int("index").and_then(|i| u32::try_from(i).ok());
                let index = index.ok_or_else(|| PassError::at(op, "has no index"))?;
                self.part(op, |to, from| Instruction::Field { to, from, index })
            }
            Some(Kind::Operator(operator)) => match scalar_of(op) {
                Some(scalar) => self.scalar(op, scalar),
                None => self.operator(op, operator),
            },
            _ => Err(PassError::at(op, "has no place in a program of the virtual machine")),
        }
    }

    fn kernel(&mut self, op: Op<'c>, kernel: u32) -> Result<(), PassError<'c>> {
        let seen =
            op.operand_values().into_iter().map(|v| self.look(op, v)).collect::<Result<Vec<_>, _>>()?;
        let inputs: Vec<Register> = seen.iter().map(|(register, _)| *register).collect();
        self.check_inputs(op, &inputs);
        let outputs = op.result_values().into_iter().map(|v| self.define(v)).collect();
        self.code.emit(Instruction::Kernel { kernel, inputs, outputs });
        self.drop_made(&seen);
        self.settle(op);
        Ok(())
    }

    /// Drops what was made to be looked at.
    pub fn drop_made(&mut self, seen: &[(Register, bool)]) {
        seen.iter().filter(|(_, made)| *made).for_each(|(register, _)| self.code.drop_register(*register));
    }

    /// An instruction that takes all operands and gives one result.
    fn make(
        &mut self,
        op: Op<'c>,
        instruction: impl FnOnce(Register, Vec<Register>) -> Instruction,
    ) -> Result<(), PassError<'c>> {
        let taken = self.take_all(op, &op.operand_values())?;
        let to = self.define(op.result_values()[0]);
        self.code.emit(instruction(to, taken.clone()));
        taken.into_iter().for_each(|register| self.code.release(register));
        self.settle(op);
        Ok(())
    }

    /// An instruction that looks at the operand and gives a part of it.
    fn part(
        &mut self,
        op: Op<'c>,
        instruction: impl FnOnce(Register, Register) -> Instruction,
    ) -> Result<(), PassError<'c>> {
        let seen = self.look(op, op.operand_values()[0])?;
        let to = self.define(op.result_values()[0]);
        self.code.emit(instruction(to, seen.0));
        self.drop_made(&[seen]);
        self.settle(op);
        Ok(())
    }

    fn write(&mut self, op: Op<'c>) -> Result<(), PassError<'c>> {
        let operands = op.operand_values();
        let [cell, value] = operands[..] else { return Err(PassError::at(op, "has no cell and value")) };
        let seen = self.look(op, cell)?;
        // A cell that is put into itself stays until it was written to.
        let same =
            self.program.facts.behind(cell).iter().any(|a| self.program.facts.behind(value).contains(a));
        let taken = match same {
            true => {
                let (from, made) = self.look(op, value)?;
                let to = if made { from } else { self.code.fresh() };
                if !made {
                    self.code.emit(Instruction::Copy { to, from });
                }
                to
            }
            false => self.take_all(op, &[value])?[0],
        };
        self.code.emit(Instruction::WriteCell { cell: seen.0, value: taken });
        self.code.release(taken);
        self.drop_made(&[seen]);
        self.settle(op);
        Ok(())
    }

    fn construct(&mut self, op: Op<'c>) -> Result<(), PassError<'c>> {
        let path = op.attr("constructor").and_then(symbol_path).unwrap_or_default();
        let [data, name] = path[..] else { return Err(PassError::at(op, "names no constructor")) };
        let (number, tag) = self.program.constructor(op, data, name)?;
        self.make(op, |to, fields| Instruction::Construct { to, data: number, tag, fields })
    }

    fn closure(&mut self, op: Op<'c>) -> Result<(), PassError<'c>> {
        let captured = self.program.facts.captures(op);
        let captured = self.take_all(op, &captured)?;
        let function = self.program.closure(op);
        let to = self.define(op.result_values()[0]);
        self.code.emit(Instruction::Closure { to, function, captured: captured.clone() });
        captured.into_iter().for_each(|register| self.code.release(register));
        self.settle(op);
        Ok(())
    }

    /// Calls a function of the module, a closure whose body is known, or a function value.
    fn call(&mut self, op: Op<'c>, end: bool) -> Result<(), PassError<'c>> {
        let operands = op.operand_values();
        let (callee, passed) = self.callee(op, operands)?;
        self.check_arguments(op)?;
        let mut taken = self.take_all(op, &passed)?;
        let all = taken.clone();
        if end {
            self.code.emit(match callee {
                Callee::Function(function) => Instruction::TailCall { function, arguments: taken },
                Callee::Value => Instruction::TailApply { closure: taken.remove(0), arguments: taken },
            });
            all.into_iter().for_each(|register| self.code.release(register));
            return Ok(());
        }
        let results = op.result_values();
        let to = match results[..] {
            [one] => self.define(one),
            _ => self.code.fresh(),
        };
        self.code.emit(match callee {
            Callee::Function(function) => Instruction::Call { to, function, arguments: taken },
            Callee::Value => Instruction::Apply { to, closure: taken.remove(0), arguments: taken },
        });
        all.into_iter().for_each(|register| self.code.release(register));
        if results.len() != 1 {
            // Functions of several results give a tuple.
            for (index, result) in results.into_iter().enumerate() {
                let register = self.define(result);
                self.code.emit(Instruction::Field { to: register, from: to, index: index as u32 });
            }
            self.code.drop_register(to);
        }
        self.settle(op);
        Ok(())
    }

    /// What is called, and all that it is given: captured values, the function value if it is one, arguments.
    fn callee(
        &mut self,
        op: Op<'c>,
        operands: Vec<Value<'c>>,
    ) -> Result<(Callee, Vec<Value<'c>>), PassError<'c>> {
        if !matches!(kind_of(op), Some(Kind::Relay(relay::Op::Apply))) {
            let name = op.text("callee").unwrap_or_default();
            return Ok((Callee::Function(self.program.named(op, name)?), operands));
        }
        let Some((function, arguments)) = operands.split_first() else {
            return Err(PassError::at(op, "calls nothing"));
        };
        Ok(match self.program.facts.known(*function) {
            Known::Function(name) => (Callee::Function(self.program.named(op, name)?), arguments.to_vec()),
            Known::Closure(closure) => {
                let passed = [&self.program.facts.captures(closure)[..], arguments].concat();
                (Callee::Function(self.program.closure(closure)), passed)
            }
            _ => (Callee::Value, operands),
        })
    }
}
