//! Extents that follow from values: a number that is computed says how many elements there are.
//!
//! ```text
//!   counting(n)             0, 1, .. below n, of an extent that only running shows             relay.dynamic_iota
//!   first(x, n)             x[0 .. n] along an axis
//!   places_where(mask)      where a vector of truths holds:  out[cumsum(mask)[i] - 1] = i  where mask[i],
//!                           of which the first sum(mask)
//! ```

use fusion_operators::ops::{creation, elementwise as ew, indexing, reduction};
use fusion_operators::{Attrs, DType, Dim};

use super::build::Made;
use super::error::Fault;
use super::importer::Importer;
use super::node::Value;

impl Importer<'_> {
    /// 0, 1, 2, ... below a number.
    pub fn counting(&mut self, count: Value) -> Made {
        if let Some(known) = self.constant_of(count).filter(|known| known.len() == 1) {
            let known = i64::try_from(known.int_at(0)).unwrap_or(-1).max(0);
            return self.arange(DType::I64, known, 0.0, 1.0);
        }
        let count = self.cast(count, DType::I64)?;
        let count = self.reshape(count, &[])?;
        self.un(&creation::DYNAMIC_IOTA, count)
    }

    /// 0, 1, 2, ... below an extent of a tensor.
    pub fn counting_along(&mut self, x: Value, axis: usize) -> Made {
        match self.dims(x)?.get(axis) {
            Some(Dim::Any) => {
                let count = self.extent_of(x, axis)?;
                self.counting(count)
            }
            Some(dim) => self.arange_dim(DType::I64, &dim.clone(), 0.0, 1.0),
            None => self.ints(&[0], &[]),
        }
    }

    /// The first elements along an axis: as many as a number that is not greater than its extent.
    pub fn first(&mut self, x: Value, count: Value, axis: usize) -> Made {
        let places = self.counting(count)?;
        self.gather(x, places, axis)
    }

    /// All elements in a row.
    pub fn flat(&mut self, x: Value) -> Made {
        match self.dims(x)?.as_slice() {
            [_] => Ok(x),
            dims => {
                let all = Dim::product(dims);
                self.reshape_dims(x, &[all])
            }
        }
    }

    /// The places at which a vector of truths holds, in order, before others as many as it is longer by; and how many hold.
    pub fn places_where(&mut self, mask: Value) -> Result<(Value, Value), Fault> {
        let ones = self.cast(mask, DType::I64)?;
        let sums = self.op(&reduction::CUMSUM, &[ones], Attrs::new().with("axis", 0i64))?;
        let behind = self.add_f(sums, -1.0)?;
        // What does not hold is written behind the end.
        let length = self.extent_of(mask, 0)?;
        let to = self.select(mask, behind, length)?;
        let own = self.counting_along(mask, 0)?;
        let spare = self.ints(&[1], &[0])?;
        let room = self.concat(&[own, spare], 0)?;
        let attrs = Attrs::new().with("axis", 0i64);
        let places = self.op(&indexing::SCATTER_ELEMENTS, &[room, to, own], attrs)?;
        let count = self.sum(ones, &[0], false)?;
        Ok((places, count))
    }

    /// The elements along an axis from a place on: `begin + i * step` for each i below a number.
    pub fn stepped(&mut self, x: Value, axis: usize, begin: Value, (count, step): (Value, i64)) -> Made {
        let places = self.counting(count)?;
        let places = if step == 1 { places } else { self.mul_f(places, step as f64)? };
        let places = self.add(places, begin)?;
        self.gather(x, places, axis)
    }

    /// False throughout, of extents that a vector holds, as many as `rank`.
    pub fn falses(&mut self, extents: Value, rank: usize) -> Made {
        let mut all = self.floats(DType::Bool, &[], &[0.0])?;
        for axis in 0..rank {
            let count = self.select_at(extents, 0, axis as i64)?;
            let places = self.counting(count)?;
            let negative = self.less_f(places, 0.0)?;
            let behind: Vec<i64> = (1..(rank - axis) as i64).collect();
            let negative = self.expand_dims(negative, &behind)?;
            all = self.bin(&ew::LOGICAL_OR, all, negative)?;
        }
        Ok(all)
    }
}
