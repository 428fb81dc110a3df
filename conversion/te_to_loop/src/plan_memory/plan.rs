//! Which memory every tensor of the program lies in, and when that memory is live.
//!
//! A *storage* is a piece of memory: an input, an output, a constant, or a buffer of the arena. Every tensor has
//! one; views share that of their source, and pieces lie in it. Results of calls get a new buffer, unless somebody who wants them
//! elsewhere has *claimed* them first: the function's return its outputs, the end of a branch the results of its
//! `scf.if`, a loop its state. Claims go from the outside in, before the operations of a block are visited.
//!
//! Time counts the operations in the order of the text. A buffer made before a loop and used in it lives until the
//! loop ends, since the next iteration uses it again.

use super::in_place;
use super::storage::{Id, LoopState, Place, Plan, Storage};
use crate::lower::WORKSPACE;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    AttributeLike, Block, BlockLike, Op, OpExt, OperationLike, PassError, Value, ValueLike, arguments,
    defining_op, key, op_key, ops_in, tensor_type, users,
};
use fusion_operators::DType;
use std::collections::HashMap;

/// Plans the function with that body; `kernels` are the functions it may call, by name.
pub fn plan<'c>(body: Block<'c>, kernels: &HashMap<&'c str, Op<'c>>) -> Result<Plan<'c>, PassError<'c>> {
    let mut planner = Planner::new(kernels);
    for (i, argument) in arguments(body).into_iter().enumerate() {
        let id = planner.storage(argument, Place::Input(i))?;
        planner.plan.of.insert(key(argument), id);
    }
    let returned = last_operands(body);
    let outputs = returned.iter().enumerate().map(|(i, v)| planner.storage(*v, Place::Output(i)));
    let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
    planner.claim_all(body, &returned, &outputs);
    planner.block(body)?;
    planner.now += 1;
    planner.touch_all(&returned)?;
    Ok(planner.plan)
}

/// The operands of a block's terminator.
pub fn last_operands<'c>(block: Block<'c>) -> Vec<Value<'c>> {
    block.terminator().map(|op| op.operand_values()).unwrap_or_default()
}

/// The operations of a block but its terminator.
pub fn ops_before_last<'c>(block: Block<'c>) -> Vec<Op<'c>> {
    let mut ops = ops_in(block);
    ops.pop();
    ops
}

/// A loop around the operation being visited.
struct OpenLoop {
    start: usize,
    /// Made before the loop and used in it.
    through: Vec<Id>,
}

struct Planner<'c, 'k> {
    kernels: &'k HashMap<&'c str, Op<'c>>,
    plan: Plan<'c>,
    now: usize,
    open: Vec<OpenLoop>,
    /// Tensors that share their memory with none but their views, and the blocks they belong to. Only looked up.
    exclusive: HashMap<usize, Block<'c>>,
    constants: HashMap<usize, usize>,
}

impl<'c, 'k> Planner<'c, 'k> {
    fn new(kernels: &'k HashMap<&'c str, Op<'c>>) -> Self {
        Planner {
            kernels,
            plan: Plan::default(),
            now: 0,
            open: Vec::new(),
            exclusive: HashMap::new(),
            constants: HashMap::new(),
        }
    }

