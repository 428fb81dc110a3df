//! A product by the inner-product trick gives what the product gives.

use fusion_operators::ops::contraction::MATMUL;
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::inner_product_trick::{
    CONV2D_INNER_PRODUCT_TRICK, INNER_PRODUCT_TRICK_RIGHT, LEAST, MATMUL_INNER_PRODUCT_TRICK, power, rows,
};
use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Operator, Tensor, TensorType};

fn numbers(shape: &[usize], seed: usize, scale: f64) -> Tensor {
    let n = shape.iter().product::<usize>();
    let values: Vec<f64> =
        (0..n).map(|i| scale * (((i * 37 + seed * 11) % 23) as f64 / 11.0 - 1.0)).collect();
    Tensor::from_f64s(DType::F32, shape, &values).unwrap()
}

/// The constraint that a call on those types violates.
fn violated(operator: &'static Operator, types: &[(DType, &[u64])]) -> u32 {
    let types: Vec<TensorType> =
        types.iter().map(|(dtype, shape)| TensorType::fixed(shape, *dtype)).collect();
    operator.infer(&types, &Attrs::new()).unwrap_err().number
}

/// The largest difference from the product, as a share of its largest number.
fn off(x: &Tensor, y: &Tensor) -> f64 {
    let none = Attrs::new();
    let expected = evaluate(&MATMUL, &none, &[x.clone(), y.clone()]).unwrap()[0].to_f64s();
    let right = evaluate(&INNER_PRODUCT_TRICK_RIGHT, &none, std::slice::from_ref(y)).unwrap();
    let found =
        evaluate(&MATMUL_INNER_PRODUCT_TRICK, &none, &[x.clone(), right[0].clone()]).unwrap()[0].to_f64s();
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

#[test]
fn pairs_give_the_product() {
    for (lead, rows, depth, columns) in
        [(&[][..], 3, 6, 2), (&[], 4, 1, 5), (&[2], 2, 13, 3), (&[2, 1], 5, 24, 1), (&[], 1, 35, 7)]
    {
        let x = numbers(&[lead, &[rows, depth]].concat(), 1, 1.0);
        let y = numbers(&[lead, &[depth, columns]].concat(), 2, 1.0);
        let off = off(&x, &y);
        assert!(off < 1e-6, "{lead:?} {rows} x {depth} x {columns}: off by {off}");
    }
}

#[test]
fn places_of_an_image_are_rows() {
    let none = Attrs::new();
    let (x, w) = (numbers(&[2, 20, 3, 5], 1, 1.0), numbers(&[7, 20, 1, 1], 2, 1.0));
    let expected = evaluate(&CONV2D, &none, &[x.clone(), w.clone()]).unwrap()[0].to_f64s();
    let transposed: Vec<f64> = (0..20 * 7).map(|i| w.to_f64s()[i % 7 * 20 + i / 7]).collect();
    let w = Tensor::from_f64s(DType::F32, &[20, 7], &transposed).unwrap();
    let right = evaluate(&INNER_PRODUCT_TRICK_RIGHT, &none, &[w]).unwrap().remove(0);
    let found = evaluate(&CONV2D_INNER_PRODUCT_TRICK, &none, &[x, right]).unwrap();
    assert_eq!(found[0].shape(), [2, 7, 3, 5]);
    let off = found[0].to_f64s().iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-5, "off by {off}");
}

/// Without powers of two, each number of the one side would be lost beside those of the other.
#[test]
fn sides_of_different_sizes_lose_nothing() {
    let off = off(&numbers(&[4, 30], 1, 1e12), &numbers(&[30, 4], 2, 1e-9));
    assert!(off < 1e-6, "off by {off}");
}

#[test]
fn powers_are_not_above_what_they_divide() {
    assert_eq!([1.0, 1.99, 2.0, 0.75, 5e8].map(power), [1.0, 1.0, 2.0, 0.5, f64::from(1 << 28)]);
}

#[test]
fn powers_have_bounds() {
    assert_eq!([0.0, 1e-30, 1e30, f64::INFINITY].map(power), [LEAST, LEAST, 1.0 / LEAST, 1.0 / LEAST]);
}

#[test]
fn rows_are_filled_up_and_have_two_behind() {
    assert_eq!([1, 6, 7, 64].map(rows), [8, 8, 14, 68]);
}

#[test]
fn doubles_violate_c1() {
    assert_eq!(violated(&MATMUL_INNER_PRODUCT_TRICK, &[(DType::F64, &[4, 6]), (DType::F64, &[8, 2])]), 1);
    assert_eq!(violated(&INNER_PRODUCT_TRICK_RIGHT, &[(DType::F64, &[4, 4])]), 1);
    assert_eq!(
        violated(&CONV2D_INNER_PRODUCT_TRICK, &[(DType::F64, &[1, 6, 2, 2]), (DType::F64, &[8, 2])]),
        1
    );
}

#[test]
fn other_ranks_and_leading_extents_violate_c2() {
    assert_eq!(violated(&MATMUL_INNER_PRODUCT_TRICK, &[(DType::F32, &[2, 4, 6]), (DType::F32, &[8, 2])]), 2);
    assert_eq!(
        violated(&MATMUL_INNER_PRODUCT_TRICK, &[(DType::F32, &[2, 4, 6]), (DType::F32, &[3, 8, 2])]),
        2
    );
    assert_eq!(violated(&CONV2D_INNER_PRODUCT_TRICK, &[(DType::F32, &[6, 2, 2]), (DType::F32, &[8, 2])]), 2);
}

#[test]
fn a_right_side_as_it_is_violates_c3() {
    assert_eq!(violated(&MATMUL_INNER_PRODUCT_TRICK, &[(DType::F32, &[4, 6]), (DType::F32, &[6, 2])]), 3);
    assert_eq!(
        violated(&CONV2D_INNER_PRODUCT_TRICK, &[(DType::F32, &[1, 6, 2, 2]), (DType::F32, &[6, 2])]),
        3
    );
}
