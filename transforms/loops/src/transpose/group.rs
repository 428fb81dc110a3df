//! Finding the accesses of a block that together are a rectangle of a buffer.

use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::indices::{affine, constant};
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Op, OpExt, Value, ValueLike, affine_map_of, defining_op, key, kind_of, nested_ops, ops_in,
    vector_parts,
};

/// Fewer rows than this are left to strided accesses.
const FEWEST: usize = 3;

/// Strided accesses of one stride whose indices follow each other.
pub struct Group<'c> {
    /// The accesses, that of the lowest index first.
    pub accesses: Vec<Op<'c>>,
    /// Elements from the beginning of a row to that of the next.
    pub stride: i64,
    /// Elements of each access: rows of the rectangle.
    pub lanes: u64,
}

/// The strided loads of a block in groups; each comes before all accesses that could change what it reads.
pub fn loads<'c>(block: Block<'c>) -> Vec<Group<'c>> {
    groups(block, Loop::LoadStrided, 0)
}

/// The strided stores of a block in groups.
pub fn stores<'c>(block: Block<'c>) -> Vec<Group<'c>> {
    groups(block, Loop::StoreStrided, 1)
}

fn groups<'c>(block: Block<'c>, wanted: Loop, buffer_at: usize) -> Vec<Group<'c>> {
    let mut found: Vec<Vec<(Expr, Op<'c>)>> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for op in ops_in(block) {
        if !matches!(op.kind(), Some(Kind::Loop(kind)) if kind == wanted) {
            open.retain(|&g| !interferes(op, found[g][0].1.operand_values()[buffer_at], wanted));
            continue;
        }
        let operands = op.operand_values();
        let start = start_of(operands[buffer_at + 1]);
        let fits = |g: &usize| {
            let (first, other) = &found[*g][0];
            key(other.operand_values()[buffer_at]) == key(operands[buffer_at])
                && other.int("stride") == op.int("stride")
                && vector_type_of(*other) == vector_type_of(op)
                && start.minus(first).as_constant().is_some()
        };
        match open.iter().copied().find(|g| fits(g)) {
            Some(g) => found[g].push((start, op)),
            None => {
                // Another store to the same buffer may overwrite what this one writes.
                open.retain(|&g| !interferes(op, found[g][0].1.operand_values()[buffer_at], wanted));
                open.push(found.len());
                found.push(vec![(start, op)]);
            }
        }
    }
    found.into_iter().flat_map(runs).collect()
}

/// The type of the vectors.
fn vector_type_of(op: Op) -> String {
    let vector = op.result_values().first().copied().unwrap_or_else(|| op.operand_values()[0]);
    vector.r#type().to_string()
}

/// True when accesses to a buffer may not be moved over an operation.
fn interferes(op: Op, buffer: Value, wanted: Loop) -> bool {
    std::iter::once(op).chain(nested_ops(op)).any(|op| {
        let reads = matches!(
            kind_of(op),
            Some(Kind::Loop(Loop::Load | Loop::Gather | Loop::LoadStrided | Loop::LoadPacked))
                | Some(Kind::Upstream(Upstream::MaskedLoad | Upstream::MaskedGather))
        );
        let writes = matches!(
            kind_of(op),
            Some(Kind::Loop(Loop::Store | Loop::Scatter | Loop::StoreStrided))
                | Some(Kind::Upstream(Upstream::MaskedStore | Upstream::MaskedScatter))
        );
        let same = op.operand_values().iter().any(|v| key(*v) == key(buffer));
        let barrier = matches!(kind_of(op), Some(Kind::Loop(Loop::Barrier)));
        barrier || (same && (writes || (reads && wanted == Loop::StoreStrided)))
    })
}

/// Those of one buffer, stride and base whose numbers follow each other, at most as many as lanes.
fn runs<'c>(mut accesses: Vec<(Expr, Op<'c>)>) -> Vec<Group<'c>> {
    accesses.sort_by_key(|(start, _)| start.offset());
    let Some((_, first)) = accesses.first() else { return Vec::new() };
    let (first, stride) = (*first, first.int("stride").unwrap_or(0));
    let vector = first.result_values().first().copied().unwrap_or_else(|| first.operand_values()[0]);
    let lanes = vector_parts(vector.r#type()).map_or(0, |(_, n)| n);
    let mut groups: Vec<Group> = Vec::new();
    let mut last: Option<i64> = None;
    for (start, op) in accesses {
        let follows = last.is_some_and(|l| start.offset() == l + 1);
        match groups.last_mut() {
            Some(group) if follows && (group.accesses.len() as u64) < lanes => group.accesses.push(op),
            _ => groups.push(Group { accesses: vec![op], stride, lanes }),
        }
        last = Some(start.offset());
    }
    // Rows that overlap would be written in another order.
    groups.retain(|g| g.accesses.len() >= FEWEST && stride.unsigned_abs() >= g.accesses.len() as u64);
    groups
}

/// Where an access begins: an index as a sum of multiples and a number, with the quotients and rests of loops that were fused into one.
/// What is more than that is opaque.
fn start_of(index: Value) -> Expr {
    let mapped = || {
        let op = defining_op(index)
            .filter(|op| matches!(kind_of(*op), Some(Kind::Upstream(Upstream::AffineApply))))?;
        let inputs: Vec<Expr> = op.operand_values().into_iter().map(start_of).collect();
        affine(&affine_map_of(op.attr("map")?)?, &inputs)
    };
    let opaque = || Expr::atom(Atom::Opaque(key(index)));
    constant(index).or_else(mapped).unwrap_or_else(opaque)
}
