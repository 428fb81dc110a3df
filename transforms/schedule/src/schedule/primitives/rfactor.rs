//! `rfactor`: a loop of a reduction becomes a parallel axis of partial results, which are combined in the end.
//!
//!     for k in 0..24  y[i] += x[i, k]        for i  for ki in 0..4  for ko in 0..6  p[i, ki] += x[i, ko * 4 + ki]
//!                                      =>
//!     (split k by 4, rfactor ki)             for i  for ki in 0..4  y[i] += p[i, ki]
//!
//! What was one chain of operations are several, which may be lanes, threads or accumulators of their own (Suriana, Adams, Kamil,
//! "Parallel Associative Reductions in Halide", 2017; TVM's `rfactor`). It regroups and reorders what is combined, so the
//! combiner must be associative and commutative, and begin with an element that changes nothing. Floats are rounded elsewhere.
//!
//! Where the split leaves a rest, iterations beyond the end combine the element that changes nothing, and read nothing:
//!
//!     (k in 0..23)                           for i  for ki in 0..4  for ko in 0..6  p[i, ki] += x[i, ko * 4 + ki] if ko * 4 + ki < 23 else 0
//!
//! With `ko` split by 5, the whole blocks, nothing is asked but in the last one.

use super::super::within::clone_within;
use super::super::{Attach, AxisId, Handle, Handles, Origin, Relation, Schedule, Stage, StageId};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::{Compare, Op as Te, Scalars};
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, Region, Type, Value, ValueLike, ValueMap, arguments, array_attr,
    array_elements, attr_of, defining_op, index_type, ints_attr, key, kind_of, ops_in, replace_uses,
    str_attr, tensor_type, tensor_type_to_mlir,
};
use fusion_operators::{Attr, DType, TensorType};

/// The loop that becomes a parallel axis.
struct Factored {
    /// The reduction axis of the computation that it is, or is a part of.
    root: usize,
    /// Its iterations.
    extent: u64,
    /// Where the axis was split, the other part.
    other: Option<Other>,
}

struct Other {
    extent: u64,
    /// True where the factored loop is the one over blocks.
    inner: bool,
    /// Iterations of a block.
    factor: u64,
    /// The iterations that there are, where blocks go beyond them.
    end: Option<u64>,
}

/// True for a stage that nothing was done to yet, and whose partial results may be combined in any order.
pub fn may_be_factored(s: &Stage) -> bool {
    s.is_reduction() && s.attach == Attach::Root && s.relations.is_empty() && combiner_is_known(s).is_ok()
}

