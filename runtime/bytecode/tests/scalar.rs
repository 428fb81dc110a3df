//! Scalar instructions compute what their operators' reference semantics say.

use fusion_bytecode::Scalar;
use fusion_operators::{Attr, Attrs, DType, Tensor, ops, reference};

/// Bits that are worth a try in a type: zeros, ones, extremes, halves, infinities, NaN.
fn samples(ty: DType) -> Vec<u64> {
    let kept = |v: u64| if ty.size() == 8 { v } else { v & ((1 << (8 * ty.size())) - 1) };
    match ty {
        DType::Bool => vec![0, 1],
        DType::F32 => FLOATS.iter().map(|v| u64::from((*v as f32).to_bits())).collect(),
        DType::F64 => FLOATS.iter().map(|v| v.to_bits()).collect(),
        _ => {
            let most = 1u64 << (8 * ty.size() - 1);
            let near =
                [0, 1, 2, 3, 7, 100, most, most - 1, most + 1, u64::MAX, u64::MAX - 1, 0x9e37_79b9_7f4a_7c15];
            near.into_iter().map(kept).collect()
        }
    }
}

const FLOATS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    1e-40,
    3e38,
    -3e38,
    1e19,
    -1e10,
    255.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    16_777_217.0,
];

fn tensor(ty: DType, bits: u64) -> Tensor {
    Tensor::from_bytes(ty, &[], &bits.to_le_bytes()[..ty.size()]).unwrap()
}

fn agrees(scalar: Scalar, ty: DType, result: DType, x: [u64; 3]) {
    let operands: Vec<Tensor> =
        (0..scalar.arity()).map(|i| tensor(scalar.operand_type(i, ty), x[i])).collect();
    let mut attrs = Attrs::new();
    if scalar == Scalar::Cast {
        attrs.set("dtype", Attr::Type(result));
    }
    let expected = reference::evaluate(scalar.operator(), &attrs, &operands);
    match (expected, scalar.compute(ty, result, x)) {
        (Ok(expected), Ok(found)) => {
            let found = tensor(result, found);
            let nan = result.is_float() && expected[0].f64_at(0).is_nan() && found.f64_at(0).is_nan();
            assert!(
                nan || expected[0] == found,
                "{scalar:?} of {operands:?} is {found:?}, expected {expected:?}"
            );
        }
        (Err(expected), Err(found)) => {
            assert!(expected.to_string().contains(&found.to_string()), "{expected} and {found}");
        }
        (expected, found) => panic!("{scalar:?} of {operands:?}: {expected:?} and {found:?}"),
    }
}

#[test]
fn scalars_are_what_the_reference_says() {
    let mut count = 0;
    for operator in ops::all() {
        let Some(scalar) = Scalar::of(operator) else { continue };
        for ty in DType::ALL {
            for result in DType::ALL.into_iter().filter(|result| scalar.fits(ty, *result)) {
                for a in samples(scalar.operand_type(0, ty)) {
                    for b in samples(ty) {
                        agrees(scalar, ty, result, [a, b, samples(ty)[1]]);
                        count += 1;
                    }
                }
            }
        }
    }
    assert!(count > 10_000, "{count} samples");
}

#[test]
fn names_lead_back_to_instructions() {
    for operator in ops::all() {
        if let Some(scalar) = Scalar::of(operator) {
            assert_eq!(Scalar::named(operator.name), Some(scalar));
        }
    }
    assert_eq!(Scalar::of(&ops::normalization::SOFTMAX), None);
}
