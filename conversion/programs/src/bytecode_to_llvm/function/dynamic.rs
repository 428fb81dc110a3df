//! Kernels of dynamic extents: the steps of their shape functions as code, then the tensors they write, then the call.
//!
//! ```text
//!   n0 = extent 0 of input 0           load i64, value + 24
//!   n1 = n0 + 3                        add
//!   equal(n0, 64) else "..."           compare, and a block that ends the run with the sentence
//! ```
//!
//! The numbers lie in an array on the stack, which the kernel gets behind its inputs. Products may wrap: a tensor of so many elements cannot
//! be made, and every tensor that a kernel reads or writes is made before the kernel runs.

use super::{Body, FAIL_EXTENTS, NEW_TENSOR};
use crate::bytecode_to_llvm::globals::number_of;
use crate::bytecode_to_llvm::layout::{BEHIND_POINTER, FIELDS};
use crate::bytecode_to_llvm::values::Known;
use crate::bytecode_to_llvm::writer::{Callee, Order};
use fusion_bytecode::{Extent, Kernel, Register, Said, Shapes, Step};
use fusion_dialects::Value;
use fusion_operators::{Dim, TensorType};

impl<'c> Body<'_, 'c> {
    /// Calls a kernel whose shape function says what it writes.
    pub(super) fn dynamic_kernel(
        &mut self,
        kernel: &Kernel,
        shapes: &Shapes,
        inputs: &[Register],
        outputs: &[Register],
    ) {
        let tensors = self.get_all(inputs);
        for (i, (tensor, ty)) in tensors.iter().zip(&kernel.inputs).enumerate() {
            self.check_extents(i, *tensor, ty);
        }
        let numbers = self.steps(shapes, &tensors);
        self.list_data(&tensors, self.room[0]);
        self.code.writer.store(self.room[3], self.room[0], 8 * tensors.len() as u64);
        let all = kernel.outputs.iter().chain(&shapes.temporaries);
        let made: Vec<Value> = all.map(|ty| self.dynamic_tensor(shapes, &numbers, ty)).collect();
        self.list_data(&made, self.room[1]);
        self.run_kernel(kernel);
        let (results, temporaries) = made.split_at(outputs.len().min(made.len()));
        for temporary in temporaries {
            self.code.release(*temporary, Known::Nothing);
        }
        for (register, tensor) in outputs.iter().zip(results) {
            self.set(*register, *tensor);
        }
    }

    fn constant_extent(&self, value: i64) -> Value<'c> {
        self.code.writer.int(self.code.writer.spelling.int64, value)
    }

    fn extent_of(&self, tensor: Value<'c>, axis: usize) -> Value<'c> {
        let int64 = self.code.writer.spelling.int64;
        self.code.writer.load(int64, tensor, BEHIND_POINTER + 8 * axis as u64)
    }

    /// Ends the run unless the extents that a type knows are those of the tensor.
    fn check_extents(&mut self, input: usize, tensor: Value<'c>, ty: &TensorType) {
        for (axis, dim) in ty.dims.iter().enumerate() {
            let Some(known) = dim.known() else { continue };
            let (found, known) = (self.extent_of(tensor, axis), self.constant_extent(known as i64));
            let text = format!("extent {axis} of operand {input} must be that of its type {ty}");
            self.check(Order::Equal, found, known, &Said { place: String::new(), text });
        }
    }

    /// Ends the run unless two numbers compare like that.
    fn check(&mut self, order: Order, left: Value<'c>, right: Value<'c>, said: &Said) {
        let holds = self.code.writer.compare(order, left, right);
        self.unless(holds, left, right, said);
    }

    fn unless(&mut self, holds: Value<'c>, left: Value<'c>, right: Value<'c>, said: &Said) {
        let writer = &self.code.writer;
        let (wrong, fine) = (writer.build.new_block(&[]), writer.build.new_block(&[]));
        writer.jump_if(holds, fine.block(), wrong.block(), Some([2000, 1]));
        let place = if said.place.is_empty() { self.here.clone() } else { format!("{}: ", said.place) };
        let message = self.globals.message(&format!("{place}in @{}: {}", self.function.name, said.text));
        self.code.writer.build = wrong;
        let message = self.code.writer.address(&message);
        self.code.writer.fail(FAIL_EXTENTS, &[self.code.run, message, left, right]);
        self.code.writer.build = fine;
    }

    /// Runs the steps; their numbers are also in the room for them.
    fn steps(&mut self, shapes: &Shapes, inputs: &[Value<'c>]) -> Vec<Value<'c>> {
        let int64 = self.code.writer.spelling.int64;
        let mut numbers: Vec<Value<'c>> = Vec::with_capacity(shapes.steps.len());
        for (at, step) in shapes.steps.iter().enumerate() {
            let of = |this: &Self, extent: Extent| match extent {
                Extent::Known(known) => this.constant_extent(i64::try_from(known).unwrap_or(i64::MAX)),
                Extent::Step(step) => numbers[step as usize],
            };
            let zero = self.constant_extent(0);
            let (a, b) = step.operands().map_or((zero, zero), |(a, b)| (of(self, a), of(self, b)));
            let build = &self.code.writer.build;
            let select = |condition: Value<'c>, a: Value<'c>, b: Value<'c>| {
                build.value("llvm.select", &[condition, a, b], int64, &[])
            };
            let compare = |order, a, b| self.code.writer.compare(order, a, b);
            let number = match step {
                Step::Input { input, axis } => self.extent_of(inputs[*input as usize], *axis as usize),
                Step::Value { input, said } => {
                    let pointer = self.code.writer.spelling.pointer;
                    let data = self.code.writer.load(pointer, inputs[*input as usize], FIELDS);
                    let number = self.code.writer.load(int64, data, 0);
                    // As a number without a sign, a negative one is beyond all that there are.
                    let beyond = self.constant_extent(i64::MAX);
                    let text = format!("{}, a number below {}", said.text, i64::MAX);
                    self.check(Order::Below, number, beyond, &Said { text, ..said.clone() });
                    number
                }
                Step::Plus(..) => build.value("llvm.add", &[a, b], int64, &[]),
                Step::Minus(..) => {
                    let left = build.value("llvm.sub", &[a, b], int64, &[]);
                    select(compare(Order::Below, a, b), zero, left)
                }
                Step::Times(..) => build.value("llvm.mul", &[a, b], int64, &[]),
                Step::Over(..) => {
                    let none = compare(Order::Equal, b, zero);
                    let by = select(none, self.constant_extent(1), b);
                    select(none, zero, build.value("llvm.udiv", &[a, by], int64, &[]))
                }
                Step::Least(..) => select(compare(Order::Below, a, b), a, b),
                Step::Equal(.., said) => {
                    self.check(Order::Equal, a, b, said);
                    a
                }
                Step::Broadcast(.., said) => {
                    let (boolean, one) = (self.code.writer.spelling.boolean, self.constant_extent(1));
                    let stretches = compare(Order::Equal, a, one);
                    let either = |x: Value<'c>, y: Value<'c>| build.value("llvm.or", &[x, y], boolean, &[]);
                    let fits = either(compare(Order::Equal, a, b), compare(Order::Equal, b, one));
                    let fits = either(fits, stretches);
                    let wide = select(stretches, b, a);
                    self.unless(fits, a, b, said);
                    wide
                }
            };
            self.code.writer.store(number, self.room[3], 8 * at as u64);
            numbers.push(number);
        }
        numbers
    }

    /// A tensor whose elements are not written yet.
    fn dynamic_tensor(&mut self, shapes: &Shapes, numbers: &[Value<'c>], ty: &TensorType) -> Value<'c> {
        if ty.shape().is_some() {
            return self.new_tensor(ty);
        }
        let extents = shapes.extents(ty).unwrap_or_default();
        debug_assert!(!ty.dims.contains(&Dim::Any));
        for (axis, extent) in extents.iter().enumerate() {
            let number = match extent {
                Extent::Known(known) => self.constant_extent(i64::try_from(*known).unwrap_or(i64::MAX)),
                Extent::Step(step) => numbers[*step as usize],
            };
            self.code.writer.store(number, self.room[4], 8 * axis as u64);
        }
        let facts = [i64::from(number_of(ty.dtype)), ty.dtype.size() as i64, ty.rank() as i64];
        let facts = facts.map(|n| self.int32(n));
        let passed = [&[self.code.run], &facts[..], &[self.room[4]]].concat();
        let made =
            self.code.writer.call(Callee::C(NEW_TENSOR), &passed, Some(self.code.writer.spelling.pointer));
        made.unwrap_or(self.room[4])
    }
}