    /// New memory for a tensor.
    fn storage(&mut self, value: Value<'c>, place: Place) -> Result<Id, PassError<'c>> {
        let fail = |why: &str| {
            let message = format!("a value of type {} {why}", value.r#type());
            Err(PassError::new(value.location(), message))
        };
        let Some(ty) = tensor_type(value) else {
            return fail("is no tensor, so the host program cannot hold it in memory");
        };
        let (Some(elements), Some(_)) = (ty.elements(), ty.bytes()) else {
            return fail("has no size known at compile time; give the shapes of the inputs");
        };
        self.plan.storages.push(Storage { place, elements, dtype: ty.dtype, life: None });
        Ok(self.plan.storages.len() - 1)
    }

    /// The memory an operation writes a result to: what was claimed for it, or new memory in the arena.
    fn written(&mut self, value: Value<'c>) -> Result<Id, PassError<'c>> {
        let id = match self.plan.of.get(&key(value)) {
            Some(id) => *id,
            None => self.storage(value, Place::Arena)?,
        };
        self.plan.of.insert(key(value), id);
        self.define(id);
        Ok(id)
    }

    fn define(&mut self, id: Id) {
        let life = &mut self.plan.storages[id].life;
        let (first, last) = life.unwrap_or((self.now, self.now));
        *life = Some((first.min(self.now), last.max(self.now)));
    }

    /// Uses a storage now; a piece keeps what it lies in.
    fn touch(&mut self, id: Id) {
        let (id, _) = self.plan.base(id);
        let storage = &mut self.plan.storages[id];
        let Some((first, last)) = &mut storage.life else { return };
        *last = self.now.max(*last);
        if let Some(around) = self.open.iter_mut().find(|l| l.start > *first) {
            around.through.push(id);
        }
    }

    fn touch_all(&mut self, values: &[Value<'c>]) -> Result<Vec<Id>, PassError<'c>> {
        let ids = self.plan.of_all(values)?;
        ids.iter().for_each(|id| self.touch(*id));
        Ok(ids)
    }

    fn claim_all(&mut self, block: Block<'c>, values: &[Value<'c>], targets: &[Id]) {
        for (value, target) in values.iter().zip(targets) {
            self.claim(block, *value, *target, false);
        }
    }

    /// Has the operation of `block` that makes a value write it to `target`. It stays where it is when it is made
    /// elsewhere or was claimed before, or, if `alone`, when it has other uses.
    fn claim(&mut self, block: Block<'c>, value: Value<'c>, target: Id, alone: bool) {
        let mut value = value;
        loop {
            if alone && users(value).len() != 1 {
                return;
            }
            let Some(op) = defining_op(value).filter(|op| op.block() == Some(block)) else { return };
            match (op.kind(), op.operand_values().first()) {
                (Some(Kind::Te(Te::View)), Some(source)) if op.int("offset").is_none() => value = *source,
                (Some(Kind::Te(Te::Call) | Kind::Upstream(Upstream::If)), _) => break,
                _ => return,
            }
        }
        self.plan.of.entry(key(value)).or_insert(target);
    }

    /// Visits all of a block but its terminator.
    fn block(&mut self, block: Block<'c>) -> Result<(), PassError<'c>> {
        let ops = ops_before_last(block);
        for op in ops.iter().filter(|op| is_while(**op)) {
            let mut state = Vec::new();
            for init in op.operand_values() {
                let id = self.storage(init, Place::Arena)?;
                self.claim(block, init, id, true);
                state.push(id);
            }
            self.plan.loops.insert(op_key(*op), LoopState { state, ..LoopState::default() });
        }
        ops.into_iter().try_for_each(|op| self.op(op))
    }

    fn op(&mut self, op: Op<'c>) -> Result<(), PassError<'c>> {
        self.now += 1;
        let (operands, results) = (op.operand_values(), op.result_values());
        match op.kind() {
            Some(Kind::Te(Te::Constant)) => self.constant(op, results[0])?,
            Some(Kind::Te(Te::View)) => {
                let of = self.plan.of(operands[0])?;
                let id = match op.int("offset") {
                    None => of,
                    Some(offset) => {
                        let size = self.plan.storages[of].dtype.size() as u64;
                        let from = u64::try_from(offset).unwrap_or(0).saturating_mul(size);
                        self.storage(results[0], Place::Piece(of, from))?
                    }
                };
                self.plan.of.insert(key(results[0]), id);
            }
            Some(Kind::Te(Te::Call)) => {
                let operands = self.touch_all(&operands)?;
                if let Some(updated) = in_place::updated_operand(op, self.kernels)
                    && let Place::Arena = self.plan.storages[operands[updated]].place
                    && in_place::ends_at(op, updated, &self.exclusive)
                {
                    self.plan.of.insert(key(results[0]), operands[updated]);
                } else {
                    results.iter().try_for_each(|r| self.written(*r).map(drop))?;
                }
                if let Some(block) = op.block() {
                    self.exclusive.extend(results.iter().map(|r| (key(*r), block)));
                }
                self.lend(op);
            }
            Some(Kind::Upstream(Upstream::Extract)) => drop(self.touch_all(&operands[..1])?),
            Some(Kind::Upstream(Upstream::If)) => self.branch(op)?,
            Some(Kind::Upstream(Upstream::While)) => self.repeat(op)?,
            _ => refuse_tensors(op)?,
        }
        Ok(())
    }

    fn constant(&mut self, op: Op<'c>, result: Value<'c>) -> Result<(), PassError<'c>> {
        let value = op.attr("value").ok_or_else(|| PassError::at(op, "has no value"))?;
        let next = self.plan.constants.len();
        // Attributes are unique: the same address is the same value.
        let place = *self.constants.entry(value.to_raw().ptr as usize).or_insert(next);
        if place == next {
            self.plan.constants.push(value);
        }
        let id = self.storage(result, Place::Constant(place))?;
        self.plan.of.insert(key(result), id);
        Ok(())
    }

    /// Memory for the kernel's own use, live at this call only.
    fn lend(&mut self, call: Op<'c>) {
        let kernel = call.text("kernel").and_then(|name| self.kernels.get(name));
        let bytes = kernel.and_then(|kernel| kernel.int(WORKSPACE)).unwrap_or(0);
        if bytes > 0 {
            let life = Some((self.now, self.now));
            let scratch = Storage { place: Place::Arena, elements: bytes as u64, dtype: DType::I8, life };
            self.plan.storages.push(scratch);
            self.plan.scratch.insert(op_key(call), self.plan.storages.len() - 1);
        }
    }

    fn branch(&mut self, op: Op<'c>) -> Result<(), PassError<'c>> {
        let results = op.result_values();
        let targets = results.iter().map(|r| self.written(*r)).collect::<Result<Vec<_>, _>>()?;
        for block in [op.body(0), op.body(1)].into_iter().flatten() {
            let yielded = last_operands(block);
            self.claim_all(block, &yielded, &targets);
            self.block(block)?;
            self.now += 1;
            self.touch_all(&yielded)?;
        }
        self.now += 1;
        targets.iter().for_each(|id| self.touch(*id));
        Ok(())
    }

    fn repeat(&mut self, op: Op<'c>) -> Result<(), PassError<'c>> {
        let (Some(test), Some(step)) = (op.body(0), op.body(1)) else {
            return Err(PassError::at(op, "has no regions"));
        };
        let state = self.plan.loop_state(op)?.state.clone();
        self.touch_all(&op.operand_values())?;
        state.iter().for_each(|id| self.define(*id));
        for (argument, id) in arguments(test).into_iter().zip(&state) {
            self.plan.of.insert(key(argument), *id);
        }
        let handed = last_operands(test).into_iter().skip(1).collect::<Vec<_>>();
        // What the test computes is seen after it: by the body and after the loop.
        let mut kept = Vec::new();
        for value in &handed {
            let id = match defining_op(origin(*value)).filter(|op| op.block() == Some(test)) {
                Some(_) => {
                    let id = self.storage(*value, Place::Arena)?;
                    self.define(id);
                    self.claim(test, *value, id, false);
                    Some(id)
                }
                None => None,
            };
            kept.push(id);
        }
        self.open.push(OpenLoop { start: self.now, through: Vec::new() });
        self.block(test)?;
        self.now += 1;
        let handed = self.touch_all(&handed)?;
        let passed: Vec<Id> = kept.iter().zip(&handed).map(|(own, id)| own.unwrap_or(*id)).collect();
        for (value, id) in arguments(step).into_iter().chain(op.result_values()).zip(passed.iter().cycle()) {
            self.plan.of.insert(key(value), *id);
        }
        for (i, (argument, id)) in arguments(step).into_iter().zip(&passed).enumerate() {
            let lies_there = |other: &&Id| self.plan.base(**other).0 == *id;
            if state.get(i) == Some(id) && passed.iter().filter(lies_there).count() == 1 {
                self.exclusive.insert(key(argument), step);
            }
        }
        self.block(step)?;
        self.now += 1;
        let next = self.touch_all(&last_operands(step))?;
        // The state is copied in order: what comes from a place that an earlier copy overwrites must be saved first.
        let places: HashMap<Id, usize> = state.iter().enumerate().map(|(i, id)| (*id, i)).collect();
        let mut saved = Vec::new();
        for (i, from) in next.iter().enumerate() {
            let (base, _) = self.plan.base(*from);
            let overwritten = places.get(&base).is_some_and(|j| *j < i && next[*j] != base);
            saved.push(overwritten.then(|| self.copy_of(*from)));
        }
        self.now += 1;
        let through = self.open.pop().map(|l| l.through).unwrap_or_default();
        through.iter().chain(&state).chain(&passed).for_each(|id| self.touch(*id));
        self.plan.loops.insert(op_key(op), LoopState { state, passed, saved });
        Ok(())
    }

    /// New memory like another's, live now.
    fn copy_of(&mut self, id: Id) -> Id {
        let storage = Storage { place: Place::Arena, life: None, ..self.plan.storages[id].clone() };
        self.plan.storages.push(storage);
        let copy = self.plan.storages.len() - 1;
        self.define(copy);
        copy
    }
}

fn is_while(op: Op) -> bool {
    matches!(op.kind(), Some(Kind::Upstream(Upstream::While)))
}

/// The value that a chain of views shows.
fn origin<'c>(value: Value<'c>) -> Value<'c> {
    let mut value = value;
    while let Some(op) = defining_op(value).filter(|op| matches!(op.kind(), Some(Kind::Te(Te::View)))) {
        let Some(source) = op.operand_values().first().copied() else { break };
        value = source;
    }
    value
}

/// Scalar operations stay as they are; nothing else may touch tensors.
fn refuse_tensors<'c>(op: Op<'c>) -> Result<(), PassError<'c>> {
    if let Some(Kind::Upstream(Upstream::Call)) = op.kind() {
        let callee = op.text("callee").unwrap_or_default();
        return Err(PassError::at(op, format!("calls @{callee}; inline it before memory is planned")));
    }
    let tensor = |v: &Value| tensor_type(*v).is_some();
    if op.regions().next().is_some()
        || op.operands().any(|v| tensor(&v))
        || op.result_values().iter().any(tensor)
    {
        return Err(PassError::at(
            op,
            "cannot be part of the program around the kernels, which has calls, constants, views, scf.if, \
             scf.while and scalars",
        ));
    }
    Ok(())
}
