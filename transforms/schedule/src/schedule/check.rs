//! What must hold of the whole tree, whatever order its primitives came in.
//!
//! A primitive checks what it sees; a later one may move a loop away from under it. So each prefix of a schedule is looked
//! over once before loops are made.

use super::blame::Refusal;
use super::primitives::reverse_compute_at::matching_axes;
use super::{Attach, AxisId, Prefetch, Relation, Schedule, Stage, StageId, Store, Tail, intrinsic};
use fusion_dialects::indices::accesses;
use fusion_dialects::loops::LoopKind;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{OpExt, Value, ValueLike, key, kind_of, nested_ops};

/// Fails when the loops of a tree cannot be made.
pub fn check(tree: &Schedule) -> Result<(), Refusal> {
    for id in 0..tree.stages.len() {
        let of = |by| move |why: String| Refusal::of(id, by, why);
        attachment(tree, id).map_err(of(&[Te::ComputeAt, Te::ReverseComputeAt]))?;
        by_hand(tree, id).map_err(of(&[]))?;
        bound(tree, id)?;
        epilogue(tree, id)?;
        buffer(tree, id)?;
        padding(tree, id).map_err(of(PADDING))?;
        for prefetch in &tree.stages[id].prefetches {
            self::prefetch(tree, id, prefetch)
                .map_err(|why| Refusal::of_loop(id, prefetch.axis, &[Te::Prefetch], why))?;
        }
        if let Some(tensorized) = &tree.stages[id].tensorized {
            intrinsic::check(tree, id, tensorized).map_err(of(&[Te::Tensorize]))?;
        }
    }
    Ok(())
}

/// Primitives that make a stage larger than it is.
const PADDING: &[Te] = &[Te::Split];

/// The parts of a nest written by hand are one loop, whose iterations may be parallel.
fn by_hand(tree: &Schedule, id: StageId) -> Result<(), String> {
    let s = &tree.stages[id];
    if !matches!(kind_of(s.op), Some(Kind::Te(Te::Extern))) {
        return Ok(());
    }
    let plain = s.axes.iter().all(|a| matches!(a.kind, LoopKind::Serial | LoopKind::Parallel));
    let touched = !s.relations.is_empty() || !s.prefetches.is_empty() || !s.notes.is_empty();
    if !plain || touched || s.store.is_some() || s.buffers > 1 || s.tensorized.is_some() {
        return Err(format!(
            "arranges the loop of stage \"{}\", a loop nest written by hand, whose parts can only be computed elsewhere or in parallel",
            s.name
        ));
    }
    Ok(())
}

/// What is summed up of an element is so by one block and thread, or by those that share the reduction.
fn bound(tree: &Schedule, id: StageId) -> Result<(), Refusal> {
    let s = &tree.stages[id];
    let mut inside = s.leaves.iter().skip_while(|l| !s.axes[**l].reduce);
    let bound = inside.find(|l| !s.axes[**l].reduce && s.axes[**l].kind.binding().is_some());
    match bound {
        Some(axis) => Err(Refusal::of_loop(
            id,
            *axis,
            &[Te::Bind],
            format!(
                "binds a loop of stage \"{}\" that stands inside a reduction; reorder it to stand outside",
                s.name
            ),
        )),
        None => Ok(()),
    }
}

/// The loop at which a stage is computed must be there, with all that the stage reads known.
fn attachment(tree: &Schedule, id: StageId) -> Result<(), String> {
    let name = &tree.stages[id].name;
    let (Attach::At(at, axis) | Attach::After(at, axis)) = tree.stages[id].attach else { return Ok(()) };
    let target = &tree.stages[at];
    if target.attach == Attach::Inline {
        return Err(format!(
            "computes stage \"{name}\" in the loops of stage \"{}\", which is inlined and has none",
            target.name
        ));
    }
    let place =
        target.place(axis).map_err(|why| format!("computes stage \"{name}\" at a loop, but {why}"))?;
    let after = matches!(tree.stages[id].attach, Attach::After(..));
    if after && target.leaves[..=place].iter().any(|&l| target.axes[l].reduce) {
        return Err(format!(
            "computes stage \"{name}\" inside a reduction of stage \"{}\", which was moved outside of that loop",
            target.name
        ));
    }
    if let Attach::At(..) = tree.stages[id].attach {
        for reader in tree.readers(id) {
            // What is computed at a loop around this one comes before it.
            let finds = reader == at || loop_around(tree, reader, at)?.is_some_and(|inner| inner >= place);
            if !finds {
                return Err(format!(
                    "computes stage \"{name}\" at a loop of stage \"{}\", where stage \"{}\", which reads it, does not find it",
                    target.name, tree.stages[reader].name
                ));
            }
        }
    }
    let up = |s: &StageId| match tree.stages[*s].attach {
        Attach::At(next, _) | Attach::After(next, _) => Some(next),
        Attach::Root | Attach::Inline => None,
    };
    if std::iter::successors(Some(id), up).take(tree.stages.len() + 1).count() > tree.stages.len() {
        return Err(format!("computes stage \"{name}\" inside a loop that stands inside of it"));
    }
    Ok(())
}