/// Makes a stage of partial results over a loop of a reduction; it is given. The stage itself combines them.
pub fn rfactor<'c>(
    tree: &mut Schedule<'c>,
    stage: StageId,
    axis: AxisId,
    name: &str,
) -> Result<StageId, String> {
    let factored = check(tree, stage, axis, name)?;
    let s = &tree.stages[stage];
    let (op, rank, part, into) = (s.op, s.rank(), s.part(), s.into);
    let types: Vec<TensorType> = op.result_values().into_iter().filter_map(tensor_type).collect();
    let (Some(body), Some(combiner)) = (op.body(0), op.body(1)) else {
        return Err(format!("factors a loop of stage \"{}\", which has no combiner", s.name));
    };
    let build = Build::before(op);
    let mut parts = op.ints("axes").unwrap_or_default();
    parts.push(factored.extent as i64);
    let mut reduce = op.ints("reduce").unwrap_or_default();
    let at = factored.root - rank;
    match &factored.other {
        Some(other) => reduce[at] = other.extent as i64,
        None => {
            reduce.remove(at);
        }
    }
    let neutral = op.attr("init").map(array_elements).unwrap_or_default();
    let partial = compute(&build, op, name, (&parts, &reduce), &types, combiner, |inner, given| {
        let scalars = arguments(combiner).into_iter().map(|scalar| scalar.r#type());
        let constant = |(attr, ty): (&Attribute<'c>, Type<'c>)| {
            inner.value(Upstream::ArithConstant.name(), &[], ty, &[("value", *attr)])
        };
        let elsewhere = || neutral.iter().zip(scalars).map(constant).collect();
        partial_body(inner, body, given, (&factored, rank), elsewhere)
    });
    let partials = partial.result_values();
    let whole = (op.ints("axes").unwrap_or_default(), vec![factored.extent as i64]);
    let old_name = tree.stages[stage].name.clone();
    let last = compute(&build, op, &old_name, (&whole.0, &whole.1), &types, combiner, |inner, given| {
        let scalars = arguments(combiner).into_iter().map(|scalar| scalar.r#type());
        let load = |(tensor, ty)| {
            let operands = [&[tensor], given].concat();
            inner.value(Te::Load.name(), &operands, ty, &[])
        };
        let loaded: Vec<Value> = partials.iter().copied().zip(scalars).map(load).collect();
        inner.op(Te::Yield.name(), &loaded, &[], &[]);
    });
    for (old, new) in op.result_values().into_iter().zip(last.result_values()) {
        for prefetch in tree.stages.iter_mut().flat_map(|s| &mut s.prefetches) {
            if key(prefetch.tensor) == key(old) {
                prefetch.tensor = new;
            }
        }
        replace_uses(old, new);
    }
    tree.stages[stage] = Stage::of(last);
    tree.stages[stage].narrow_as(&part);
    tree.stages[stage].into = into;
    for (old, new) in op.result_values().into_iter().zip(last.result_values()) {
        tree.moved(old, new);
    }
    op.erase();
    let made = tree.add(partial);
    tree.stages[made].narrow_as(&part);
    Ok(made)
}

/// Finds the loop, and refuses what cannot be factored.
fn check(tree: &Schedule, stage: StageId, axis: AxisId, name: &str) -> Result<Factored, String> {
    let s = &tree.stages[stage];
    s.place(axis)?;
    if !s.axes[axis].reduce {
        return Err(format!("factors a loop of stage \"{}\" that is no reduction", s.name));
    }
    if tree.named(name).is_some() {
        return Err(format!("makes a stage \"{name}\", but the kernel has one of that name"));
    }
    let touched = s.axes.iter().any(|a| a.kind != LoopKind::Serial) || !s.notes.is_empty();
    let arranged =
        s.layout.is_some() || s.scope.is_some() || !s.prefetches.is_empty() || s.tensorized.is_some();
    let used = (0..s.axes.len()).any(|a| tree.attached_to(stage, a).is_some());
    if s.attach != Attach::Root || touched || arranged || used || s.relations.len() > 1 {
        return Err(format!(
            "factors a loop of stage \"{}\" after other primitives than one te.split of it; factor it first",
            s.name
        ));
    }
    let factored = find(s, axis)?;
    combiner_is_known(s)?;
    Ok(factored)
}

/// What a loop is to the computation.
fn find(s: &Stage, axis: AxisId) -> Result<Factored, String> {
    let extent = s.axes[axis].extent;
    match (s.axes[axis].origin, s.relations.first()) {
        (Origin::Root(root), None) if s.op_axes() - s.rank() > 1 => {
            Ok(Factored { root, extent, other: None })
        }
        (Origin::Root(_), None) => Err(format!(
            "factors the only loop that stage \"{}\" reduces over, which leaves nothing to reduce; split it first",
            s.name
        )),
        (Origin::Split(_), Some(&Relation::Split { parent, outer, inner, factor, .. })) => {
            let (whole, blocks, each) = (s.axes[parent].extent, s.axes[outer].extent, s.axes[inner].extent);
            let end = (blocks.saturating_sub(1) * factor + each > whole).then_some(whole);
            let other = if axis == outer { each } else { blocks };
            let other = Other { extent: other, inner: axis == inner, factor, end };
            Ok(Factored { root: parent, extent, other: Some(other) })
        }
        _ => Err(format!(
            "factors a loop of stage \"{}\" after other primitives than one te.split of it; factor it first",
            s.name
        )),
    }
}

/// Fails unless partial results may be combined in any order.
fn combiner_is_known(s: &Stage) -> Result<(), String> {
    let unknown = || {
        format!(
            "factors a loop of stage \"{}\", whose combiner is not known to be associative and commutative",
            s.name
        )
    };
    let combiner = s.op.body(1).ok_or_else(unknown)?;
    let (ops, given) = (ops_in(combiner), arguments(combiner));
    let neutral = s.op.attr("init").map(array_elements).unwrap_or_default();
    let [so_far, new] = [&given[..given.len() / 2], &given[given.len() / 2..]];
    let Some((last, computed)) = ops.split_last() else { return Err(unknown()) };
    let yielded = last.operand_values();
    if chooses(&yielded, so_far, new) {
        return Ok(());
    }
    let ([op], [value], [a], [b]) = (computed, &yielded[..], so_far, new) else { return Err(unknown()) };
    let of_both = |x: &[Value]| x == [*a, *b] || x == [*b, *a];
    let Some(Kind::Upstream(kind)) = kind_of(*op) else { return Err(unknown()) };
    if !op.result_values().contains(value) || !of_both(&op.operand_values()) {
        return Err(unknown());
    }
    let dtype = s.op.result_values().first().copied().and_then(tensor_type).map(|ty| ty.dtype);
    let begins = neutral.first().copied().and_then(attr_of);
    match dtype.zip(begins).and_then(|(dtype, begins)| is_neutral(kind, dtype, &begins)) {
        None => Err(unknown()),
        Some(true) => Ok(()),
        Some(false) => Err(format!(
            "factors a loop of stage \"{}\", which begins with another element than the neutral one of its combiner",
            s.name
        )),
    }
}

/// True for a combiner that gives either all values so far or all new ones: that of a minimum with its place, for instance. Such
/// a choice has to go by a total order to say anything, and te has it begin with the neutral elements.
fn chooses<'c>(yielded: &[Value<'c>], so_far: &[Value<'c>], new: &[Value<'c>]) -> bool {
    let choice = |value: &Value<'c>| {
        let op = defining_op(*value)?;
        matches!(kind_of(op), Some(Kind::Upstream(Upstream::Select))).then(|| op.operand_values())
    };
    let Some(choices) = yielded.iter().map(choice).collect::<Option<Vec<_>>>() else { return false };
    let either = |(operands, (a, b)): (&Vec<Value>, (&Value, &Value))| match operands[..] {
        [_, x, y] => (x == *b && y == *a, x == *a && y == *b),
        _ => (false, false),
    };
    let sides: Vec<(bool, bool)> = choices.iter().zip(so_far.iter().zip(new)).map(either).collect();
    let one_condition = choices.iter().all(|operands| operands[0] == choices[0][0]);
    yielded.len() > 1
        && sides.len() == yielded.len()
        && one_condition
        && (sides.iter().all(|s| s.0) || sides.iter().all(|s| s.1))
}

