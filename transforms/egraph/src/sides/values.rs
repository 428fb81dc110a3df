//! Values that sample calls have: their types, and whether they are inputs, constants or numbers.

use super::super::language::{Constant, Head, Node};
use super::attributes::EXTENT;
use fusion_operators::{DType, Tensor, TensorType};
use indexmap::IndexSet;

/// Numbers that conditions ask for.
const NUMBERS: [f64; 12] = [0.0, 1.0, 0.5, 2.0, 0.25, 4.0, 0.75, 1.5, 3.0, -0.5, -1.0, -3e38];
/// Pairs of numbers that conditions ask for.
const PAIRS: [(f64, f64); 8] =
    [(1.0, 0.5), (0.5, 1.0), (1.0, 0.0), (0.0, 1.0), (1.0, -0.5), (1.0, 0.25), (1.0, 0.75), (1.0, 1.5)];
/// Three numbers that conditions ask for.
const TRIPLE: [f64; 3] = [0.5, 1.0, 0.5];
/// A value of a sample.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// It comes from outside.
    Input,
    /// It is an input that was scaled, and so has an error of rounding.
    Scaled,
    /// A constant of which nothing is known.
    Constant,
    /// An identity matrix.
    Identity,
    /// That number, however often.
    Number(f64),
}

/// Types for variables: the first with all axes, then fewer, and weights of products and convolutions.
pub fn types(rank: usize, dtype: DType) -> Vec<TensorType> {
    let weights = |kernel: u64| [vec![EXTENT; 2.min(rank)], vec![kernel; rank.saturating_sub(2)]].concat();
    let mut shapes = vec![vec![EXTENT; rank], vec![], vec![EXTENT], vec![EXTENT, EXTENT]];
    shapes.extend([weights(1), weights(3), [vec![1; rank.saturating_sub(1)], vec![EXTENT]].concat()]);
    // One number a channel.
    shapes.push([vec![EXTENT; 1.min(rank)], vec![1; rank.saturating_sub(2)]].concat());
    match rank {
        // Large enough for rules that ask what pays: an image, also with channels last, a smaller one, and weights.
        4 => shapes.extend([
            vec![1, 32, 16, 16],
            vec![32, 32, 3, 3],
            vec![1, 16, 16, 32],
            vec![1, 64, 14, 14],
            vec![128, 64, 1, 1],
        ]),
        // An image in blocks of channels.
        5 => shapes.push(vec![EXTENT, EXTENT, EXTENT, EXTENT, 32]),
        _ => {}
    }
    let shapes: IndexSet<Vec<u64>> = shapes.into_iter().filter(|shape| shape.len() <= rank).collect();
    shapes.iter().map(|shape| TensorType::fixed(shape, dtype)).collect()
}

/// An identity matrix.
pub fn identity(ty: &TensorType) -> Option<Node> {
    let rows = ty.shape().filter(|shape| shape[..] == [EXTENT; 2])?[0] as usize;
    let numbers: Vec<f64> = (0..rows * rows).map(|at| f64::from(u8::from(at / rows == at % rows))).collect();
    let constant = Constant::of(&Tensor::from_f64s(ty.dtype, &[rows, rows], &numbers).ok()?)?;
    Some(Node::leaf(Head::Constant(constant)))
}

/// Which values are inputs, and which are constants.
pub fn kinds(values: usize, with_constants: bool) -> Vec<Vec<Kind>> {
    let inputs = vec![Kind::Input; values];
    let mut all = vec![inputs.clone()];
    if !with_constants {
        return all;
    }
    let mut add = |places: &[(usize, Kind)]| {
        let mut kinds = inputs.clone();
        places.iter().for_each(|(place, kind)| kinds[*place] = *kind);
        all.push(kinds);
    };
    for first in 0..values {
        add(&[(first, Kind::Constant)]);
        add(&[(first, Kind::Identity)]);
        NUMBERS.iter().for_each(|&n| add(&[(first, Kind::Number(n))]));
        for second in first + 1..values {
            add(&[(first, Kind::Constant), (second, Kind::Constant)]);
            PAIRS.iter().for_each(|&(a, b)| add(&[(first, Kind::Number(a)), (second, Kind::Number(b))]));
            for third in second + 1..values {
                let places = [first, second, third].into_iter().zip(TRIPLE.map(Kind::Number));
                add(&places.collect::<Vec<_>>());
            }
        }
    }
    let scaled = |kinds: &Vec<Kind>| -> Vec<Kind> {
        kinds.iter().map(|kind| if *kind == Kind::Input { Kind::Scaled } else { *kind }).collect()
    };
    let with_errors: Vec<Vec<Kind>> = all.iter().map(scaled).collect();
    all.extend(with_errors);
    all
}