/// The place of the loop of a nest in which a stage is computed, itself or with the stage it is computed in.
fn loop_around(tree: &Schedule, stage: StageId, nest: StageId) -> Result<Option<usize>, String> {
    let mut at = stage;
    for _ in 0..tree.stages.len() {
        match tree.stages[at].attach {
            Attach::At(of, axis) if of == nest => return tree.stages[nest].place(axis).map(Some),
            Attach::At(of, _) => at = of,
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// A stage that is computed behind the elements it reads must find the rest of what it reads.
fn epilogue(tree: &Schedule, id: StageId) -> Result<(), Refusal> {
    let Attach::After(producer, _) = tree.stages[id].attach else { return Ok(()) };
    if pads(&tree.stages[id]) {
        let (name, of) = (&tree.stages[id].name, &tree.stages[producer].name);
        let why = format!("pads stage \"{name}\", of which each iteration of stage \"{of}\" computes a part");
        return Err(Refusal::of(id, PADDING, why));
    }
    reads_by_elements(tree, id, producer).map_err(|why| Refusal::of(id, &[Te::ReverseComputeAt], why))
}

fn reads_by_elements(tree: &Schedule, id: StageId, producer: StageId) -> Result<(), String> {
    let (name, of) = (&tree.stages[id].name, &tree.stages[producer]);
    if of.attach != Attach::Root {
        return Err(format!(
            "computes stage \"{name}\" at a loop of stage \"{}\", which no longer stands on its own",
            of.name
        ));
    }
    let order = tree.in_order();
    let before = |s: StageId| {
        let place = |s| order.iter().position(|&o| o == s);
        place(s) < place(producer)
    };
    let not_by_elements = || {
        format!(
            "computes stage \"{name}\" at a loop of stage \"{}\", but does not read it element by element",
            of.name
        )
    };
    if matching_axes(tree, id, producer).is_none() {
        return Err(not_by_elements());
    }
    // What is attached to its loops reads at the same time, but other elements.
    let mut reading = vec![(id, true)];
    while let Some((reader, by_elements)) = reading.pop() {
        for access in accesses(tree.stages[reader].op) {
            let Some(read) = tree.giving(access.tensor) else { continue };
            if read == producer {
                if !by_elements {
                    return Err(not_by_elements());
                }
                continue;
            }
            match tree.stages[read].attach {
                Attach::Inline => reading.push((read, by_elements)),
                Attach::At(at, _) if at == id => reading.push((read, false)),
                Attach::Root if before(read) => {}
                // Several at one loop follow each other.
                Attach::After(other, _)
                    if tree.stages[read].attach == tree.stages[id].attach && other == producer => {}
                _ => {
                    return Err(format!(
                        "computes stage \"{name}\" at a loop of stage \"{}\", where stage \"{}\", which it reads as well, is not known",
                        of.name, tree.stages[read].name
                    ));
                }
            }
        }
    }
    Ok(())
}

/// A buffer that several iterations share needs them one after another.
fn buffer(tree: &Schedule, id: StageId) -> Result<(), Refusal> {
    let s = &tree.stages[id];
    let Attach::At(at, inner) = s.attach else { return Ok(()) };
    let target = &tree.stages[at];
    let last = target.place(inner).map_err(|why| Refusal::of(id, &[Te::ComputeAt], why))?;
    if s.buffers > 1 && target.axes[target.leaves[last]].kind != LoopKind::Serial {
        let why = format!(
            "doubles the buffer of stage \"{}\", but the loop of stage \"{}\" it is computed at is not serial",
            s.name, target.name
        );
        return Err(Refusal::of(id, &[Te::DoubleBuffer], why));
    }
    shared_buffer(tree, id, at, last).map_err(|why| Refusal::of(id, &[Te::StoreAt], why))
}

/// A buffer that lives outside of the loop in whose iterations it is filled.
fn shared_buffer(tree: &Schedule, id: StageId, at: StageId, last: usize) -> Result<(), String> {
    let (s, target) = (&tree.stages[id], &tree.stages[at]);
    let shared = |place: usize| target.axes[target.leaves[place]].kind != LoopKind::Serial;
    let Some(store) = s.store else { return Ok(()) };
    let first = match store {
        Store::Root => 0,
        Store::At(axis) => target.place(axis)? + 1,
    };
    let mut racing = (first..=last).any(shared);
    let (mut around, mut steps) = (at, 0);
    while store == Store::Root
        && let Attach::At(next, axis) = tree.stages[around].attach
        && steps < tree.stages.len()
    {
        let n = &tree.stages[next];
        let place = n.place(axis)?;
        racing |= n.leaves[..=place].iter().any(|&l| n.axes[l].kind != LoopKind::Serial);
        (around, steps) = (next, steps + 1);
    }
    if racing || first > last + 1 {
        return Err(format!(
            "keeps stage \"{}\" in a buffer that iterations of stage \"{}\" share, which are not one after another",
            s.name, target.name
        ));
    }
    Ok(())
}

fn pads(stage: &Stage) -> bool {
    stage.relations.iter().any(|r| matches!(r, Relation::Split { tail: Tail::Pad, .. }))
}

/// What is computed of zeros must not fail.
fn padding(tree: &Schedule, id: StageId) -> Result<(), String> {
    if !pads(&tree.stages[id]) {
        return Ok(());
    }
    let mut computed = vec![id];
    while let Some(stage) = computed.pop() {
        let op = tree.stages[stage].op;
        let divides = |op: fusion_dialects::Op| {
            use Upstream::{DivSI, DivUI, RemSI, RemUI};
            matches!(kind_of(op), Some(Kind::Upstream(DivSI | DivUI | RemSI | RemUI)))
                && op.result_values().iter().any(|v| v.r#type().to_string() != "index")
        };
        if nested_ops(op).into_iter().any(divides) {
            return Err(format!(
                "pads stage \"{}\" with zeros, by which stage \"{}\" divides integers",
                tree.stages[id].name, tree.stages[stage].name
            ));
        }
        let read = accesses(op).into_iter().filter_map(|a| tree.giving(a.tensor));
        computed.extend(read.filter(|&r| tree.stages[r].attach == Attach::Inline));
    }
    Ok(())
}

/// What is prefetched must be in memory, and read or written there.
fn prefetch(tree: &Schedule, id: StageId, prefetch: &Prefetch) -> Result<(), String> {
    let s = &tree.stages[id];
    s.place(prefetch.axis)?;
    if s.axes[prefetch.axis].kind == LoopKind::Vectorized {
        return Err(format!("prefetches in a loop of stage \"{}\" that is one vector", s.name));
    }
    let Some((inner, within)) = prefetch.over else {
        if !reads(tree, id, prefetch.tensor) {
            return Err(format!("prefetches what stage \"{}\" does not read", s.name));
        }
        return match tree.giving(prefetch.tensor) {
            Some(of) if tree.stages[of].attach != Attach::Root || tree.is_passing(of) => Err(format!(
                "prefetches stage \"{}\", which is not computed before stage \"{}\"",
                tree.stages[of].name, s.name
            )),
            _ => Ok(()),
        };
    };
    let of = &tree.stages[inner];
    of.place(within)?;
    if !is_inside(tree, (inner, within), (id, prefetch.axis)) || of.axes[within].kind != LoopKind::Serial {
        return Err(format!(
            "prefetches over a loop of stage \"{}\", which must be a serial one inside that of stage \"{}\"",
            of.name, s.name
        ));
    }
    let read_inside = |stage: StageId| {
        let last = tree.stages[stage].leaves.last().copied();
        let here = stage == id || last.is_some_and(|l| is_inside(tree, (stage, l), (id, prefetch.axis)));
        here && reads(tree, stage, prefetch.tensor)
    };
    match tree.giving(prefetch.tensor) {
        Some(own) if own == id && s.attach == Attach::Root => Ok(()),
        Some(of) if tree.stages[of].attach != Attach::Root || tree.is_passing(of) => Err(format!(
            "prefetches stage \"{}\", which is not computed before stage \"{}\"",
            tree.stages[of].name, s.name
        )),
        _ if (0..tree.stages.len()).any(read_inside) => Ok(()),
        _ => Err(format!("prefetches what stage \"{}\" neither reads nor writes", s.name)),
    }
}

/// True when a loop runs inside another, of its own stage or of one that it is computed in.
fn is_inside(tree: &Schedule, (stage, axis): (StageId, AxisId), (of, around): (StageId, AxisId)) -> bool {
    let s = &tree.stages[stage];
    if stage == of {
        return s.place(axis).ok().zip(s.place(around).ok()).is_some_and(|(inner, outer)| inner > outer);
    }
    match s.attach {
        Attach::At(host, at) => (host, at) == (of, around) || is_inside(tree, (host, at), (of, around)),
        _ => false,
    }
}

/// True when a stage, or one inlined into it, reads a tensor.
fn reads(tree: &Schedule, stage: StageId, tensor: Value) -> bool {
    accesses(tree.stages[stage].op).into_iter().any(|access| {
        key(access.tensor) == key(tensor)
            || tree
                .giving(access.tensor)
                .is_some_and(|read| tree.stages[read].attach == Attach::Inline && reads(tree, read, tensor))
    })
}
