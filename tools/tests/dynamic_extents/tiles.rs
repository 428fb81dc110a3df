//! Random programs of what is computed in tiles: convolutions of images of any size with what follows them, and operators of rows.
//!
//!     FUSION_SEED=1000 FUSION_FUZZ_CASES=500 cargo test -p fusion-tools --test tools dynamic_extents::tiles

use super::graphs::{fault, none_wrong};
use fusion_interpreter::random_graphs::{Graph, Place, Step, dynamic_inputs, live};
use fusion_operators::ops::{
    contraction, convolution, elementwise, normalization, pooling, reduction, shape,
};
use fusion_operators::random::Random;
use fusion_operators::{Attrs, DType, Dim, Operator, Tensor, TensorType};

struct Writer {
    graph: Graph,
    random: Random,
}

impl Writer {
    fn new(seed: u64, dtype: DType) -> Writer {
        Writer { graph: Graph::new(dtype), random: Random::new(seed) }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random.next_u64() % n.max(1)
    }

    fn among<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }

    fn input(&mut self, number: usize, dims: Vec<Dim>) -> Place {
        let ty = TensorType::new(dims, self.graph.dtype);
        self.graph.push(Step::Input(number), ty)
    }

    /// Weights, of which many are the same.
    fn weight(&mut self, dims: &[u64]) -> Place {
        let shape: Vec<usize> = dims.iter().map(|&n| n as usize).collect();
        let values: Vec<f64> =
            (0..shape.iter().product()).map(|_| self.below(9) as f64 / 16.0 - 0.25).collect();
        let tensor = Tensor::from_f64s(self.graph.dtype, &shape, &values).unwrap();
        let ty = tensor.tensor_type();
        self.graph.push(Step::Constant(tensor), ty)
    }

    fn call(&mut self, op: &'static Operator, attrs: Attrs, operands: &[Place]) -> Option<Place> {
        self.graph.call(op, attrs, operands)
    }

    fn dims(&self, x: Place) -> Vec<Dim> {
        self.graph.types[x].dims.clone()
    }

    fn unary(&mut self, x: Place) -> Option<Place> {
        let op =
            self.among(&[&elementwise::RELU, &elementwise::TANH, &elementwise::SIGMOID, &elementwise::ABS]);
        self.call(op, Attrs::new(), &[x])
    }

    fn binary(&mut self, a: Place, b: Place) -> Option<Place> {
        let op =
            self.among(&[&elementwise::ADD, &elementwise::MUL, &elementwise::SUB, &elementwise::MAXIMUM]);
        let (a, b) = if self.below(2) == 0 { (a, b) } else { (b, a) };
        self.call(op, Attrs::new(), &[a, b])
    }
}

fn name(text: &str) -> Dim {
    Dim::Symbol(text.to_owned())
}

/// One or two convolutions over one to three axes, with operators behind them.
fn images(seed: u64) -> Graph {
    let mut w = Writer::new(seed, DType::F32);
    let rank = w.among(&[1, 2, 2, 2, 2, 3]) as usize;
    let groups = w.among(&[1, 1, 1, 2, 3]);
    let mut channels = groups * (1 + w.below(4));
    let batch = w.among(&[name("n"), name("n"), Dim::Static(1), Dim::Static(2)]);
    let mut dims = vec![batch, Dim::Static(channels)];
    let spatial = [name("h"), name("w"), name("h"), Dim::Static(7)];
    dims.push(name("h"));
    dims.extend((1..rank).map(|_| w.among(&spatial)));
    let mut x = w.input(0, dims.clone());
    for _ in 0..1 + w.below(2) {
        x = convolution(&mut w, x, rank, (groups, channels)).unwrap_or(x);
        channels = w.dims(x)[1].known().unwrap();
        for _ in 0..w.below(4) {
            x = behind(&mut w, x, rank).unwrap_or(x);
        }
        if w.below(4) == 0 {
            let op = [&pooling::MAX_POOL1D, &pooling::MAX_POOL2D, &pooling::MAX_POOL3D][rank - 1];
            let attrs = Attrs::new().with("kernel", vec![2; rank]).with("strides", vec![2; rank]);
            x = w.call(op, attrs, &[x]).unwrap_or(x);
        }
        if !channels.is_multiple_of(groups) {
            break;
        }
    }
    w.graph.results = vec![x];
    live(w.graph)
}

fn convolution(w: &mut Writer, x: Place, rank: usize, (groups, channels): (u64, u64)) -> Option<Place> {
    let op = [&convolution::CONV1D, &convolution::CONV2D, &convolution::CONV3D][rank - 1];
    let groups = if channels.is_multiple_of(groups) { groups } else { 1 };
    let filters = groups * (1 + w.below(6));
    let kernel: Vec<u64> = (0..rank).map(|_| w.among(&[1, 2, 3, 3, 5])).collect();
    let of = |w: &mut Writer, count: usize, all: &[i64]| -> Vec<i64> {
        (0..count).map(|_| w.among(all)).collect()
    };
    let attrs = Attrs::new()
        .with("strides", of(w, rank, &[1, 1, 1, 2, 3]))
        .with("dilation", of(w, rank, &[1, 1, 2]))
        .with("padding", of(w, 2 * rank, &[0, 1, 1, 2, 3]))
        .with("groups", groups as i64);
    // Some need the same place alone.
    let (kernel, attrs) = match w.below(4) {
        0 => (vec![1; rank], Attrs::new().with("groups", groups as i64)),
        _ => (kernel, attrs),
    };
    let weight = w.weight(&[&[filters, channels / groups], &kernel[..]].concat());
    w.call(op, attrs, &[x, weight])
}

