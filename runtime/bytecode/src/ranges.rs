//! Which sizes the extents of a program's inputs may have, as far as they have names.
//!
//! ```text
//!   range n = 8..4096 by 8            every n is one of 8, 16, .. 4096
//!   entry @main(x: tensor<nx64xf32>) -> tensor<nxf32>
//! ```
//! They are compared before anything of the program runs.

use crate::ValueType;
use fusion_operators::{Dim, TensorType};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The largest extent that a tensor may have.
pub const MOST_EXTENT: u64 = i64::MAX as u64;

/// The sizes that an extent may have: from one number to another, and multiples of a third.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Range {
    /// The smallest.
    pub least: u64,
    /// The largest; [`MOST_EXTENT`] where there is none.
    pub most: u64,
    /// What they are multiples of.
    pub multiple: u64,
}

impl Default for Range {
    /// Any size.
    fn default() -> Self {
        Range { least: 0, most: MOST_EXTENT, multiple: 1 }
    }
}

impl Range {
    /// A single size.
    pub fn one(size: u64) -> Range {
        Range { least: size, most: size, multiple: size.max(1) }
    }

    /// True where a size is one of these.
    pub fn has(&self, size: u64) -> bool {
        (self.least..=self.most).contains(&size) && size.is_multiple_of(self.multiple)
    }

    /// The sizes that are of both; none where there is no such size.
    pub fn and(&self, other: &Range) -> Option<Range> {
        let both = Range {
            least: self.least.max(other.least),
            most: self.most.min(other.most),
            multiple: least_common(self.multiple, other.multiple)?,
        };
        both.nearest(both.least).filter(|size| both.has(*size)).map(|_| both)
    }

    /// The size of these that is next to another: the smallest from there on, else the largest.
    pub fn nearest(&self, size: u64) -> Option<u64> {
        let multiple = self.multiple.max(1);
        let above = size.max(self.least).div_ceil(multiple).checked_mul(multiple);
        let below = self.most / multiple * multiple;
        above.filter(|above| self.has(*above)).or_else(|| Some(below).filter(|below| self.has(*below)))
    }
}

impl FromStr for Range {
    type Err = String;

    /// Reads what [`Display`] writes, and a single size as `N`.
    fn from_str(text: &str) -> Result<Range, String> {
        let number = |part: &str, otherwise: u64| match part.trim() {
            "" => Ok(otherwise),
            part => part
                .parse()
                .ok()
                .filter(|n| *n <= MOST_EXTENT)
                .ok_or_else(|| format!("{part:?} is not an extent")),
        };
        let (bounds, multiple) = text.split_once(':').map_or((text, None), |(bounds, n)| (bounds, Some(n)));
        let (least, most) = match bounds.split_once("..") {
            Some((least, most)) => (number(least, 0)?, number(most, MOST_EXTENT)?),
            None if bounds.trim().is_empty() => return Err("an extent is missing".to_owned()),
            None => (number(bounds, 0)?, number(bounds, 0)?),
        };
        let multiple = multiple.map_or(Ok(1), |n| number(n, 0))?;
        if multiple == 0 {
            return Err(format!(
                "{text:?} has sizes that are multiples of 0; give a number from 1 on behind the colon"
            ));
        }
        let range = Range { least, most, multiple };
        match range.nearest(least) {
            Some(_) => Ok(range),
            None => Err(format!("there is no size in {text:?}: it must be {}", range.said())),
        }
    }
}

fn least_common(a: u64, b: u64) -> Option<u64> {
    let (mut large, mut small) = (a.max(b), a.min(b));
    while small > 0 {
        (large, small) = (small, large % small);
    }
    (a / large.max(1)).checked_mul(b)
}

impl Display for Range {
    /// As it is written in options: `1..64`, `8..:8`.
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{}..", self.least)?;
        if self.most < MOST_EXTENT {
            write!(f, "{}", self.most)?;
        }
        if self.multiple > 1 { write!(f, ":{}", self.multiple) } else { Ok(()) }
    }
}

