//! Whether the inner loops of a stage are what an intrinsic computes.
//!
//!     for i in 0..4  for j in 0..16  for k in 0..8         te.intrinsic @tile: 4 x 16, over 8
//!       c[io*4+i, jo*16+j] += a[io*4+i, k] * b[k, j]   ~     c[x, y] += a[x, r] * b[r, y]
//!
//! Loops stand for axes in order. Each element the stage reads must go with the same loops as the intrinsic's, by a
//! constant distance in each; the scalar operations and the combiner must be the same. What differs is said.

pub use super::tensorized::computes;

use super::same::{attributes, commutes, same_block};
use super::{Attach, AxisId, Operand, Relation, Schedule, Stage, StageId, Tensorized};
use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::indices::{Access, accesses, put};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Op, OpExt, Value, arguments, defining_op, key, kind_of, ops_in, position, tensor_type,
};

/// Fails unless two `te.compute` begin with the same neutral elements, and take elements and combine them alike.
pub fn combines_as(compute: Op, model: Op) -> Result<(), String> {
    if compute.attr("init") != model.attr("init") {
        return Err("begins with other neutral elements".into());
    }
    for body in [0, 1] {
        if let (Some(a), Some(b)) = (compute.body(body), model.body(body)) {
            same_block(a, b)?;
        }
    }
    Ok(())
}

/// The loops of a stage from that one inwards as an intrinsic.
pub fn of<'c>(
    tree: &Schedule<'c>,
    stage: StageId,
    axis: AxisId,
    op: Op<'c>,
) -> Result<Tensorized<'c>, String> {
    let s = &tree.stages[stage];
    let name = op.text("sym_name").unwrap_or_default();
    let model = computes(op).ok_or_else(|| format!("names @{name}, which computes nothing"))?;
    if !matches!(kind_of(s.op), Some(Kind::Te(Te::Compute))) || s.op.result_values().len() != 1 {
        return Err(format!("replaces loops of stage \"{}\", which is no te.compute of one result", s.name));
    }
    let loops = s.leaves[s.place(axis)?..].to_vec();
    same_loops(s, &loops, model, name)?;
    let element = |op: Op| tensor_type(op.result_values()[0]).map(|t| t.dtype);
    if element(s.op) != element(model) {
        return Err(format!("gives another type of elements in stage \"{}\" than @{name}", s.name));
    }
    if s.op.attr("init") != model.attr("init") {
        return Err(format!("begins with other neutral elements in stage \"{}\" than @{name}", s.name));
    }
    if let (Some(a), Some(b)) = (s.op.body(1), model.body(1)) {
        same_block(a, b).map_err(|why| {
            format!("differs from @{name} in the combiner of stage \"{}\", which {why}", s.name)
        })?;
    }
    let operands = operands(tree, s, &loops, (model, op, false), name).or_else(|why| {
        // A product is that of its factors in either order.
        let turned = is_symmetric(model).then(|| operands(tree, s, &loops, (model, op, true), name).ok());
        turned.flatten().ok_or(why)
    })?;
    if let (Some(a), Some(b)) = (s.op.body(0), model.body(0)) {
        same_block(a, b).map_err(|why| {
            format!("differs from @{name} in the body of stage \"{}\", which {why}", s.name)
        })?;
    }
    Ok(Tensorized { axis, loops, op, operands })
}

/// Fails when later primitives changed the loops of an intrinsic.
pub fn check(tree: &Schedule, stage: StageId, tensorized: &Tensorized) -> Result<(), String> {
    let s = &tree.stages[stage];
    let place = s.place(tensorized.axis)?;
    let name = tensorized.op.text("sym_name").unwrap_or_default();
    if s.leaves[place..] != tensorized.loops {
        return Err(format!("moves loops of stage \"{}\" that are the intrinsic @{name}", s.name));
    }
    for &l in &tensorized.loops {
        if s.axes[l].kind != LoopKind::Serial {
            return Err(format!("says how loops of stage \"{}\" run that are the intrinsic @{name}", s.name));
        }
        if let Some(inside) = tree.attached_to(stage, l) {
            return Err(format!(
                "computes stage \"{}\" at a loop of stage \"{}\" that is a part of the intrinsic @{name}",
                tree.stages[inside].name, s.name
            ));
        }
    }
    let read = tensorized.operands.iter().filter_map(|o| tree.giving(o.tensor));
    match read.into_iter().find(|&r| tree.stages[r].attach == Attach::Inline) {
        Some(inlined) => Err(format!(
            "inlines stage \"{}\", which the intrinsic @{name} reads from memory",
            tree.stages[inlined].name
        )),
        None => Ok(()),
    }
}

