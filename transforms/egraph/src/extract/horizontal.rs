//! Horizontal fusion: small kernels of like shape that have nothing to do with each other are one.
//!
//! ```text
//!     a = tanh(x)      [64]        one kernel: for i in 0..64 { a[i] = tanh(x[i]); b[i] = exp(y[i]) }
//!     b = exp(y)       [64]
//! ```
//!
//! What is gained is a call, so it is tried where a call is a good part of a kernel's time, for kernels that go element by element. Kernels
//! that share an operand, or of which one reads the other, were joined before, with what they gain in memory. This comes last: it looks
//! at all kernels, and no other decision would be another one for it.

use super::plan::Plan;
use super::space::{ClassId, Space};
use fusion_operators::{Dim, FusionKind};
use std::collections::BTreeMap;

/// A kernel that takes as long as that many calls gains little by sparing one.
const MOST_CALLS: f64 = 16.0;

/// Results of a kernel, at most: each is a pointer to keep.
const MOST_RESULTS: usize = 8;

impl Plan {
    /// Joins small kernels of like shape.
    pub fn join_alike(&mut self, space: &Space) {
        let mut alike: BTreeMap<(u32, Vec<Option<u64>>), Vec<ClassId>> = BTreeMap::new();
        for class in 0..space.classes.len() {
            if self.has_kernel(space, class)
                && self.cost(class) <= MOST_CALLS * space.rates.call
                && let Some(shape) = self.elementwise_shape(space, class)
            {
                alike.entry((space.classes[class].place, shape)).or_default().push(class);
            }
        }
        for classes in alike.into_values() {
            let mut rest = classes.into_iter();
            let Some(mut first) = rest.next() else { continue };
            for class in rest {
                let mark = self.mark();
                match self.join(space, first, class) {
                    Ok(gain) if gain > 0.0 && self.state.group_of(first).len() <= MOST_RESULTS => {
                        first = self.state.group(first);
                    }
                    _ => {
                        self.undo_to(mark);
                        first = class;
                    }
                }
            }
        }
    }

    /// The extents of what a kernel stores, where all its members go element by element.
    fn elementwise_shape(&self, space: &Space, class: ClassId) -> Option<Vec<Option<u64>>> {
        let (kernel, _) = self.kernel(space, class);
        let goes_by_element = |&member: &ClassId| {
            matches!(
                self.state.candidate(space, member).kind,
                FusionKind::Elementwise | FusionKind::Broadcast
            )
        };
        let result = *kernel.results.first()?;
        let dims = &space.classes[result].types.first()?.dims;
        kernel.members.iter().all(goes_by_element).then(|| dims.iter().map(Dim::known).collect())
    }
}
