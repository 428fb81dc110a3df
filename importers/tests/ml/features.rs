//! What is done to features before a model.

use super::{close, floats, results};
use crate::common::*;
use fusion_importers::onnx::proto::AttributeProto;
use fusion_operators::Tensor;

fn f32s(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::from_slice(shape, values).unwrap()
}

fn one(op: &str, attributes: Vec<AttributeProto>, x: &Tensor) -> Tensor {
    results(op, attributes, 1, x).unwrap_or_else(|why| panic!("{op}: {why}")).remove(0)
}

#[test]
fn scaled_and_normalized() {
    let x = f32s(&[2, 2], &[1.0, 2.0, 0.0, 0.0]);
    let attributes = vec![floats("offset", &[1.0, 0.5]), floats("scale", &[2.0, 4.0])];
    close(&one("Scaler", attributes, &x), &[0.0, 6.0, -2.0, -2.0]);
    // A row of zeros stays.
    let norm =
        |name: &str| one("Normalizer", vec![text("norm", name)], &f32s(&[2, 2], &[3.0, -4.0, 0.0, 0.0]));
    close(&norm("MAX"), &[1.0, -4.0 / 3.0, 0.0, 0.0]);
    close(&norm("L1"), &[3.0 / 7.0, -4.0 / 7.0, 0.0, 0.0]);
    close(&norm("L2"), &[0.6, -0.8, 0.0, 0.0]);
}

#[test]
fn missing_numbers_are_replaced() {
    let x = f32s(&[2, 2], &[1.0, f32::NAN, f32::NAN, 0.0]);
    let nan = || float("replaced_value_float", f32::NAN);
    close(
        &one("Imputer", vec![floats("imputed_value_floats", &[5.0, 6.0]), nan()], &x),
        &[1.0, 6.0, 5.0, 0.0],
    );
    let whole = Tensor::from_slice(&[3], &[-1i64, 2, -1]).unwrap();
    let attributes = vec![ints("imputed_value_int64s", &[7]), int("replaced_value_int64", -1)];
    assert_eq!(one("Imputer", attributes, &whole).to_ints(), [7, 2, 7]);
    assert!(results("Imputer", vec![nan()], 1, &x).unwrap_err().contains("imputed_value_floats"));
}

#[test]
fn thresholds_and_categories() {
    let x = f32s(&[1, 3], &[0.2, 0.3, 0.5]);
    close(&one("Binarizer", vec![float("threshold", 0.3)], &x), &[0.0, 0.0, 1.0]);
    let whole = Tensor::from_slice(&[3], &[5i64, 1, 2]).unwrap();
    let found = one("OneHotEncoder", vec![ints("cats_int64s", &[2, 5])], &whole);
    assert_eq!(found.shape(), [3, 2]);
    close(&found, &[0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn labels_are_looked_up_also_those_that_are_no_number() {
    let whole = Tensor::from_slice(&[4], &[5i64, 1, 2, 5]).unwrap();
    let attributes = vec![
        ints("keys_int64s", &[2, 5]),
        floats("values_floats", &[0.5, 1.5]),
        float("default_float", -2.0),
    ];
    close(&one("LabelEncoder", attributes, &whole), &[1.5, -2.0, 0.5, 1.5]);
    let x = f32s(&[3], &[1.0, f32::NAN, 3.0]);
    let attributes = vec![
        floats("keys_floats", &[f32::NAN, 3.0]),
        ints("values_int64s", &[8, 9]),
        int("default_int64", 4),
    ];
    assert_eq!(one("LabelEncoder", attributes, &x).to_ints(), [4, 8, 9]);
    let short = vec![ints("keys_int64s", &[2, 5]), floats("values_floats", &[0.5])];
    assert!(results("LabelEncoder", short, 1, &whole).unwrap_err().contains("2 keys are given for 1 values"));
}
