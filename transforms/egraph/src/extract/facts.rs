//! What is known of a kernel: asked again and again, and found once.

use super::class_set::ClassSet;
use super::cost;
use super::kernel::{Kernel, rearranges};
use super::pieces::cuts;
use super::space::{Candidate, ClassId, Space};
use super::state::State;
use fusion_operators::FusionKind;
use std::rc::Rc;

/// What is asked of a kernel again and again.
#[derive(Default)]
pub struct Facts {
    /// Seconds.
    pub seconds: f64,
    /// How many classes it computes, and how many are views at its beginnings and ends.
    pub members: u64,
    /// Heights of the lowest and the highest class that it stores.
    pub heights: (u32, u32),
    /// False for one that moves nothing: what it stores is a view.
    pub computes: bool,
    /// The stored classes of other kernels that it reads, below any views.
    pub reads: Vec<ClassId>,
    /// What members read from outside of them.
    pub inputs: Vec<ClassId>,
    /// What members, and views at their beginnings and ends, read: no members; in order.
    pub touches: Vec<ClassId>,
    /// True where a member stays alone.
    pub is_opaque: bool,
    /// The member that is a contraction.
    pub contraction: Option<ClassId>,
    /// True where a member is neither a contraction nor elementwise.
    pub moves_or_reduces: bool,
    /// True where a member is neither, nor a rearrangement or a piece, which may follow a product.
    pub cannot_follow: bool,
    /// True where a member is neither, nor cut from something, which may stand beside a product.
    pub cannot_stand_beside: bool,
}

impl Facts {
    /// Of a kernel.
    pub fn of(space: &Space, state: &State, kernel: Kernel) -> Rc<Facts> {
        let mut known = ClassSet::of(space.classes.len());
        kernel.members.iter().for_each(|&member| _ = known.add(member));
        let read = kernel.all.iter().flat_map(|&member| &state.candidate(space, member).operands);
        let mut touches: Vec<ClassId> = read.copied().filter(|&class| known.add(class)).collect();
        touches.sort_unstable();
        let of_kind = |kind: FusionKind| {
            kernel.members.iter().copied().find(|&m| state.candidate(space, m).kind == kind)
        };
        let is_simple =
            |kind| matches!(kind, FusionKind::Contraction | FusionKind::Elementwise | FusionKind::Broadcast);
        let any = |wanted: &dyn Fn(&Candidate) -> bool| {
            kernel.members.iter().any(|&m| wanted(state.candidate(space, m)))
        };
        let may_follow = |c: &Candidate| space.rates.stored_together.is_some() && (rearranges(c) || cuts(c));
        let heights = || kernel.stored.iter().map(|&stored| space.classes[stored].height);
        let heights = (heights().min().unwrap_or(0), heights().max().unwrap_or(0));
        Rc::new(Facts {
            heights,
            seconds: cost::kernel(space, state, &kernel),
            members: kernel.all.len() as u64,
            computes: !kernel.members.is_empty(),
            reads: kernel.reads(space, state),
            touches,
            is_opaque: of_kind(FusionKind::Opaque).is_some(),
            contraction: of_kind(FusionKind::Contraction),
            moves_or_reduces: any(&|c| !is_simple(c.kind)),
            cannot_follow: any(&|c| !is_simple(c.kind) && !may_follow(c)),
            cannot_stand_beside: any(&|c| !is_simple(c.kind) && !cuts(c)),
            inputs: kernel.inputs,
        })
    }
}
