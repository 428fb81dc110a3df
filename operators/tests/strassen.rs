//! A product by Strassen's algorithm gives what the product gives.

use fusion_operators::ops::contraction::MATMUL;
use fusion_operators::ops::strassen::{MATMUL_STRASSEN, STRASSEN_SUMS};
use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Operator, Tensor, TensorType};

fn numbers(shape: &[usize], seed: usize) -> Tensor {
    let n = shape.iter().product::<usize>();
    let values: Vec<f64> = (0..n).map(|i| ((i * 37 + seed * 11) % 23) as f64 / 11.0 - 1.0).collect();
    Tensor::from_f64s(DType::F32, shape, &values).unwrap()
}

/// The constraint that a call on those types violates.
fn violated(operator: &'static Operator, types: &[(DType, &[u64])]) -> u32 {
    let types: Vec<TensorType> =
        types.iter().map(|(dtype, shape)| TensorType::fixed(shape, *dtype)).collect();
    operator.infer(&types, &Attrs::new()).unwrap_err().number
}

#[test]
fn seven_products_of_quarters_give_the_product() {
    let none = Attrs::new();
    for (rows, depth, columns) in [(2, 2, 2), (4, 6, 10), (10, 4, 2), (14, 18, 6)] {
        let (x, y) = (numbers(&[rows, depth], 1), numbers(&[depth, columns], 2));
        let expected = evaluate(&MATMUL, &none, &[x.clone(), y.clone()]).unwrap();
        let sums = evaluate(&STRASSEN_SUMS, &none, &[y]).unwrap();
        assert_eq!(sums[0].shape(), [7, depth / 2, columns / 2]);
        let found = evaluate(&MATMUL_STRASSEN, &none, &[x, sums[0].clone()]).unwrap();
        assert_eq!(found[0].shape(), expected[0].shape());
        let pairs = found[0].to_f64s().into_iter().zip(expected[0].to_f64s());
        let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-5, "{rows} x {depth} x {columns}: off by {off}");
    }
}

#[test]
fn doubles_violate_c1() {
    assert_eq!(violated(&MATMUL_STRASSEN, &[(DType::F64, &[4, 4]), (DType::F64, &[7, 2, 2])]), 1);
    assert_eq!(violated(&STRASSEN_SUMS, &[(DType::F64, &[4, 4])]), 1);
}

#[test]
fn a_matrix_in_place_of_sums_violates_c2() {
    assert_eq!(violated(&MATMUL_STRASSEN, &[(DType::F32, &[4, 4]), (DType::F32, &[2, 2])]), 2);
}

#[test]
fn eight_sums_violate_c3() {
    assert_eq!(violated(&MATMUL_STRASSEN, &[(DType::F32, &[4, 4]), (DType::F32, &[8, 2, 2])]), 3);
}

#[test]
fn odd_extents_violate_c4_and_c2() {
    assert_eq!(violated(&MATMUL_STRASSEN, &[(DType::F32, &[5, 4]), (DType::F32, &[7, 2, 2])]), 4);
    assert_eq!(violated(&MATMUL_STRASSEN, &[(DType::F32, &[4, 6]), (DType::F32, &[7, 2, 2])]), 4);
    assert_eq!(violated(&STRASSEN_SUMS, &[(DType::F32, &[4, 5])]), 2);
}
