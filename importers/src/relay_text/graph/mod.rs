//! Where graph variables are evaluated: as in TVM, once, in the innermost block that has all their uses.
//!
//! ```text
//!   if (%c) { %1 = f(%x); g(%1) } else { h(%1) }    =>   %1 = f(%x); if (%c) { g(%1) } else { h(%1) }
//!   %0 = f(%x); if (%c) { g(%0) } else { 1 }        =>   if (%c) { %0 = f(%x); g(%0) } else { 1 }
//! ```
//! A text names a node of a graph where it is written first, which says nothing of when it is needed. `survey.rs` notes
//! blocks, definitions and uses, `places.rs` finds the block of each definition, from the last to the first, and `moves.rs`
//! rewrites the tree. What is used nowhere, and what is bound and used in one block, stays where it is.

mod moves;
mod places;
mod survey;

use super::error::{Fault, Outcome};
use super::syntax::{File, Function};
use std::rc::Rc;

/// Puts the graph variables of a file's functions where they are evaluated.
pub fn place(file: &mut File) -> Outcome<()> {
    for definition in &mut file.functions {
        let span = definition.name.span;
        let Some(function) = Rc::get_mut(&mut definition.function) else {
            return Fault::new(span, "the function is in use while it is read");
        };
        place_in(function)?;
    }
    Ok(())
}

fn place_in(function: &mut Function) -> Outcome<()> {
    let survey = survey::Survey::of(function);
    let places = places::places(&survey)?;
    if places.iter().any(Option::is_some) {
        moves::carry_out(function, &survey, &places);
    }
    Ok(())
}
