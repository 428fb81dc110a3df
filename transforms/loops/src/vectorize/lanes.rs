//! How the values of a body relate from lane to lane.

use super::super::divisor::gcd;
use super::affine::{Linear, linear, not_negative};
use fusion_dialects::loops::{LoopKind, Op as Loop, loop_kind};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    AttributeLike, Block, Op, OpExt, OperationLike, Value, ValueLike, affine_map_of, arguments, attr_of,
    buffer_parts, defining_op, dtype_of, index_type, is_elementwise, is_pure, key, ops_in,
};
use fusion_operators::Attr;
use std::collections::{HashMap, HashSet};

/// What is known of the lanes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// The value of lane 0 and this much more in each further lane. 0 for all values that are the same in all lanes;
    /// other numbers for indices only.
    Grows(i64),
    /// Each lane has its own value.
    Own,
}

/// Elements that a packed load puts together.
pub const PACKED: i64 = 4;

const SAME: Lanes = Lanes::Grows(0);

/// What is known of the values of a body.
pub struct Analysis {
    // All are only looked up, never iterated. Values that are not in `lanes` come from outside.
    lanes: HashMap<usize, Lanes>,
    own_carried: HashSet<usize>,
    loaded: HashSet<usize>,
    stored_in_place: HashSet<usize>,
    loop_indices: HashSet<usize>,
    /// True inside a guard that lets only some lanes through.
    masked: bool,
    /// Number of iterations, which are the first lanes.
    pub iterations: u64,
    /// Number of lanes.
    pub extent: u64,
    lane: usize,
}

impl Analysis {
    /// Of the body of a loop of so many iterations, as so many lanes; `None` when lanes cannot run side by side.
    pub fn of(vectorized: Op, body: Block, iterations: u64, extent: u64) -> Option<Analysis> {
        let lane = *arguments(body).first()?;
        let mut analysis = Analysis {
            lanes: HashMap::new(),
            own_carried: HashSet::new(),
            loaded: HashSet::new(),
            stored_in_place: HashSet::new(),
            loop_indices: loop_indices(vectorized),
            masked: false,
            iterations,
            extent,
            lane: key(lane),
        };
        // A carried value that turns out to have lanes of its own may give others theirs: until no more do.
        loop {
            let before = analysis.own_carried.len();
            analysis.lanes.clear();
            analysis.lanes.insert(key(lane), Lanes::Grows(1));
            analysis.block(body)?;
            if analysis.own_carried.len() == before {
                break;
            }
        }
        // What lanes store at one place and read again is private to each of them, which it would no longer be.
        analysis.loaded.is_disjoint(&analysis.stored_in_place).then_some(analysis)
    }

    /// What is known of a value.
    pub fn lanes(&self, value: Value) -> Lanes {
        self.lanes.get(&key(value)).copied().unwrap_or(SAME)
    }

    /// True when a value is the same in all lanes.
    pub fn same(&self, value: Value) -> bool {
        self.lanes(value) == SAME
    }

    /// True when there are lanes that are no iterations.
    pub fn has_more_lanes(&self) -> bool {
        self.iterations < self.extent
    }

    /// True for values carried by inner loops with lanes of their own.
    pub fn is_own_carried(&self, argument: Value) -> bool {
        self.own_carried.contains(&key(argument))
    }

    /// True for a comparison of which all lanes come to the same: `i < n`, where lane 0 has a multiple of a number in `i`, `n` is one too, and
    /// the others stay below the next multiple.
    fn is_same_comparison(&self, op: Op) -> bool {
        let [a, b] = op.operand_values()[..] else { return false };
        let (Some(x), Some(y)) = (self.linear_of(a), self.linear_of(b)) else { return false };
        // Numbers of arith's predicates: slt, sle, sgt and sge.
        let (grows, other) = match op.int("predicate") {
            Some(2 | 5) => (x, y),
            Some(3 | 4) => (y, x),
            _ => return false,
        };
        let reach = (self.extent as i64 - 1).checked_mul(grows.growth);
        other.growth == 0
            && grows.growth > 0
            && reach.is_some_and(|reach| reach < gcd(grows.divisor, other.divisor))
    }

    /// How an index grows, and what divides that of lane 0.
    fn linear_of(&self, value: Value) -> Option<Linear> {
        let Lanes::Grows(growth) = self.lanes(value) else { return None };
        if key(value) == self.lane {
            return Some(Linear { growth, divisor: 0 });
        }
        let unknown = Linear { growth, divisor: 1 };
        let Some(op) = defining_op(value) else { return Some(unknown) };
        if let Some(n) = constant(value) {
            return Some(Linear { growth, divisor: n.checked_abs()? });
        }
        let is_apply = matches!(op.kind(), Some(Kind::Upstream(Upstream::AffineApply)));
        let Some(map) = op.attr("map").filter(|_| is_apply).and_then(affine_map_of) else {
            return Some(unknown);
        };
        let inputs: Vec<_> = op.operand_values().into_iter().map(|v| self.linear_of(v)).collect();
        linear(&map, &inputs, self.extent)
    }

