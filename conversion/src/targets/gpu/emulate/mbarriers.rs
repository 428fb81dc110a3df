//! TMA copies of tensors and the mbarriers that tell of them, as calls of the run time (`runtime/gpu/mbarriers.c`).
//!
//!     loop.copy_tensor {map = 0} %x[%i, %k] .. to %s[%o] mbarriers %f[%n]      =>      call @fusion_emulated_copy_tensor(0, ..)
//!     loop.mbarrier_wait %f[%n] phase %p                                               call @fusion_emulated_mbarrier_wait(address of %f[%n], %p)

use super::Emulator;
use crate::loop_to_gpu::maps::MAP;
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::loops::tensor_copy::{MOST_AXES, TensorCopy};
use fusion_dialects::{Build, Op, OpExt, PassError, ValueLike, buffer_parts, scalar_type};
use fusion_operators::DType;

impl<'c> Emulator<'c> {
    /// `loop.copy_tensor`: the run time has the tensor's map, and knows it by its number.
    pub(super) fn copy_tensor(&mut self, op: Op<'c>) -> Result<(), PassError<'c>> {
        let build = Build::before(op);
        let copy = TensorCopy::of(op).filter(|_| op.int(MAP).is_some());
        let Some((copy, (mbarriers, mbarrier))) = copy.and_then(|copy| Some((copy.clone(), copy.mbarrier?)))
        else {
            return Err(PassError::at(op, "has no map, or no mbarrier that tells of it"));
        };
        let mut passed = vec![
            self.int(&build, DType::I32, op.int(MAP).unwrap_or(0)),
            self.address(&build, copy.buffer, Some(copy.to)),
            self.address(&build, mbarriers, Some(mbarrier)),
        ];
        let wide = scalar_type(build.context(), DType::I64);
        for axis in 0..MOST_AXES {
            let index = copy.at.len().checked_sub(axis + 1).map(|place| copy.at[place]);
            passed.push(match index {
                Some(index) => build.value("arith.index_cast", &[index], wide, &[]),
                None => self.int(&build, DType::I64, 0),
            });
        }
        self.call(&build, "fusion_emulated_copy_tensor", &passed, &[]);
        op.erase();
        Ok(())
    }

    /// `loop.mbarrier_init` and those that use what it makes.
    pub(super) fn mbarrier(&mut self, kind: Loop, op: Op<'c>) {
        let (build, operands) = (Build::before(op), op.operand_values());
        let wide = scalar_type(build.context(), DType::I64);
        let mut passed = vec![self.address(&build, operands[0], operands.get(1).copied())];
        let mut number = |n: i64| passed.push(self.int(&build, DType::I64, n));
        let name = match kind {
            Loop::MbarrierInit => {
                number(buffer_parts(operands[0].r#type()).map_or(0, |(_, n)| n as i64));
                number(op.int("count").unwrap_or(0));
                "fusion_emulated_mbarrier_init"
            }
            Loop::MbarrierExpect => {
                number(op.int("bytes").unwrap_or(0));
                "fusion_emulated_mbarrier_expect"
            }
            Loop::MbarrierWait => {
                passed.push(build.value("arith.index_cast", &[operands[2]], wide, &[]));
                "fusion_emulated_mbarrier_wait"
            }
            _ => "fusion_emulated_mbarrier_arrive",
        };
        self.call(&build, name, &passed, &[]);
        op.erase();
    }
}
