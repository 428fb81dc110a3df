//! What stands behind a guard that lets only some lanes through.
//!
//!     %x = loop.guard %in else(%z) {          %l = vector.maskedload %a[%i], %in16, %z16
//!       %l = loop.load %a[%i]           =>    %x = %l
//!       %m = arith.mulf %l, %l                %m = arith.mulf %l, %l
//!       loop.yield %l, %m }                   %y = arith.select %in16, %m, %z16

use super::lanes::Lanes;
use super::rewrite::Rewriter;
use crate::{masks, strided};
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Block, Build, Op, OpExt, Type, Value, ValueLike, defining_op, dtype_of, ints_attr, kind_of, ops_in,
    vector_parts,
};
use fusion_operators::DType;

/// Fewer elements that are not neighbours are gathered.
const FEWEST_STRIDED: u64 = 8;

impl<'c> Rewriter<'c, '_> {
    /// Builds the body of a guard where it stands, under a mask, and selects its results.
    pub(super) fn masked(&mut self, build: &Build<'c>, op: Op<'c>, body: Block<'c>) {
        let operands = op.operand_values();
        let condition = self.vector(build, operands[0]);
        let both = match self.mask {
            Some(mask) => build.value("arith.andi", &[mask, condition], condition.r#type(), &[]),
            None => condition,
        };
        let otherwise: Vec<Value> = operands[1..].iter().map(|v| self.vector(build, *v)).collect();
        let yielded = ops_in(body).last().map(|l| l.operand_values()).unwrap_or_default();
        for ((value, scalar), lanes) in yielded.iter().zip(&operands[1..]).zip(&otherwise) {
            if self.analysis.same(*scalar) && self.is_masked_load(*value, body) {
                self.absent.insert(*value, *lanes);
            }
        }
        let around = self.mask.replace(both);
        let given = self.block(build, body);
        self.mask = around;
        for ((result, given), otherwise) in op.result_values().into_iter().zip(given).zip(otherwise) {
            let lanes = self.vector(build, given);
            let chosen = match self.absent.get(given) {
                Some(absent) if absent == otherwise => lanes,
                _ => {
                    let operands = [condition, lanes, otherwise];
                    build.value(Upstream::Select.name(), &operands, lanes.r#type(), &[])
                }
            };
            self.vectors.insert(result, chosen);
        }
    }

    /// True for what a load of the block itself gives.
    fn is_masked_load(&self, value: Value<'c>, body: Block<'c>) -> bool {
        let Some(load) = defining_op(value) else { return false };
        matches!(kind_of(load), Some(Kind::Loop(Loop::Load))) && ops_in(body).contains(&load)
    }

    /// A load in the lanes of a mask, which gives in others what is absent there, or zero.
    pub(super) fn masked_load(
        &mut self,
        build: &Build<'c>,
        from: Value<'c>,
        index: Value<'c>,
        (mask, absent): (Value<'c>, Option<Value<'c>>),
        ty: Type<'c>,
    ) -> Value<'c> {
        let element = vector_parts(ty).and_then(|(element, _)| dtype_of(element));
        let nothing = absent.unwrap_or_else(|| {
            let zero = Scalars { build: *build }.int(0, element.unwrap_or(DType::I8));
            self.broadcast(build, zero.value)
        });
        match self.analysis.lanes(index) {
            Lanes::Grows(1) => {
                let operands = [from, self.scalars.lookup(index), mask, nothing];
                return build.value(Upstream::MaskedLoad.name(), &operands, ty, &[]);
            }
            Lanes::Grows(stride @ 2..=strided::MOST) if self.analysis.extent >= FEWEST_STRIDED => {
                return self.masked_strided(build, (from, index), stride, mask, nothing);
            }
            _ => {}
        }
        let base = Scalars { build: *build }.index(0);
        let operands = [from, base, self.vector(build, index), mask, nothing];
        build.value(Upstream::MaskedGather.name(), &operands, ty, &[])
    }

    /// Elements a few places apart, shuffled out of vectors of which the elements that lanes of the mask want are loaded.
    fn masked_strided(
        &mut self,
        build: &Build<'c>,
        (from, index): (Value<'c>, Value<'c>),
        stride: i64,
        mask: Value<'c>,
        nothing: Value<'c>,
    ) -> Value<'c> {
        let lanes = self.analysis.extent as i64;
        let first = self.scalars.lookup(index);
        let none = masks::constant(build, (0..lanes).map(|_| false));
        let shuffle = |a: Value<'c>, b: Value<'c>, places: &[i64]| {
            let places = [("mask", ints_attr(build.context(), places))];
            build.value("vector.shuffle", &[a, b], a.r#type(), &places)
        };
        let mut whole = nothing;
        for part in 0..stride {
            let begin = strided::begin(part, stride, lanes);
            let wanted = |at: i64| if at % stride == 0 { at / stride } else { lanes };
            let wanted: Vec<i64> = (0..lanes).map(|l| wanted(begin + l)).collect();
            let at = Scalars { build: *build }.index_affine(first, 1, begin);
            let operands = [from, at, shuffle(mask, none, &wanted), nothing];
            let load = build.value(Upstream::MaskedLoad.name(), &operands, nothing.r#type(), &[]);
            whole = match part {
                0 => load,
                _ => shuffle(whole, load, &strided::places(part, stride, lanes)),
            };
        }
        whole
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
