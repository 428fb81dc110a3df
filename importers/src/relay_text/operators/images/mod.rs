//! Operators of images: other resolutions, samples at computed places, pools of a given size.

mod adaptive;
mod boxes;
mod correlation;
mod detection;
mod morphology;
mod proposal;
mod regions;
mod regular;
mod resize;
mod sampling;
mod suppression;
mod taps;

use super::{Built, Call};
use crate::relay_text::error::Outcome;

pub use resize::{resized_to, upsampled};

pub const BUILT: &[&[Built]] = &[
    adaptive::BUILT,
    boxes::BUILT,
    correlation::BUILT,
    detection::BUILT,
    morphology::BUILT,
    proposal::BUILT,
    regions::BUILT,
    regular::BUILT,
    resize::BUILT,
    sampling::BUILT,
    suppression::BUILT,
];

/// Where the axes with those letters stand in a layout that has each letter once.
pub fn places<const N: usize>(
    call: &Call,
    name: &str,
    usual: &'static str,
    letters: [char; N],
) -> Outcome<[usize; N]> {
    let layout = match call.text(name, usual)? {
        "" => usual,
        layout => layout,
    };
    let mut sorted: Vec<char> = layout.chars().collect();
    sorted.sort_unstable();
    let mut expected: Vec<char> = usual.chars().collect();
    expected.sort_unstable();
    if sorted != expected {
        return call.fault(format!("the attribute {name} is an order of the axes {usual}, found {layout:?}"));
    }
    Ok(letters.map(|letter| layout.chars().position(|other| other == letter).unwrap_or_default()))
}
