//! Values of all threads combined: within a warp by exchanging registers, across warps through shared memory.
//!
//! ```text
//!   warp of 32      v = combine(v, v of the thread 16 away), then 8, 4, 2, 1 away: after that all have the outcome
//!   256 threads     each warp; its first thread writes to scratch[warp]; barrier; each thread reads scratch[lane mod 8]; then
//!                   4, 2, 1 away
//! ```
//!
//! This is the butterfly of Harris, "Optimizing Parallel Reduction in CUDA" (2007), with shuffles in place of memory (Luitjens,
//! "Faster Parallel Reductions on Kepler", 2014). Threads along x follow each other in their warp. Those along y lie as many threads apart as
//! there are along x, and each x combines values of its own:
//!
//! ```text
//!   8 x 32 threads, along y    a warp of 32 is 4 rows of 8: v combined with that of the thread 16 away, then 8 away
//!                              each warp's first row writes to scratch[warp][x]; barrier; each thread reads scratch[0..8][x]
//! ```
//!
//! All threads combine what they read in the same order, so that all have the same.

use super::launches::Shape;
use super::within;
use fusion_dialects::loops::{LoopKind, Loops, Op as Loop, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::{Compare, Scalar, Scalars};
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, PassError, Type, Value, ValueLike, ValueMap, arguments, dtype_of,
    index_type, ints_attr, ops_in, scalar_type, storage_type, typed_int_attr, vector_parts, vector_type,
};
use fusion_operators::DType;

/// Replaces all reductions across threads in a block.
pub fn expand<'c>(block: Block<'c>, shape: &Shape, warp: u64) -> Result<(), PassError<'c>> {
    let is_reduction = |op: &Op| matches!(op.kind(), Some(Kind::Loop(Loop::AllReduce)));
    for op in within(ops_in(block)).filter(is_reduction).collect::<Vec<_>>() {
        one(op, shape, warp)?;
    }
    Ok(())
}

/// True when the threads that combine their values are of several warps, so that they wait for each other.
pub fn waits(op: Op, shape: &Shape, warp: u64) -> bool {
    let extent = op.int("extent").unwrap_or(1).max(1) as u64;
    match loop_kind(op) {
        LoopKind::ThreadX => extent > warp,
        _ => extent > rows_of_warp(shape, extent, warp),
    }
}

/// How many threads along y that combine their values are in one warp, at the same place along x.
fn rows_of_warp(shape: &Shape, extent: u64, warp: u64) -> u64 {
    let along = shape.block[0];
    if along.is_power_of_two() && along < warp { (warp / along).min(extent) } else { 1 }
}

fn one<'c>(op: Op<'c>, shape: &Shape, warp: u64) -> Result<(), PassError<'c>> {
    let extent = op.int("extent").unwrap_or(1).max(1) as u64;
    let count = op.result_values().len();
    let operands = op.operand_values();
    let (values, scratch) = operands.split_at(count.min(operands.len()));
    let reduce = Reduce { op, build: Build::before(op), warp };
    let combined = match loop_kind(op) {
        LoopKind::ThreadX if extent > warp * warp => {
            return Err(PassError::at(
                op,
                format_args!("combines values of {extent} threads, at most {} are", warp * warp),
            ));
        }
        LoopKind::ThreadX => {
            let values = reduce.butterfly(values.to_vec(), (extent.min(warp), 1))?;
            if extent > warp { reduce.across_warps(&values, scratch, shape, extent / warp)? } else { values }
        }
        LoopKind::ThreadY => {
            let rows = rows_of_warp(shape, extent, warp);
            let values = reduce.butterfly(values.to_vec(), (rows, shape.block[0]))?;
            if extent > rows { reduce.across_rows(&values, scratch, shape, (extent, rows))? } else { values }
        }
        _ => {
            return Err(PassError::at(
                op,
                "combines values of threads along z, which is not done; bind the reduction to thread_x or thread_y",
            ));
        }
    };
    op.replace_all_uses(&combined);
    op.erase();
    Ok(())
}

struct Reduce<'c> {
    op: Op<'c>,
    build: Build<'c>,
    warp: u64,
}