/// Whether an element changes nothing for a combiner; none for operations that are not known to be associative and commutative.
fn is_neutral(kind: Upstream, dtype: DType, begins: &Attr) -> Option<bool> {
    use Upstream::{
        AddF, AddI, AndI, MaxNumF, MaxSI, MaxUI, MaximumF, MinSI, MinUI, MinimumF, MulF, MulI, OrI, XOrI,
    };
    let bits = 8 * dtype.size() as u32;
    let least = if bits >= 64 { i64::MIN } else { -1 << (bits - 1) };
    let float = |wanted: f64| matches!(begins, Attr::Float(x) if *x == wanted);
    let int = |wanted: i64| match begins {
        Attr::Int(x) => *x == wanted,
        Attr::Bool(x) => i64::from(*x) == wanted.abs().min(1),
        _ => false,
    };
    Some(match kind {
        AddF => float(0.0),
        MulF => float(1.0),
        MaximumF | MaxNumF => float(f64::NEG_INFINITY),
        MinimumF => float(f64::INFINITY),
        AddI | OrI | XOrI | MaxUI => int(0),
        MulI => int(1),
        AndI | MinUI => int(-1),
        MaxSI => int(least),
        MinSI => int(!least),
        _ => return None,
    })
}

/// A `te.compute` with the combiner and neutral elements of another; `body` takes the indices of its axes.
fn compute<'c>(
    build: &Build<'c>,
    of: Op<'c>,
    name: &str,
    (axes, reduce): (&[i64], &[i64]),
    types: &[TensorType],
    combiner: Block<'c>,
    body: impl FnOnce(&Build<'c>, &[Value<'c>]),
) -> Op<'c> {
    let context = build.context();
    let indices = vec![index_type(context); axes.len() + reduce.len()];
    let region = build.region(&indices, |inner, given| body(&inner, given));
    let scalars: Vec<Type> = arguments(combiner).into_iter().map(|scalar| scalar.r#type()).collect();
    let combining: Region = build.region(&scalars, |inner, given| {
        let mut map = ValueMap::new();
        arguments(combiner).into_iter().zip(given).for_each(|(old, new)| map.insert(old, *new));
        ops_in(combiner).into_iter().for_each(|op| {
            map.clone_op(&inner, op);
        });
    });
    let none = array_attr(context, &[]);
    let attrs: [(&str, Attribute); 4] = [
        ("name", str_attr(context, name)),
        ("axes", ints_attr(context, axes)),
        ("reduce", ints_attr(context, reduce)),
        ("init", of.attr("init").unwrap_or(none)),
    ];
    let shape: Vec<u64> = axes.iter().map(|n| *n as u64).collect();
    let results: Vec<Type> =
        types.iter().map(|ty| tensor_type_to_mlir(context, &TensorType::fixed(&shape, ty.dtype))).collect();
    build.op_with_regions(Te::Compute.name(), &[], &results, &attrs, vec![region, combining])
}

