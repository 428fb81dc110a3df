//! Attributes that sample calls have, one row for operators that take the same.

use fusion_operators::ops::attention::ATTENTION;
use fusion_operators::ops::contraction::{BATCH_MATMUL, MATMUL};
use fusion_operators::ops::convolution::{CONV1D, CONV2D, CONV3D};
use fusion_operators::ops::elementwise::{BITCAST, CAST, CLIP};
use fusion_operators::ops::indexing::{GATHER, GATHER_ELEMENTS, ONE_HOT};
use fusion_operators::ops::layout::{LAYOUT_CONV2D, LAYOUT_TRANSFORM};
use fusion_operators::ops::normalization::{LAYER_NORM, LOG_SOFTMAX, SOFTMAX};
use fusion_operators::ops::pooling::{
    AVG_POOL1D, AVG_POOL2D, AVG_POOL3D, MAX_POOL1D, MAX_POOL2D, MAX_POOL3D,
};
use fusion_operators::ops::reduction::{
    ARGMAX, ARGMIN, CUMPROD, CUMSUM, REDUCE_ALL, REDUCE_ANY, REDUCE_MAX, REDUCE_MEAN, REDUCE_MIN,
    REDUCE_PROD, REDUCE_SUM,
};
use fusion_operators::ops::shape::{
    BROADCAST_TO, CONCAT, EXPAND_DIMS, PAD, RESHAPE, RESIZE, REVERSE, SLICE, SQUEEZE, TILE, TRANSPOSE,
};
use fusion_operators::{Attrs, DType, Operator};

/// The extent of most axes of samples.
pub const EXTENT: u64 = 4;
const N: i64 = EXTENT as i64;

/// Attributes for a first operand of that many axes.
type Row = (&'static [&'static Operator], fn(i64) -> Vec<Attrs>);

static ROWS: &[Row] = &[
    (&[&TRANSPOSE], permutations),
    (&[&RESHAPE], shapes),
    (&[&BROADCAST_TO], |rank| vec![ints("shape", vec![N; rank as usize])]),
    (&[&SQUEEZE, &EXPAND_DIMS, &REVERSE], |rank| vec![ints("axes", vec![0]), ints("axes", vec![rank - 1])]),
    (&[&TILE], |rank| [1, 2].map(|times| ints("reps", vec![times; rank as usize])).to_vec()),
    (&[&PAD], |rank| {
        let mut spatial = vec![0; 2 * rank as usize];
        let none = ints("padding", spatial.clone());
        spatial.iter_mut().skip(2).take((rank - 2).max(0) as usize).for_each(|n| *n = 1);
        vec![none, ints("padding", spatial)]
    }),
    (&[&RESIZE], |rank| {
        let twice =
            |axes: i64| ints("size", (0..rank).map(|a| if a < rank - axes { N } else { 2 * N }).collect());
        let scales =
            |axes: i64| (0..rank).map(|a| if a < rank - axes { 1.0 } else { 2.0 }).collect::<Vec<f64>>();
        [1, 2].map(|axes| twice(axes).with("scales", scales(axes)).with("method", "linear")).to_vec()
    }),
    (&[&SLICE], |_| {
        [[0, N], [1, 3]].map(|[a, b]| ints("begin", vec![a]).with("end", [b]).with("axes", [0])).to_vec()
    }),
    (
        &[&REDUCE_SUM, &REDUCE_MEAN, &REDUCE_MAX, &REDUCE_MIN, &REDUCE_PROD, &REDUCE_ALL, &REDUCE_ANY],
        |rank| {
            let axes = [vec![rank - 1], (2..rank).collect(), vec![0]];
            let kept = axes.iter().map(|axes| ints("axes", axes.clone()).with("keepdims", true));
            kept.chain(axes.iter().map(|axes| ints("axes", axes.clone()))).chain([Attrs::new()]).collect()
        },
    ),
    (&[&SOFTMAX, &LOG_SOFTMAX, &ARGMAX, &ARGMIN, &CUMSUM, &CUMPROD], |_| {
        [-1i64, 0].map(|axis| Attrs::new().with("axis", axis)).to_vec()
    }),
    (&[&LAYER_NORM], |_| vec![Attrs::new().with("axis", -1i64).with("epsilon", 0.1)]),
    (&[&CAST], |_| [DType::F32, DType::I64, DType::Bool].map(|to| Attrs::new().with("dtype", to)).to_vec()),
    (&[&BITCAST], |_| [DType::I32, DType::F32].map(|to| Attrs::new().with("dtype", to)).to_vec()),
    (&[&CLIP], |_| {
        vec![Attrs::new().with("min", 0.0), Attrs::new().with("min", -0.5).with("max", 0.5), Attrs::new()]
    }),
    (&[&MATMUL, &BATCH_MATMUL], |_| {
        let flag = |name| Attrs::new().with(name, fusion_operators::Attr::Bool(true));
        vec![Attrs::new(), flag("transpose_b"), flag("transpose_a")]
    }),
    (&[&CONV1D, &CONV2D, &CONV3D], |rank| {
        let axes = (rank - 2).max(0) as usize;
        vec![Attrs::new(), ints("padding", vec![1; 2 * axes]), ints("strides", vec![2; axes])]
    }),
    (&[&LAYOUT_CONV2D], |_| {
        let last = Attrs::new().with("data_layout", "NHWC");
        vec![last.clone(), last.with("padding", [1, 1, 1, 1]), Attrs::new()]
    }),
    (&[&ATTENTION], |_| vec![Attrs::new().with("scale", 1.0)]),
    (&[&CONCAT, &GATHER, &GATHER_ELEMENTS], |_| {
        [0i64, 1].map(|axis| Attrs::new().with("axis", axis)).to_vec()
    }),
    (&[&ONE_HOT], |_| vec![Attrs::new().with("depth", N)]),
    (&[&MAX_POOL1D, &AVG_POOL1D], |_| vec![ints("kernel", vec![2])]),
    (&[&MAX_POOL2D, &AVG_POOL2D], |_| vec![ints("kernel", vec![2, 2])]),
    (&[&MAX_POOL3D, &AVG_POOL3D], |_| vec![ints("kernel", vec![2, 2, 2])]),
    (&[&LAYOUT_TRANSFORM], |_| {
        let pairs = [("NCHW", "NHWC"), ("NHWC", "NCHW"), ("NCHW", "NCHW32c"), ("NCHW32c", "NCHW")];
        pairs.map(|(from, to)| Attrs::new().with("src_layout", from).with("dst_layout", to)).to_vec()
    }),
];

