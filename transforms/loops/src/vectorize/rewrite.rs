//! Building the body once for all lanes.

use super::lanes::{Analysis, Lanes};
use crate::masks;
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, OperationLike, Type, Value, ValueLike, ValueMap, arguments,
    buffer_parts, int_attr, ints_attr, ops_in, vector_type,
};

/// Builds all iterations of a loop side by side before it.
pub fn rewrite<'c>(op: Op<'c>, body: Block<'c>, analysis: &Analysis) {
    let build = Build::before(op);
    // Lanes that are no iterations are left out.
    let are_iterations = (0..analysis.extent).map(|lane| lane < analysis.iterations);
    let mask = analysis.has_more_lanes().then(|| masks::constant(&build, are_iterations));
    let mut rewriter = Rewriter {
        analysis,
        scalars: ValueMap::new(),
        vectors: ValueMap::new(),
        absent: ValueMap::new(),
        mask,
    };
    if let Some(lane) = arguments(body).first() {
        rewriter.scalars.insert(*lane, Scalars { build }.index(0));
    }
    rewriter.block(&build, body);
}

/// What stands for the values of the body.
pub struct Rewriter<'c, 'a> {
    pub(super) analysis: &'a Analysis,
    /// The value in lane 0 of those that grow.
    pub(super) scalars: ValueMap<'c>,
    /// All lanes.
    pub(super) vectors: ValueMap<'c>,
    /// What a load gives in lanes that its guard keeps away from it, for those that give it as the guard's result.
    pub(super) absent: ValueMap<'c>,
    /// Which lanes there are, and the guards around let through; all when none.
    pub(super) mask: Option<Value<'c>>,
}