/// The body of the computation, whose indices follow from those of the partial one; beyond the end it is what is `elsewhere`.
fn partial_body<'c>(
    inner: &Build<'c>,
    body: Block<'c>,
    given: &[Value<'c>],
    (factored, rank): (&Factored, usize),
    elsewhere: impl FnOnce() -> Vec<Value<'c>>,
) {
    let (parallel, rest) = given.split_at(rank);
    let (loop_index, reduced) = (rest[0], &rest[1..]);
    let mut indices = parallel.to_vec();
    let mut reduced = reduced.iter().copied();
    for place in rank..arguments(body).len() {
        let index = match &factored.other {
            _ if place != factored.root => reduced.next(),
            None => Some(loop_index),
            Some(other) => reduced.next().map(|rest| {
                let (outer, within) = if other.inner { (rest, loop_index) } else { (loop_index, rest) };
                joined(inner, outer, other.factor, within)
            }),
        };
        indices.extend(index);
    }
    let end = factored.other.as_ref().and_then(|other| other.end).zip(indices.get(factored.root).copied());
    let mut map = ValueMap::new();
    arguments(body).into_iter().zip(indices).for_each(|(old, new)| map.insert(old, new));
    if let Some((end, index)) = end {
        let s = Scalars { build: *inner };
        let condition = s.index_compare(Compare::Less, index, s.index(end as i64));
        return clone_within(inner, body, map, condition.value, &elsewhere());
    }
    for op in ops_in(body) {
        map.clone_op(inner, op);
    }
}

/// `outer * factor + inner`.
fn joined<'c>(build: &Build<'c>, outer: Value<'c>, factor: u64, inner: Value<'c>) -> Value<'c> {
    let index = index_type(build.context());
    let value = fusion_dialects::index_attr(build.context(), factor as i64);
    let factor = build.value(Upstream::ArithConstant.name(), &[], index, &[("value", value)]);
    let block = build.value(Upstream::MulI.name(), &[outer, factor], index, &[]);
    build.value(Upstream::AddI.name(), &[block, inner], index, &[])
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    let made = rfactor(tree, stage, axis, op.text("name").unwrap_or_default())?;
    handles.define(&op.result_values(), &[Handle::Stage(made)]);
    Ok(())
}
