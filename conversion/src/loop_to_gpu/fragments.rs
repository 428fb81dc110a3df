//! `loop-fragments`: a fragment becomes memory of each thread, of which registers are made.
//!
//!     fragment %c of 512         [tile][lane][element], 32 lanes with 4 elements of each of 4 tiles
//!     %c[128 tile + 4 lane + e]        =>      local %c of 16      %c[4 tile + e]
//!
//! A fragment is spread over the threads of a warp (NVIDIA, "CUDA C++ Programming Guide", warp matrix functions): the coefficient of the
//! thread's number in an index says how many elements of a tile a thread has, all other terms are of whole tiles or of one element
//! of the thread's. What a thread has then depends on tile and element alone, which unrolled loops know.

use super::launches::scope;
use super::{at_buffer, result};
use crate::te_to_loop::lower::KERNEL;
use crate::te_to_loop::lower::index::Indices;
use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::indices::{affine, index_op};
use fusion_dialects::loops::{Loops, Op as Loop, Scope, loop_kind};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, StatisticSpec, Value, ValueLike, affine_map_of, arguments,
    buffer_parts, defining_op, dtype_of, key, nested_ops, op_key, parent_of, users, vector_parts,
};
use fusion_operators::DType;
use std::collections::HashMap;

/// The pass.
pub struct LoopFragments;

impl Pass for LoopFragments {
    const NAME: &'static str = "loop-fragments";
    const DESCRIPTION: &'static str = "Make memory of each thread of fragments, which a warp holds together";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] = &[StatisticSpec {
        name: "spread",
        description: "Number of fragments spread over the threads of a warp",
    }];
    const DIALECTS: &'static [&'static str] = &["loop", "affine", "arith"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        if function.attr(KERNEL).is_none() {
            return Ok(());
        }
        let is_fragment = |op: &Op| scope(*op) == Some(Scope::Fragment);
        let fragments: Vec<Op> = nested_ops(function).into_iter().filter(is_fragment).collect();
        for fragment in fragments {
            // Other launches have threads of their own.
            let outwards = std::iter::successors(Some(fragment), |op| parent_of(*op));
            let launch = outwards.take_while(|op| op_key(*op) != op_key(function)).last();
            let launch = launch.filter(|op| op_key(*op) != op_key(fragment)).unwrap_or(function);
            spread(fragment, &mut Numbers::of(launch))?;
            cx.count(0, 1);
        }
        Ok(())
    }
}

/// An access of a fragment.
struct Access<'c> {
    op: Op<'c>,
    /// Which operand its index is.
    operand: usize,
    index: Expr,
    /// Elements from there on.
    width: i64,
}

/// How a fragment is spread.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Spread {
    /// Threads of a warp.
    lanes: i64,
    /// Elements that each has of a tile.
    each: i64,
}

fn spread<'c>(fragment: Op<'c>, numbers: &mut Numbers<'c>) -> Result<(), PassError<'c>> {
    let Some(buffer) = result(fragment) else { return Ok(()) };
    let Some((element, length)) = buffer_parts(buffer.r#type()) else { return Ok(()) };
    let accesses: Vec<Access> =
        users(buffer).into_iter().map(|op| access(op, buffer, numbers)).collect::<Result<_, _>>()?;
    let mut agreed: Option<Spread> = None;
    for access in &accesses {
        let here = numbers.spread_of(access, buffer)?;
        if agreed.is_some_and(|other| other != here) {
            return Err(at_buffer(
                access.op,
                buffer,
                "accesses a fragment of which threads have other parts elsewhere; lay the stage out (te.transform_layout) so that \
                 all agree on what a thread has",
            ));
        }
        agreed = Some(here);
    }
    let Some(Spread { lanes, each }) = agreed else { return Ok(()) };
    if length as i64 % (lanes * each) != 0 {
        return Err(PassError::at(
            fragment,
            format_args!(
                "is a fragment of {length} elements, of which {lanes} threads cannot have {each} each of whole tiles"
            ),
        ));
    }
    for access in &accesses {
        let index = numbers.own(access, buffer, lanes, each)?;
        let value = numbers.indices.value(&Build::before(access.op), &index);
        access.op.set_operand_value(access.operand, value);
    }
    let loops = Loops { build: Build::before(fragment) };
    let dtype = dtype_of(element).unwrap_or(DType::F32);
    let own = loops.alloc(length / lanes as u64, dtype, Scope::Local);
    fragment.replace_all_uses(&[own.value]);
    fragment.erase();
    Ok(())
}

fn access<'c>(op: Op<'c>, buffer: Value<'c>, numbers: &mut Numbers<'c>) -> Result<Access<'c>, PassError<'c>> {
    let operands = op.operand_values();
    let (at, operand, accessed) = match op.kind() {
        Some(Kind::Loop(Loop::Load)) => (0, 1, result(op)),
        Some(Kind::Loop(Loop::Store)) => (1, 2, operands.first().copied()),
        _ => (0, 1, None),
    };
    let plain = operands.get(at).is_some_and(|v| key(*v) == key(buffer));
    let Some((accessed, index)) = accessed.zip(operands.get(operand).copied()).filter(|_| plain) else {
        return Err(at_buffer(
            op,
            buffer,
            "accesses a fragment otherwise than by elements that lie together, which registers do not allow; vectorize no loop \
             along which a thread has no neighbours",
        ));
    };
    let width = vector_parts(accessed.r#type()).map_or(1, |(_, n)| n as i64);
    Ok(Access { op, operand, index: numbers.expression(index), width })
}

/// Index values as expressions, in which the number of the thread is one variable.
struct Numbers<'c> {
    indices: Indices<'c>,
    known: HashMap<usize, Expr>,
    /// The number of the thread in its warp, and of how many.
    lane: Option<(usize, i64)>,
}