    /// How the operands of an operation grow.
    pub fn linear_operands(&self, op: Op) -> Vec<Option<Linear>> {
        let of = |v: Value| match self.lanes(v) {
            Lanes::Grows(growth) => Some(Linear { growth, divisor: if key(v) == self.lane { 0 } else { 1 } }),
            Lanes::Own => None,
        };
        op.operand_values().into_iter().map(of).collect()
    }

    /// Which operands of an operation are indices that are known not to be negative.
    pub fn not_negative_operands(&self, op: Op) -> Vec<bool> {
        op.operand_values().into_iter().map(|v| self.is_not_negative(v)).collect()
    }

    fn is_not_negative(&self, value: Value) -> bool {
        let Some(op) = defining_op(value) else { return self.loop_indices.contains(&key(value)) };
        let is_apply = matches!(op.kind(), Some(Kind::Upstream(Upstream::AffineApply)));
        let map = op.attr("map").filter(|_| is_apply).and_then(affine_map_of);
        map.is_some_and(|map| not_negative(&map, &self.not_negative_operands(op)))
    }

    fn block(&mut self, block: Block) -> Option<()> {
        let mut ops = ops_in(block);
        ops.pop();
        ops.into_iter().try_for_each(|op| self.op(op))
    }

    fn op(&mut self, op: Op) -> Option<()> {
        let operands = op.operand_values();
        match op.kind() {
            Some(Kind::Loop(Loop::For)) => return self.inner_loop(op, &operands),
            // All lanes have as many iterations.
            Some(Kind::Loop(Loop::Upto)) if self.same(operands[0]) => {
                return self.inner_loop(op, &operands[1..]);
            }
            Some(Kind::Loop(Loop::Guard)) => return self.guard(op),
            Some(Kind::Loop(Loop::Load)) => {
                self.loaded.insert(key(operands[0]));
                let lanes = if self.same(operands[1]) && !self.masked { SAME } else { Lanes::Own };
                return self.set_results(op, lanes);
            }
            Some(Kind::Loop(Loop::LoadPacked)) if !self.masked => {
                self.loaded.insert(key(operands[0]));
                let lanes = match self.lanes(operands[1]) {
                    Lanes::Grows(0) => SAME,
                    Lanes::Grows(PACKED) => Lanes::Own,
                    _ => return None,
                };
                return self.set_results(op, lanes);
            }
            Some(Kind::Loop(Loop::Store)) => {
                if self.same(operands[2]) {
                    // Which lane is the last one that stores is only known when it happens.
                    (!self.masked).then(|| self.stored_in_place.insert(key(operands[1])))?;
                } else {
                    buffer_parts(operands[1].r#type()).filter(|_| is_scalar(operands[0]))?;
                }
                return (self.same(operands[0]) || is_scalar(operands[0])).then_some(());
            }
            Some(Kind::Loop(Loop::Gather | Loop::LoadStrided)) => {
                self.loaded.insert(key(operands[0]));
                return (self.all_same(op) && !self.masked).then(|| self.set_results(op, SAME))?;
            }
            Some(Kind::Loop(Loop::Scatter | Loop::StoreStrided)) => {
                self.stored_in_place.insert(key(operands[1]));
                return (self.all_same(op) && !self.masked).then_some(());
            }
            Some(Kind::Loop(Loop::Prefetch)) => {
                return (self.same(operands[0]) && !self.masked).then_some(());
            }
            Some(Kind::Loop(Loop::ThreadIndex)) => return self.set_results(op, SAME),
            Some(Kind::Loop(Loop::AllReduce)) if !self.masked => return self.all_reduce(op),
            Some(Kind::Loop(Loop::Dot4Add)) => {
                let lanes = if self.all_same(op) { SAME } else { Lanes::Own };
                return operands.iter().all(|v| is_scalar(*v)).then(|| self.set_results(op, lanes))?;
            }
            Some(Kind::Loop(_)) => return None,
            _ => {}
        }
        if op.regions().next().is_some() {
            return None;
        }
        // Behind a mask everything is computed in all lanes: nothing may trap.
        let computable = is_pure(op) || (is_elementwise(op) && !self.masked);
        if self.all_same(op) {
            return computable.then(|| self.set_results(op, SAME))?;
        }
        let computable = computable && (is_pure(op) || !self.has_more_lanes());
        let lanes = match op.kind() {
            Some(Kind::Upstream(Upstream::AffineApply)) => self.apply(op)?,
            Some(Kind::Upstream(kind @ (Upstream::AddI | Upstream::SubI | Upstream::MulI))) => {
                self.sum_or_product(kind, op).unwrap_or(Lanes::Own)
            }
            Some(Kind::Upstream(Upstream::CmpI)) if self.is_same_comparison(op) => SAME,
            _ if is_elementwise(op) && computable => Lanes::Own,
            _ => return None,
        };
        // Lanes side by side of a vector would be a matrix.
        operands.iter().all(|v| is_scalar(*v)).then(|| self.set_results(op, lanes))?
    }

    /// Each lane is combined with those of other threads.
    fn all_reduce(&mut self, op: Op) -> Option<()> {
        if self.all_same(op) {
            return self.set_results(op, SAME);
        }
        let body = op.body(0)?;
        for argument in arguments(body) {
            is_scalar(argument).then(|| self.lanes.insert(key(argument), Lanes::Own))?;
        }
        self.block(body)?;
        self.set_results(op, Lanes::Own)
    }

    fn all_same(&self, op: Op) -> bool {
        op.operand_values().into_iter().all(|v| self.same(v))
    }

    fn set_results(&mut self, op: Op, lanes: Lanes) -> Option<()> {
        for result in op.result_values() {
            if lanes != SAME && !is_scalar(result) {
                return None;
            }
            self.lanes.insert(key(result), lanes);
        }
        Some(())
    }

    fn apply(&self, op: Op) -> Option<Lanes> {
        let map = affine_map_of(op.attr("map")?)?;
        let found = linear(&map, &self.linear_operands(op), self.extent);
        Some(found.map_or(Lanes::Own, |l| Lanes::Grows(l.growth)))
    }

    /// Sums and products of indices that grow.
    fn sum_or_product(&self, kind: Upstream, op: Op) -> Option<Lanes> {
        let [a, b] = op.operand_values()[..] else { return None };
        if a.r#type() != index_type(op.context_ref()) {
            return None;
        }
        let (Lanes::Grows(x), Lanes::Grows(y)) = (self.lanes(a), self.lanes(b)) else { return None };
        let growth = match kind {
            Upstream::AddI => x.checked_add(y)?,
            Upstream::SubI => x.checked_sub(y)?,
            _ if y == 0 => x.checked_mul(constant(b)?)?,
            _ if x == 0 => y.checked_mul(constant(a)?)?,
            _ => return None,
        };
        Some(Lanes::Grows(growth))
    }

