//! The dataflow graph of a block.

use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Block, Op, OpExt, OperationLike, Value, defining_op, op_key, ops_in, tensor_type, users,
};
use fusion_operators::ops::shape::{EXPAND_DIMS, RESHAPE, SQUEEZE};
use fusion_operators::{Dim, FusionKind, Operator};
use std::collections::HashMap;

/// A use of a node's value: by which node, and how it is read there.
#[derive(Clone, Copy)]
pub struct Use {
    /// The node that reads.
    pub by: usize,
    /// The kind of that node, made elementwise where a broadcast repeats nothing.
    pub kind: FusionKind,
}

/// The operations of a block as nodes in the order of the program, which is a topological one.
pub struct Graph<'c> {
    /// The operations.
    pub ops: Vec<Op<'c>>,
    /// The fusion kind of each; what is no operator of relay has none.
    pub kinds: Vec<Option<FusionKind>>,
    /// The uses of each.
    pub uses: Vec<Vec<Use>>,
    // Only looked up, never iterated.
    places: HashMap<usize, usize>,
}

impl<'c> Graph<'c> {
    /// The graph of a block.
    pub fn of(block: Block<'c>) -> Self {
        let ops = ops_in(block);
        let places = ops.iter().enumerate().map(|(i, op)| (op_key(*op), i)).collect();
        let kinds: Vec<_> = ops.iter().map(|op| fusion_kind(*op)).collect();
        let mut graph = Graph { ops, kinds, uses: Vec::new(), places };
        graph.uses = graph.ops.iter().map(|op| graph.uses_of(*op)).collect();
        graph
    }

    fn uses_of(&self, op: Op<'c>) -> Vec<Use> {
        let mut found = Vec::new();
        for result in op.result_values() {
            for user in users(result) {
                // A use in a region is one by the operation of this block that has the region.
                let mut at = Some(user);
                let by = loop {
                    match at {
                        None => break None,
                        Some(op) => match self.places.get(&op_key(op)) {
                            Some(&place) => break Some(place),
                            None => at = op.parent_operation(),
                        },
                    }
                };
                let Some(by) = by else { continue };
                let kind =
                    self.kinds[by].map_or(FusionKind::Opaque, |kind| edge_kind(kind, result, self.ops[by]));
                found.push(Use { by, kind });
            }
        }
        found.sort_by_key(|u| (u.by, u.kind));
        found.dedup_by_key(|u| (u.by, u.kind));
        found
    }

    /// Takes reshapes at the beginnings and at the end of a group out of it.
    pub fn trim_views(&self, group: &mut Vec<usize>) {
        while group.pop_if(|last| is_view(self.ops[*last])).is_some() {}
        loop {
            let leads = |node: &usize| {
                let inside = |v: Value| {
                    let place = defining_op(v).and_then(|op| self.places.get(&op_key(op)));
                    place.is_some_and(|place| group.contains(place))
                };
                is_view(self.ops[*node]) && !self.ops[*node].operand_values().into_iter().any(inside)
            };
            match group.iter().position(leads) {
                Some(at) => group.remove(at),
                None => return,
            };
        }
    }
}

/// The row of an operator of relay.
pub fn operator_of(op: Op) -> Option<&'static Operator> {
    match op.kind() {
        Some(Kind::Operator(operator)) => Some(operator),
        _ => None,
    }
}

/// The fusion kind of an operator; those of several results stay alone.
fn fusion_kind(op: Op) -> Option<FusionKind> {
    let operator = operator_of(op)?;
    Some(match operator.fusion {
        // Relay has no such kind: normalizations of rows stay alone.
        FusionKind::Rows => FusionKind::Opaque,
        kind if op.result_count() == 1 => kind,
        _ => FusionKind::Opaque,
    })
}

fn is_view(op: Op) -> bool {
    operator_of(op).is_some_and(|operator| [&RESHAPE, &SQUEEZE, &EXPAND_DIMS].iter().any(|v| operator.is(v)))
}

/// A broadcast reads an operand that has the result's shape element by element.
fn edge_kind(kind: FusionKind, operand: Value, by: Op) -> FusionKind {
    let result = by.result_values().first().and_then(|r| tensor_type(*r));
    let repeats_nothing = || match (tensor_type(operand), result) {
        (Some(a), Some(b)) => a.dims == b.dims && !a.dims.contains(&Dim::Any),
        _ => false,
    };
    if kind == FusionKind::Broadcast && repeats_nothing() { FusionKind::Elementwise } else { kind }
}
