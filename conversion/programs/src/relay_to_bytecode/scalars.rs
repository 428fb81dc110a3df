//! Operators on numbers by themselves, which are instructions and no kernels.
//!
//! ```text
//!   %c = relay.less %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>        %2 = scalar less i32(%0, %1) -> i1
//! ```
//! Which operators have an instruction is a table of [`fusion_bytecode::Scalar`]. In a block, a number is computed by one unless it
//! comes from tensor code of the block or only tensor code of the block wants it: that computes it on the way.

use super::function::Body;
use super::outline::{is_constant, is_tensor_code, used};
use fusion_bytecode::{Instruction, Scalar};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Op, OpExt, OperationLike, PassError, Value, key, kind_of, nested_ops, op_key, parent_of, relay,
    tensor_type, users,
};
use fusion_operators::DType;
use std::collections::{HashMap, HashSet};

/// A block of more numbers than this is worth a kernel.
const MOST: usize = 32;

/// The instruction of an operation, and the element types it takes and gives.
pub fn scalar_of(op: Op) -> Option<(Scalar, DType, DType)> {
    let Some(Kind::Operator(operator)) = kind_of(op) else { return None };
    let scalar = Scalar::of(operator)?;
    let operands: Vec<DType> = op.operand_values().into_iter().map(number).collect::<Option<_>>()?;
    let result = number(*op.result_values().first()?)?;
    let ty = *operands.last()?;
    let same = operands.iter().enumerate().all(|(i, found)| *found == scalar.operand_type(i, ty));
    (same && scalar.fits(ty, result)).then_some((scalar, ty, result))
}

/// The element type of a tensor of rank 0.
fn number(value: Value) -> Option<DType> {
    tensor_type(value).filter(|ty| ty.rank() == 0).map(|ty| ty.dtype)
}

/// Operators on numbers, and branches over nothing else.
fn is_scalar_code(op: Op) -> bool {
    let plain = |op: Op| match kind_of(op) {
        Some(Kind::Relay(relay::Op::If | relay::Op::Yield)) => {
            op.result_values().into_iter().all(|value| number(value).is_some())
        }
        _ => scalar_of(op).is_some() || is_constant(op),
    };
    !is_constant(op) && plain(op) && (op.region_count() == 0 || nested_ops(op).into_iter().all(plain))
}

/// For the operations of a block, whether each is to be computed by a kernel.
pub fn in_kernels(ops: &[Op]) -> Vec<bool> {
    let tensor: Vec<bool> = ops.iter().map(|op| is_tensor_code(*op)).collect();
    let places: HashMap<usize, usize> = ops.iter().enumerate().map(|(i, op)| (op_key(*op), i)).collect();
    // From the front: what tensor code leads to is tensor code.
    let mut from_tensors: HashSet<usize> = HashSet::new();
    let mut in_kernel = tensor.clone();
    for (i, op) in ops.iter().enumerate().filter(|(i, _)| tensor[*i]) {
        let used = used(*op);
        if is_scalar_code(*op) && used.iter().all(|value| !from_tensors.contains(&key(*value))) {
            in_kernel[i] = false;
        } else {
            from_tensors.extend(op.result_values().into_iter().map(key));
        }
    }
    // From the back: what only kernels want is computed there.
    for i in (0..ops.len()).rev().filter(|i| tensor[*i]) {
        if in_kernel[i] {
            continue;
        }
        let around = |user: Op| {
            std::iter::successors(Some(user), |op| parent_of(*op))
                .find_map(|op| places.get(&op_key(op)).copied())
        };
        let mut wanted = ops[i].result_values().into_iter().flat_map(users).map(around).peekable();
        in_kernel[i] = wanted.peek().is_some() && wanted.all(|at| at.is_some_and(|at| in_kernel[at]));
    }
    let scalars = (0..ops.len()).filter(|i| tensor[*i] && !in_kernel[*i]).count();
    if scalars > MOST { tensor } else { in_kernel }
}

impl<'c> Body<'_, 'c> {
    /// An operator that is a scalar instruction.
    pub fn scalar(
        &mut self,
        op: Op<'c>,
        (scalar, ty, result): (Scalar, DType, DType),
    ) -> Result<(), PassError<'c>> {
        let seen =
            op.operand_values().into_iter().map(|v| self.look(op, v)).collect::<Result<Vec<_>, _>>()?;
        let inputs = seen.iter().map(|(register, _)| *register).collect();
        let to = self.define(op.result_values()[0]);
        self.code.emit(Instruction::Scalar { to, scalar, ty, result, inputs });
        self.drop_made(&seen);
        self.settle(op);
        Ok(())
    }
}
