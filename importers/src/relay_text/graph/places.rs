//! The place of each graph variable: the innermost block that has all its uses, in front of the statement with the first.
//!
//! Definitions are taken from the last to the first: those that use one come after it, so that their places are known. A
//! definition moves where its block is another one than that of its uses; into a branch or a function only where the variables
//! in its value mean there what they meant before, and not deeper than brackets may be nested.

use super::survey::{Defined, Place, Spot, Step, Survey};
use crate::relay_text::blanks::MOST_DEPTH;
use crate::relay_text::error::{Fault, Outcome};

/// Where each definition goes, for those that move.
pub fn places(survey: &Survey) -> Outcome<Vec<Option<Place>>> {
    let count = survey.definitions.len();
    let (mut moved, mut found): (Vec<Option<Place>>, Vec<Place>) =
        (vec![None; count], vec![Place::new(); count]);
    for number in (0..count).rev() {
        let definition = &survey.definitions[number];
        let own = spot(&definition.at, survey, &found);
        let uses = definition.uses.iter().map(|used| spot(used, survey, &found));
        let place = uses.reduce(|a, b| common(&a, &b));
        let goes = match &place {
            Some(place) => goes(survey, definition, &own, place)?,
            None => false,
        };
        match place.filter(|_| goes) {
            Some(place) => {
                found[number] = place.clone();
                moved[number] = Some(place);
            }
            None => found[number] = own,
        }
    }
    Ok(moved)
}

/// Where a spot is, once the definition it stands in has its place.
fn spot(spot: &Spot, survey: &Survey, found: &[Place]) -> Place {
    match spot.within {
        None => spot.place.clone(),
        Some(outer) => {
            let inside = &spot.place[survey.definitions[outer].at.place.len()..];
            found[outer].iter().chain(inside).copied().collect()
        }
    }
}

/// The innermost block of two places, at the first of the statements they are in.
fn common(a: &[Step], b: &[Step]) -> Place {
    let mut place = Place::new();
    for (a, b) in a.iter().zip(b) {
        if a.block != b.block {
            break;
        }
        place.push(Step { block: a.block, statement: a.statement.min(b.statement) });
        if a.statement != b.statement {
            break;
        }
    }
    place
}

/// Whether a definition moves to a place.
fn goes(survey: &Survey, definition: &Defined, own: &[Step], place: &[Step]) -> Outcome<bool> {
    let block = |place: &[Step]| place.last().map(|step| step.block);
    let (Some(from), Some(to)) = (block(own), block(place)) else { return Ok(false) };
    if from == to {
        return Ok(false);
    }
    let other = definition.free.iter().find(|(name, binder)| survey.binder(place, name) != **binder);
    if let Some(depth) = place.iter().position(|step| step.block == from) {
        let apart = place[depth + 1..].iter().any(|step| survey.scopes[step.block as usize].apart);
        return Ok(apart && other.is_none() && place.len() + definition.height <= MOST_DEPTH);
    }
    if let Some((variable, _)) = other {
        let name = &definition.name;
        return Fault::new(
            name.span,
            format!(
                "%{0} is used outside of the block it is written in, where its variable %{variable} is not known; \
                 bind %{0} in each block that uses it",
                name.text
            ),
        );
    }
    Ok(true)
}
