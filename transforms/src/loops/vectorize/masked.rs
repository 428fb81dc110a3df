//! What stands behind a guard that lets only some lanes through.
//!
//!     %x = loop.guard %in else(%z) {          %l = vector.maskedload %a[%i], %in16, %zeros
//!       %l = loop.load %a[%i]           =>    %x = arith.select %in16, %l, %z16
//!       loop.yield %l }

use super::lanes::Lanes;
use super::rewrite::Rewriter;
use fusion_dialects::rows::Upstream;
use fusion_dialects::te::Scalars;
use fusion_dialects::{Block, Build, Op, OpExt, Type, Value, ValueLike, dtype_of, vector_parts};
use fusion_operators::DType;

impl<'c> Rewriter<'c, '_> {
    /// Builds the body of a guard where it stands, under a mask, and selects its results.
    pub(super) fn masked(&mut self, build: &Build<'c>, op: Op<'c>, body: Block<'c>) {
        let operands = op.operand_values();
        let condition = self.vector(build, operands[0]);
        let both = match self.mask {
            Some(mask) => build.value("arith.andi", &[mask, condition], condition.r#type(), &[]),
            None => condition,
        };
        let around = self.mask.replace(both);
        let given = self.block(build, body);
        self.mask = around;
        for ((result, given), otherwise) in op.result_values().into_iter().zip(given).zip(&operands[1..]) {
            let (given, otherwise) = (self.vector(build, given), self.vector(build, *otherwise));
            let operands = [condition, given, otherwise];
            let chosen = build.value(Upstream::Select.name(), &operands, given.r#type(), &[]);
            self.vectors.insert(result, chosen);
        }
    }

    pub(super) fn masked_load(
        &mut self,
        build: &Build<'c>,
        from: Value<'c>,
        index: Value<'c>,
        mask: Value<'c>,
        ty: Type<'c>,
    ) -> Value<'c> {
        let element = vector_parts(ty).and_then(|(element, _)| dtype_of(element));
        let zero = Scalars { build: *build }.int(0, element.unwrap_or(DType::I8));
        let nothing = self.broadcast(build, zero.value);
        if self.analysis.lanes(index) == Lanes::Grows(1) {
            let operands = [from, self.scalars.lookup(index), mask, nothing];
            return build.value(Upstream::MaskedLoad.name(), &operands, ty, &[]);
        }
        let base = Scalars { build: *build }.index(0);
        let operands = [from, base, self.vector(build, index), mask, nothing];
        build.value(Upstream::MaskedGather.name(), &operands, ty, &[])
    }

    pub(super) fn masked_store(
        &mut self,
        build: &Build<'c>,
        value: Value<'c>,
        to: Value<'c>,
        index: Value<'c>,
        mask: Value<'c>,
    ) {
        let value = self.vector(build, value);
        if self.analysis.lanes(index) == Lanes::Grows(1) {
            let operands = [to, self.scalars.lookup(index), mask, value];
            build.op(Upstream::MaskedStore.name(), &operands, &[], &[]);
        } else {
            let base = Scalars { build: *build }.index(0);
            let operands = [to, base, self.vector(build, index), mask, value];
            build.op(Upstream::MaskedScatter.name(), &operands, &[], &[]);
        }
    }
}
