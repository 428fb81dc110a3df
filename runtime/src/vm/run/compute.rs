//! Tensors computed of tensors: by kernels, and by the reference of an operator where extents were not known.

use super::{State, Step};
use crate::vm::code::OperatorCall;
use crate::vm::heap::{Handle, Sort};
use crate::vm::library::NotCalled;
use fusion_bytecode::{Kernel, Register};
use fusion_operators::{Tensor, reference};

impl State {
    #[inline]
    pub(super) fn kernel(
        &mut self,
        kernels: &[Kernel],
        kernel: usize,
        inputs: &[Register],
        outputs: &[Register],
    ) -> Step<()> {
        self.inputs.clear();
        for &register in inputs {
            match self.get(register).sort() {
                Sort::Tensor(slot) => self.inputs.push(slot),
                _ => return Err(self.no_tensor(self.get(register))),
            }
        }
        self.outputs.clear();
        match self.kernels.call(kernel, &mut self.heap.tensors, &self.inputs, &mut self.outputs) {
            Ok(()) => {
                for (i, &register) in outputs.iter().enumerate() {
                    self.set(register, Handle::tensor(self.outputs[i]));
                }
                Ok(())
            }
            Err(why) => {
                for &slot in &self.outputs {
                    self.heap.tensors.release(slot);
                }
                Err(match why {
                    NotCalled::Memory(error) => error.to_string(),
                    NotCalled::Shapes(place, why) => {
                        self.place = Some(place).filter(|place| !place.is_empty());
                        why
                    }
                    NotCalled::Input(input) => {
                        let expected = kernels[kernel].inputs.get(input);
                        format!(
                            "input {input} of kernel {} is a {}, found a {}",
                            kernels[kernel].symbol,
                            expected.map(ToString::to_string).unwrap_or_default(),
                            self.inputs.get(input).map_or_else(String::new, |&slot| self
                                .heap
                                .tensors
                                .type_of(slot)
                                .to_string()),
                        )
                    }
                })
            }
        }
    }

    pub(super) fn operator(&mut self, call: &OperatorCall) -> Step<()> {
        let mut operands: Vec<Tensor> = Vec::with_capacity(call.inputs.len());
        for &register in &call.inputs {
            let slot = self.tensor(self.get(register))?;
            operands.push(self.heap.tensors.copy_out(slot).map_err(|error| error.to_string())?);
        }
        let results = reference::evaluate(call.operator, &call.attributes, &operands);
        let results = results.map_err(|error| format!("relay.{} {error}", call.operator.name))?;
        if results.len() != call.outputs.len() {
            return Err(format!(
                "relay.{} gives {} results, but {} are expected",
                call.operator.name,
                results.len(),
                call.outputs.len()
            ));
        }
        for (result, &register) in results.iter().zip(&call.outputs) {
            let slot = self.heap.tensors.copy_in(result).map_err(|error| error.to_string())?;
            self.set(register, Handle::tensor(slot));
        }
        Ok(())
    }
}
