//! What lies behind the end of a sequence is the mask.

use fusion_operators::ops::sequence_mask::SEQUENCE_MASK;
use fusion_operators::{Attrs, Call, DType, Tensor, TensorType};

fn ints(shape: &[usize], values: &[f64]) -> Tensor {
    Tensor::from_f64s(DType::I32, shape, values).unwrap()
}

fn masked(x: &[Tensor], attrs: &Attrs) -> Vec<f64> {
    let types: Vec<TensorType> = x.iter().map(Tensor::tensor_type).collect();
    let results = SEQUENCE_MASK.infer(&types, attrs).unwrap();
    let call = Call { op: &SEQUENCE_MASK, operands: &types, attrs };
    (SEQUENCE_MASK.reference)(&call, &results, x).unwrap()[0].to_f64s()
}

#[test]
fn sequences_run_along_either_axis() {
    let x = Tensor::from_f64s(DType::F32, &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let along_first = masked(&[x.clone(), ints(&[2], &[1.0, 3.0])], &Attrs::new());
    assert_eq!(along_first, [1.0, 2.0, 0.0, 4.0, 0.0, 6.0]);
    let attrs = Attrs::new().with("axis", 1i64).with("mask_value", -1.0);
    assert_eq!(masked(&[x, ints(&[3], &[0.0, 1.0, 9.0])], &attrs), [-1.0, -1.0, 3.0, -1.0, 5.0, 6.0]);
}

#[test]
fn elements_of_any_type_stay_as_they_are() {
    let large = (1i64 << 53) + 1;
    let x = Tensor::from_ints(DType::I64, &[2, 1], &[large.into(); 2]).unwrap();
    let types = [x.tensor_type(), TensorType::fixed(&[1], DType::I32)];
    let attrs = Attrs::new().with("mask_value", 300.5);
    let call = Call { op: &SEQUENCE_MASK, operands: &types, attrs: &attrs };
    let y = (SEQUENCE_MASK.reference)(&call, &types[..1], &[x, ints(&[1], &[1.0])]).unwrap();
    assert_eq!(y[0].to_ints(), [large.into(), 300]);
    let narrow = Tensor::from_ints(DType::I8, &[2, 1], &[5, 6]).unwrap();
    assert_eq!(masked(&[narrow, ints(&[1], &[1.0])], &attrs), [5.0, 127.0]);
}

#[test]
fn constraints_are_named() {
    let ty = |dims: &[u64], dtype| TensorType::fixed(dims, dtype);
    let said = |data, lengths, axis: i64| {
        SEQUENCE_MASK.infer(&[data, lengths], &Attrs::new().with("axis", axis)).unwrap_err().to_string()
    };
    let (data, lengths) = (ty(&[3, 2], DType::F32), ty(&[2], DType::I32));
    assert!(said(data.clone(), lengths.clone(), 2).contains("C1: axis must be 0 or 1, found 2"));
    assert!(said(ty(&[3], DType::F32), lengths.clone(), 0).contains("C1: the data must have rank 2 or more"));
    assert!(said(data.clone(), lengths, 1).contains("C2: lengths must be integers [3]"));
    assert!(said(data, ty(&[2], DType::F32), 0).contains("C2: lengths must be integers [2]"));
}
