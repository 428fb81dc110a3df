//! Short names for the relay operators that conversions are written with.

use fusion_operators::ops::{
    contraction as product, creation, elementwise as ew, indexing, normalization, reduction, shape, strings,
};
use fusion_operators::{Attrs, DType, Dim, Operator};

use super::build::{Converted, Made};
use super::error::Fault;
use super::importer::Importer;
use super::node::Value;

impl Importer<'_> {
    // --- Elementwise

    pub fn add(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::ADD, a, b)
    }
    pub fn sub(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::SUB, a, b)
    }
    pub fn mul(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::MUL, a, b)
    }
    pub fn div(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::DIV, a, b)
    }
    pub fn maximum(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::MAXIMUM, a, b)
    }
    pub fn minimum(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::MINIMUM, a, b)
    }
    pub fn less(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::LESS, a, b)
    }
    pub fn equal(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::EQUAL, a, b)
    }
    pub fn and(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::LOGICAL_AND, a, b)
    }
    /// condition ? x : y
    pub fn select(&mut self, condition: Value, x: Value, y: Value) -> Made {
        self.op(&ew::WHERE, &[condition, x, y], Attrs::new())
    }
    /// x + number
    pub fn add_f(&mut self, x: Value, number: f64) -> Made {
        let c = self.like(x, number)?;
        self.add(x, c)
    }
    /// x * number
    pub fn mul_f(&mut self, x: Value, number: f64) -> Made {
        let c = self.like(x, number)?;
        self.mul(x, c)
    }
    /// number - x
    pub fn f_sub(&mut self, number: f64, x: Value) -> Made {
        let c = self.like(x, number)?;
        self.sub(c, x)
    }
    /// x < number
    pub fn less_f(&mut self, x: Value, number: f64) -> Made {
        let c = self.like(x, number)?;
        self.less(x, c)
    }
    /// x == number
    pub fn equal_f(&mut self, x: Value, number: f64) -> Made {
        let c = self.like(x, number)?;
        self.equal(x, c)
    }
    /// max(x, number)
    pub fn max_f(&mut self, x: Value, number: f64) -> Made {
        let c = self.like(x, number)?;
        self.maximum(x, c)
    }
    /// min(max(x, least), most)
    pub fn clip(&mut self, x: Value, least: f64, most: f64) -> Made {
        self.op(&ew::CLIP, &[x], Attrs::new().with("min", least).with("max", most))
    }
    /// Conversion of the element type; nothing when it is that already.
    pub fn cast(&mut self, x: Value, dtype: DType) -> Made {
        if self.dtype(x)? == dtype {
            return Ok(x);
        }
        match (self.dtype(x)?, dtype) {
            (from, DType::String) => {
                let x = self.cast(x, widest(from))?;
                self.un(&strings::STRING_OF, x)
            }
            (DType::String, _) => {
                let by_float = dtype.is_float() || dtype == DType::Bool;
                let wide = if by_float { DType::F64 } else { widest(dtype) };
                let x = self.op(&strings::STRING_TO_NUMBER, &[x], Attrs::new().with("dtype", wide))?;
                self.cast(x, dtype)
            }
            _ => self.op(&ew::CAST, &[x], Attrs::new().with("dtype", dtype)),
        }
    }
    /// Half floats as f32, for computations of several steps; other types as they are.
    pub fn wide(&mut self, x: Value) -> Made {
        match self.dtype(x)? {
            DType::F16 | DType::BF16 => self.cast(x, DType::F32),
            _ => Ok(x),
        }
    }

    // --- Shape

    /// The same elements under another shape, of which one extent may be -1.
    pub fn reshape(&mut self, x: Value, to: &[i64]) -> Made {
        let same = self.ty(x)?.shape().is_some_and(|s| s.iter().map(|&n| n as i64).eq(to.iter().copied()));
        if same {
            return Ok(x);
        }
        self.op(&shape::RESHAPE, &[x], Attrs::new().with("shape", to))
    }
    /// As [`Self::reshape`] to extents of which at most one is `?`.
    pub fn reshape_dims(&mut self, x: Value, to: &[Dim]) -> Made {
        let mut named = Attrs::new();
        named.set_dims("shape", to.to_vec());
        let related = shape::RESHAPE.infer(std::slice::from_ref(self.ty(x)?), &named);
        let filled = related.ok().map(|types| types[0].dims.clone()).filter(|dims| !dims.contains(&Dim::Any));
        let to = filled.as_deref().unwrap_or(to);
        if to.iter().filter(|&dim| *dim == Dim::Any).count() > 1 {
            let ty = self.ty(x)?.to_string();
            return Err(Fault::NeedsShape { input: "the operand".into(), ty });
        }
        if self.dims(x)? == to {
            return Ok(x);
        }
        let numbers: Vec<i64> = to.iter().map(|d| d.known().map_or(-1, |n| n as i64)).collect();
        let given = to.iter().all(|dim| dim.known().is_some() || *dim == Dim::Any);
        // One extent that is what is left over need not be named.
        let left_over = numbers.iter().filter(|&&n| n == -1).count() == 1 && {
            let attrs = Attrs::new().with("shape", &numbers[..]);
            let related = shape::RESHAPE.infer(std::slice::from_ref(self.ty(x)?), &attrs);
            related.is_ok_and(|types| types[0].dims == to)
        };
        if given || left_over {
            return self.reshape(x, &numbers);
        }
        self.op(&shape::RESHAPE, &[x], Attrs::new().with("shape", to.to_vec()))
    }
    /// Axis i of the result is axis axes[i] of the operand.
    pub fn transpose(&mut self, x: Value, axes: &[usize]) -> Made {
        if axes.iter().enumerate().all(|(i, &a)| i == a) {
            return Ok(x);
        }
        let axes: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
        self.op(&shape::TRANSPOSE, &[x], Attrs::new().with("axes", axes))
    }
    /// Swaps two axes.
    pub fn swap(&mut self, x: Value, a: usize, b: usize) -> Made {
        let mut axes: Vec<usize> = (0..self.rank(x)?).collect();
        axes.swap(a, b);
        self.transpose(x, &axes)
    }
    /// Inserts axes of extent 1.
    pub fn expand_dims(&mut self, x: Value, axes: &[i64]) -> Made {
        if axes.is_empty() {
            return Ok(x);
        }
        self.op(&shape::EXPAND_DIMS, &[x], Attrs::new().with("axes", axes))
    }
    /// Removes axes of extent 1.
    pub fn squeeze(&mut self, x: Value, axes: &[i64]) -> Made {
        if axes.is_empty() {
            return Ok(x);
        }
        self.op(&shape::SQUEEZE, &[x], Attrs::new().with("axes", axes))
    }
    /// A vector [C] as [C, 1, ...], to stand along axis 1 of a tensor of that rank.
    pub fn along_channels(&mut self, x: Value, rank: usize) -> Made {
        let axes: Vec<i64> = (1..rank.saturating_sub(1) as i64).collect();
        self.expand_dims(x, &axes)
    }
    /// Repeats along axes of extent 1 and new leading axes.
    pub fn broadcast_to(&mut self, x: Value, to: &[i64]) -> Made {
        if self.ty(x)?.shape().is_some_and(|s| s.iter().map(|&n| n as i64).eq(to.iter().copied())) {
            return Ok(x);
        }
        self.op(&shape::BROADCAST_TO, &[x], Attrs::new().with("shape", to))
    }
    /// As [`Self::broadcast_to`] extents that need not be known.
    pub fn broadcast_dims(&mut self, x: Value, to: &[Dim]) -> Made {
        if self.dims(x)? == to {
            return Ok(x);
        }
        let mut attrs = Attrs::new();
        attrs.set_dims("shape", to.to_vec());
        self.op(&shape::BROADCAST_TO, &[x], attrs)
    }
    /// Joins along an axis.
    pub fn concat(&mut self, parts: &[Value], axis: usize) -> Made {
        match parts {
            [one] => Ok(*one),
            _ => self.op(&shape::CONCAT, parts, Attrs::new().with("axis", axis as i64)),
        }
    }
    /// Cuts into pieces of these extents along an axis.
    pub fn split(&mut self, x: Value, sections: &[i64], axis: usize) -> Converted {
        self.call(&shape::SPLIT, &[x], Attrs::new().with("sections", sections).with("axis", axis as i64))
    }
    /// x[begin:end] along an axis.
    pub fn slice(&mut self, x: Value, axis: usize, begin: i64, end: i64) -> Made {
        let attrs = Attrs::new().with("begin", [begin]).with("end", [end]).with("axes", [axis as i64]);
        self.op(&shape::SLICE, &[x], attrs)
    }
    /// x[index] along an axis, without that axis.
    pub fn select_at(&mut self, x: Value, axis: usize, index: i64) -> Made {
        let piece = self.slice(x, axis, index, index + 1)?;
        self.squeeze(piece, &[axis as i64])
    }
    /// One extent, as a scalar of i64.
    pub fn extent_of(&mut self, x: Value, axis: usize) -> Made {
        if let Some(known) = self.dims(x)?.get(axis).and_then(Dim::known) {
            return self.ints(&[], &[known as i64]);
        }
        let all = self.un(&creation::SHAPE_OF, x)?;
        self.select_at(all, 0, axis as i64)
    }
    /// Extends by a number: all beginnings, then all ends.
    pub fn pad(&mut self, x: Value, padding: &[i64], value: f64) -> Made {
        if padding.iter().all(|&p| p == 0) {
            return Ok(x);
        }
        self.op(&shape::PAD, &[x], Attrs::new().with("padding", padding).with("value", value))
    }

    // --- Indexing, reduction, products

    /// x[.., indices, ..] at an axis.
    pub fn gather(&mut self, x: Value, indices: Value, axis: usize) -> Made {
        self.op(&indexing::GATHER, &[x, indices], Attrs::new().with("axis", axis as i64))
    }
    /// A reduction over axes.
    pub fn reduce(&mut self, op: &'static Operator, x: Value, axes: &[usize], keepdims: bool) -> Made {
        let axes: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
        if axes.is_empty() {
            return Ok(x);
        }
        self.op(op, &[x], Attrs::new().with("axes", axes).with("keepdims", keepdims))
    }
    /// Sum over axes.
    pub fn sum(&mut self, x: Value, axes: &[usize], keepdims: bool) -> Made {
        self.reduce(&reduction::REDUCE_SUM, x, axes, keepdims)
    }
    /// Mean over axes.
    pub fn mean(&mut self, x: Value, axes: &[usize], keepdims: bool) -> Made {
        self.reduce(&reduction::REDUCE_MEAN, x, axes, keepdims)
    }
    /// Matrix product of the last two axes.
    pub fn matmul(&mut self, a: Value, b: Value) -> Made {
        self.bin(&product::MATMUL, a, b)
    }
    /// Softmax along an axis.
    pub fn softmax(&mut self, x: Value, axis: usize) -> Made {
        self.op(&normalization::SOFTMAX, &[x], Attrs::new().with("axis", axis as i64))
    }
}

/// The type of numbers that are written, or read, for those of another.
fn widest(dtype: DType) -> DType {
    match dtype {
        DType::F64 | DType::U64 => dtype,
        DType::F32 | DType::F16 | DType::BF16 => DType::F32,
        _ => DType::I64,
    }
}
