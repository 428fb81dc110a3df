//! How the elements that a stage reads follow its axes, through the stages that are written in place.
//!
//! ```text
//!   c[i, j] = sum_k a[i, k] b[k, j]      along j: a stays, b is contiguous     -> vectors of c
//!   y[i, j] = sum_k x[i, k] w[j, k]      along k: both are contiguous          -> vectors of the sum
//!   y[o] = sum_k x[o + k] w[k]           along o: x is contiguous, w stays     -> vectors of y
//! ```

use super::Lowering;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, Value, arguments, defining_op, key, kind_of, ops_in, tensor_type};
use std::collections::{BTreeSet, HashMap};

/// What an index follows from.
#[derive(Clone, Default)]
struct Form {
    /// The axes that it goes on by one with.
    with: BTreeSet<usize>,
    /// The axes it depends on.
    depends: BTreeSet<usize>,
}

/// The forms of the indices of each element that is read from memory.
pub struct Reads {
    elements: Vec<Vec<Form>>,
}

impl Reads {
    /// True when along an axis each element stays or moves to its neighbour in memory.
    pub fn are_contiguous_along(&self, axis: usize) -> bool {
        self.elements.iter().all(|indices| {
            let (last, before) = match indices.split_last() {
                Some(parts) => parts,
                None => return true,
            };
            let outer = before.iter().any(|form| form.depends.contains(&axis));
            !outer && (last.with.contains(&axis) || !last.depends.contains(&axis))
        })
    }
}

impl<'c> Lowering<'c> {
    /// What a stage reads.
    pub(super) fn reads(&self, stage: Op<'c>) -> Reads {
        let axes = stage.body(0).map_or(0, |body| arguments(body).len());
        let forms: Vec<Form> = (0..axes)
            .map(|axis| Form { with: BTreeSet::from([axis]), depends: BTreeSet::from([axis]) })
            .collect();
        let mut elements = Vec::new();
        self.collect(stage, &forms, &mut elements);
        Reads { elements }
    }

    fn collect(&self, stage: Op<'c>, axes: &[Form], found: &mut Vec<Vec<Form>>) {
        let Some(body) = stage.body(0) else { return };
        let mut forms: HashMap<usize, Form> =
            arguments(body).into_iter().map(key).zip(axes.iter().cloned()).collect();
        let of =
            |forms: &HashMap<usize, Form>, v: &Value<'c>| forms.get(&key(*v)).cloned().unwrap_or_default();
        for op in ops_in(body) {
            let operands = op.operand_values();
            let taken: Vec<Form> = operands.iter().map(|v| of(&forms, v)).collect();
            let depends: BTreeSet<usize> =
                taken.iter().flat_map(|form| form.depends.iter().copied()).collect();
            let mut form = Form { with: BTreeSet::new(), depends };
            match kind_of(op) {
                Some(Kind::Te(Te::Load | Te::LoadIf)) => {
                    let rank = tensor_type(operands[0]).map_or(0, |ty| ty.rank());
                    let indices = taken[1..].iter().take(rank).cloned().collect::<Vec<_>>();
                    let maker = defining_op(operands[0]).filter(|maker| self.inlined.has(*maker));
                    match maker {
                        Some(inner) => self.collect(inner, &indices, found),
                        None => found.push(indices),
                    }
                }
                Some(Kind::Upstream(Upstream::AddI)) => {
                    // An axis in both parts would count twice.
                    let alone =
                        |axis: &usize| taken.iter().filter(|form| form.depends.contains(axis)).count() == 1;
                    form.with = taken.iter().flat_map(|form| &form.with).copied().filter(alone).collect();
                }
                _ => {}
            }
            op.result_values().into_iter().for_each(|v| {
                forms.insert(key(v), form.clone());
            });
        }
    }
}
