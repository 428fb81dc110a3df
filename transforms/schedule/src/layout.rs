//! Layouts: the order of a tensor's elements in memory.
//!
//!     (k, n) -> (n floordiv 64, k, n mod 64)        panels of 64 columns, each with its rows one behind the other
//!
//! A layout takes the indices of a tensor to those of a row-major array. Each of its places is a digit of one axis,
//! `(i floordiv unit) mod base`, and the digits of an axis together are the axis: no two elements share a place, and where an
//! extent is no multiple of a base there are places without an element (TVM's index maps, Shao et al. 2022, are the general
//! form; Goto and van de Geijn, 2008, for what panels are good for).

use fusion_dialects::indices::expr::Expr;
use fusion_dialects::{Affine, Attribute, affine_results_of};

/// An axis of the array in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// The axis of the tensor.
    pub axis: usize,
    /// How far apart two indices with neighbouring digits are.
    pub unit: u64,
    /// Number of values; `None` for the highest digit, which counts as far as the axis goes.
    pub base: Option<u64>,
}

/// How far apart neighbours along an axis of the array are: `k * factor + offset`, for the least `k` that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Align {
    /// The axis of the array.
    pub dim: usize,
    /// What the distance is a multiple of.
    pub factor: u64,
    /// But for this.
    pub offset: u64,
}

/// The order of a tensor's elements in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    digits: Vec<Digit>,
    /// The distances that were asked for.
    aligns: Vec<Align>,
    /// Whether groups of 16 bytes are in another order in each line of shared memory, which no index says.
    swizzled: bool,
}

impl Layout {
    /// A layout of a tensor of that rank from its digits, outermost first.
    pub fn new(rank: usize, digits: Vec<Digit>) -> Result<Self, String> {
        for axis in 0..rank {
            let mut own: Vec<Digit> = digits.iter().copied().filter(|d| d.axis == axis).collect();
            own.sort_by_key(|d| d.unit);
            let mut unit = 1;
            for (i, digit) in own.iter().enumerate() {
                let last = i + 1 == own.len();
                if digit.unit != unit || last != digit.base.is_none() {
                    return Err(wrong_digits(axis));
                }
                unit = unit.saturating_mul(digit.base.unwrap_or(1));
            }
            if own.is_empty() {
                return Err(wrong_digits(axis));
            }
        }
        match digits.iter().find(|d| d.axis >= rank) {
            Some(digit) => Err(format!("names axis {}; the tensor has {rank}", digit.axis)),
            None => Ok(Layout { digits, aligns: Vec::new(), swizzled: false }),
        }
    }

    /// The order that tensors have by themselves.
    pub fn row_major(rank: usize) -> Self {
        let digits = (0..rank).map(|axis| Digit { axis, unit: 1, base: None }).collect();
        Layout { digits, aligns: Vec::new(), swizzled: false }
    }

    /// The same order, with places that are further apart.
    pub fn aligned(mut self, align: Align) -> Self {
        self.aligns.retain(|a| a.dim != align.dim);
        self.aligns.push(align);
        self
    }

    /// The same order of lines, each with its groups of 16 bytes in another.
    pub fn with_swizzle(mut self) -> Self {
        self.swizzled = true;
        self
    }

    /// True where that was asked for.
    pub fn is_swizzled(&self) -> bool {
        self.swizzled
    }

    /// How far apart neighbours along each axis of the array are, and how many places there are.
    pub fn strides(&self, tensor: &[u64]) -> (Vec<u64>, u64) {
        let shape = self.shape(tensor);
        let mut strides = vec![1; shape.len()];
        let mut next = 1u64;
        for (dim, n) in shape.iter().enumerate().rev() {
            if let Some(align) = self.aligns.iter().find(|a| a.dim == dim) {
                next = next.saturating_sub(align.offset).next_multiple_of(align.factor.max(1)) + align.offset;
            }
            strides[dim] = next;
            next = next.saturating_mul(*n);
        }
        (strides, next)
    }

    /// Where an element is, counted from the first.
    pub fn offset(&self, indices: &[Expr], tensor: &[u64]) -> Expr {
        let (strides, _) = self.strides(tensor);
        let places = self.indices(indices);
        places.iter().zip(strides).fold(Expr::constant(0), |sum, (i, s)| sum.plus(&i.times(s as i64)))
    }

