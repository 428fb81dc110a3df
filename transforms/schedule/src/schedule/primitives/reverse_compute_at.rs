//! `reverse_compute_at`: a stage that reads another element by element is computed where those elements are made.
//!
//!     for i  for k  a[i] += x[i, k]               for i
//!     for i  y[i] = relu(a[i])            =>        a = 0 ; for k  a += x[i, k]
//!                                                   y[i] = relu(a)
//!
//! The loops are those of the stage that is read, so that its tiling stays and the rest is its epilogue (Shao et al.,
//! "Tensor Program Optimization with Probabilistic Programs", 2022, for TVM's primitive of that name). When nothing else
//! reads that stage, it is kept in values or a tile.

use super::super::{Attach, AxisId, Handles, Schedule, StageId};
use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, kind_of};

/// Attaches a stage to a loop of the stage it reads.
pub fn reverse_compute_at(
    tree: &mut Schedule,
    stage: StageId,
    producer: StageId,
    axis: AxisId,
) -> Result<(), String> {
    let (s, p) = (&tree.stages[stage], &tree.stages[producer]);
    let place = p.place(axis)?;
    let is_nest = |op: Op| !matches!(kind_of(op), Some(Kind::Te(Te::Compute)));
    if is_nest(s.op) || is_nest(p.op) {
        return Err(format!(
            "computes stage \"{}\" in a loop of stage \"{}\", one of which is a loop nest",
            s.name, p.name
        ));
    }
    if s.is_reduction() {
        return Err(format!("computes stage \"{}\", a reduction, at a loop of what it reads", s.name));
    }
    if s.attach != Attach::Root || p.attach != Attach::Root {
        return Err(format!(
            "computes stage \"{}\" at a loop of stage \"{}\", but both must stand on their own before",
            s.name, p.name
        ));
    }
    if p.leaves[..=place].iter().any(|&l| p.axes[l].reduce) {
        return Err(format!(
            "computes stage \"{}\" inside a reduction of stage \"{}\", whose elements are not known there; name a loop outside of it",
            s.name, p.name
        ));
    }
    if !tree.readers(producer).contains(&stage) {
        return Err(format!(
            "computes stage \"{}\" at a loop of stage \"{}\", which it does not read",
            s.name, p.name
        ));
    }
    if matching_axes(tree, stage, producer).is_none() {
        return Err(format!(
            "computes stage \"{}\" at a loop of stage \"{}\", but does not read it element by element",
            s.name, p.name
        ));
    }
    tree.stages[stage].attach = Attach::After(producer, axis);
    Ok(())
}

/// For each axis of a stage, the axis of the stage it reads with the same index; none for an axis of one iteration. `None`
/// when some element is read for another point, or twice.
pub fn matching_axes(tree: &Schedule, stage: StageId, producer: StageId) -> Option<Vec<Option<usize>>> {
    let extents = |s: StageId| tree.stages[s].op.ints("axes").unwrap_or_default();
    let (own, given) = (extents(stage), extents(producer));
    let axes: Vec<Option<Expr>> =
        own.iter().enumerate().map(|(i, &n)| Some(Expr::var(i, n.max(0) as u64))).collect();
    let mut matching: Option<Vec<Option<usize>>> = None;
    for read in tree.reads_of(producer, stage, &axes) {
        let mut found = vec![None; own.len()];
        for (dim, index) in read.into_iter().enumerate() {
            let index = index?;
            let mut terms = index.terms();
            match (terms.next(), terms.next(), index.offset()) {
                (None, _, 0) if given[dim] == 1 => {}
                (Some((Atom::Var(v), 1)), None, 0)
                    if own.get(v.id) == given.get(dim) && found[v.id].is_none() =>
                {
                    found[v.id] = Some(dim);
                }
                _ => return None,
            }
        }
        if found.iter().zip(&own).any(|(f, &n)| f.is_none() && n != 1)
            || matching.as_ref().is_some_and(|m| *m != found)
        {
            return None;
        }
        matching = Some(found);
    }
    matching
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let operands = op.operand_values();
    let stage = handles.stage(operands[0])?;
    let (producer, axis) = handles.axis(operands[1])?;
    if producer == stage {
        return Err("computes a stage inside itself".into());
    }
    reverse_compute_at(tree, stage, producer, axis)
}
