//! What an instruction does with registers, and where it goes: for checkers and compilers, which need not know each one.

use crate::{Instruction, Label, Register};

/// What becomes of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It stays.
    LookedAt,
    /// Its register is empty afterwards.
    Taken,
    /// Its register is full afterwards.
    Written,
}

impl Instruction {
    /// Calls `visit` with every operand: those that are looked at, those that are taken, then those that are written.
    pub fn for_each_operand(&self, mut visit: impl FnMut(Use, Register)) {
        use Instruction as I;
        let mut all = |kind, registers: &[Register]| registers.iter().for_each(|&r| visit(kind, r));
        match self {
            I::Kernel { inputs, .. } | I::Operator { inputs, .. } | I::Scalar { inputs, .. } => {
                all(Use::LookedAt, inputs)
            }
            I::CheckTypes { values, .. } => all(Use::LookedAt, values),
            I::Copy { from: value, .. }
            | I::Field { from: value, .. }
            | I::JumpUnless { condition: value, .. }
            | I::Switch { value, .. }
            | I::ReadCell { cell: value, .. }
            | I::WriteCell { cell: value, .. } => all(Use::LookedAt, &[*value]),
            _ => {}
        }
        match self {
            I::Apply { closure, .. } | I::TailApply { closure, .. } => all(Use::Taken, &[*closure]),
            _ => {}
        }
        match self {
            I::Move { from: value, .. }
            | I::Drop { value }
            | I::Return { value }
            | I::NewCell { value, .. }
            | I::WriteCell { value, .. } => all(Use::Taken, &[*value]),
            I::Tuple { elements: values, .. }
            | I::Construct { fields: values, .. }
            | I::Closure { captured: values, .. }
            | I::Call { arguments: values, .. }
            | I::Apply { arguments: values, .. }
            | I::TailCall { arguments: values, .. }
            | I::TailApply { arguments: values, .. } => all(Use::Taken, values),
            _ => {}
        }
        all(Use::Written, self.results());
    }

    /// The registers it writes.
    pub fn results(&self) -> &[Register] {
        use Instruction as I;
        match self {
            I::Kernel { outputs, .. } | I::Operator { outputs, .. } => outputs,
            I::Constant { to, .. }
            | I::Scalar { to, .. }
            | I::Copy { to, .. }
            | I::Move { to, .. }
            | I::Tuple { to, .. }
            | I::Construct { to, .. }
            | I::Field { to, .. }
            | I::Closure { to, .. }
            | I::Call { to, .. }
            | I::Apply { to, .. }
            | I::NewCell { to, .. }
            | I::ReadCell { to, .. } => std::slice::from_ref(to),
            I::CheckTypes { .. }
            | I::Drop { .. }
            | I::TailCall { .. }
            | I::TailApply { .. }
            | I::Return { .. }
            | I::Jump { .. }
            | I::JumpUnless { .. }
            | I::Switch { .. }
            | I::WriteCell { .. }
            | I::Fail { .. } => &[],
        }
    }

    /// Where it may go other than to the next instruction.
    pub fn targets(&self) -> &[Label] {
        match self {
            Instruction::Jump { target } | Instruction::JumpUnless { target, .. } => {
                std::slice::from_ref(target)
            }
            Instruction::Switch { targets, .. } => targets,
            _ => &[],
        }
    }

    /// True when the next instruction may follow it.
    pub fn falls_through(&self) -> bool {
        use Instruction as I;
        let ends = self.ends_function() || matches!(self, I::Jump { .. } | I::Switch { .. } | I::Fail { .. });
        !ends
    }

    /// True when the function ends with it, which is when all registers have to be empty.
    pub fn ends_function(&self) -> bool {
        use Instruction as I;
        matches!(self, I::Return { .. } | I::TailCall { .. } | I::TailApply { .. })
    }
}