    /// The layout an affine map says.
    pub fn of_map(map: Attribute, rank: usize) -> Result<Self, String> {
        let (dims, results) = affine_results_of(map).ok_or("has a layout that is no affine map")?;
        if dims != rank {
            return Err(format!("has a layout of {dims} axes, the tensor has {rank}"));
        }
        let digits = results
            .iter()
            .map(|e| {
                digit(e).ok_or_else(|| {
                    "has a layout with a result that is none of d, d floordiv n, d mod n and (d floordiv m) mod n".to_owned()
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        Layout::new(rank, digits)
    }

    /// The text of the affine map.
    pub fn to_map(&self) -> String {
        let rank = self.digits.iter().map(|d| d.axis + 1).max().unwrap_or(0);
        let dims: Vec<String> = (0..rank).map(|i| format!("d{i}")).collect();
        let results = self.digits.iter().map(|d| {
            let quotient =
                if d.unit == 1 { format!("d{}", d.axis) } else { format!("d{} floordiv {}", d.axis, d.unit) };
            match d.base {
                Some(base) if d.unit == 1 => format!("{quotient} mod {base}"),
                Some(base) => format!("({quotient}) mod {base}"),
                None => quotient,
            }
        });
        format!("affine_map<({}) -> ({})>", dims.join(", "), results.collect::<Vec<_>>().join(", "))
    }

    /// The digits, outermost first.
    pub fn digits(&self) -> &[Digit] {
        &self.digits
    }

    /// Extents of the array for a tensor of that shape.
    pub fn shape(&self, tensor: &[u64]) -> Vec<u64> {
        self.digits.iter().map(|d| d.base.unwrap_or_else(|| tensor[d.axis].div_ceil(d.unit))).collect()
    }

    /// Indices of the array for those of the tensor.
    pub fn indices(&self, tensor: &[Expr]) -> Vec<Expr> {
        let place = |d: &Digit| {
            let quotient = tensor[d.axis].div(d.unit as i64);
            d.base.map_or(quotient.clone(), |base| quotient.modulo(base as i64))
        };
        self.digits.iter().map(place).collect()
    }
}

fn wrong_digits(axis: usize) -> String {
    format!(
        "has a layout whose places of axis {axis} are not the digits of its index; \
         write d{axis}, or d{axis} floordiv n and d{axis} mod n"
    )
}

fn digit(e: &Affine) -> Option<Digit> {
    let (quotient, base) = match e {
        Affine::Mod(inner, base) => (&**inner, Some(positive(base)?)),
        _ => (e, None),
    };
    let (index, unit) = match quotient {
        Affine::FloorDiv(inner, unit) => (&**inner, positive(unit)?),
        _ => (quotient, 1),
    };
    match index {
        Affine::Input(axis) => Some(Digit { axis: *axis, unit, base }),
        _ => None,
    }
}

fn positive(e: &Affine) -> Option<u64> {
    match e {
        Affine::Constant(n) => u64::try_from(*n).ok().filter(|n| *n > 0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panels() -> Layout {
        let digits = vec![
            Digit { axis: 1, unit: 64, base: None },
            Digit { axis: 0, unit: 1, base: None },
            Digit { axis: 1, unit: 1, base: Some(64) },
        ];
        Layout::new(2, digits).expect("panels are a layout")
    }

    #[test]
    fn the_last_panel_is_filled_up() {
        assert_eq!(panels().shape(&[5, 100]), [2, 5, 64]);
    }

    #[test]
    fn rows_are_spread() {
        let spread = |factor, offset| Layout::row_major(2).aligned(Align { dim: 0, factor, offset });
        assert_eq!(spread(16, 4).strides(&[3, 32]), (vec![36, 1], 108));
        assert_eq!(spread(64, 0).strides(&[3, 32]), (vec![64, 1], 192));
        assert_eq!(spread(1, 0).strides(&[3, 32]), (vec![32, 1], 96));
    }

    #[test]
    fn a_map_names_each_digit() {
        assert_eq!(panels().to_map(), "affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>");
    }

    #[test]
    fn an_axis_without_its_high_digit_is_refused() {
        let low = Digit { axis: 0, unit: 1, base: Some(8) };
        assert!(Layout::new(1, vec![low]).is_err());
    }
}
