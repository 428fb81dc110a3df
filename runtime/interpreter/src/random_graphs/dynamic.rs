//! Random graphs on tensors of dynamic extents: named extents of the inputs, and expressions of them behind.
//!
//! ```text
//!   seed -> inputs of extents n, m and numbers -> 3 to 9 operations that move, join, cut, sum and reshape
//!
//!   %x: tensor<nx6xm>   %v1 = concat %x, %x (axis 0): tensor<2nx6xm>   %v2 = reshape %v1 to [2n*m, 6]   ...
//! ```
//! One graph is run at several sizes; [`Graph::run`] says what it gives, or that it must fail there.

use super::numbers::below;
use super::{Graph, Place, Step};
use fusion_operators::ops::{
    contraction, convolution, creation, elementwise, indexing, named, normalization, pooling, reduction,
    shape,
};
use fusion_operators::random::Random;
use fusion_operators::{Attrs, DType, Dim, Tensor, TensorType};

/// An extent of the inputs that is known.
const CHANNELS: u64 = 6;

struct Writer {
    graph: Graph,
    random: Random,
}

/// The graph of a seed. All its inputs are of f32.
pub fn dynamic_graph(seed: u64) -> Graph {
    let mut writer = Writer { graph: Graph::new(DType::F32), random: Random::new(seed) };
    let extent = |name: &str| Dim::Symbol(name.to_owned());
    let types = [
        vec![extent("n"), Dim::Static(CHANNELS), extent("m")],
        vec![extent("m"), extent("n")],
        vec![extent("n"), Dim::Static(CHANNELS), extent("m")],
    ];
    for (number, dims) in types.into_iter().enumerate() {
        writer.graph.push(Step::Input(number), TensorType::new(dims, DType::F32));
    }
    for _ in 0..3 + writer.below(7) {
        // An operation that does not take what was chosen is no step.
        for _ in 0..8 {
            if writer.operation().is_some() {
                break;
            }
        }
    }
    let last = writer.graph.steps.len() - 1;
    let other = last.saturating_sub(1 + writer.below(2));
    writer.graph.results = vec![last, other];
    writer.graph.results.dedup();
    live(writer.graph)
}

/// The graph without steps that no result needs: compilers leave out what these would fail at.
pub fn live(graph: Graph) -> Graph {
    let mut needed = vec![false; graph.steps.len()];
    for place in (0..graph.steps.len()).rev() {
        needed[place] |= graph.results.contains(&place) || matches!(graph.steps[place], Step::Input(_));
        if let (true, Step::Call { operands, .. }) = (needed[place], &graph.steps[place]) {
            operands.iter().for_each(|&operand| needed[operand] = true);
        }
    }
    let mut kept = Graph::new(graph.dtype);
    let mut places = vec![0; graph.steps.len()];
    for (place, (mut step, ty)) in graph.steps.into_iter().zip(graph.types).enumerate() {
        if needed[place] {
            if let Step::Call { operands, .. } = &mut step {
                operands.iter_mut().for_each(|operand| *operand = places[*operand]);
            }
            places[place] = kept.push(step, ty);
        }
    }
    kept.results = graph.results.into_iter().map(|place| places[place]).collect();
    kept
}

/// Inputs of a graph whose named extents are these numbers: small whole numbers and halves, so that sums of few are exact.
pub fn dynamic_inputs(graph: &Graph, extents: &[(&str, u64)], seed: u64) -> Vec<Tensor> {
    let mut random = Random::new(seed);
    let of = |name: &str| extents.iter().find(|(own, _)| *own == name).map(|(_, n)| Dim::Static(*n));
    let tensor = |ty: TensorType| {
        let shape: Vec<usize> =
            ty.dims.iter().map(|d| d.replace(&of).known().unwrap_or(0) as usize).collect();
        let values: Vec<f64> =
            (0..shape.iter().product()).map(|_| below(&mut random, 33) as f64 / 4.0 - 4.0).collect();
        Tensor::from_f64s(ty.dtype, &shape, &values)
    };
    graph.inputs().into_iter().map(tensor).filter_map(Result::ok).collect()
}

impl Writer {
    fn below(&mut self, n: usize) -> usize {
        below(&mut self.random, n)
    }

    fn value(&mut self) -> Place {
        // What was made last is used most.
        let count = self.graph.steps.len();
        match self.below(3) {
            0 => self.below(count),
            _ => count - 1 - self.below(count.min(3)),
        }
    }

    fn dims(&self, place: Place) -> Vec<Dim> {
        self.graph.types[place].dims.clone()
    }

    fn axis(&mut self, place: Place) -> Option<usize> {
        let rank = self.graph.types[place].rank();
        (rank > 0).then(|| self.below(rank))
    }

