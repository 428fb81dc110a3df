//! What a stage reads, in terms of its own axes, through the stages that are inlined into it.

use super::accesses::stage_of;
use crate::schedule::{Attach, Handle, InputId, Schedule, StageId};
use fusion_dialects::indices::expr::{Atom, Expr, Var, flatten};
use fusion_dialects::indices::{accesses, put};
use fusion_dialects::{OpExt, key, tensor_type};
use fusion_operators::TensorType;

/// A tensor that is read at one place.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The argument of the kernel it is, if it is one.
    pub input: Option<InputId>,
    /// The stage that gives it otherwise.
    pub stage: Option<StageId>,
    /// The stage whose body has the load.
    pub reader: StageId,
    /// The number of the load in that body.
    pub read: usize,
    /// Its extents.
    pub shape: Vec<u64>,
    /// The indices: variable `i` is axis `i` of the stage, parallel axes first.
    pub indices: Vec<Expr>,
    /// True when some axes of the tensor were put together.
    pub is_fused: bool,
}

impl Operand {
    /// True when it varies along an axis.
    pub fn mentions(&self, axis: usize) -> bool {
        self.indices.iter().any(|e| e.mentions(axis))
    }

    /// What a schedule calls it.
    pub fn handle(&self) -> Option<Handle> {
        self.input.map(Handle::Input).or(self.stage.map(Handle::Stage))
    }

    /// Rewrites the indices for a nest whose axes are those expressions; axes of the tensor that are one then become one.
    /// Reduction axes keep their variables.
    pub fn fuse(&mut self, axes: &[Expr]) {
        let with = |v: Var| axes.get(v.id).cloned();
        for index in &mut self.indices {
            *index = index.substitute(&with);
        }
        let mut at = self.indices.len();
        while at > 1 {
            at -= 1;
            let n = self.shape[at];
            let together = flatten(&self.indices[at - 1..=at], &self.shape[at - 1..=at]);
            let divided = |e: &Expr| e.terms().any(|(a, _)| matches!(a, Atom::Div(..) | Atom::Mod(..)));
            if divided(&self.indices[at]) && !divided(&together) {
                self.indices.splice(at - 1..=at, [together]);
                self.shape.splice(at - 1..=at, [self.shape[at - 1] * n]);
                self.is_fused = true;
            }
        }
    }

    /// The axis of the tensor that is that axis of the stage, and no other is indexed with it.
    pub fn dimension(&self, axis: usize, extent: u64) -> Option<usize> {
        let whole = |&d: &usize| self.indices[d] == Expr::var(axis, extent) && self.shape[d] == extent;
        self.dimension_of_groups(axis, extent).filter(whole)
    }

    /// The axis of the tensor that is so many of that axis of the stage, one behind the other as others select them (the channels of a
    /// group), and no other is indexed with it.
    pub fn dimension_of_groups(&self, axis: usize, extent: u64) -> Option<usize> {
        let mut with = (0..self.indices.len()).filter(|&d| self.indices[d].mentions(axis));
        let (first, second) = (with.next()?, with.next());
        let rest = self.indices[first].minus(&Expr::var(axis, extent));
        let whole = |n: i64| n.unsigned_abs().is_multiple_of(extent);
        let selected = !rest.mentions(axis) && rest.terms().all(|(_, n)| whole(n)) && whole(rest.offset());
        let all = self.shape[first].is_multiple_of(extent);
        (selected && all && second.is_none() && !self.is_fused).then_some(first)
    }

    /// The first of neighbouring axes of the tensor, and their number, that together are that axis of the stage, and no other is
    /// indexed with it.
    pub fn together(&self, axis: usize, extent: u64) -> Option<(usize, usize)> {
        let begin = self.indices.iter().position(|e| e.mentions(axis)).filter(|_| !self.is_fused)?;
        let n = self.indices[begin..].iter().take_while(|e| e.mentions(axis)).count();
        let end = begin + n;
        let whole = flatten(&self.indices[begin..end], &self.shape[begin..end]) == Expr::var(axis, extent);
        let all = self.shape[begin..end].iter().product::<u64>() == extent;
        let elsewhere = self.indices[end..].iter().any(|e| e.mentions(axis));
        (n > 1 && whole && all && !elsewhere).then_some((begin, n))
    }

    /// True when all calls of the kernel give it a constant.
    pub fn is_constant(&self, constant: &[bool]) -> bool {
        self.input.is_some_and(|i| constant.get(i).copied().unwrap_or(false))
    }
}

/// All tensors that a stage reads from memory; `None` when an index depends on data.
pub fn operands(tree: &Schedule, stage: StageId) -> Option<Vec<Operand>> {
    let axes = &tree.stages[stage].op;
    let extents = [axes.ints("axes").unwrap_or_default(), axes.ints("reduce").unwrap_or_default()].concat();
    let own: Vec<Option<Expr>> =
        extents.iter().enumerate().map(|(i, &n)| Some(Expr::var(i, n.max(0) as u64))).collect();
    let mut found = Vec::new();
    collect(tree, stage, &own, &mut found)?;
    Some(found)
}

fn collect(tree: &Schedule, stage: StageId, axes: &[Option<Expr>], found: &mut Vec<Operand>) -> Option<()> {
    for (number, access) in accesses(tree.stages[stage].op).into_iter().enumerate() {
        let at: Vec<Option<Expr>> =
            access.indices.iter().map(|i| i.as_ref().and_then(|e| put(e, axes))).collect();
        let source = stage_of(tree, access.tensor);
        if let Some(read) = source
            && tree.stages[read].attach == Attach::Inline
        {
            collect(tree, read, &at, found)?;
            continue;
        }
        let indices: Vec<Expr> = at.into_iter().collect::<Option<_>>()?;
        if indices.iter().any(Expr::is_opaque) {
            return None;
        }
        found.push(Operand {
            input: tree.inputs.iter().position(|v| key(*v) == key(access.tensor)),
            stage: source,
            reader: stage,
            read: number,
            shape: tensor_type(access.tensor).as_ref().and_then(TensorType::shape).unwrap_or_default(),
            indices,
            is_fused: false,
        });
    }
    Some(())
}