fn same_loops(s: &Stage, loops: &[AxisId], model: Op, name: &str) -> Result<(), String> {
    let parallel = model.ints("axes").unwrap_or_default().into_iter().map(|n| (n, false));
    let reduced = model.ints("reduce").unwrap_or_default().into_iter().map(|n| (n, true));
    let axes: Vec<(i64, bool)> = parallel.chain(reduced).collect();
    if axes.len() != loops.len() {
        return Err(format!(
            "has {} loops of stage \"{}\" from that one inwards, @{name} has {} axes",
            loops.len(),
            s.name,
            axes.len()
        ));
    }
    for (i, (&l, (extent, reduce))) in loops.iter().zip(axes).enumerate() {
        let a = &s.axes[l];
        if a.extent as i64 != extent {
            return Err(format!(
                "has {} iterations in loop {i} of stage \"{}\" from that one inwards, axis {i} of @{name} has the extent {extent}",
                a.extent, s.name
            ));
        }
        if a.reduce != reduce {
            let kind = |reduce| if reduce { "a reduction" } else { "a parallel" };
            return Err(format!(
                "has {} axis in loop {i} of stage \"{}\" from that one inwards, axis {i} of @{name} is {} one",
                kind(a.reduce),
                s.name,
                kind(reduce)
            ));
        }
        if a.kind != LoopKind::Serial {
            return Err(format!("replaces a loop of stage \"{}\" that is annotated already", s.name));
        }
    }
    Ok(())
}

/// What the stage reads, by argument of the intrinsic.
fn operands<'c>(
    tree: &Schedule<'c>,
    s: &Stage<'c>,
    loops: &[AxisId],
    (model, intrinsic, turned): (Op<'c>, Op<'c>, bool),
    name: &str,
) -> Result<Vec<Operand<'c>>, String> {
    let (own, mut given) = (accesses(s.op), accesses(model));
    if turned {
        given.reverse();
    }
    if own.len() != given.len() {
        return Err(format!(
            "reads {} elements in stage \"{}\", @{name} reads {}",
            own.len(),
            s.name,
            given.len()
        ));
    }
    let roots: Vec<Option<Expr>> = (0..s.op_axes()).map(|a| Some(value(s, a))).collect();
    let inputs = intrinsic.body(0).map(arguments).unwrap_or_default();
    let mut found: Vec<Option<Operand>> = vec![None; inputs.len()];
    for (n, (access, model)) in own.into_iter().zip(given).enumerate() {
        let dims = dims_of(&model)
            .ok_or_else(|| format!("reads with more than axes as indices in @{name}, element {n}"))?;
        if let Some(inlined) = tree.giving(access.tensor).filter(|&r| tree.stages[r].attach == Attach::Inline)
        {
            return Err(format!(
                "reads stage \"{}\" in stage \"{}\", which is inlined; intrinsics read memory",
                tree.stages[inlined].name, s.name
            ));
        }
        let Some(indices) = access.indices.into_iter().collect::<Option<Vec<Expr>>>() else {
            return Err(format!(
                "reads element {n} of stage \"{}\" at an index that depends on data",
                s.name
            ));
        };
        let placed: Vec<Expr> = indices.iter().filter_map(|e| put(e, &roots)).collect();
        for (i, &l) in loops.iter().enumerate().filter(|(_, l)| s.axes[**l].extent > 1) {
            let steps: Option<Vec<i64>> = placed.iter().map(|e| e.coefficient(l)).collect();
            let Some(steps) = steps else {
                return Err(format!(
                    "reads element {n} of stage \"{}\" at distances that are not the same in all iterations of loop {i}",
                    s.name
                ));
            };
            let (goes, should) = (steps.iter().any(|c| *c != 0), dims.contains(&Some(i)));
            if goes != should {
                let says = |does: bool| if does { "goes" } else { "does not go" };
                return Err(format!(
                    "reads element {n} of stage \"{}\" so that it {} with loop {i} from that one inwards; in @{name} it {}",
                    s.name,
                    says(goes),
                    says(should)
                ));
            }
        }
        if tensor_type(access.tensor).map(|t| t.dtype) != tensor_type(model.tensor).map(|t| t.dtype) {
            return Err(format!("reads another type of elements in stage \"{}\" than @{name}", s.name));
        }
        let Some(slot) = found.get_mut(position(model.tensor)) else { continue };
        let operand = Operand { tensor: access.tensor, indices, dims };
        let same = |o: &Operand| {
            key(o.tensor) == key(operand.tensor) && o.indices == operand.indices && o.dims == operand.dims
        };
        if slot.as_ref().is_some_and(|o| !same(o)) {
            return Err(format!(
                "reads two tensors in stage \"{}\" where @{name} reads argument {} twice",
                s.name,
                position(model.tensor)
            ));
        }
        *slot = Some(operand);
    }
    let every: Option<Vec<Operand>> = found.into_iter().collect();
    every.ok_or_else(|| format!("names @{name}, which has an argument that it does not read"))
}

