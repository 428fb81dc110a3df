//! Of boxes that overlap, the one with the best score stays.

use fusion_operators::ops::non_max_suppression::NON_MAX_SUPPRESSION;
use fusion_operators::{Attrs, Call, DType, Dim, Tensor, TensorType};

/// Two nearly equal boxes, one apart, and one like the first.
const BOXES: [f64; 16] = [0.0, 0.0, 2.0, 2.0, 0.0, 0.25, 2.0, 2.25, 3.0, 3.0, 4.0, 4.0, 0.0, 0.0, 2.0, 2.0];

fn f32s(shape: &[usize], values: &[f64]) -> Tensor {
    Tensor::from_f64s(DType::F32, shape, values).unwrap()
}

fn operands(scores: &[f64], most: i128, overlap: f64, least: f64) -> Vec<Tensor> {
    vec![
        f32s(&[1, 4, 4], &BOXES),
        f32s(&[1, scores.len() / 4, 4], scores),
        Tensor::from_ints(DType::I64, &[], &[most]).unwrap(),
        f32s(&[], &[overlap]),
        f32s(&[], &[least]),
    ]
}

fn chosen(x: &[Tensor], attrs: &Attrs) -> Vec<i128> {
    let types: Vec<TensorType> = x.iter().map(Tensor::tensor_type).collect();
    let results = NON_MAX_SUPPRESSION.infer(&types, attrs).unwrap();
    let call = Call { op: &NON_MAX_SUPPRESSION, operands: &types, attrs };
    (NON_MAX_SUPPRESSION.reference)(&call, &results, x).unwrap()[0].to_ints()
}

#[test]
fn the_best_of_boxes_that_overlap_stays() {
    let scores = [0.5, 0.75, 0.25, 0.5, 0.5, 0.25, 0.125, 0.5];
    let of = |most, overlap, least, attrs: &Attrs| chosen(&operands(&scores, most, overlap, least), attrs);
    let none = Attrs::new();
    assert_eq!(of(4, 0.5, 0.0, &none), [1, 2, -1, -1, 0, 2, -1, -1]);
    // As much as 7 of 9 parts are shared: of equal scores the earlier is first.
    assert_eq!(of(4, 0.875, 0.0, &none), [1, 0, 2, -1, 0, 1, 2, -1]);
    assert_eq!(of(1, 0.875, 0.0, &none), [1, -1, -1, -1, 0, -1, -1, -1]);
    assert_eq!(of(-1, 0.875, 0.0, &none), [-1; 8]);
    assert_eq!(of(4, 0.875, 0.25, &none), [1, 0, -1, -1, 0, -1, -1, -1]);
    assert_eq!(of(9, 0.5, 0.0, &Attrs::new().with("room", 1i64)), [1, 0]);
    assert_eq!(of(4, 0.5, 0.0, &Attrs::new().with("top_k", 2i64)), [1, -1, -1, -1, 0, -1, -1, -1]);
}

#[test]
fn what_is_shared_in_full_is_no_more_than_the_whole() {
    let x = operands(&[0.5, 0.75, 0.25, 0.5], 4, 1.0, 0.0);
    assert_eq!(chosen(&x, &Attrs::new()), [1, 0, 3, 2]);
    assert_eq!(chosen(&x, &Attrs::new().with("inclusive", true)), [1, 0, 2, -1]);
}

#[test]
fn groups_do_not_meet() {
    let mut x = operands(&[0.5, 0.75, 0.25, 0.5], 4, 0.5, 0.0);
    x.push(Tensor::from_ints(DType::I32, &[1, 4], &[0, 1, 0, 0]).unwrap());
    assert_eq!(chosen(&x, &Attrs::new()), [1, 0, 2, -1]);
}

#[test]
fn what_is_no_score_is_no_candidate() {
    let x = operands(&[f64::NAN, -0.0, 0.0, f64::NEG_INFINITY], 4, 0.5, f64::NEG_INFINITY);
    assert_eq!(chosen(&x, &Attrs::new()), [1, 2, -1, -1]);
}

#[test]
fn constraints_are_named() {
    let good: Vec<TensorType> = operands(&[0.0; 4], 1, 0.5, 0.0).iter().map(Tensor::tensor_type).collect();
    let said = |place: usize, ty: TensorType| {
        let mut types = good.clone();
        if place < types.len() {
            types[place] = ty
        } else {
            types.push(ty)
        }
        NON_MAX_SUPPRESSION.infer(&types, &Attrs::new()).unwrap_err().to_string()
    };
    assert!(said(0, TensorType::fixed(&[1, 4, 5], DType::F32)).contains("C1"));
    assert!(said(1, TensorType::fixed(&[1, 1, 5], DType::F32)).contains("C1"));
    assert!(said(1, TensorType::fixed(&[1, 1, 4], DType::F64)).contains("C1"));
    assert!(said(2, TensorType::fixed(&[1], DType::I64)).contains("C2"));
    assert!(said(5, TensorType::fixed(&[1, 3], DType::I32)).contains("C3"));
    let dynamic = TensorType::new(vec![Dim::Static(1), Dim::Static(2), Dim::Any], DType::F32);
    let mut types = good.clone();
    types[1] = dynamic;
    let result = NON_MAX_SUPPRESSION.infer(&types, &Attrs::new()).unwrap();
    assert_eq!(result[0].dims[2], Dim::Any);
}
