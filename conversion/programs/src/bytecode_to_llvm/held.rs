//! What a run holds of tensors, before it runs: at each kernel of a program without branches and calls, the bytes of what is live then.
//!
//! ```text
//!   %1 = kernel @a(%0)        a's result, a's temporaries
//!   %2 = kernel @b(%1)        a's result, b's result, b's temporaries
//!   drop %1!
//! ```
//! Inputs and constants are held by others.

use super::extents::{product, sum};
use fusion_bytecode::{Extent, Instruction, Kernel, Program, Register, Step};
use fusion_operators::{Dim, TensorType};
use std::collections::{BTreeSet, HashMap};

/// A tensor of a register, or the tensors of a tuple.
#[derive(Clone, Default)]
struct Held {
    /// Its type; none of a tuple.
    ty: Option<TensorType>,
    /// The numbers of the buffers that it keeps.
    buffers: Vec<usize>,
}

/// What is live on the way.
#[derive(Default)]
struct Walk {
    registers: HashMap<Register, Held>,
    /// The code of the bytes of each buffer, and how many registers keep it.
    buffers: Vec<(Vec<i64>, usize)>,
    peaks: BTreeSet<Vec<i64>>,
}

/// The codes of the bytes that a run holds at each of its kernels; none where they do not follow from the extents of inputs.
pub fn bytes(program: &Program) -> Option<Vec<Vec<i64>>> {
    let main = program.functions.get(program.entry as usize)?;
    let mut walk = Walk::default();
    for (register, (_, ty)) in program.inputs.iter().enumerate() {
        let fusion_bytecode::ValueType::Tensor(ty) = ty else { return None };
        walk.registers.insert(register as Register, Held { ty: Some(ty.clone()), buffers: Vec::new() });
    }
    for instruction in &main.code {
        walk.instruction(program, instruction)?;
    }
    Some(walk.peaks.into_iter().collect())
}

impl Walk {
    fn instruction(&mut self, program: &Program, instruction: &Instruction) -> Option<()> {
        match instruction {
            Instruction::Constant { to, constant } => {
                let ty = program.constants.get(*constant as usize)?.tensor_type();
                self.registers.insert(*to, Held { ty: Some(ty), buffers: Vec::new() });
            }
            Instruction::Kernel { kernel, inputs, outputs } => {
                self.kernel(program, program.kernels.get(*kernel as usize)?, inputs, outputs)?;
            }
            Instruction::Copy { to, from } => {
                let held = self.registers.get(from)?.clone();
                held.buffers.iter().for_each(|buffer| self.buffers[*buffer].1 += 1);
                self.registers.insert(*to, held);
            }
            Instruction::Move { to, from } => {
                let held = self.registers.remove(from)?;
                self.registers.insert(*to, held);
            }
            Instruction::Drop { value } => {
                let held = self.registers.remove(value)?;
                held.buffers.iter().for_each(|buffer| self.buffers[*buffer].1 -= 1);
            }
            Instruction::Tuple { to, elements } => {
                let parts =
                    elements.iter().map(|e| self.registers.remove(e)).collect::<Option<Vec<Held>>>()?;
                let buffers = parts.into_iter().flat_map(|part| part.buffers).collect();
                self.registers.insert(*to, Held { ty: None, buffers });
            }
            Instruction::CheckTypes { .. } | Instruction::Return { .. } => {}
            _ => return None,
        }
        Some(())
    }

    fn kernel(
        &mut self,
        program: &Program,
        kernel: &Kernel,
        inputs: &[Register],
        outputs: &[Register],
    ) -> Option<()> {
        let takes =
            inputs.iter().map(|input| self.registers.get(input)?.ty.as_ref()).collect::<Option<Vec<_>>>()?;
        let steps = kernel.shapes.as_ref().map_or_else(Vec::new, |shapes| numbers(&shapes.steps, &takes));
        let known = |ty: &TensorType| {
            let number = |name: &str| steps.get(fusion_bytecode::Shapes::number(name)? as usize).cloned();
            let of = |dim: &Dim| if kernel.shapes.is_some() { dim.replace(&number) } else { dim.clone() };
            TensorType::new(ty.dims.iter().map(of).collect(), ty.dtype)
        };
        let gives: Vec<TensorType> = kernel.outputs.iter().map(known).collect();
        let temporaries = kernel.shapes.iter().flat_map(|shapes| &shapes.temporaries).map(known);
        let bytes = |ty: &TensorType| product(program, &ty.dims, ty.dtype.size() as u64);
        let mut all = temporaries.map(|ty| bytes(&ty)).collect::<Option<Vec<_>>>()?;
        for (output, ty) in outputs.iter().zip(gives) {
            self.buffers.push((bytes(&ty)?, 1));
            self.registers.insert(*output, Held { ty: Some(ty), buffers: vec![self.buffers.len() - 1] });
        }
        all.extend(self.buffers.iter().filter(|(_, keep)| *keep > 0).map(|(bytes, _)| bytes.clone()));
        all.push(product(program, &[], program.workspace_bytes())?);
        self.peaks.insert(sum(&all));
        Some(())
    }
}

/// The numbers of the steps of a shape function on inputs of these types.
fn numbers(steps: &[Step], takes: &[&TensorType]) -> Vec<Dim> {
    let mut all: Vec<Dim> = Vec::with_capacity(steps.len());
    for step in steps {
        let of = |extent: Extent| match extent {
            Extent::Known(n) => Dim::Static(n),
            Extent::Step(step) => all.get(step as usize).cloned().unwrap_or(Dim::Any),
        };
        let (a, b) = step.operands().map_or((Dim::Any, Dim::Any), |(a, b)| (of(a), of(b)));
        let number = match step {
            Step::Input { input, axis } => takes
                .get(*input as usize)
                .and_then(|ty| ty.dims.get(*axis as usize))
                .cloned()
                .unwrap_or(Dim::Any),
            Step::Value { .. } => Dim::Any,
            Step::Plus(..) => a.plus(&b),
            Step::Minus(..) => a.minus(&b).greatest(&Dim::Static(0)),
            Step::Times(..) => a.times(&b),
            Step::Over(..) => a.over(&b),
            Step::Least(..) => a.least(&b),
            Step::Equal(..) => a.meet(&b),
            // One of them is 1, or they are equal.
            Step::Broadcast(..) => a.greatest(&b),
        };
        all.push(number);
    }
    all
}
