//! The scalar expressions of a stage at a point, with inlined stages written in place.

use super::Lowering;
use crate::roundings::Contracted;
use fusion_dialects::loops::Loops;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::{Op as Te, Scalars};
use fusion_dialects::{
    Attribute, Op, OpExt, PassError, TypeLike, Value, ValueLike, arguments, array_elements, defining_op, key,
    kind_of, ops_in, scalar_type, tensor_type,
};
use fusion_operators::{DType, Dim};

/// A quotient or remainder of an index by one that LLVM can tell is not 0, so that it may move it out of branches and loops.
fn divided<'c>(s: &Scalars<'c>, kind: Upstream, index: Value<'c>, by: Value<'c>) -> Value<'c> {
    let by = s.index_max(by, s.index(1));
    match kind {
        Upstream::RemUI => s.index_remainder(index, by),
        _ => s.index_quotient(index, by),
    }
}

impl<'c> Lowering<'c> {
    /// The elements of a stage's results at a point (parallel, then reduction axes), before they are combined.
    pub(super) fn elements(
        &mut self,
        loops: &Loops<'c>,
        stage: Op<'c>,
        axes: &[Value<'c>],
    ) -> Vec<Value<'c>> {
        let Some(body) = stage.body(0) else { return Vec::new() };
        let mut map = self.outside.clone();
        arguments(body).into_iter().zip(axes).for_each(|(axis, value)| map.insert(axis, *value));
        let contracted = Contracted::of(stage, self.roundings);
        for op in ops_in(body) {
            match kind_of(op) {
                Some(Kind::Te(Te::Yield)) => {
                    return op.operand_values().into_iter().map(|v| map.lookup(v)).collect();
                }
                Some(Kind::Te(Te::Extent)) => {
                    let name = op.text("name").unwrap_or_default().to_owned();
                    let extent = self.extent(loops, &Dim::Symbol(name));
                    map.insert(op.result_values()[0], extent);
                }
                Some(Kind::Te(kind @ (Te::Load | Te::LoadIf))) => {
                    let operands = op.operand_values();
                    let rank = tensor_type(operands[0]).map_or(0, |ty| ty.rank());
                    let given: Vec<Value> = operands[1..].iter().map(|v| map.lookup(*v)).collect();
                    let (indices, others) = given.split_at(rank.min(given.len()));
                    let element = match (kind, others) {
                        (Te::LoadIf, [condition, otherwise]) => {
                            let load =
                                |inner: &Loops<'c>| vec![self.element(inner, op, operands[0], indices)];
                            loops.guard_else(*condition, &[*otherwise], load)[0]
                        }
                        _ => self.element(loops, op, operands[0], indices),
                    };
                    map.insert(op.result_values()[0], element);
                }
                Some(Kind::Upstream(kind @ (Upstream::DivUI | Upstream::RemUI)))
                    if op.result_values()[0].r#type().is_index() =>
                {
                    let operands = op.operand_values();
                    let by = map.lookup(operands[1]);
                    let result = divided(&loops.scalars(), kind, map.lookup(operands[0]), by);
                    map.insert(op.result_values()[0], result);
                }
                _ => {
                    let copy = map.clone_op(&loops.build, op);
                    contracted.mark(loops.build.context(), op, copy);
                }
            }
        }
        Vec::new()
    }

    /// An element of a tensor.
    fn element(
        &mut self,
        loops: &Loops<'c>,
        op: Op<'c>,
        tensor: Value<'c>,
        indices: &[Value<'c>],
    ) -> Value<'c> {
        if let Some(buffer) = self.places.get(&key(tensor)).copied() {
            let place = self.offset(loops, tensor, indices);
            return loops.load_raw(buffer, place).value;
        }
        if let Some(stage) = defining_op(tensor).filter(|stage| self.inlined.has(*stage)) {
            let result = stage.result_values().iter().position(|v| key(*v) == key(tensor)).unwrap_or(0);
            if let Some(element) = self.elements(loops, stage, indices).get(result) {
                return *element;
            }
        }
        self.fail(PassError::at(op, "reads a tensor that has not been computed at this place"));
        // Something of the right type, so that the rest can be built before the error is reported.
        loops.build.value("ub.poison", &[], op.result_values()[0].r#type(), &[])
    }

    /// Where an element lies in the buffer of its tensor.
    pub(super) fn offset(
        &mut self,
        loops: &Loops<'c>,
        tensor: Value<'c>,
        indices: &[Value<'c>],
    ) -> Value<'c> {
        let dims = tensor_type(tensor).map_or_else(Vec::new, |ty| ty.dims);
        let s = loops.scalars();
        let mut offset: Option<Value<'c>> = None;
        for (index, dim) in indices.iter().zip(&dims) {
            offset = Some(match offset {
                None => *index,
                Some(before) => {
                    let extent = self.extent(loops, dim);
                    s.index_add(s.index_mul(before, extent), *index)
                }
            });
        }
        offset.unwrap_or_else(|| s.index(0))
    }

    /// The neutral elements of a reduction.
    pub(super) fn neutral(&self, loops: &Loops<'c>, stage: Op<'c>) -> Vec<Value<'c>> {
        let attrs = stage.attr("init").map(array_elements).unwrap_or_default();
        let of = |(attr, tensor): (Attribute<'c>, Value<'c>)| {
            let dtype = tensor_type(tensor).map_or(DType::F32, |ty| ty.dtype);
            let ty = scalar_type(loops.build.context(), dtype);
            loops.build.value("arith.constant", &[], ty, &[("value", attr)])
        };
        attrs.into_iter().zip(stage.result_values()).map(of).collect()
    }
}
