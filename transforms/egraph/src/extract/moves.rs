//! The moves that improve a plan, in an order that follows from the space.

use super::space::{Candidate, ClassId, Space};
use fusion_operators::FusionKind;

/// Classes and the candidates that compute them after the move.
pub type Move = Vec<(ClassId, usize)>;

/// Classes that read one together, at most.
const MOST_READERS: usize = 32;

/// Single changes, then for each class that several others could read: all of them read it; then forms of products below views.
pub fn moves(space: &Space) -> Vec<Move> {
    let mut moves = Vec::new();
    for (class, facts) in space.classes.iter().enumerate().filter(|(_, c)| !c.is_external) {
        let candidates = &facts.candidates;
        if candidates.len() < 2 {
            continue;
        }
        moves.extend((0..candidates.len()).map(|n| vec![(class, n)]));
    }
    for (class, facts) in space.classes.iter().enumerate().filter(|(_, c)| !c.is_external) {
        let together: Move = facts
            .parents
            .iter()
            .filter_map(|&parent| {
                let candidates = &space.classes[parent].candidates;
                let reads = candidates.iter().position(|c| c.operands.contains(&class))?;
                (candidates.len() > 1).then_some((parent, reads))
            })
            .collect();
        if (2..=MOST_READERS).contains(&together.len()) {
            moves.push(together);
        }
    }
    moves.extend(below_views(space));
    moves
}

/// A contraction is computed as a view of one of other axes, and that by no contraction: the same product, of which rules know more forms
/// without leading axes.
fn below_views(space: &Space) -> Vec<Move> {
    let is_contraction = |c: &Candidate| c.kind == FusionKind::Contraction;
    let mut moves = Vec::new();
    for (class, facts) in space.classes.iter().enumerate().filter(|(_, c)| !c.is_external) {
        if !facts.candidates.iter().any(is_contraction) {
            continue;
        }
        for (view, candidate) in facts.candidates.iter().enumerate().filter(|(_, c)| c.is_view) {
            let &[below] = &candidate.operands[..] else { continue };
            let others = &space.classes[below].candidates;
            if others.iter().any(is_contraction) {
                let forms =
                    (0..others.len()).filter(|&at| !is_contraction(&others[at]) && !others[at].is_view);
                moves.extend(forms.map(|at| vec![(class, view), (below, at)]));
            }
        }
    }
    moves
}
