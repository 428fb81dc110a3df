//! Values of all threads combined: within a warp by exchanging registers, across warps through shared memory.
//!
//! ```text
//!   warp of 32      v = combine(v, v of the thread 16 away), then 8, 4, 2, 1 away: after that all have the outcome
//!   256 threads     each warp; its first thread writes to scratch[warp]; barrier; each thread reads scratch[lane mod 8]; then
//!                   4, 2, 1 away
//! ```
//!
//! This is the butterfly of Harris, "Optimizing Parallel Reduction in CUDA" (2007), with shuffles in place of memory (Luitjens,
//! "Faster Parallel Reductions on Kepler", 2014). Threads along one dimension follow each other in their warp, which holds for x.

use super::within;
use fusion_dialects::loops::{LoopKind, Op as Loop, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::{Compare, Scalars};
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, PassError, Type, Value, ValueLike, ValueMap, arguments, dtype_of,
    ops_in, scalar_type, typed_int_attr,
};
use fusion_operators::DType;

/// Replaces all reductions across threads in a block.
pub fn expand<'c>(block: Block<'c>, warp: u64) -> Result<(), PassError<'c>> {
    let is_reduction = |op: &Op| matches!(op.kind(), Some(Kind::Loop(Loop::AllReduce)));
    for op in within(ops_in(block)).filter(is_reduction).collect::<Vec<_>>() {
        one(op, warp)?;
    }
    Ok(())
}

fn one<'c>(op: Op<'c>, warp: u64) -> Result<(), PassError<'c>> {
    let extent = op.int("extent").unwrap_or(1).max(1) as u64;
    let count = op.result_values().len();
    let operands = op.operand_values();
    let (values, scratch) = operands.split_at(count.min(operands.len()));
    if loop_kind(op) != LoopKind::ThreadX {
        return Err(PassError::at(
            op,
            "combines values of threads that do not follow each other; bind the reduction to thread_x",
        ));
    }
    if extent > warp * warp {
        return Err(PassError::at(
            op,
            format_args!("combines values of {extent} threads, at most {} are", warp * warp),
        ));
    }
    let reduce = Reduce { op, build: Build::before(op), warp };
    let mut values = reduce.butterfly(values.to_vec(), extent.min(warp))?;
    if extent > warp {
        values = reduce.across_warps(&values, scratch, extent / warp)?;
    }
    op.replace_all_uses(&values);
    op.erase();
    Ok(())
}

struct Reduce<'c> {
    op: Op<'c>,
    build: Build<'c>,
    warp: u64,
}

impl<'c> Reduce<'c> {
    /// Combines the values of that many threads that follow each other.
    fn butterfly(&self, mut values: Vec<Value<'c>>, threads: u64) -> Result<Vec<Value<'c>>, PassError<'c>> {
        let mut away = threads / 2;
        while away > 0 {
            let others = values.iter().map(|v| self.exchanged(*v, away)).collect::<Result<Vec<_>, _>>()?;
            values = self.combine(&values, &others);
            away /= 2;
        }
        Ok(values)
    }

