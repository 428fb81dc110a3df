//! In what order the elements of a product lie in a tensor that was reshaped and transposed.
//!
//!     y[b, h, s, d] = p[b s, h d]        b: s H D S     h: D     s: H D     d: 1         the stride of each axis of y in p
//!
//! An axis is made of *parts*, each with an extent and a stride in the product: one, unless a reshape put several together. Those at the end
//! that go on where the next one ends are a *run*, which is stored as it is computed. Where there is none, what lies *side by side* is a part
//! of another axis of the product, whose vectors may go along that.

/// A range of an axis: its extent, and the distance of its elements in the product.
type Part = (u64, u64);

/// The axes of a tensor, outermost first, by their parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    axes: Vec<Vec<Part>>,
}

impl Arrangement {
    /// That of the product itself.
    pub fn of(shape: &[u64]) -> Self {
        let mut stride: u64 = 1;
        let mut axes: Vec<Vec<Part>> = Vec::new();
        for &n in shape.iter().rev() {
            axes.push(vec![(n, stride)]);
            stride = stride.saturating_mul(n);
        }
        axes.reverse();
        Arrangement { axes }
    }

    /// With the axes in another order.
    pub fn transposed(&self, axes: &[usize]) -> Option<Self> {
        let axes = axes.iter().map(|&a| self.axes.get(a).cloned()).collect::<Option<_>>()?;
        Some(Arrangement { axes })
    }

    /// With other extents; `None` when an axis would begin or end inside a part that cannot be cut there.
    pub fn reshaped(&self, shape: &[u64]) -> Option<Self> {
        let mut parts: Vec<Part> = self.axes.iter().flatten().copied().filter(|(n, _)| *n != 1).collect();
        let mut axes: Vec<Vec<Part>> = Vec::new();
        for &extent in shape.iter().rev() {
            let (mut own, mut left) = (Vec::new(), extent);
            while left > 1 {
                let (n, stride) = parts.pop()?;
                if left.is_multiple_of(n) {
                    own.push((n, stride));
                    left /= n;
                } else if n.is_multiple_of(left) {
                    own.push((left, stride));
                    parts.push((n / left, stride * left));
                    left = 1;
                } else {
                    return None;
                }
            }
            own.reverse();
            axes.push(own);
        }
        axes.reverse();
        parts.is_empty().then_some(Arrangement { axes })
    }

    /// How many elements follow each other as in the product, at the least.
    pub fn run(&self) -> u64 {
        let mut run = 1;
        for &(n, stride) in self.axes.iter().flatten().rev().filter(|(n, _)| *n != 1) {
            if stride != run {
                break;
            }
            run *= n;
        }
        run
    }

    /// The innermost part: how many elements lie side by side, and how far apart the product has them.
    pub fn side_by_side(&self) -> (u64, u64) {
        self.axes.iter().flatten().rev().copied().find(|(n, _)| *n != 1).unwrap_or((1, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_keep_their_numbers_together() {
        let product = Arrangement::of(&[2 * 7, 3 * 5]);
        assert_eq!(product.run(), 2 * 7 * 3 * 5);
        let apart = product.reshaped(&[2, 7, 3, 5]).expect("axes are cut");
        assert_eq!(apart.run(), 2 * 7 * 3 * 5);
        let heads = apart.transposed(&[0, 2, 1, 3]).expect("there are four axes");
        assert_eq!(heads.run(), 5);
        let together = heads.reshaped(&[2 * 3, 7, 1, 5]).expect("axes are joined");
        assert_eq!(together.run(), 5);
        assert_eq!(together.reshaped(&[2, 3, 7, 5]).map(|a| a.transposed(&[0, 2, 1, 3])), Some(Some(apart)));
        assert_eq!(heads.reshaped(&[2, 3, 35]).map(|a| a.run()), Some(5));
        assert_eq!(heads.transposed(&[0, 1, 3, 2]).map(|a| a.run()), Some(1));
        assert_eq!(heads.reshaped(&[2, 3, 5, 7]), None);
    }

    #[test]
    fn columns_of_a_transposed_product_lie_side_by_side() {
        let product = Arrangement::of(&[4, 7, 5]);
        assert_eq!(product.side_by_side(), (5, 1));
        assert_eq!(product.transposed(&[2, 0, 1]).map(|a| a.side_by_side()), Some((7, 5)));
        assert_eq!(product.transposed(&[2, 1, 0]).map(|a| a.side_by_side()), Some((4, 35)));
        let images = product.transposed(&[2, 0, 1]).and_then(|a| a.reshaped(&[1, 5, 28, 1]));
        assert_eq!(images.map(|a| a.side_by_side()), Some((7, 5)));
    }
}
