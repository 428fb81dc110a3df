//! Versions of tiles of known extents: which there are, why these, and what each likely size takes.
//!
//! ```text
//!   kernel_0_tile_2, kernel_0_tile_4: conv2d + add + relu
//!   version  one run    stays because                                 batch=1 h=64 w=64  batch=1 h=224 w=224
//!   1x16x16  78.257 us  h=224 takes 1.19 times as long without it            78.257 us             1.252 ms
//!   1x8x8    30.370 us  -                                                   121.480 us             1.488 ms
//!   chosen                                                                   78.257 us             1.252 ms
//! ```

use super::kernels::condensed;
use super::table::{Align, table};
use crate::print;
use fusion_conversion::tiled::{Candidate, Choice};
use serde::Serialize;

/// Tiles that are alike but for their weights.
#[derive(Debug, PartialEq, Serialize)]
pub struct Tiles {
    /// What they are called.
    pub names: Vec<String>,
    /// Their operators, in order.
    pub operators: Vec<String>,
    /// The versions that were thought of, the largest first.
    pub versions: Vec<Version>,
    /// The likely sizes.
    pub likely: Vec<Size>,
}

/// A version.
#[derive(Debug, PartialEq, Serialize)]
pub struct Version {
    /// Places along each axis of its tiles.
    pub sizes: String,
    /// The estimate of one run.
    pub seconds: f64,
    /// Whether there is code for it.
    pub stays: bool,
    /// How many times longer a likely size would take without it; not known where the others do not serve all sizes.
    pub gain: Option<f64>,
    /// Which size that is.
    pub at: Option<String>,
    /// What each likely size would take with this version alone.
    pub alone: Vec<Option<f64>>,
}

/// A likely size.
#[derive(Debug, PartialEq, Serialize)]
pub struct Size {
    /// The extents that have names.
    pub extents: String,
    /// What it takes with the versions that stay.
    pub seconds: Option<f64>,
}

fn finite(seconds: f64) -> Option<f64> {
    seconds.is_finite().then_some(seconds)
}

/// What was decided of tiles, those that are alike together.
pub fn tiles(choices: &[Choice]) -> Vec<Tiles> {
    let mut all: Vec<Tiles> = Vec::new();
    for choice in choices {
        let version = |version: &Candidate| Version {
            sizes: version.sizes.clone(),
            seconds: version.seconds,
            stays: version.gain.is_some(),
            gain: version.gain.and_then(|(gain, _)| finite(gain)),
            at: version
                .gain
                .filter(|(gain, _)| gain.is_finite())
                .and_then(|(_, at)| Some(choice.likely.get(at)?.0.clone())),
            alone: version.alone.iter().map(|seconds| finite(*seconds)).collect(),
        };
        let size =
            |(extents, seconds): &(String, f64)| Size { extents: extents.clone(), seconds: finite(*seconds) };
        let made = Tiles {
            names: vec![choice.name.clone()],
            operators: choice.operators.clone(),
            versions: choice.versions.iter().map(version).collect(),
            likely: choice.likely.iter().map(size).collect(),
        };
        let alike = |known: &&mut Tiles| {
            known.operators == made.operators
                && known.versions == made.versions
                && known.likely == made.likely
        };
        match all.iter_mut().find(alike) {
            Some(known) => known.names.extend(made.names),
            None => all.push(made),
        }
    }
    all
}

/// As text for people; none where there are no tiles.
pub fn text(tiles: &[Tiles]) -> Option<String> {
    let one = |tiles: &Tiles| {
        format!("{}: {}\n{}", tiles.names.join(", "), condensed(&tiles.operators), rows(tiles))
    };
    let all: Vec<String> = tiles.iter().map(one).collect();
    (!all.is_empty())
        .then(|| format!("versions of tiles, with what each likely size takes\n\n{}", all.join("\n\n")))
}

fn rows(tiles: &Tiles) -> String {
    let seconds = |seconds: Option<f64>| seconds.map_or("-".to_owned(), print::seconds);
    let why = |version: &Version| match (version.stays, version.gain, &version.at) {
        (false, ..) => "-".to_owned(),
        (true, Some(gain), Some(at)) => format!("{at} takes {gain:.2} times as long without it"),
        (true, ..) => "others do not serve all sizes".to_owned(),
    };
    let mut all = vec![vec!["version".to_owned(), "one run".to_owned(), "stays because".to_owned()]];
    all[0].extend(tiles.likely.iter().map(|size| size.extents.clone()));
    for version in &tiles.versions {
        let mut row = vec![version.sizes.clone(), seconds(Some(version.seconds)), why(version)];
        row.extend(version.alone.iter().map(|alone| seconds(*alone)));
        all.push(row);
    }
    let mut chosen = vec!["chosen".to_owned(), String::new(), String::new()];
    chosen.extend(tiles.likely.iter().map(|size| seconds(size.seconds)));
    all.push(chosen);
    let columns =
        [&[Align::Left, Align::Right, Align::Left][..], &vec![Align::Right; tiles.likely.len()]].concat();
    table(&columns, &all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(name: &str) -> Choice {
        let version = |sizes: &str, seconds: f64, gain, alone: [f64; 2]| Candidate {
            sizes: sizes.to_owned(),
            seconds,
            gain,
            alone: alone.to_vec(),
        };
        Choice {
            name: name.to_owned(),
            operators: vec!["relay.conv2d".to_owned(), "relay.relu".to_owned()],
            likely: vec![("n=64".to_owned(), 1e-4), ("n=224".to_owned(), 1e-3)],
            versions: vec![
                version("1x16x16", 1e-4, Some((1.5, 1)), [1e-4, 1e-3]),
                version("1x8x8", 5e-5, None, [1e-4, f64::INFINITY]),
            ],
        }
    }

    #[test]
    fn tiles_that_are_alike_are_told_once() {
        let told = tiles(&[choice("kernel_0_tile_1"), choice("kernel_0_tile_2")]);
        let lines = [
            "versions of tiles, with what each likely size takes",
            "",
            "kernel_0_tile_1, kernel_0_tile_2: relay.conv2d + relay.relu",
            "version     one run  stays because                                    n=64     n=224",
            "1x16x16  100.000 us  n=224 takes 1.50 times as long without it  100.000 us  1.000 ms",
            "1x8x8     50.000 us  -                                          100.000 us         -",
            "chosen                                                          100.000 us  1.000 ms",
        ];
        assert_eq!(text(&told).unwrap(), lines.join("\n"));
        assert_eq!(text(&[]), None);
    }
}
