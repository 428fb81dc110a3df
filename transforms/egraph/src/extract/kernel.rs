//! The kernel of a stored class, and what may be one kernel.
//!
//! A kernel's members are the classes it computes. Reshapes at its beginnings and at its end are no members: they are the same memory
//! under another shape. The members may be
//!
//! | if one of them is | then |
//! |---|---|
//! | opaque | it is alone |
//! | a contraction | it is the only one, reads nothing that the kernel computes, and what follows from it is elementwise, moves whole vectors of a product, or goes over pieces of one (`behind`, `pieces`) |
//! | a reduction | what follows from it is elementwise, or all members go over the same rows |
//! | none of these | anything: each element of a result is computed from elements of what is read |

use super::super::rules::conditions::permutation;
use super::class_set::ClassSet;
use super::space::{Candidate, ClassId, Space};
use super::state::State;
use fusion_operators::ops::shape::TRANSPOSE;
use fusion_operators::{Dim, FusionKind, Operator, TensorType};

/// A kernel.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// The classes it stores.
    pub stored: Vec<ClassId>,
    /// The classes it computes, operands before those who read them.
    pub members: Vec<ClassId>,
    /// The members with the views at beginnings and ends.
    pub all: Vec<ClassId>,
    /// The members whose values it gives; the stored classes are these, or views of them.
    pub results: Vec<ClassId>,
    /// What it reads: external classes and those that other kernels store, and views of them.
    pub inputs: Vec<ClassId>,
    /// The most bytes that members read of each input.
    pub read: Vec<f64>,
}

