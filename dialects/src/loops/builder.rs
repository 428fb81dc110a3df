//! Builds loop nests.

use super::{LoopKind, Op as Loop, Scope};
use crate::te::{Scalar, Scalars};
use crate::{
    Attribute, Build, OpExt, Type, Value, ValueLike, buffer_type, dict_attr, index_type, int_attr,
    scalar_type, storage_type,
};
use fusion_operators::DType;

/// A flat buffer and what its elements mean.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'c> {
    /// The memref.
    pub value: Value<'c>,
    /// Element type; booleans are bytes in memory.
    pub dtype: DType,
}

/// Builds loops, loads and stores at a place.
#[derive(Clone, Copy)]
pub struct Loops<'c> {
    /// The place.
    pub build: Build<'c>,
}

impl<'c> Loops<'c> {
    /// Scalar expressions at the same place.
    pub fn scalars(&self) -> Scalars<'c> {
        Scalars { build: self.build }
    }

    /// A loop: `body` takes the index and the values carried so far and gives the next ones.
    pub fn for_(
        &self,
        extent: u64,
        kind: LoopKind,
        inits: &[Value<'c>],
        body: impl FnOnce(&Loops<'c>, Value<'c>, &[Value<'c>]) -> Vec<Value<'c>>,
    ) -> Vec<Value<'c>> {
        self.for_with(extent, kind, &[], inits, body)
    }

    /// A loop on which values are kept under names.
    pub fn for_with(
        &self,
        extent: u64,
        kind: LoopKind,
        notes: &[(&str, Attribute<'c>)],
        inits: &[Value<'c>],
        body: impl FnOnce(&Loops<'c>, Value<'c>, &[Value<'c>]) -> Vec<Value<'c>>,
    ) -> Vec<Value<'c>> {
        let context = self.build.context();
        let (carried, region) = self.body(inits, body);
        let mut attrs =
            vec![("extent", int_attr(context, extent as i64)), ("kind", int_attr(context, kind as i64))];
        if !notes.is_empty() {
            attrs.push((super::ANNOTATIONS, dict_attr(context, notes)));
        }
        self.build.op_with_regions(Loop::For.name(), inits, &carried, &attrs, vec![region]).result_values()
    }

    /// As [`Self::for_`], with a number of iterations that is known when it runs.
    pub fn upto(
        &self,
        count: Value<'c>,
        kind: LoopKind,
        inits: &[Value<'c>],
        body: impl FnOnce(&Loops<'c>, Value<'c>, &[Value<'c>]) -> Vec<Value<'c>>,
    ) -> Vec<Value<'c>> {
        let (carried, region) = self.body(inits, body);
        let attrs = [("kind", int_attr(self.build.context(), kind as i64))];
        let operands = [&[count], inits].concat();
        self.build
            .op_with_regions(Loop::Upto.name(), &operands, &carried, &attrs, vec![region])
            .result_values()
    }

    fn body(
        &self,
        inits: &[Value<'c>],
        body: impl FnOnce(&Loops<'c>, Value<'c>, &[Value<'c>]) -> Vec<Value<'c>>,
    ) -> (Vec<Type<'c>>, crate::Region<'c>) {
        let carried: Vec<Type> = inits.iter().map(|v| v.r#type()).collect();
        let inputs = [&[index_type(self.build.context())], carried.as_slice()].concat();
        let region = self.build.region(&inputs, |inner, args| {
            let loops = Loops { build: inner };
            let next = body(&loops, args[0], &args[1..]);
            loops.finish(&next);
        });
        (carried, region)
    }

    /// A serial loop that carries nothing.
    pub fn each(&self, extent: u64, body: impl FnOnce(&Loops<'c>, Value<'c>)) {
        self.for_(extent, LoopKind::Serial, &[], |loops, i, _| {
            body(loops, i);
            Vec::new()
        });
    }

    /// The same, of which iterations write nothing that another one reads or writes, whatever the loops around and inside are at.
    pub fn each_independent(&self, extent: u64, body: impl FnOnce(&Loops<'c>, Value<'c>)) {
        self.for_independent(extent, LoopKind::Serial, body);
    }

    /// The same of another kind.
    pub fn for_independent(&self, extent: u64, kind: LoopKind, body: impl FnOnce(&Loops<'c>, Value<'c>)) {
        let note = (super::INDEPENDENT, int_attr(self.build.context(), 1));
        self.for_with(extent, kind, &[note], &[], |loops, i, _| {
            body(loops, i);
            Vec::new()
        });
    }

    /// Runs `body` where the condition holds.
    pub fn guard(&self, condition: Scalar<'c>, body: impl FnOnce(&Loops<'c>)) {
        self.guard_else(condition.value, &[], |loops| {
            body(loops);
            Vec::new()
        });
    }

    /// The values of `body` where the condition holds, `otherwise` where not.
    pub fn guard_else(
        &self,
        condition: Value<'c>,
        otherwise: &[Value<'c>],
        body: impl FnOnce(&Loops<'c>) -> Vec<Value<'c>>,
    ) -> Vec<Value<'c>> {
        let types: Vec<Type> = otherwise.iter().map(|v| v.r#type()).collect();
        let region = self.build.region(&[], |inner, _| {
            let loops = Loops { build: inner };
            let values = body(&loops);
            loops.finish(&values);
        });
        let operands = [&[condition], otherwise].concat();
        self.build.op_with_regions(Loop::Guard.name(), &operands, &types, &[], vec![region]).result_values()
    }

    /// Which of that many threads this is.
    pub fn thread_index(&self, extent: u64, kind: LoopKind) -> Value<'c> {
        let context = self.build.context();
        let attrs = [("extent", int_attr(context, extent as i64)), ("kind", int_attr(context, kind as i64))];
        self.build.value(Loop::ThreadIndex.name(), &[], index_type(context), &attrs)
    }

    /// The values of that many threads combined; `scratch` has a buffer for each.
    pub fn all_reduce(
        &self,
        extent: u64,
        kind: LoopKind,
        values: &[Value<'c>],
        scratch: &[Buffer<'c>],
        combine: impl FnOnce(&Loops<'c>, &[Value<'c>], &[Value<'c>]) -> Vec<Value<'c>>,
    ) -> Vec<Value<'c>> {
        let context = self.build.context();
        let types: Vec<Type> = values.iter().map(|v| v.r#type()).collect();
        let region = self.build.region(&[types.as_slice(), &types].concat(), |inner, args| {
            let loops = Loops { build: inner };
            let (a, b) = args.split_at(types.len());
            let both = combine(&loops, a, b);
            loops.finish(&both);
        });
        let buffers: Vec<Value> = scratch.iter().map(|b| b.value).collect();
        let attrs = [("extent", int_attr(context, extent as i64)), ("kind", int_attr(context, kind as i64))];
        let operands = [values, buffers.as_slice()].concat();
        let op = self.build.op_with_regions(Loop::AllReduce.name(), &operands, &types, &attrs, vec![region]);
        op.result_values()
    }

    /// Ends a body.
    pub fn finish(&self, values: &[Value<'c>]) {
        self.build.op(Loop::Yield.name(), values, &[], &[]);
    }

    /// A buffer that lives as long as the block.
    pub fn alloc(&self, elements: u64, dtype: DType, scope: Scope) -> Buffer<'c> {
        let context = self.build.context();
        let attrs = [("scope", int_attr(context, scope as i64))];
        let value = self.build.value(Loop::Alloc.name(), &[], buffer_type(context, elements, dtype), &attrs);
        Buffer { value, dtype }
    }

    /// A buffer of so many parts, which iterations of a loop use in turn.
    pub fn alloc_in_turn(&self, elements: u64, slots: u64, dtype: DType, scope: Scope) -> Buffer<'c> {
        let buffer = self.alloc(elements.saturating_mul(slots), dtype, scope);
        if let Some(op) = crate::defining_op(buffer.value) {
            op.set_attr("slots", int_attr(self.build.context(), slots as i64));
        }
        buffer
    }

    /// An element as it is stored, a boolean as i1.
    pub fn load_raw(&self, buffer: Buffer<'c>, index: Value<'c>) -> Scalar<'c> {
        let context = self.build.context();
        let stored = self.build.value(
            Loop::Load.name(),
            &[buffer.value, index],
            storage_type(context, buffer.dtype),
            &[],
        );
        if buffer.dtype == DType::Bool {
            let byte = Scalar { value: stored, dtype: DType::U8 };
            return self.scalars().cast(byte, DType::Bool);
        }
        Scalar { value: stored, dtype: buffer.dtype }
    }

    /// An element, extended to the type it is computed in.
    pub fn load(&self, buffer: Buffer<'c>, index: Value<'c>) -> Scalar<'c> {
        self.scalars().cast(self.load_raw(buffer, index), self.build.compute_type(buffer.dtype))
    }

    /// Stores a scalar, converted to the buffer's type.
    pub fn store(&self, value: Scalar<'c>, buffer: Buffer<'c>, index: Value<'c>) {
        let scalar = self.scalars().cast(value, buffer.dtype);
        let stored = if buffer.dtype == DType::Bool {
            let byte = scalar_type(self.build.context(), DType::U8);
            self.build.value("arith.extui", &[scalar.value], byte, &[])
        } else {
            scalar.value
        };
        self.build.op(Loop::Store.name(), &[stored, buffer.value, index], &[], &[]);
    }
}