    fn inner_loop(&mut self, op: Op, inits: &[Value]) -> Option<()> {
        if !matches!(loop_kind(op), LoopKind::Serial | LoopKind::Unrolled | LoopKind::VirtualThread) {
            return None;
        }
        let body = op.body(0)?;
        let mut carried = arguments(body);
        let index = carried.drain(..1).next()?;
        self.loop_indices.insert(key(index));
        let own = |lanes: bool| if lanes { Lanes::Own } else { SAME };
        for (argument, init) in carried.iter().zip(inits) {
            self.carry(*argument, *init)?;
        }
        self.block(body)?;
        let yielded = ops_in(body).last()?.operand_values();
        for ((argument, next), result) in carried.iter().zip(yielded).zip(op.result_values()) {
            self.carry(*argument, next)?;
            self.lanes.insert(key(result), own(self.is_own_carried(*argument)));
        }
        Some(())
    }

    /// A carried value has lanes of its own when a value it takes has.
    fn carry(&mut self, argument: Value, from: Value) -> Option<()> {
        if !self.same(from) {
            is_scalar(argument).then(|| self.own_carried.insert(key(argument)))?;
        }
        let lanes = if self.is_own_carried(argument) { Lanes::Own } else { SAME };
        self.lanes.insert(key(argument), lanes);
        Some(())
    }

    fn guard(&mut self, op: Op) -> Option<()> {
        let operands = op.operand_values();
        let body = op.body(0)?;
        if !self.same(operands[0]) {
            let around = std::mem::replace(&mut self.masked, true);
            self.block(body)?;
            self.masked = around;
            return self.set_results(op, Lanes::Own);
        }
        self.block(body)?;
        let yielded = ops_in(body).last()?.operand_values();
        for ((given, otherwise), result) in yielded.iter().zip(&operands[1..]).zip(op.result_values()) {
            let same = self.same(*given) && self.same(*otherwise);
            if !same && !is_scalar(result) {
                return None;
            }
            self.lanes.insert(key(result), if same { SAME } else { Lanes::Own });
        }
        Some(())
    }
}

/// The indices of a loop and of those around it.
fn loop_indices(op: Op) -> HashSet<usize> {
    std::iter::successors(Some(op), |o| o.parent_operation())
        .filter(|o| matches!(o.kind(), Some(Kind::Loop(Loop::For | Loop::Upto))))
        .filter_map(|o| o.body(0).and_then(|b| arguments(b).first().map(|v| key(*v))))
        .collect()
}

/// True for values that a lane of a vector can hold.
fn is_scalar(value: Value) -> bool {
    let ty = value.r#type();
    dtype_of(ty).is_some() || fusion_dialects::TypeLike::is_index(&ty)
}

fn constant(value: Value) -> Option<i64> {
    let op = defining_op(value)?;
    if !matches!(op.kind(), Some(Kind::Upstream(Upstream::ArithConstant))) {
        return None;
    }
    let attr = op.attr("value")?;
    match attr_of(attr)? {
        Attr::Int(n) if attr.is_integer() => Some(n),
        _ => None,
    }
}
