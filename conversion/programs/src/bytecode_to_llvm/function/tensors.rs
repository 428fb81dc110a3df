//! Tensors in a function: kernels with the tensors they write, and checks of types.
//!
//! A kernel gets three pointers: to those of its inputs, to those of its outputs, and to a workspace.

use super::{Body, CHECK_TYPE, NEW_TENSOR};
use crate::bytecode_to_llvm::globals::{number_of, tensor_facts};
use crate::bytecode_to_llvm::layout::{FIELDS, Kind, WORKSPACE, tensor_layout};
use crate::bytecode_to_llvm::values::Head;
use crate::bytecode_to_llvm::writer::Callee;
use fusion_bytecode::{Kernel, Register};
use fusion_dialects::Value;
use fusion_operators::TensorType;
use indexmap::IndexSet;

impl<'c> Body<'_, 'c> {
    /// Writes where the elements of tensors are into a list.
    pub(super) fn list_data(&mut self, tensors: &[Value<'c>], list: Value<'c>) {
        let pointer = self.code.writer.spelling.pointer;
        for (i, tensor) in tensors.iter().enumerate() {
            let data = self.code.writer.load(pointer, *tensor, FIELDS);
            self.code.writer.store(data, list, 8 * i as u64);
        }
    }

    /// Calls a kernel on the tensors that are listed.
    pub(super) fn run_kernel(&mut self, kernel: &Kernel) {
        let pointer = self.code.writer.spelling.pointer;
        let workspace = self.code.writer.load(pointer, self.code.run, WORKSPACE);
        let passed = [self.room[0], self.room[1], workspace];
        self.code.writer.call(Callee::C(&kernel.symbol), &passed, None);
    }

    /// Calls a kernel.
    pub(super) fn kernel(&mut self, kernel: &Kernel, inputs: &[Register], outputs: &[Register]) {
        if let Some(shapes) = &kernel.shapes {
            return self.dynamic_kernel(kernel, shapes, inputs, outputs);
        }
        let given = self.get_all(inputs);
        self.list_data(&given, self.room[0]);
        let made: Vec<Value> = kernel.outputs.iter().map(|ty| self.new_tensor(ty)).collect();
        self.list_data(&made, self.room[1]);
        self.run_kernel(kernel);
        let is_small = |ty: &TensorType| tensor_layout(ty).is_some();
        self.small.extend(inputs.iter().zip(&kernel.inputs).filter(|(_, ty)| is_small(ty)).map(|(r, _)| *r));
        for ((register, tensor), ty) in outputs.iter().zip(made).zip(&kernel.outputs) {
            self.set(*register, tensor);
            self.small.extend(is_small(ty).then_some(*register));
        }
    }

    /// A tensor whose elements are not written yet.
    pub(super) fn new_tensor(&mut self, ty: &TensorType) -> Value<'c> {
        let shape = ty.shape().unwrap_or_default();
        let (which, element) = (number_of(ty.dtype), ty.dtype.size() as u32);
        if let Some(layout) = tensor_layout(ty) {
            let head = Head { kind: Kind::Tensor, tag: element, which, parts: shape.len() as u32 };
            return self.code.new_tensor(layout, head, &shape);
        }
        let extents = shape.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
        let extents = self.globals.numbers(extents);
        let writer = &self.code.writer;
        let numbers = [i64::from(which), i64::from(element), shape.len() as i64].map(|n| self.int32(n));
        let extents = writer.address(&extents);
        let passed = [&[self.code.run], &numbers[..], &[extents]].concat();
        let made = writer.call(Callee::C(NEW_TENSOR), &passed, Some(writer.spelling.pointer));
        made.unwrap_or(extents)
    }

    pub(super) fn check_types(&mut self, at: usize, values: &[Register], types: &[TensorType]) {
        let mut names = IndexSet::new();
        let facts: Vec<Vec<i64>> = types.iter().map(|ty| tensor_facts(ty, &mut names)).collect();
        let bound = self.room[2];
        let (int64, run) = (self.code.writer.spelling.int64, self.code.run);
        for i in 0..names.len() {
            let unknown = self.code.writer.int(int64, -1);
            self.code.writer.store(unknown, bound, 8 * i as u64);
        }
        for ((value, ty), facts) in values.iter().zip(types).zip(facts) {
            let facts = self.globals.numbers(facts);
            let text = format!("{}in @{}: a value should be a {ty}", self.place(at), self.function.name);
            let text = self.globals.message(&text);
            let (value, facts) = (self.get(*value), self.code.writer.address(&facts));
            let text = self.code.writer.address(&text);
            self.code.writer.call(Callee::C(CHECK_TYPE), &[run, value, facts, bound, text], None);
        }
    }
}