    fn operation(&mut self) -> Option<Place> {
        let x = self.value();
        let dims = self.dims(x);
        let int = |axis: usize| axis as i64;
        match self.below(18) {
            0 => {
                let name = ["relu", "tanh", "abs", "neg", "sigmoid"][self.below(5)];
                self.graph.call(named(name)?, Attrs::new(), &[x])
            }
            1 | 2 => {
                let fits = |graph: &Graph, y: &Place| graph.types[*y].dims == dims;
                let others: Vec<Place> =
                    (0..self.graph.steps.len()).filter(|y| fits(&self.graph, y)).collect();
                let y = others[self.below(others.len())];
                let op = [&elementwise::ADD, &elementwise::MUL, &elementwise::SUB, &elementwise::MAXIMUM]
                    [self.below(4)];
                self.graph.call(op, Attrs::new(), &[x, y])
            }
            3 => {
                let op =
                    [&reduction::REDUCE_SUM, &reduction::REDUCE_MAX, &reduction::REDUCE_MEAN][self.below(3)];
                let axis = self.axis(x)?;
                let attrs = Attrs::new().with("axes", [int(axis)]).with("keepdims", true);
                let sum = self.graph.call(op, attrs, &[x])?;
                self.graph.call(&elementwise::SUB, Attrs::new(), &[x, sum])
            }
            4 => {
                let axis = self.axis(x)?;
                self.graph.call(&normalization::SOFTMAX, Attrs::new().with("axis", int(axis)), &[x])
            }
            5 => {
                let mut axes: Vec<i64> = (0..dims.len() as i64).collect();
                let (a, b) = (self.axis(x)?, self.axis(x)?);
                axes.swap(a, b);
                self.graph.call(&shape::TRANSPOSE, Attrs::new().with("axes", axes), &[x])
            }
            6 => {
                let (y, axis) = (self.value(), self.axis(x)?);
                self.graph.call(&shape::CONCAT, Attrs::new().with("axis", int(axis)), &[x, y])
            }
            7 => {
                let axis = self.axis(x)?;
                let begin = [0, 1, -2, -3][self.below(4)];
                let end = [i64::MAX, -1, 3, 5][self.below(4)];
                let stride = 1 + self.below(2) as i64;
                let attrs = Attrs::new().with("begin", [begin]).with("end", [end]).with("axes", [int(axis)]);
                self.graph.call(&shape::SLICE, attrs.with("strides", [stride]), &[x])
            }
            8 => {
                let mut padding = vec![0; 2 * dims.len()];
                let axis = self.axis(x)?;
                padding[axis] = self.below(3) as i64;
                padding[dims.len() + axis] = self.below(3) as i64;
                let mode = ["constant", "edge", "reflect"][self.below(3)];
                self.graph.call(&shape::PAD, Attrs::new().with("padding", padding).with("mode", mode), &[x])
            }
            9 => {
                // Two axes become one.
                let first = self.below(dims.len().checked_sub(1).filter(|&n| n > 0)?);
                let mut to = dims.clone();
                let second = to.remove(first + 1);
                to[first] = to[first].times(&second);
                self.reshape(x, to)
            }
            10 => {
                // The shape of any other with as many elements.
                let all = Dim::product(&dims);
                let fits = |graph: &Graph, y: usize| Dim::product(&graph.types[y].dims) == all;
                let others: Vec<Place> =
                    (0..self.graph.steps.len()).filter(|&y| fits(&self.graph, y)).collect();
                let other = others[self.below(others.len())];
                let to = self.dims(other);
                self.reshape(x, to)
            }
            11 => {
                let axis = self.axis(x)?;
                let mut attrs = Attrs::new().with("dtype", DType::F32);
                attrs.set_dim("size", dims[axis].clone());
                let places = self.graph.call(&creation::ARANGE, attrs, &[])?;
                let behind: Vec<i64> = (1..(dims.len() - axis) as i64).collect();
                let places = match behind.is_empty() {
                    true => places,
                    false => {
                        self.graph.call(&shape::EXPAND_DIMS, Attrs::new().with("axes", behind), &[places])?
                    }
                };
                self.graph.call(&elementwise::ADD, Attrs::new(), &[x, places])
            }
            12 => {
                let mut reps = vec![1; dims.len()];
                let axis = self.axis(x)?;
                reps[axis] = 1 + self.below(3) as i64;
                self.graph.call(&shape::TILE, Attrs::new().with("reps", reps), &[x])
            }
            13 => {
                let axis = self.axis(x)?;
                let attrs = Attrs::new().with("axes", [int(axis)]).with("keepdims", true);
                let sum = self.graph.call(&reduction::REDUCE_SUM, attrs, &[x])?;
                let mut attrs = Attrs::new();
                attrs.set_dims("shape", dims);
                self.graph.call(&shape::BROADCAST_TO, attrs, &[sum])
            }
            14 => {
                let to = [dims.get(2)?.times(&Dim::Static(2)), Dim::Symbol("m".to_owned()), Dim::Static(9)];
                let size = [dims[0].clone(), dims[1].clone(), to[self.below(3)].clone()];
                let mut attrs = Attrs::new();
                attrs.set_dims("size", size.to_vec());
                let method = ["nearest", "linear"][self.below(2)];
                let coordinates = ["half_pixel", "asymmetric"][self.below(2)];
                self.graph.call(
                    &shape::RESIZE,
                    attrs.with("method", method).with("coordinates", coordinates),
                    &[x],
                )
            }
            15 => self.window(x),
            16 => self.counted(x),
            _ => {
                let y = self.value();
                let (a, b) = (self.below(2) == 0, self.below(2) == 0);
                let attrs = Attrs::new().with("transpose_a", a).with("transpose_b", b);
                self.graph.call(&contraction::MATMUL, attrs, &[x, y])
            }
        }
    }