/// Attributes for a call whose first operand has that many axes.
pub fn of(operator: &Operator, rank: usize) -> Vec<Attrs> {
    let row = ROWS.iter().find(|(operators, _)| operators.iter().any(|o| operator.is(o)));
    row.map_or_else(|| vec![Attrs::new()], |(_, attrs)| attrs(rank as i64))
}

fn ints(name: &str, numbers: Vec<i64>) -> Attrs {
    Attrs::new().with(name, numbers)
}

fn permutations(rank: i64) -> Vec<Attrs> {
    let identity: Vec<i64> = (0..rank).collect();
    let moved = |change: fn(&mut Vec<i64>)| {
        let mut axes = identity.clone();
        change(&mut axes);
        ints("axes", axes)
    };
    let mut all = vec![moved(|_| ())];
    if rank >= 2 {
        all.push(moved(|axes| {
            let last = axes.len() - 1;
            axes.swap(last - 1, last);
        }));
        all.push(moved(|axes| axes.swap(0, 1)));
        all.push(moved(|axes| axes.rotate_left(1)));
        all.push(moved(|axes| axes[1..].rotate_left(1)));
        all.push(moved(|axes| axes[1..].rotate_right(1)));
    }
    if rank >= 4 {
        // Heads, and pairs of extents that were taken apart.
        all.push(moved(|axes| axes.swap(1, 2)));
    }
    all
}

/// The same shape, one with an axis more where that is not too many, and fewer axes.
fn shapes(rank: i64) -> Vec<Attrs> {
    let same = vec![N; rank as usize];
    let mut all = vec![same.clone(), vec![-1], vec![-1, N]];
    if (1..super::MOST_AXES as i64).contains(&rank) {
        all.push([same.clone(), vec![1]].concat());
        all.push([vec![2, N / 2], same[1..].to_vec()].concat());
        all.push([same[..same.len() - 1].to_vec(), vec![2, N / 2]].concat());
    }
    if rank == 2 {
        all.push(vec![2, N / 2, 2, N / 2]);
    }
    all.into_iter().map(|shape| ints("shape", shape)).collect()
}