impl<'c> Numbers<'c> {
    /// Those in an operation.
    fn of(launch: Op<'c>) -> Self {
        let mut all = Numbers { indices: Indices::default(), known: HashMap::new(), lane: None };
        for op in nested_ops(launch).into_iter().chain([launch]) {
            let index = match op.kind() {
                Some(Kind::Loop(Loop::For)) => op.body(0).and_then(|body| arguments(body).first().copied()),
                Some(Kind::Loop(Loop::ThreadIndex)) => result(op),
                _ => None,
            };
            let (Some(index), Some(extent)) = (index, op.int("extent")) else { continue };
            let is_lane = loop_kind(op).binding() == Some((true, 0));
            let e = match all.lane.filter(|(_, lanes)| is_lane && *lanes == extent) {
                Some((variable, lanes)) => Expr::var(variable, lanes as u64),
                None => all.indices.var(index, extent.max(0) as u64),
            };
            if let (true, Some((Atom::Var(v), _))) = (is_lane && all.lane.is_none(), e.terms().next()) {
                all.lane = Some((v.id, extent));
            }
            all.known.insert(key(index), e);
        }
        all
    }

    fn expression(&mut self, value: Value<'c>) -> Expr {
        if let Some(e) = self.known.get(&key(value)) {
            return e.clone();
        }
        let e = defining_op(value).and_then(|op| self.computed(op));
        let e = e.unwrap_or_else(|| self.indices.opaque(value));
        self.known.insert(key(value), e.clone());
        e
    }

    fn computed(&mut self, op: Op<'c>) -> Option<Expr> {
        if !matches!(op.kind(), Some(Kind::Upstream(Upstream::AffineApply))) {
            return index_op(op, &mut |v| Some(self.expression(v)));
        }
        let map = op.attr("map").and_then(affine_map_of)?;
        let inputs: Vec<Expr> = op.operand_values().into_iter().map(|v| self.expression(v)).collect();
        affine(&map, &inputs)
    }

    /// What the index of an access says of how the fragment is spread.
    fn spread_of(&self, access: &Access<'c>, buffer: Value<'c>) -> Result<Spread, PassError<'c>> {
        let found = self.lane.and_then(|(variable, lanes)| {
            let each = access.index.coefficient(variable).filter(|each| *each > 0)?;
            Some(Spread { lanes, each })
        });
        found.ok_or_else(|| {
            at_buffer(
                access.op,
                buffer,
                "accesses a fragment at an index that does not go with the number of the thread alone; bind the loops that number \
                 its threads to thread_x, and lay the stage out (te.transform_layout) so that a thread's elements lie together",
            )
        })
    }

    /// The same place in what a thread has.
    fn own(
        &self,
        access: &Access<'c>,
        buffer: Value<'c>,
        lanes: i64,
        each: i64,
    ) -> Result<Expr, PassError<'c>> {
        let tile = lanes * each;
        let (mut tiles, mut elements) = (Expr::constant(0), Expr::constant(0));
        let lane = self.lane.map(|(variable, lanes)| Expr::var(variable, lanes as u64).times(each));
        let rest = lane.map_or(access.index.clone(), |lane| access.index.minus(&lane));
        for (atom, c) in rest.terms() {
            if c % tile == 0 {
                tiles = tiles.plus(&Expr::atom(atom.clone()).times(c / lanes));
            } else {
                elements = elements.plus(&Expr::atom(atom.clone()).times(c));
            }
        }
        tiles = tiles.plus(&Expr::constant(rest.offset().div_euclid(tile) * each));
        elements = elements.plus(&Expr::constant(rest.offset().rem_euclid(tile)));
        match elements.range() {
            Some((low, high)) if low >= 0 && high + access.width <= each => Ok(tiles.plus(&elements)),
            _ => Err(at_buffer(
                access.op,
                buffer,
                format_args!(
                    "accesses elements of a fragment that one of {lanes} threads does not have, each of which has {each} of a tile; lay \
                     the stage out (te.transform_layout) as whole tiles, in them the threads, in them their elements"
                ),
            )),
        }
    }
}
