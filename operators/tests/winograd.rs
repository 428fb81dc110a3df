//! Winograd's form gives what the convolution gives.

use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::winograd::{WINOGRAD_CONV2D, transform, transform_weight};
use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Tensor};

fn numbers(shape: &[usize], seed: usize) -> Tensor {
    let n = shape.iter().product::<usize>();
    let values: Vec<f64> = (0..n).map(|i| ((i * 37 + seed * 11) % 23) as f64 / 11.0 - 1.0).collect();
    Tensor::from_f64s(DType::F32, shape, &values).unwrap()
}

#[test]
fn tiles_of_both_sizes_give_the_convolution() {
    let (x, w) = (numbers(&[2, 3, 9, 7], 1), numbers(&[4, 3, 3, 3], 2));
    for (tile, padding) in [(2, [1, 1, 1, 1]), (4, [1, 1, 1, 1]), (4, [0, 2, 1, 0]), (2, [0, 0, 0, 0])] {
        let attrs = Attrs::new().with("padding", padding);
        let expected = evaluate(&CONV2D, &attrs, &[x.clone(), w.clone()]).unwrap();
        let u = transform_weight(&w, transform(tile).unwrap()).unwrap();
        let found = evaluate(&WINOGRAD_CONV2D, &attrs.with("tile", tile), &[x.clone(), u]).unwrap();
        assert_eq!(found[0].shape(), expected[0].shape());
        let off = found[0]
            .to_f64s()
            .iter()
            .zip(expected[0].to_f64s())
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(off < 1e-5, "tile {tile}, padding {padding:?}: off by {off}");
    }
}

#[test]
fn a_tile_of_three_violates_c3() {
    let types = [numbers(&[1, 3, 9, 7], 1).tensor_type(), numbers(&[25, 3, 4], 1).tensor_type()];
    assert_eq!(WINOGRAD_CONV2D.infer(&types, &Attrs::new().with("tile", 3)).unwrap_err().number, 3);
}

#[test]
fn padding_that_leaves_no_result_violates_c5() {
    let types = [numbers(&[1, 3, 2, 7], 1).tensor_type(), numbers(&[16, 3, 4], 1).tensor_type()];
    assert_eq!(WINOGRAD_CONV2D.infer(&types, &Attrs::new().with("tile", 2)).unwrap_err().number, 5);
}
