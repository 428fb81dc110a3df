//! Scalar instructions compiled ahead of time give what their operators' reference semantics give, for each pair of element types.
//!
//! One program takes two numbers of each type and computes every instruction that fits some types; it is run on numbers at which
//! types differ: their extremes, zeros of both signs, fractions, infinities, NaN.

use super::common::*;
use fusion_bytecode::{Instruction as I, Scalar, ValueType};
use fusion_operators::{Attr, Attrs, DType, Item, Tensor, TensorType, ValueTree, ops, reference};

const NUMBERS: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.75,
    -2.5,
    127.5,
    -128.5,
    255.9,
    -32769.0,
    65536.0,
    2147483648.0,
    -4294967297.0,
    16777217.0,
    9.3e18,
    -1.9e19,
    1e-40,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// A number of a type: of an integer the nearest that there is, so that extremes are among them.
fn number_of(ty: DType, value: f64) -> Tensor {
    let saturated = |ty| Attrs::new().with("dtype", Attr::Type(ty));
    let number = Tensor::from_f64s(DType::F64, &[], &[value]).unwrap();
    reference::evaluate(&ops::elementwise::CAST, &saturated(ty), &[number]).unwrap().remove(0)
}

/// An instruction with its element types.
type Row = (Scalar, DType, DType);

/// Every instruction of all element types that fit.
fn rows() -> Vec<Row> {
    let scalars = ops::all().filter_map(Scalar::of);
    let typed = |scalar: Scalar| {
        let results = DType::NUMBERS.into_iter().flat_map(|ty| DType::NUMBERS.map(|result| (ty, result)));
        results.filter(move |(ty, result)| scalar.fits(*ty, *result)).map(move |(ty, to)| (scalar, ty, to))
    };
    scalars.flat_map(typed).collect()
}

/// The inputs are two numbers of each type in the order of [`DType::NUMBERS`].
fn inputs_of((scalar, ty, _): Row) -> Vec<u32> {
    let place = |ty: DType| 2 * DType::NUMBERS.iter().position(|other| *other == ty).unwrap() as u32;
    // A choice looks at a truth, and then at both numbers; others take as many as they want of these two.
    let numbers = [place(ty), place(ty) + 1];
    match scalar.operand_type(0, ty) == ty && scalar.arity() <= 2 {
        true => numbers[..scalar.arity()].to_vec(),
        false => [&[place(DType::Bool)], &numbers[..]].concat(),
    }
}

fn expected((scalar, _, result): Row, operands: &[Tensor]) -> Tensor {
    let mut attrs = Attrs::new();
    if scalar == Scalar::Cast {
        attrs.set("dtype", Attr::Type(result));
    }
    reference::evaluate(scalar.operator(), &attrs, operands).unwrap().remove(0)
}

#[test]
fn scalars_of_all_element_types_give_what_the_reference_says() {
    let rows = rows();
    assert!(rows.len() > 250, "{} rows", rows.len());
    let types = || DType::NUMBERS.into_iter().flat_map(|ty| [ty; 2]);
    let first = 2 * DType::NUMBERS.len() as u32;
    let result_of = |at: usize| first + at as u32;
    let mut code: Vec<I> = rows
        .iter()
        .enumerate()
        .map(|(at, &(scalar, ty, result))| I::Scalar {
            to: result_of(at),
            scalar,
            ty,
            result,
            inputs: inputs_of((scalar, ty, result)),
        })
        .collect();
    code.extend((0..first).map(|value| I::Drop { value }));
    let all = result_of(rows.len());
    code.push(I::Tuple { to: all, elements: (0..rows.len()).map(result_of).collect() });
    code.push(I::Return { value: all });
    let of = |ty: DType| ValueType::Tensor(TensorType::fixed(&[], ty));
    let inputs: Vec<(String, ValueType)> =
        types().enumerate().map(|(i, ty)| (format!("x{i}"), of(ty))).collect();
    let inputs: Vec<(&str, ValueType)> =
        inputs.iter().map(|(name, ty)| (name.as_str(), ty.clone())).collect();
    let output = ValueType::Tuple(rows.iter().map(|row| of(row.2)).collect());
    let main = fusion_bytecode::Function { registers: all + 1, ..function("main", first, code) };
    let program = native(&program(&inputs, output, vec![main]));

    for (at, &a) in NUMBERS.iter().enumerate() {
        for b in [NUMBERS[(at + 7) % NUMBERS.len()], a] {
            // Integers are divided, so that none of the divisors is zero.
            let divisor = |ty: DType| match number_of(ty, b) {
                zero if !ty.is_float() && zero.int_at(0) == 0 => number_of(ty, 1.0),
                other => other,
            };
            let given: Vec<Tensor> =
                DType::NUMBERS.into_iter().flat_map(|ty| [number_of(ty, a), divisor(ty)]).collect();
            let values: Vec<ValueTree> = given.iter().cloned().map(ValueTree::tensor).collect();
            let found = run(&program, &values);
            let found: Vec<&Tensor> = found
                .items
                .iter()
                .filter_map(|item| if let Item::Tensor(tensor) = item { Some(tensor) } else { None })
                .collect();
            assert_eq!(found.len(), rows.len());
            for (&row, found) in rows.iter().zip(found) {
                let operands: Vec<Tensor> =
                    inputs_of(row).iter().map(|&i| given[i as usize].clone()).collect();
                let wanted = expected(row, &operands);
                let nan = row.2.is_float() && wanted.f64_at(0).is_nan() && found.f64_at(0).is_nan();
                assert!(nan || wanted == *found, "{row:?} of {operands:?} is {found:?}, expected {wanted:?}");
            }
        }
    }
}
