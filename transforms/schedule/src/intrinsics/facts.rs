//! What schedules know of a matrix instruction, read off its declaration.
//!
//!     c[r, g, q, e] += a[r, g, k] * b[k, q, e]      rows r x g = 16, columns q x e = 8, 16 deep; threads g x q = 32

use crate::schedule::intrinsic::{computes, dims_of};
use fusion_dialects::indices::accesses;
use fusion_dialects::{Op, OpExt, tensor_type};
use fusion_machine::Factors;
use fusion_operators::DType;

/// Along what the elements of an operand lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// Any way.
    Any,
    /// What is summed up.
    Depth,
    /// Rows of the left operand, columns of the right one.
    Own,
}

/// What a matrix instruction computes, and how its threads share it.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What it is called.
    pub name: String,
    /// Extents of the parallel axes.
    pub axes: Vec<u64>,
    /// The axes that together are the rows, outermost first.
    pub rows: Vec<usize>,
    /// Those that are the columns.
    pub columns: Vec<usize>,
    /// Products that it sums up.
    pub depth: u64,
    /// The axes that number the threads.
    pub lanes: Vec<usize>,
    /// The type of the operands' elements.
    pub dtype: DType,
    /// What is multiplied: elements as they are, unless more is known than the declaration says.
    pub factors: Factors,
    /// Along what the elements of both operands lie together.
    pub together: [Together; 2],
    /// How many of these are beside each other, where operands are in panels.
    pub panels: Option<u64>,
}

impl Facts {
    /// Those of a declaration; `None` of one that is no product of two matrices by the threads of a warp.
    pub fn of(intrinsic: Op) -> Option<Facts> {
        let compute = computes(intrinsic)?;
        let number = |n: i64| u64::try_from(n).ok();
        let axes: Vec<u64> = compute.ints("axes")?.into_iter().map(number).collect::<Option<_>>()?;
        let &[depth] = &compute.ints("reduce")?[..] else { return None };
        let read = accesses(compute);
        let [a, b] = &read[..] else { return None };
        let (of_a, of_b) = (dims_of(a)?, dims_of(b)?);
        // An axis of extent 1 is in no index.
        let rows: Vec<usize> = of_a.iter().flatten().copied().filter(|axis| *axis < axes.len()).collect();
        let contiguous = intrinsic.ints("contiguous").unwrap_or_default();
        let together = |argument: usize, dims: &[Option<usize>]| {
            let dim = contiguous.get(argument).and_then(|d| usize::try_from(*d).ok());
            match dim.and_then(|d| dims.get(d).copied().flatten()) {
                None => Together::Any,
                Some(axis) if axis < axes.len() => Together::Own,
                Some(_) => Together::Depth,
            }
        };
        let lanes: Vec<usize> =
            intrinsic.ints("lanes")?.into_iter().map(|n| usize::try_from(n).ok()).collect::<Option<_>>()?;
        let dtype = tensor_type(a.tensor)?.dtype;
        Some(Facts {
            name: intrinsic.text("sym_name")?.to_owned(),
            columns: (0..axes.len()).filter(|axis| !rows.contains(axis)).collect(),
            rows,
            depth: number(depth)?,
            lanes,
            dtype,
            factors: if dtype.size() == 2 { Factors::Half } else { Factors::F32 },
            together: [together(0, &of_a), together(1, &of_b)],
            panels: intrinsic.int("panels").and_then(number),
            axes,
        })
    }

    /// How many rows, columns and threads there are.
    pub fn extents(&self) -> [u64; 3] {
        let all = |list: &[usize]| list.iter().map(|axis| self.axes[*axis]).product();
        [all(&self.rows), all(&self.columns), all(&self.lanes)]
    }

    /// The axes of which each thread has all.
    pub fn elements(&self) -> Vec<usize> {
        (0..self.axes.len()).filter(|axis| !self.lanes.contains(axis)).collect()
    }

    /// How far apart, in rows or in columns, neighbours along an axis are.
    pub fn unit(&self, axis: usize) -> u64 {
        let list = if self.rows.contains(&axis) { &self.rows } else { &self.columns };
        let inner = list.iter().skip_while(|a| **a != axis).skip(1);
        inner.map(|a| self.axes[*a]).product()
    }
}