    /// The first elements along an axis: as many as an input has that are above 0, if there are so many. Inputs are exact.
    fn counted(&mut self, x: Place) -> Option<Place> {
        let (axis, input) = (self.axis(x)?, self.below(3));
        let call =
            |writer: &mut Self, op, attrs: Attrs, operands: &[Place]| writer.graph.call(op, attrs, operands);
        let zero = self.graph.push(
            Step::Constant(Tensor::from_slice(&[], &[0f32]).ok()?),
            TensorType::new(vec![], DType::F32),
        );
        let above = call(self, &elementwise::GREATER, Attrs::new(), &[input, zero])?;
        let ones = call(self, &elementwise::CAST, Attrs::new().with("dtype", DType::I64), &[above])?;
        let axes: Vec<i64> = (0..self.graph.types[input].rank() as i64).collect();
        let count = call(self, &reduction::REDUCE_SUM, Attrs::new().with("axes", axes), &[ones])?;
        let extents = call(self, &creation::SHAPE_OF, Attrs::new(), &[x])?;
        let at =
            Attrs::new().with("begin", [axis as i64]).with("end", [axis as i64 + 1]).with("axes", [0i64]);
        let extent = call(self, &shape::SLICE, at, &[extents])?;
        let extent = call(self, &shape::SQUEEZE, Attrs::new().with("axes", [0i64]), &[extent])?;
        let count = call(self, &elementwise::MINIMUM, Attrs::new(), &[count, extent])?;
        let places = call(self, &creation::DYNAMIC_IOTA, Attrs::new(), &[count])?;
        call(self, &indexing::GATHER, Attrs::new().with("axis", axis as i64), &[x, places])
    }

    /// Windows that slide over the last axis, behind one of channels.
    fn window(&mut self, x: Place) -> Option<Place> {
        let stride = 1 + self.below(3) as i64;
        let padding = [self.below(2) as i64, self.below(2) as i64];
        let attrs = Attrs::new().with("strides", [stride]).with("padding", padding);
        match self.below(4) {
            kind @ (0 | 1) => {
                let op = [&pooling::MAX_POOL1D, &pooling::AVG_POOL1D][kind];
                let (counted, ceil) = (kind == 1 && self.below(2) == 0, self.below(2) == 0);
                let attrs = attrs.with("kernel", [2 + self.below(2) as i64]);
                let attrs = attrs.with("count_include_pad", counted).with("ceil_mode", ceil);
                self.graph.call(op, attrs, &[x])
            }
            2 => {
                let weight = self.weight(&[4, CHANNELS as usize, 3])?;
                self.graph.call(&convolution::CONV1D, attrs, &[x, weight])
            }
            _ => {
                let taps = 2 + self.below(2);
                let weight = self.weight(&[CHANNELS as usize, 3, taps])?;
                let attrs = attrs.with("dilation", [1 + self.below(2) as i64]);
                self.graph.call(&convolution::CONV1D_TRANSPOSE, attrs, &[x, weight])
            }
        }
    }

    fn reshape(&mut self, x: Place, to: Vec<Dim>) -> Option<Place> {
        let mut attrs = Attrs::new();
        attrs.set_dims("shape", to);
        self.graph.call(&shape::RESHAPE, attrs, &[x])
    }

    fn weight(&mut self, shape: &[usize]) -> Option<Place> {
        let values: Vec<f64> =
            (0..shape.iter().product()).map(|_| self.below(9) as f64 / 4.0 - 1.0).collect();
        let tensor = Tensor::from_f64s(DType::F32, shape, &values).ok()?;
        let ty = tensor.tensor_type();
        Some(self.graph.push(Step::Constant(tensor), ty))
    }
}