impl<'c> Rewriter<'c, '_> {
    /// Builds a block's operations; gives what it yields, in the old terms.
    pub(super) fn block(&mut self, build: &Build<'c>, block: Block<'c>) -> Vec<Value<'c>> {
        let mut ops = ops_in(block);
        let last = ops.pop();
        for op in ops {
            self.op(&build.at(op.location()), op);
        }
        last.map(|l| l.operand_values()).unwrap_or_default()
    }

    fn op(&mut self, build: &Build<'c>, op: Op<'c>) {
        match op.kind() {
            Some(Kind::Loop(Loop::For | Loop::Upto)) => return self.inner_loop(build, op),
            Some(Kind::Loop(Loop::Guard)) => return self.guard(build, op),
            Some(Kind::Loop(Loop::Store)) => return self.store(build, op),
            Some(Kind::Loop(Loop::Prefetch)) => return self.prefetch(build, op),
            Some(Kind::Loop(Loop::AllReduce))
                if op.result_values().iter().any(|r| !self.analysis.same(*r)) =>
            {
                return self.all_reduce(build, op);
            }
            _ => {}
        }
        let results = op.result_values();
        if results.iter().all(|r| self.analysis.lanes(*r) != Lanes::Own) {
            self.scalars.clone_op(build, op);
            return;
        }
        let lanes = match op.kind() {
            Some(Kind::Loop(Loop::Load)) => self.load(build, op),
            Some(Kind::Loop(Loop::LoadPacked)) => self.load_packed(build, op),
            Some(Kind::Upstream(Upstream::AffineApply)) => self.apply(build, op).into_iter().collect(),
            _ => self.elementwise(build, op),
        };
        for (result, value) in results.into_iter().zip(lanes) {
            self.vectors.insert(result, value);
        }
    }

    fn elementwise(&mut self, build: &Build<'c>, op: Op<'c>) -> Vec<Value<'c>> {
        let operands: Vec<Value> = op.operand_values().into_iter().map(|v| self.vector(build, v)).collect();
        let types: Vec<Type> = op.result_values().iter().map(|r| self.widened(r.r#type())).collect();
        let attrs: Vec<_> = op.attributes().collect();
        let attrs: Vec<(&str, Attribute)> = attrs
            .iter()
            .filter_map(|(name, attr)| Some((name.as_string_ref().as_str().ok()?, *attr)))
            .collect();
        build.op(&op.full_name(), &operands, &types, &attrs).result_values()
    }

    fn load(&mut self, build: &Build<'c>, op: Op<'c>) -> Vec<Value<'c>> {
        let [buffer, index] = op.operand_values()[..] else { return Vec::new() };
        let ty = self.widened(op.result_values()[0].r#type());
        let from = self.scalars.lookup(buffer);
        if let Some(mask) = self.mask {
            let absent = self.absent.get(op.result_values()[0]);
            return vec![self.masked_load(build, from, index, (mask, absent), ty)];
        }
        let (name, at) = match self.analysis.lanes(index) {
            Lanes::Grows(1) => (Loop::Load, self.scalars.lookup(index)),
            Lanes::Grows(stride) => {
                let stride = [("stride", int_attr(build.context(), stride))];
                let operands = [from, self.scalars.lookup(index)];
                return vec![build.value(Loop::LoadStrided.name(), &operands, ty, &stride)];
            }
            _ => (Loop::Gather, self.vector(build, index)),
        };
        vec![build.value(name.name(), &[from, at], ty, &[])]
    }

    /// Fours side by side.
    fn load_packed(&mut self, build: &Build<'c>, op: Op<'c>) -> Vec<Value<'c>> {
        let [buffer, index] = op.operand_values()[..] else { return Vec::new() };
        let ty = self.widened(op.result_values()[0].r#type());
        let operands = [self.scalars.lookup(buffer), self.scalars.lookup(index)];
        vec![build.value(Loop::LoadPacked.name(), &operands, ty, &[])]
    }

    fn store(&mut self, build: &Build<'c>, op: Op<'c>) {
        let [value, buffer, index] = op.operand_values()[..] else { return };
        let to = self.scalars.lookup(buffer);
        let lanes = self.analysis.lanes(index);
        // In the same place, that of the last lane stays: guards have no such stores.
        if let Some(mask) = self.mask.filter(|_| lanes != Lanes::Grows(0)) {
            return self.masked_store(build, value, to, index, mask);
        }
        let (name, operands) = match lanes {
            Lanes::Grows(0) => {
                let last = if self.analysis.same(value) {
                    self.scalars.lookup(value)
                } else {
                    let lanes = self.vector(build, value);
                    let at = ints_attr(build.context(), &[self.analysis.iterations as i64 - 1]);
                    build.value("vector.extract", &[lanes], value.r#type(), &[("static_position", at)])
                };
                (Loop::Store, [last, to, self.scalars.lookup(index)])
            }
            Lanes::Grows(1) => (Loop::Store, [self.vector(build, value), to, self.scalars.lookup(index)]),
            Lanes::Grows(stride) => {
                let stride = [("stride", int_attr(build.context(), stride))];
                let operands = [self.vector(build, value), to, self.scalars.lookup(index)];
                build.op(Loop::StoreStrided.name(), &operands, &[], &stride);
                return;
            }
            _ => (Loop::Scatter, [self.vector(build, value), to, self.vector(build, index)]),
        };
        debug_assert!(buffer_parts(buffer.r#type()).is_some());
        build.op(name.name(), &operands, &[], &[]);
    }

    /// The lanes are neighbours: the line of the first is that of most.
    fn prefetch(&mut self, build: &Build<'c>, op: Op<'c>) {
        let [buffer, index] = op.operand_values()[..] else { return };
        let first = if self.analysis.lanes(index) == Lanes::Own {
            let lanes = self.vector(build, index);
            let at = ints_attr(build.context(), &[0]);
            build.value("vector.extract", &[lanes], index.r#type(), &[("static_position", at)])
        } else {
            self.scalars.lookup(index)
        };
        build.op(Loop::Prefetch.name(), &[self.scalars.lookup(buffer), first], &[], &[]);
    }

    fn inner_loop(&mut self, build: &Build<'c>, op: Op<'c>) {
        let Some(body) = op.body(0) else { return };
        let args = arguments(body);
        let own: Vec<bool> = args[1..].iter().map(|a| self.analysis.is_own_carried(*a)).collect();
        let operands = op.operand_values();
        let (count, inits) = operands.split_at(operands.len() - own.len());
        let count: Vec<Value> = count.iter().map(|v| self.scalars.lookup(*v)).collect();
        let inits = self.values(build, inits, &own);
        let types: Vec<Type> = inits.iter().map(|v| v.r#type()).collect();
        let inputs = [&[args[0].r#type()], types.as_slice()].concat();
        let region = build.region(&inputs, |inner, new| {
            self.inside(|this| {
                this.scalars.insert(args[0], new[0]);
                this.set(&args[1..], &new[1..], &own);
                let next = this.block(&inner, body);
                let next = this.values(&inner, &next, &own);
                inner.op(Loop::Yield.name(), &next, &[], &[]);
            });
        });
        let attrs: Vec<_> = ["extent", "kind"].iter().filter_map(|n| Some((*n, op.attr(n)?))).collect();
        let taken = [count, inits].concat();
        let new = build.op_with_regions(&op.full_name(), &taken, &types, &attrs, vec![region]);
        self.set(&op.result_values(), &new.result_values(), &own);
    }

    /// Threads combine vectors, in the buffers in which they would combine numbers.
    fn all_reduce(&mut self, build: &Build<'c>, op: Op<'c>) {
        let Some(body) = op.body(0) else { return };
        let (operands, results) = (op.operand_values(), op.result_values());
        let (values, scratch) = operands.split_at(results.len());
        let values: Vec<Value> = values.iter().map(|v| self.vector(build, *v)).collect();
        let scratch: Vec<Value> = scratch.iter().map(|v| self.scalars.lookup(*v)).collect();
        let types: Vec<Type> = values.iter().map(|v| v.r#type()).collect();
        let own = vec![true; 2 * types.len()];
        let region = build.region(&[types.as_slice(), &types].concat(), |inner, new| {
            self.inside(|this| {
                this.set(&arguments(body), new, &own);
                let both = this.block(&inner, body);
                let both = this.values(&inner, &both, &own);
                inner.op(Loop::Yield.name(), &both, &[], &[]);
            });
        });
        let attrs: Vec<_> = ["extent", "kind"].iter().filter_map(|n| Some((*n, op.attr(n)?))).collect();
        let taken: Vec<Value> = [values, scratch].concat();
        let new = build.op_with_regions(&op.full_name(), &taken, &types, &attrs, vec![region]);
        self.set(&results, &new.result_values(), &own);
    }

    fn guard(&mut self, build: &Build<'c>, op: Op<'c>) {
        let Some(body) = op.body(0) else { return };
        let operands = op.operand_values();
        if !self.analysis.same(operands[0]) {
            return self.masked(build, op, body);
        }
        let results = op.result_values();
        let own: Vec<bool> = results.iter().map(|r| !self.analysis.same(*r)).collect();
        let otherwise = self.values(build, &operands[1..], &own);
        let types: Vec<Type> = otherwise.iter().map(|v| v.r#type()).collect();
        let region = build.region(&[], |inner, _| {
            self.inside(|this| {
                let given = this.block(&inner, body);
                let given = this.values(&inner, &given, &own);
                inner.op(Loop::Yield.name(), &given, &[], &[]);
            });
        });
        let inputs = [&[self.scalars.lookup(operands[0])], otherwise.as_slice()].concat();
        let new = build.op_with_regions(Loop::Guard.name(), &inputs, &types, &[], vec![region]);
        self.set(&results, &new.result_values(), &own);
    }

    /// Runs `body` and forgets the vectors it made: what stands in a region is not seen behind it.
    fn inside(&mut self, body: impl FnOnce(&mut Self)) {
        let vectors = self.vectors.clone();
        body(self);
        self.vectors = vectors;
    }

    fn set(&mut self, old: &[Value<'c>], new: &[Value<'c>], own: &[bool]) {
        for ((old, new), own) in old.iter().zip(new).zip(own) {
            let map = if *own { &mut self.vectors } else { &mut self.scalars };
            map.insert(*old, *new);
        }
    }

    fn values(&mut self, build: &Build<'c>, old: &[Value<'c>], own: &[bool]) -> Vec<Value<'c>> {
        let one = |(v, own): (&Value<'c>, &bool)| {
            if *own { self.vector(build, *v) } else { self.scalars.lookup(*v) }
        };
        old.iter().zip(own).map(one).collect()
    }

    /// All lanes of a value.
    pub(super) fn vector(&mut self, build: &Build<'c>, value: Value<'c>) -> Value<'c> {
        if let Some(found) = self.vectors.get(value) {
            return found;
        }
        let first = self.scalars.lookup(value);
        let lanes = match self.analysis.lanes(value) {
            Lanes::Grows(growth) if growth != 0 => self.growing(build, first, growth),
            _ => self.broadcast(build, first),
        };
        self.vectors.insert(value, lanes);
        lanes
    }

    /// A scalar in all lanes.
    pub(super) fn broadcast(&self, build: &Build<'c>, value: Value<'c>) -> Value<'c> {
        build.value("vector.broadcast", &[value], self.widened(value.r#type()), &[])
    }

    pub(super) fn widened(&self, ty: Type<'c>) -> Type<'c> {
        vector_type(ty, self.analysis.extent)
    }
}