/// An operator behind a convolution.
fn behind(w: &mut Writer, x: Place, rank: usize) -> Option<Place> {
    let channels = w.dims(x)[1].known()?;
    match w.below(5) {
        0 => {
            let bias = w.weight(&[&[channels], &vec![1; rank][..]].concat());
            w.binary(x, bias)
        }
        1 => {
            // A value of the same extents, or one that broadcasts along some.
            let earlier = w.below(x as u64) as Place;
            w.binary(x, earlier)
        }
        2 => {
            let scalar = w.weight(&[]);
            w.binary(x, scalar)
        }
        _ => w.unary(x),
    }
}

/// Operators of rows, and some that need other rows.
fn rows(seed: u64) -> Graph {
    let dtype = if seed % 5 == 4 { DType::F64 } else { DType::F32 };
    let mut w = Writer::new(seed, dtype);
    let leading = [
        vec![name("n")],
        vec![name("n"), name("m")],
        vec![Dim::Static(1), name("n")],
        vec![name("m"), Dim::Static(3), name("n")],
    ];
    let leading = w.among(&leading);
    let width = w.among(&[1, 4, 8, 16, 24]);
    let first = w.input(0, [leading.clone(), vec![Dim::Static(width)]].concat());
    let mut values = vec![first];
    for _ in 0..3 + w.below(8) {
        // What was made last is used most.
        let x = if w.below(3) == 0 { w.among(&values) } else { values[values.len() - 1] };
        if let Some(made) = row_operator(&mut w, x, &values, leading.len()) {
            values.push(made);
        }
    }
    let other = w.among(&values);
    w.graph.results = vec![values[values.len() - 1], other];
    w.graph.results.dedup();
    live(w.graph)
}

fn row_operator(w: &mut Writer, x: Place, values: &[Place], leading: usize) -> Option<Place> {
    let dims = w.dims(x);
    let last = dims.last()?.known()?;
    match w.below(13) {
        0..=2 => {
            let features = w.among(&[1, 4, 8, 16, 32]);
            let weight = w.weight(&[features, last]);
            w.call(&contraction::DENSE, Attrs::new(), &[x, weight])
        }
        3 => {
            let features = w.among(&[4, 16]);
            let weight = w.weight(&[last, features]);
            w.call(&contraction::MATMUL, Attrs::new(), &[x, weight])
        }
        4 => {
            let bias = w.weight(&[last]);
            w.binary(x, bias)
        }
        5 | 6 => {
            let y = w.among(values);
            w.binary(x, y)
        }
        7 => {
            // Along the elements of a row, or across rows.
            let axis = w.among(&[-1, -1, 0]);
            w.call(&normalization::SOFTMAX, Attrs::new().with("axis", axis), &[x])
        }
        8 => {
            let (gamma, beta) = (w.weight(&[last]), w.weight(&[last]));
            w.call(&normalization::LAYER_NORM, Attrs::new().with("axis", -1), &[x, gamma, beta])
        }
        9 => {
            let axis = if w.below(3) == 0 { 0 } else { dims.len() as i64 - 1 };
            let attrs = Attrs::new().with("axes", [axis]).with("keepdims", true);
            w.call(&reduction::REDUCE_SUM, attrs, &[x])
        }
        10 => {
            let (a, b) = if last % 4 == 0 { (4, last / 4) } else { (1, last) };
            let mut attrs = Attrs::new();
            attrs.set_dims("shape", [&dims[..dims.len() - 1], &[Dim::Static(a), Dim::Static(b)]].concat());
            w.call(&shape::RESHAPE, attrs, &[x])
        }
        11 => {
            let mut attrs = Attrs::new();
            let rows = Dim::product(dims.get(..leading)?);
            attrs.set_dims("shape", [&[rows], &dims[leading..]].concat());
            w.call(&shape::RESHAPE, attrs, &[x])
        }
        _ => w.unary(x),
    }
}

#[test]
fn images_are_computed_in_tiles() {
    let sizes = [(1, 1, 1), (1, 8, 8), (2, 17, 5), (3, 3, 40), (1, 33, 16)];
    none_wrong(40, |seed| {
        let graph = images(seed);
        let case =
            |(n, h, w): (u64, u64, u64)| dynamic_inputs(&graph, &[("n", n), ("h", h), ("w", w)], seed ^ h);
        fault(&graph, &sizes.map(case))
    });
}

#[test]
fn rows_are_computed_in_tiles() {
    let sizes = [(1, 1), (3, 2), (64, 1), (17, 15), (0, 4), (2, 130)];
    none_wrong(40, |seed| {
        let graph = rows(seed);
        let case = |(n, m): (u64, u64)| dynamic_inputs(&graph, &[("n", n), ("m", m)], seed ^ n);
        fault(&graph, &sizes.map(case))
    });
}