/// Why classes cannot be one kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// A member stays alone.
    #[error("relay.{0} is computed by a kernel of its own")]
    Opaque(&'static str),
    /// There are two contractions.
    #[error("relay.{0} and relay.{1} are both contractions")]
    TwoContractions(&'static str, &'static str),
    /// A contraction reads a member.
    #[error("relay.{0} reads its operands many times: they must be stored")]
    Prologue(&'static str),
    /// Something that follows a contraction is not elementwise.
    #[error("relay.{1} does not go element by element over the result of relay.{0}")]
    Epilogue(&'static str, &'static str),
    /// Something that follows a product puts its elements where vectors of them cannot be stored.
    #[error("relay.{1} takes neighbours of the result of relay.{0} apart, which are stored together")]
    Apart(&'static str, &'static str),
    /// Pieces of a product would not stay nearby until what goes over them.
    #[error("the pieces of relay.{0} that are computed together do not fit into the nearest cache")]
    Pieces(&'static str),
    /// Something that follows a reduction is neither elementwise nor in its rows.
    #[error("relay.{1} does not go over the same rows as relay.{0}")]
    Rows(&'static str, &'static str),
    /// Results of one kernel have different shapes.
    #[error("the results have different shapes")]
    Results,
    /// One needs what a third kernel makes of the other.
    #[error("one needs what another kernel makes of the other")]
    Cyclic,
}

/// True for what gives all elements of its operand, and each once, in another order or shape.
pub fn rearranges(candidate: &Candidate) -> bool {
    candidate.is_view || candidate.operator.is_some_and(|o| o.is(&TRANSPOSE))
}

impl Kernel {
    /// The kernel that stores a class and those of its group.
    pub fn of(space: &Space, state: &State, class: ClassId) -> Kernel {
        let group = state.group(class);
        let mut kernel = Kernel { stored: state.group_of(class), ..Kernel::default() };
        let stored = kernel.stored.clone();
        let mut seen = ClassSet::of(space.classes.len());
        for root in stored {
            kernel.visit(space, state, root, group, &mut seen);
        }
        kernel.trim(space, state, &seen);
        kernel
    }

    /// The stored classes of other kernels that it reads, below any views.
    pub fn reads(&self, space: &Space, state: &State) -> Vec<ClassId> {
        let (mut found, mut seen) = (Vec::new(), ClassSet::of(space.classes.len()));
        let inputs = if self.members.is_empty() { &self.stored } else { &self.inputs };
        for &input in inputs {
            let mut at = input;
            while !space.classes[at].is_external
                && (self.stored.contains(&at) || !state.is_stored(at))
                && state.candidate(space, at).is_view
            {
                at = state.candidate(space, at).operands[0];
            }
            if !space.classes[at].is_external && seen.add(at) {
                found.push(at);
            }
        }
        found
    }

    fn visit(&mut self, space: &Space, state: &State, root: ClassId, group: ClassId, seen: &mut ClassSet) {
        // Depth first without recursion: chains can be long.
        let mut stack = vec![(root, 0)];
        while let Some((class, next)) = stack.pop() {
            if next == 0 && seen.has(class) {
                continue;
            }
            let operands = &state.candidate(space, class).operands;
            match operands.get(next) {
                Some(&operand) => {
                    stack.push((class, next + 1));
                    let outside = space.classes[operand].is_external
                        || (state.is_stored(operand) && state.group(operand) != group);
                    if !outside {
                        stack.push((operand, 0));
                    }
                }
                None => {
                    if seen.add(class) {
                        self.members.push(class);
                    }
                }
            }
        }
    }

    /// Takes views at the beginnings and ends out of the members, and finds inputs and results.
    fn trim(&mut self, space: &Space, state: &State, seen: &ClassSet) {
        let is_view = |class: ClassId| state.candidate(space, class).is_view;
        let members = std::mem::take(&mut self.members);
        let mut inside: Vec<ClassId> = Vec::with_capacity(members.len());
        let mut has = ClassSet::of(space.classes.len());
        for &class in &members {
            let operands = &state.candidate(space, class).operands;
            if !(is_view(class) && operands.iter().all(|o| !has.has(*o))) {
                inside.push(class);
                has.add(class);
            }
        }
        if inside.iter().any(|&m| is_view(m)) {
            // Those who read a member stand behind it, so that one way back finds all that nobody reads.
            let mut used = ClassSet::of(space.classes.len());
            for &member in inside.iter().rev() {
                if is_view(member) && !used.has(member) {
                    has.remove(member);
                    continue;
                }
                for &operand in &state.candidate(space, member).operands {
                    used.add(operand);
                }
            }
            inside.retain(|m| has.has(*m));
        }
        for &class in &self.stored {
            let mut at = class;
            while !has.has(at) && seen.has(at) {
                at = state.candidate(space, at).operands[0];
            }
            if has.has(at) && !self.results.contains(&at) {
                self.results.push(at);
            }
        }
        let mut known = ClassSet::of(space.classes.len());
        for &member in &inside {
            let candidate = state.candidate(space, member);
            for &operand in candidate.operands.iter().filter(|o| !has.has(**o)) {
                let result = space.classes[member].bytes;
                let read = match candidate.kind {
                    FusionKind::Injective => result,
                    _ => f64::INFINITY,
                };
                if known.add(operand) {
                    self.inputs.push(operand);
                    self.read.push(read);
                } else if let Some(place) = self.inputs.iter().position(|&input| input == operand) {
                    self.read[place] += read;
                }
            }
        }
        self.members = inside;
        self.all = members;
    }

    /// Whether the members may be one kernel.
    pub fn check(&self, space: &Space, state: &State) -> Result<(), Illegal> {
        if self.members.len() < 2 {
            return Ok(());
        }
        let members = Members { space, state, members: &self.members };
        let of_kind = |kind: FusionKind| self.members.iter().filter(move |&&m| members.kind(m) == kind);
        if let Some(&alone) = of_kind(FusionKind::Opaque).next() {
            return Err(Illegal::Opaque(members.name(alone)));
        }
        let mut contractions = of_kind(FusionKind::Contraction);
        if let Some(&contraction) = contractions.next() {
            if let Some(&other) = contractions.next() {
                return Err(Illegal::TwoContractions(members.name(contraction), members.name(other)));
            }
            return members.check_contraction(contraction, &self.results);
        }
        let reduces = |&&m: &&ClassId| matches!(members.kind(m), FusionKind::Reduction | FusionKind::Rows);
        let reductions: Vec<ClassId> = self.members.iter().filter(reduces).copied().collect();
        if !reductions.is_empty() && !members.is_simple_reduction(&reductions) {
            members.check_rows(&reductions)?;
        }
        let shape = |class: ClassId| space.classes[class].types.first().map(|t| t.dims.clone());
        let same = self.results.iter().all(|&r| shape(r) == shape(self.results[0]));
        if same || !reductions.is_empty() { Ok(()) } else { Err(Illegal::Results) }
    }
}

/// The members of a kernel that is checked.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    pub space: &'a Space,
    pub state: &'a State,
    pub members: &'a [ClassId],
}

impl<'a> Members<'a> {
    pub(super) fn kind(&self, class: ClassId) -> FusionKind {
        self.state.candidate(self.space, class).kind
    }

    pub(super) fn name(&self, class: ClassId) -> &'static str {
        self.state.candidate(self.space, class).operator.map_or("get", |o| o.name)
    }

    pub(super) fn operator(&self, class: ClassId) -> Option<&'static Operator> {
        self.state.candidate(self.space, class).operator
    }

    pub(super) fn ty(&self, class: ClassId) -> Option<&'a TensorType> {
        self.space.classes[class].types.first()
    }

    pub(super) fn operands(&self, class: ClassId) -> &'a [ClassId] {
        &self.state.candidate(self.space, class).operands
    }

    pub(super) fn dims(&self, class: ClassId) -> &'a [Dim] {
        self.ty(class).map_or(&[], |t| &t.dims)
    }

    /// The members that need the value of one of some members, without these, in order.
    pub(super) fn after(&self, from: &[ClassId]) -> Vec<ClassId> {
        let mut found: Vec<ClassId> = Vec::new();
        for &member in self.members {
            let reads = self.operands(member).iter().any(|o| from.contains(o) || found.contains(o));
            if reads && !from.contains(&member) {
                found.push(member);
            }
        }
        found
    }

    /// True when an element of the member needs one element at the same index of what has its shape.
    pub(super) fn is_elementwise(&self, member: ClassId) -> bool {
        matches!(self.kind(member), FusionKind::Elementwise | FusionKind::Broadcast)
    }

    /// True when one reduction is followed by elementwise operators on its result alone.
    fn is_simple_reduction(&self, reductions: &[ClassId]) -> bool {
        let &[reduction] = reductions else { return false };
        let dims = self.dims(reduction);
        self.kind(reduction) == FusionKind::Reduction
            && self.after(reductions).iter().all(|&m| self.is_elementwise(m) && self.dims(m) == dims)
    }

    /// The members go over the same rows: the leading extents that no reduction combines, of which there are several.
    ///
    ///     m = mean of x over axis 1        [1024, 4096] -> [1024, 1]
    ///     y = x - m                        [1024, 4096]                  rows of [1024]
    fn check_rows(&self, reductions: &[ClassId]) -> Result<(), Illegal> {
        let first = reductions[0];
        let wrong = |member: ClassId| Illegal::Rows(self.name(first), self.name(member));
        let mut rows: Option<&[Dim]> = None;
        for &reduction in reductions {
            let kept = self.kept_in_front(reduction).ok_or_else(|| wrong(reduction))?;
            rows = Some(match rows {
                None => kept,
                Some(rows) => &rows[..rows.iter().zip(kept).take_while(|(a, b)| a == b).count()],
            });
        }
        let rows = rows.unwrap_or_default();
        let count: Option<u64> = rows.iter().map(Dim::known).product();
        if count.is_none_or(|n| n <= 1) {
            return Err(wrong(first));
        }
        match self.members.iter().find(|&&m| !self.is_by_row(m, rows)) {
            Some(&member) => Err(wrong(member)),
            None => Ok(()),
        }
    }

    /// The extents in front of the first axis that a reduction combines.
    fn kept_in_front(&self, reduction: ClassId) -> Option<&'a [Dim]> {
        let candidate = self.state.candidate(self.space, reduction);
        let dims = self.dims(*candidate.operands.first()?);
        let attrs = &candidate.attrs.attrs;
        let axes = match attrs.ints("axes") {
            Some(axes) => axes.to_vec(),
            None if candidate.kind == FusionKind::Rows => vec![attrs.int_or("axis", -1)],
            None => vec![attrs.get("axis").map(|_| attrs.int_or("axis", 0))?],
        };
        let in_range = |axis: i64| fusion_operators::relation::normalize_axis(axis, dims.len());
        let first = axes.into_iter().map(in_range).collect::<Option<Vec<_>>>()?.into_iter().min()?;
        dims.get(..first)
    }

    /// True when a row of the member needs the same row of the members it reads.
    fn is_by_row(&self, member: ClassId, rows: &[Dim]) -> bool {
        let dims = self.dims(member);
        let reads = || self.operands(member).iter().filter(|o| self.members.contains(o));
        // An operand of fewer axes is aligned with the last ones: its rows would be others.
        let aligned = |&o: &ClassId| self.dims(o).starts_with(rows) && self.dims(o).len() == dims.len();
        dims.starts_with(rows)
            && match self.kind(member) {
                FusionKind::Elementwise | FusionKind::Broadcast => reads().all(aligned),
                FusionKind::Reduction => true,
                // Scales and shifts of a normalization are read whole by every row.
                FusionKind::Rows => {
                    aligned(&self.operands(member)[0])
                        && self.operands(member)[1..].iter().all(|o| !self.members.contains(o))
                }
                // Rows of what is outside may come in any order.
                _ => reads().next().is_none() && self.moves_rows(member, rows.len()),
            }
    }

    /// True for a transpose of axes in front of rows, which stay as they are.
    fn moves_rows(&self, member: ClassId, front: usize) -> bool {
        let candidate = self.state.candidate(self.space, member);
        let rank = self.dims(member).len();
        candidate.operator.is_some_and(|o| o.is(&TRANSPOSE))
            && permutation(&candidate.attrs.attrs, rank)
                .is_some_and(|axes| axes[front..].iter().copied().eq(front..rank))
    }
}
