//! The roofline of a kernel: seconds = call + max(arithmetic, memory) + a quarter of the lesser, which is not hidden wholly.
//!
//! Arithmetic is that of all members, each as often as it is computed ([`repeats`]), what registers cannot hold ([`pressure`]), what
//! its code takes ([`code`]), and what turning a product takes (`turned`). Memory is what the kernel reads
//! from outside and the results it stores, each at the rate of the memory that is large enough for it; of an operand that a member
//! cuts a piece from, only the piece counts. On a GPU both are divided by the occupancy, that of contractions by that of their tiles (`tiles`). (Williams, Waterman and Patterson, "Roofline", 2009.)

use super::code;
use super::kernel::Kernel;
use super::pressure;
use super::scattered;
use super::space::{ClassId, Space};
use super::state::State;
use super::turned;
use fusion_machine::roof;
use fusion_operators::FusionKind;
use fusion_schedule::auto_schedule::LANE_BYTES;

/// Seconds of a kernel.
pub fn kernel(space: &Space, state: &State, kernel: &Kernel) -> f64 {
    if kernel.members.is_empty() {
        return 0.0;
    }
    // What contractions take has their occupancy in it.
    let (mut compute, mut contractions) = (0.0, 0.0);
    for (&member, times) in kernel.members.iter().zip(repeats(space, state, kernel)) {
        let candidate = state.candidate(space, member);
        let sum = if candidate.kind == FusionKind::Contraction { &mut contractions } else { &mut compute };
        *sum += times * candidate.seconds;
    }
    let rates = &space.rates;
    let mut memory = 0.0;
    for (&input, &read) in kernel.inputs.iter().zip(&kernel.read) {
        memory += rates.moving_part(space.classes[input].bytes, read);
    }
    for &result in &kernel.results {
        memory += rates.moving(space.classes[result].bytes);
    }
    compute += pressure::spills(space, state, kernel) + scattered::seconds(space, state, kernel);
    compute += code::seconds(space, state, kernel) + turned::seconds(space, state, kernel);
    memory += pressure::passes(space, state, kernel);
    let busy =
        rates.occupancy.share(most_elements(space, &kernel.results), most_elements(space, &kernel.inputs));
    rates.call + roof(contractions + compute / busy, memory / busy)
}

/// Elements of the largest of some tensors, if they have four bytes each.
fn most_elements(space: &Space, classes: &[ClassId]) -> f64 {
    classes.iter().map(|class| space.classes[*class].bytes / LANE_BYTES as f64).fold(0.0, f64::max)
}

/// How often each member is computed: once for all that read it at the same index, and once more for each other index.
///
///     y = concat(f(x), g(x))      x is computed for the elements of f(x), and for those of g(x)
///
/// A *place* is a way from a result to the member through operators that move elements; members that are read at several places are
/// computed at each, as far as it reads them: of a piece that is cut, only that piece.
fn repeats(space: &Space, state: &State, kernel: &Kernel) -> Vec<f64> {
    let moves = |class: ClassId| {
        let candidate = state.candidate(space, class);
        candidate.kind == FusionKind::Injective && !candidate.is_view
    };
    let members = &kernel.members;
    if !members.iter().any(|&m| moves(m)) {
        return vec![1.0; members.len()];
    }
    let mut place_of: Vec<u32> = vec![u32::MAX; space.classes.len()];
    // Few, in order.
    let mut places: Vec<Vec<(u64, f64)>> = vec![Vec::new(); members.len()];
    for (at, member) in members.iter().enumerate() {
        place_of[*member] = at as u32;
        if kernel.results.contains(member) {
            places[at].push((0, 1.0));
        }
    }
    let mut times = vec![0.0; members.len()];
    // Those who read a member stand behind it.
    for at in (0..members.len()).rev() {
        let own = std::mem::take(&mut places[at]);
        let operands = &state.candidate(space, members[at]).operands;
        for (number, operand) in operands.iter().enumerate() {
            let read = place_of[*operand] as usize;
            if read >= at {
                continue;
            }
            let part = (space.classes[members[at]].bytes / space.classes[*operand].bytes.max(1.0)).min(1.0);
            for &(place, share) in &own {
                let (place, share) = match moves(members[at]) {
                    true => (below(place, at, number), share * part),
                    false => (place, share),
                };
                let known = places[read].binary_search_by_key(&place, |(place, _)| *place);
                match known {
                    _ if places[read].len() >= MOST_PLACES => {}
                    Ok(known) => places[read][known].1 = places[read][known].1.max(share),
                    Err(new) => places[read].insert(new, (place, share)),
                }
            }
        }
        times[at] = own.iter().map(|(_, share)| share).sum();
    }
    times
}

/// Places that are told apart.
const MOST_PLACES: usize = 64;

/// The place below an operand of a member (FNV-1a, which needs no state).
fn below(place: u64, member: usize, operand: usize) -> u64 {
    let parts = [place, member as u64, operand as u64 + 1];
    parts.iter().fold(0xcbf2_9ce4_8422_2325, |hash, part| (hash ^ part).wrapping_mul(0x0100_0000_01b3))
}
