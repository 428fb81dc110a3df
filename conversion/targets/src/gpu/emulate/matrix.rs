//! Matrix instructions as calls of the run time (`runtime/gpu`), which has the registers of all threads of a warp.
//!
//!     %d = loop.multiply_matrix %a, %b, %c      =>      store %a, %b, %c to memory of the thread
//!                                                       call @fusion_emulated_matrix(instruction, their addresses, that of %d)
//!                                                       %d = load of it

use super::Emulator;
use fusion_dialects::rows::Upstream;
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Build, Op, OpExt, Type, Value, ValueLike, buffer_parts, buffer_type, dtype_of, scalar_type,
    segments_attr, vector_parts,
};
use fusion_operators::DType;

impl<'c> Emulator<'c> {
    /// `loop.multiply_matrix`: the run time has the registers of all threads of the warp.
    pub(super) fn multiply_matrix(&mut self, op: Op<'c>) {
        let (build, operands) = (Build::before(op), op.operand_values());
        let ty = op.result_values()[0].r#type();
        let mut passed = vec![self.int(&build, DType::I32, op.int("instruction").unwrap_or(0))];
        for (place, value) in ["a", "b", "c"].into_iter().zip(operands) {
            let memory = self.memory(place, value.r#type());
            self.put(&build, value, memory);
            passed.push(self.address(&build, memory, None));
        }
        let sums = self.memory("d", ty);
        passed.push(self.address(&build, sums, None));
        self.call(&build, "fusion_emulated_matrix", &passed, &[]);
        let made = self.get(&build, sums, ty);
        op.replace_all_uses(&[made]);
        op.erase();
    }

    /// `loop.multiply_shared`: the run time reads shared memory as the instruction does.
    pub(super) fn multiply_shared(&mut self, op: Op<'c>) {
        let (build, operands) = (Build::before(op), op.operand_values());
        let [a, from_a, b, from_b, apart, sums] = operands[..] else { return };
        let (ty, wide) = (sums.r#type(), scalar_type(build.context(), DType::I64));
        let size = buffer_parts(b.r#type()).and_then(|(e, _)| dtype_of(e)).map_or(1, DType::size) as i64;
        let apart = Scalars { build }.index_affine(apart, size, 0);
        let registers = [self.memory("c", ty), self.memory("d", ty)];
        self.put(&build, sums, registers[0]);
        let passed = [
            self.int(&build, DType::I32, op.int("instruction").unwrap_or(0)),
            self.address(&build, a, Some(from_a)),
            self.address(&build, b, Some(from_b)),
            self.int(&build, DType::I32, op.attr("transposed").is_some().into()),
            build.value("arith.index_cast", &[apart], wide, &[]),
            self.address(&build, registers[0], None),
            self.address(&build, registers[1], None),
        ];
        self.call(&build, "fusion_emulated_multiply_shared", &passed, &[]);
        let made = self.get(&build, registers[1], ty);
        op.replace_all_uses(&[made]);
        op.erase();
    }

    /// `loop.load_matrix`: each thread comes with the address of a row.
    pub(super) fn load_matrix(&mut self, op: Op<'c>) {
        let (build, operands) = (Build::before(op), op.operand_values());
        let ty = op.result_values()[0].r#type();
        let lanes = vector_parts(ty).map_or(2, |(_, n)| n as i64);
        let row = self.address(&build, operands[0], Some(operands[1]));
        let count = self.int(&build, DType::I32, lanes / 2);
        let transposed = self.int(&build, DType::I32, op.attr("transposed").is_some().into());
        let memory = self.memory("d", ty);
        let out = self.address(&build, memory, None);
        self.call(&build, "fusion_emulated_ldmatrix", &[row, count, transposed, out], &[]);
        let made = self.get(&build, memory, ty);
        op.replace_all_uses(&[made]);
        op.erase();
    }

    /// Memory of the thread for a value of a type.
    fn memory(&mut self, place: &'static str, ty: Type<'c>) -> Value<'c> {
        let Some(entry) = self.entry else { unreachable!("a function that is emulated has begun") };
        let build = Build::before(entry);
        let make = || {
            let (element, lanes) = vector_parts(ty).unwrap_or((ty, 1));
            let plain = buffer_type(build.context(), lanes, dtype_of(element).unwrap_or(DType::F32));
            let attrs = [
                ("operandSegmentSizes", segments_attr(build.context(), &[0, 0])),
                ("alignment", fusion_dialects::int_attr(build.context(), 64)),
            ];
            build.value(Upstream::Alloca.name(), &[], plain, &attrs)
        };
        *self.registers.entry((place, ty.to_string())).or_insert_with(make)
    }

    fn put(&self, build: &Build<'c>, value: Value<'c>, memory: Value<'c>) {
        let first = Scalars { build: *build }.index(0);
        let is_vector = vector_parts(value.r#type()).is_some();
        let name = if is_vector { Upstream::VectorStore } else { Upstream::MemRefStore };
        build.op(name.name(), &[value, memory, first], &[], &[]);
    }

    fn get(&self, build: &Build<'c>, memory: Value<'c>, ty: Type<'c>) -> Value<'c> {
        let first = Scalars { build: *build }.index(0);
        let name = if vector_parts(ty).is_some() { Upstream::VectorLoad } else { Upstream::MemRefLoad };
        build.value(name.name(), &[memory, first], ty, &[])
    }
}