impl<'c> Reduce<'c> {
    /// Combines the values of that many threads of a warp, each so many behind the other.
    fn butterfly(
        &self,
        mut values: Vec<Value<'c>>,
        (threads, step): (u64, u64),
    ) -> Result<Vec<Value<'c>>, PassError<'c>> {
        let mut away = threads / 2;
        while away > 0 {
            let others =
                values.iter().map(|v| self.exchanged(*v, away * step)).collect::<Result<Vec<_>, _>>()?;
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

    /// The value of the thread that is so far away in the warp. Lanes go one by one, values of other than four bytes in pieces of four.
    fn exchanged(&self, value: Value<'c>, away: u64) -> Result<Value<'c>, PassError<'c>> {
        let context = self.build.context();
        let ty = value.r#type();
        if let Some((element, lanes)) = vector_parts(ty) {
            let mut got = value;
            for lane in 0..lanes as i64 {
                let at = [("static_position", ints_attr(context, &[lane]))];
                let own = self.build.value("vector.extract", &[value], element, &at);
                let other = self.exchanged(own, away)?;
                got = self.build.value("vector.insert", &[other, got], ty, &at);
            }
            return Ok(got);
        }
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

    /// What the warps of a row of threads have, combined.
    fn across_warps(
        &self,
        values: &[Value<'c>],
        scratch: &[Value<'c>],
        shape: &Shape,
        warps: u64,
    ) -> Result<Vec<Value<'c>>, PassError<'c>> {
        let s = self.scalars();
        let x = self.thread(0);
        let (lane, warp) = (s.index_mod(x, self.warp as i64), s.index_div(x, self.warp as i64));
        let first = s.index_compare(Compare::Equal, lane, s.index(0));
        let row = self.beside(&[(1, shape.block[1]), (2, shape.block[2])]);
        let begin = |row: Value<'c>| s.index_affine(row, warps as i64, 0);
        self.hand_over(values, scratch, first, row.map_or(warp, |row| s.index_add(begin(row), warp)))?;
        let mut of = s.index_mod(x, warps as i64);
        if let Some(row) = row {
            of = s.index_add(begin(row), of);
        }
        let all = self.handed_over(values, scratch, of);
        self.butterfly(all, (warps, 1))
    }

    /// What the threads along y have, of which so many in each warp have the same, combined.
    fn across_rows(
        &self,
        values: &[Value<'c>],
        scratch: &[Value<'c>],
        shape: &Shape,
        (extent, rows): (u64, u64),
    ) -> Result<Vec<Value<'c>>, PassError<'c>> {
        let s = self.scalars();
        let (y, parts) = (self.thread(1), extent / rows);
        let first = s.index_compare(Compare::Equal, s.index_mod(y, rows as i64), s.index(0));
        let along = shape.block[0] as i64;
        let z = self.beside(&[(2, shape.block[2])]);
        let of_z = |place: Value<'c>| match z {
            Some(z) => s.index_add(s.index_affine(z, parts as i64 * along, 0), place),
            None => place,
        };
        let x = of_z(self.beside(&[(0, shape.block[0])]).unwrap_or_else(|| s.index(0)));
        let own = s.index_affine(s.index_div(y, rows as i64), along, 0);
        self.hand_over(values, scratch, first, s.index_add(own, x))?;
        let mut all = self.handed_over(values, scratch, x);
        for part in 1..parts as i64 {
            let more = self.handed_over(values, scratch, s.index_affine(x, 1, part * along));
            all = self.combine(&all, &more);
        }
        Ok(all)
    }

    fn scalars(&self) -> Scalars<'c> {
        Scalars { build: self.build }
    }

    /// The number of a thread along a dimension.
    fn thread(&self, which: usize) -> Value<'c> {
        let context = self.build.context();
        let dimension = Attribute::parse(context, &format!("#gpu<dim {}>", ["x", "y", "z"][which]));
        let attrs: Vec<(&str, Attribute)> = dimension.map(|d| ("dimension", d)).into_iter().collect();
        self.build.value("gpu.thread_id", &[], index_type(context), &attrs)
    }

    /// The number of a thread along some dimensions of those extents; none where there is one.
    fn beside(&self, dimensions: &[(usize, u64)]) -> Option<Value<'c>> {
        let s = self.scalars();
        let (mut number, mut step) = (None, 1);
        for (which, extent) in dimensions.iter().filter(|(_, extent)| *extent > 1) {
            let along = s.index_affine(self.thread(*which), step, 0);
            number = Some(number.map_or(along, |n| s.index_add(n, along)));
            step *= *extent as i64;
        }
        number
    }

    /// Some threads put their values into the buffers, behind each other from a place on that counts values. All wait before, as some
    /// may still read what was there, and after.
    fn hand_over(
        &self,
        values: &[Value<'c>],
        scratch: &[Value<'c>],
        who: Scalar<'c>,
        place: Value<'c>,
    ) -> Result<(), PassError<'c>> {
        let barrier = || self.build.op("gpu.barrier", &[], &[], &[]);
        barrier();
        Loops { build: self.build }.guard(who, |inside| {
            for (value, buffer) in values.iter().zip(scratch) {
                let index = inside.scalars().index_affine(place, lanes(value.r#type()) as i64, 0);
                let stored = match self.stored(value.r#type()) {
                    Some(bytes) => inside.build.value("arith.extui", &[*value], bytes, &[]),
                    None => *value,
                };
                inside.build.op(Loop::Store.name(), &[stored, *buffer, index], &[], &[]);
            }
        });
        barrier();
        Ok(())
    }

    /// What a thread put at a place.
    fn handed_over(&self, values: &[Value<'c>], scratch: &[Value<'c>], place: Value<'c>) -> Vec<Value<'c>> {
        let load = |(value, buffer): (&Value<'c>, &Value<'c>)| {
            let index = self.scalars().index_affine(place, lanes(value.r#type()) as i64, 0);
            let ty = value.r#type();
            match self.stored(ty) {
                Some(bytes) => {
                    let stored = self.build.value(Loop::Load.name(), &[*buffer, index], bytes, &[]);
                    self.build.value("arith.trunci", &[stored], ty, &[])
                }
                None => self.build.value(Loop::Load.name(), &[*buffer, index], ty, &[]),
            }
        };
        values.iter().zip(scratch).map(load).collect()
    }

    /// The type in which values of a type lie in memory, where it is another: a boolean is a byte there.
    fn stored(&self, ty: Type<'c>) -> Option<Type<'c>> {
        let (element, lanes) = vector_parts(ty).map_or((ty, None), |(element, n)| (element, Some(n)));
        let byte = storage_type(self.build.context(), dtype_of(element).filter(|d| *d == DType::Bool)?);
        Some(lanes.map_or(byte, |n| vector_type(byte, n)))
    }
}

/// Numbers in a value.
fn lanes(ty: Type) -> u64 {
    vector_parts(ty).map_or(1, |(_, lanes)| lanes)
}