    fn combine(&self, a: &[Value<'c>], b: &[Value<'c>]) -> Vec<Value<'c>> {
        let Some(body) = self.op.body(0) else { return a.to_vec() };
        let mut map = ValueMap::new();
        for (argument, value) in arguments(body).into_iter().zip(a.iter().chain(b)) {
            map.insert(argument, *value);
        }
        for op in ops_in(body) {
            if matches!(op.kind(), Some(Kind::Loop(Loop::Yield))) {
                return op.operand_values().into_iter().map(|v| map.lookup(v)).collect();
            }
            map.clone_op(&self.build, op);
        }
        a.to_vec()
    }

    /// The value of the thread that is so far away in the warp. Values of other than four bytes go in pieces of four.
    fn exchanged(&self, value: Value<'c>, away: u64) -> Result<Value<'c>, PassError<'c>> {
        let context = self.build.context();
        let ty = value.r#type();
        let Some(dtype) = dtype_of(ty) else {
            return Err(PassError::at(
                self.op,
                format_args!("combines values of type {ty}, which threads cannot exchange"),
            ));
        };
        let word = scalar_type(context, DType::I32);
        if dtype.size() == 4 {
            return Ok(self.shuffle(value, away));
        }
        let bits = 8 * dtype.size() as u32;
        let plain = match bits {
            64 => scalar_type(context, DType::I64),
            16 => scalar_type(context, DType::I16),
            _ if dtype == DType::Bool => scalar_type(context, DType::Bool),
            _ => scalar_type(context, DType::I8),
        };
        let cast = |name: &str, v: Value<'c>, to: Type<'c>| self.build.value(name, &[v], to, &[]);
        let raw = if dtype.is_float() { cast("arith.bitcast", value, plain) } else { value };
        let got = if bits == 64 {
            let shift =
                self.build.value("arith.constant", &[], plain, &[("value", typed_int_attr(plain, 32))]);
            let high = self.build.value("arith.shrui", &[raw, shift], plain, &[]);
            let halves = [raw, high].map(|half| self.shuffle(cast("arith.trunci", half, word), away));
            let [low, high] = halves.map(|half| cast("arith.extui", half, plain));
            let high = self.build.value("arith.shli", &[high, shift], plain, &[]);
            self.build.value("arith.ori", &[low, high], plain, &[])
        } else {
            cast("arith.trunci", self.shuffle(cast("arith.extui", raw, word), away), plain)
        };
        Ok(if dtype.is_float() { cast("arith.bitcast", got, ty) } else { got })
    }

    fn shuffle(&self, value: Value<'c>, away: u64) -> Value<'c> {
        let context = self.build.context();
        let word = scalar_type(context, DType::I32);
        let number = |n: u64| {
            self.build.value("arith.constant", &[], word, &[("value", typed_int_attr(word, n as i64))])
        };
        let operands = [value, number(away), number(self.warp)];
        let results = [value.r#type(), scalar_type(context, DType::Bool)];
        let mode: Vec<(&str, Attribute)> =
            Attribute::parse(context, "#gpu<shuffle_mode xor>").map(|m| ("mode", m)).into_iter().collect();
        self.build.op("gpu.shuffle", &operands, &results, &mode).result_values()[0]
    }

    /// What the warps of a block have, combined. The threads wait before the buffer is written, as some may still read from it.
    fn across_warps(
        &self,
        values: &[Value<'c>],
        scratch: &[Value<'c>],
        warps: u64,
    ) -> Result<Vec<Value<'c>>, PassError<'c>> {
        let scalars = Scalars { build: self.build };
        let barrier = || self.build.op("gpu.barrier", &[], &[], &[]);
        let x = Attribute::parse(self.build.context(), "#gpu<dim x>").map(|d| ("dimension", d));
        let x: Vec<(&str, Attribute)> = x.into_iter().collect();
        let thread =
            self.build.value("gpu.thread_id", &[], fusion_dialects::index_type(self.build.context()), &x);
        let lane = scalars.index_mod(thread, self.warp as i64);
        let own = scalars.index_div(thread, self.warp as i64);
        barrier();
        let first = scalars.index_compare(Compare::Equal, lane, scalars.index(0));
        fusion_dialects::loops::Loops { build: self.build }.guard(first, |inside| {
            for (value, buffer) in values.iter().zip(scratch) {
                inside.build.op(Loop::Store.name(), &[*value, *buffer, own], &[], &[]);
            }
        });
        barrier();
        let of = scalars.index_mod(thread, warps as i64);
        let load = |(value, buffer): (&Value<'c>, &Value<'c>)| {
            self.build.value(Loop::Load.name(), &[*buffer, of], value.r#type(), &[])
        };
        let all: Vec<Value> = values.iter().zip(scratch).map(load).collect();
        self.butterfly(all, warps)
    }
}
