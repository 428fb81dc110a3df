//! Matrix products with values from NumPy's `matmul`.

mod known;

use fusion_operators::ops::contraction::{BATCH_MATMUL, DENSE, MATMUL};
use fusion_operators::{Attrs, Call, DType, Dim, Tensor, TensorType};
use known::{assert_close, f32s, infer, range, result, violated};

#[test]
fn matmul_of_matrices() {
    let y = result(&MATMUL, &Attrs::new(), &[range(&[2, 3]), range(&[3, 2])]);
    assert_close(&y, &[10., 13., 28., 40.]);
}

#[test]
fn matmul_broadcasts_leading_dimensions() {
    let y = result(&MATMUL, &Attrs::new(), &[range(&[2, 1, 1, 2]), range(&[3, 2, 1])]);
    assert_eq!(y.shape(), [2, 3, 1, 1]);
    assert_close(&y, &[1., 3., 5., 3., 13., 23.]);
}

#[test]
fn matmul_transposes_each_operand() {
    let attrs = Attrs::new().with("transpose_a", true).with("transpose_b", true);
    let y = result(&MATMUL, &attrs, &[range(&[3, 2]), range(&[4, 3])]);
    assert_close(&y, &[10., 28., 46., 64., 13., 40., 67., 94.]);
}

#[test]
fn batch_matmul_repeats_a_batch_of_one() {
    let y = result(&BATCH_MATMUL, &Attrs::new(), &[range(&[1, 1, 2]), range(&[2, 2, 1])]);
    assert_close(&y, &[1., 3.]);
}

#[test]
fn dense_multiplies_with_the_weights_rows() {
    let y = result(&DENSE, &Attrs::new(), &[range(&[2, 2]), range(&[3, 2])]);
    assert_close(&y, &[1., 3., 5., 3., 13., 23.]);
}

#[test]
fn dense_takes_a_vector() {
    let y = result(&DENSE, &Attrs::new(), &[range(&[2]), range(&[3, 2])]);
    assert_eq!(y.shape(), [3]);
    assert_close(&y, &[1., 3., 5.]);
}

#[test]
fn a_sum_over_nothing_is_zero() {
    let y = result(&MATMUL, &Attrs::new(), &[range(&[2, 0]), range(&[0, 1])]);
    assert_close(&y, &[0., 0.]);
}

#[test]
fn floats_round_once_at_the_end() {
    let one = f32s(&[1, 3], [1e8, 1.0, -1e8]);
    assert_close(&result(&DENSE, &Attrs::new(), &[one, f32s(&[1, 3], [1.; 3])]), &[1.]);
}

#[test]
fn integers_wrap_at_the_end() {
    let a = Tensor::from_slice::<i8>(&[1, 2], &[100, 100]).unwrap();
    let b = Tensor::from_slice::<i8>(&[2, 1], &[1, 1]).unwrap();
    assert_eq!(result(&MATMUL, &Attrs::new(), &[a, b]).to_vec::<i8>(), Some(vec![-56]));
}

#[test]
fn the_widest_integers_wrap_too() {
    let a = Tensor::from_slice(&[1, 2], &[u64::MAX, u64::MAX]).unwrap();
    assert_eq!(result(&DENSE, &Attrs::new(), &[a.clone(), a]).to_vec::<u64>(), Some(vec![2]));
}

#[test]
fn a_symbolic_batch_passes_through() {
    let symbol = Dim::Symbol("n".into());
    let data = TensorType::new(vec![symbol.clone(), Dim::Any, Dim::Static(8)], DType::F32);
    let weight = TensorType::fixed(&[4, 8], DType::F32);
    assert_eq!(infer(&DENSE, &Attrs::new(), &[data, weight]).dims, [symbol, Dim::Any, Dim::Static(4)]);
}

#[test]
fn cost_is_two_operations_a_multiply_add() {
    let operands = [TensorType::fixed(&[7, 5, 2], DType::F32), TensorType::fixed(&[2, 3], DType::F32)];
    let attrs = Attrs::new();
    let results = MATMUL.infer(&operands, &attrs).unwrap();
    let call = Call { op: &MATMUL, operands: &operands, attrs: &attrs };
    assert_eq!((MATMUL.cost)(&call, &results), 2. * 7. * 5. * 2. * 3.);
}

#[test]
fn element_types_must_agree() {
    let operands = [TensorType::fixed(&[2, 2], DType::F32), TensorType::fixed(&[2, 2], DType::F16)];
    assert_eq!(MATMUL.infer(&operands, &Attrs::new()).unwrap_err().number, 1);
}

#[test]
fn ranks_must_be_two_or_more() {
    assert_eq!(violated(&MATMUL, &Attrs::new(), &[&[2], &[2, 2]]).0, 2);
    assert_eq!(violated(&DENSE, &Attrs::new(), &[&[], &[2, 2]]).0, 2);
}

#[test]
fn summed_extents_must_agree() {
    let (number, message) = violated(&MATMUL, &Attrs::new(), &[&[2, 3], &[4, 5]]);
    assert_eq!(number, 3);
    assert_eq!(
        message,
        "the extents summed over must agree, found 3 of tensor<2x3xf32> and 4 of tensor<4x5xf32>"
    );
    assert_eq!(violated(&DENSE, &Attrs::new(), &[&[2, 3], &[5, 4]]).0, 3);
}

#[test]
fn leading_dimensions_must_broadcast() {
    assert_eq!(violated(&MATMUL, &Attrs::new(), &[&[2, 1, 1], &[3, 1, 1]]).0, 4);
}

#[test]
fn a_batch_matmul_has_rank_three() {
    assert_eq!(violated(&BATCH_MATMUL, &Attrs::new(), &[&[2, 2], &[2, 2]]).0, 5);
}