impl Range {
    /// What a size must be, as the end of a sentence.
    pub fn said(&self) -> String {
        let bounds = match (self.least, self.most) {
            (least, MOST_EXTENT) => format!("at least {least}"),
            (least, most) if least == most => format!("{least}"),
            (least, most) => format!("from {least} to {most}"),
        };
        if self.multiple > 1 && self.least < self.most {
            format!("{bounds} and a multiple of {}", self.multiple)
        } else {
            bounds
        }
    }
}

/// Where inputs of a program have an extent of that name: the numbers of input and axis.
pub fn places<'a>(
    inputs: impl IntoIterator<Item = &'a ValueType> + 'a,
    name: &'a str,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let tensors = inputs.into_iter().enumerate().filter_map(|(input, ty)| match ty {
        ValueType::Tensor(ty) => Some((input, ty)),
        _ => None,
    });
    tensors.flat_map(move |(input, ty)| {
        let named = ty.dims.iter().enumerate();
        let named = named.filter(move |(_, dim)| matches!(dim, Dim::Symbol(own) if own == name));
        named.map(move |(axis, _)| (input, axis))
    })
}

/// Why inputs of these types are none of a program, whose inputs have these names and types: the first extent out of its range.
pub fn out_of_range(
    ranges: &[(String, Range)],
    inputs: &[(String, ValueType)],
    found: &[Vec<TensorType>],
) -> Option<String> {
    for (name, range) in ranges {
        for (input, axis) in places(inputs.iter().map(|(_, ty)| ty), name) {
            let size = found.get(input)?.first()?.dims.get(axis).and_then(Dim::known)?;
            if !range.has(size) {
                let (input, must) = (&inputs[input].0, range.said());
                return Some(format!(
                    "input {input:?} of the program has {size} along axis {axis}, which must be {must} ({name})"
                ));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(least: u64, most: u64, multiple: u64) -> Range {
        Range { least, most, multiple }
    }

    #[test]
    fn sizes_of_both_ranges_are_multiples_of_both() {
        assert_eq!(range(1, 64, 8).and(&range(10, 4096, 12)), Some(range(10, 64, 24)));
        assert_eq!(range(1, 20, 8).and(&range(17, 40, 1)), None);
        assert_eq!(range(1, 5, 1).and(&range(6, 9, 1)), None);
    }

    #[test]
    fn the_nearest_size_is_one_of_the_range() {
        assert_eq!(range(1, 64, 8).nearest(33), Some(40));
        assert_eq!(range(1, 64, 8).nearest(500), Some(64));
        assert_eq!(range(100, 4096, 1).nearest(1), Some(100));
        assert_eq!(range(9, 15, 8).nearest(9), None);
    }

    #[test]
    fn ranges_are_said_as_people_write_them() {
        assert_eq!(range(1, 64, 1).to_string(), "1..64");
        assert_eq!(range(8, MOST_EXTENT, 8).to_string(), "8..:8");
        assert_eq!(range(8, 64, 8).said(), "from 8 to 64 and a multiple of 8");
    }

    #[test]
    fn texts_are_ranges() {
        assert_eq!("1..64".parse(), Ok(range(1, 64, 1)));
        assert_eq!("..4096:8".parse(), Ok(range(0, 4096, 8)));
        assert_eq!("3".parse(), Ok(range(3, 3, 1)));
        for (text, why) in [
            ("1..x", "\"x\" is not an extent"),
            ("9..4", "there is no size in \"9..4\": it must be from 9 to 4"),
            ("9..15:8", "there is no size in \"9..15:8\": it must be from 9 to 15 and a multiple of 8"),
            (
                "1..:0",
                "\"1..:0\" has sizes that are multiples of 0; give a number from 1 on behind the colon",
            ),
            ("", "an extent is missing"),
        ] {
            assert_eq!(text.parse::<Range>(), Err(why.to_owned()));
        }
    }
}