/// True when a computation reads two elements and gives the same with each in the other's place.
fn is_symmetric(model: Op) -> bool {
    let ops = model.body(0).map(ops_in).unwrap_or_default();
    let is = |op: &Op, kind: Te| matches!(kind_of(*op), Some(Kind::Te(k)) if k == kind);
    let loads: Vec<usize> =
        ops.iter().filter(|op| is(op, Te::Load)).map(|op| key(op.result_values()[0])).collect();
    let yielded = ops.last().filter(|op| is(op, Te::Yield)).map(|op| op.operand_values()).unwrap_or_default();
    match (&loads[..], &yielded[..]) {
        (&[a, b], &[value]) => mirrors(value, value, (a, b)),
        _ => false,
    }
}

/// True when one value is the other with two loads in each other's place.
fn mirrors<'c>(x: Value<'c>, y: Value<'c>, (a, b): (usize, usize)) -> bool {
    match (key(x), key(y)) {
        (x, y) if x == a || x == b => return y == if x == a { b } else { a },
        _ => {}
    }
    let (Some(p), Some(q)) = (defining_op(x), defining_op(y)) else { return key(x) == key(y) };
    let (left, right) = (p.operand_values(), q.operand_values());
    let pairs = |order: [usize; 2]| left.iter().zip(order).all(|(x, i)| mirrors(*x, right[i], (a, b)));
    let same = p.full_name() == q.full_name() && left.len() == right.len() && attributes(p) == attributes(q);
    let in_order = || left.iter().zip(&right).all(|(x, y)| mirrors(*x, *y, (a, b)));
    same && (in_order() || (commutes(p) && left.len() == 2 && pairs([1, 0])))
}

/// The axes that are the indices of an intrinsic's load.
pub fn dims_of(access: &Access) -> Option<Vec<Option<usize>>> {
    let each = |index: &Option<Expr>| {
        let index = index.as_ref()?;
        let mut terms = index.terms();
        match (terms.next(), terms.next(), index.offset()) {
            (None, _, 0) => Some(None),
            (Some((Atom::Var(v), 1)), None, 0) => Some(Some(v.id)),
            _ => None,
        }
    };
    access.indices.iter().map(each).collect()
}

/// An axis in terms of the loops it was made into; variable `l` is loop `l`.
fn value(s: &Stage, axis: AxisId) -> Expr {
    let made = s.relations.iter().find(|r| match **r {
        Relation::Split { parent, .. } => parent == axis,
        Relation::Fuse { first, second, .. } => first == axis || second == axis,
    });
    match made {
        Some(Relation::Split { outer, inner, factor, .. }) => {
            value(s, *outer).times(*factor as i64).plus(&value(s, *inner))
        }
        Some(Relation::Fuse { second, fused, .. }) => {
            let (by, whole) = (s.axes[*second].extent.max(1) as i64, value(s, *fused));
            if axis == *second { whole.modulo(by) } else { whole.div(by) }
        }
        None => Expr::var(axis, s.axes[axis].extent),
    }
}
