//! Vectors of indices, for those that do not grow by a constant.

use super::affine::{compact, linear, not_negative};
use super::rewrite::Rewriter;
use fusion_dialects::rows::Upstream;
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Affine, Build, Op, OpExt, Value, affine_map_attr, affine_map_of, index_type, int_attr, scalar_type,
    vector_type,
};
use fusion_operators::DType;

/// The number of `slt` among the predicates of `arith.cmpi`.
const LESS: i64 = 2;

impl<'c> Rewriter<'c, '_> {
    /// The lanes of `base + growth * lane`.
    pub(super) fn growing(&self, build: &Build<'c>, base: Value<'c>, growth: i64) -> Value<'c> {
        let ty = vector_type(index_type(build.context()), self.analysis.extent);
        let steps = build.value("vector.step", &[], ty, &[]);
        let scaled = if growth == 1 {
            steps
        } else {
            let by = self.broadcast(build, Scalars { build: *build }.index(growth));
            build.value("arith.muli", &[steps, by], ty, &[])
        };
        let base = self.broadcast(build, base);
        build.value("arith.addi", &[base, scaled], ty, &[])
    }

    /// The lanes of an `affine.apply`.
    pub(super) fn apply(&mut self, build: &Build<'c>, op: Op<'c>) -> Option<Value<'c>> {
        let map = affine_map_of(op.attr("map")?)?;
        let positive = self.analysis.not_negative_operands(op);
        Some(self.expression(build, op, &map, &positive))
    }

    fn expression(&mut self, build: &Build<'c>, op: Op<'c>, e: &Affine, positive: &[bool]) -> Value<'c> {
        let context = build.context();
        let operands = op.operand_values();
        if let Some(found) = linear(e, &self.analysis.linear_operands(op), self.analysis.extent) {
            let (small, used) = compact(e);
            let inputs: Vec<Value> = used.iter().map(|i| self.scalars.lookup(operands[*i])).collect();
            let map = affine_map_attr(context, inputs.len(), &small);
            let name = Upstream::AffineApply.name();
            let base = build.value(name, &inputs, index_type(context), &[("map", map)]);
            return match found.growth {
                0 => self.broadcast(build, base),
                growth => self.growing(build, base, growth),
            };
        }
        let unsigned = |a: &Affine| not_negative(a, positive);
        let (name, a, b) = match e {
            Affine::Input(i) => return self.vector(build, operands[*i]),
            // Constants are linear: this is not reached.
            Affine::Constant(c) => return self.broadcast(build, Scalars { build: *build }.index(*c)),
            Affine::Add(a, b) => ("arith.addi", a, b),
            Affine::Mul(a, b) => ("arith.muli", a, b),
            Affine::Mod(a, b) if unsigned(a) => ("arith.remui", a, b),
            Affine::Mod(a, b) => ("arith.remsi", a, b),
            Affine::FloorDiv(a, b) if unsigned(a) => ("arith.divui", a, b),
            Affine::FloorDiv(a, b) => ("arith.floordivsi", a, b),
            Affine::CeilDiv(a, b) => ("arith.ceildivsi", a, b),
        };
        let (x, y) = (self.expression(build, op, a, positive), self.expression(build, op, b, positive));
        let ty = vector_type(index_type(context), self.analysis.extent);
        let value = build.value(name, &[x, y], ty, &[]);
        if !matches!(e, Affine::Mod(..)) || unsigned(a) {
            return value;
        }
        // The remainder has the sign of what is divided; the modulus is not negative.
        let zero = self.broadcast(build, Scalars { build: *build }.index(0));
        let bits = vector_type(scalar_type(context, DType::Bool), self.analysis.extent);
        let below =
            build.value("arith.cmpi", &[value, zero], bits, &[("predicate", int_attr(context, LESS))]);
        let raised = build.value("arith.addi", &[value, y], ty, &[]);
        build.value("arith.select", &[below, raised, value], ty, &[])
    }
}
