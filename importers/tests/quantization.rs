//! Quantized operators on values where one more or one less rounding, or another order of them, gives another integer.

use crate::common::*;
use fusion_importers::onnx::Options;
use fusion_importers::onnx::proto::{AttributeProto, ModelProto, TensorProto};
use fusion_operators::{DType, Tensor};

const F32: i32 = 1;
const U8: i32 = 2;
const I8: i32 = 3;
const F16: i32 = 10;

fn constant(name: &str, element: i32, dims: &[i64], values: &[f64]) -> TensorProto {
    let mut tensor =
        TensorProto { name: name.into(), dims: dims.to_vec(), data_type: element, ..Default::default() };
    match element {
        F32 => tensor.float_data = values.iter().map(|&v| v as f32).collect(),
        F16 => {
            let bits = Tensor::from_f64s(DType::F16, &[values.len()], values).unwrap();
            tensor.raw_data = Some(bits.bytes().to_vec().into());
        }
        _ => tensor.int32_data = values.iter().map(|&v| v as i32).collect(),
    }
    tensor
}

/// The first result of one node of operator set 23, over x and constants.
fn apply(
    op: &str,
    x: (i32, &Tensor),
    constants: Vec<TensorProto>,
    attributes: Vec<AttributeProto>,
) -> Result<Vec<f64>, String> {
    let names: Vec<String> = constants.iter().map(|c| c.name.clone()).collect();
    let operands: Vec<&str> = ["x"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let dims: Vec<String> = x.1.shape().iter().map(usize::to_string).collect();
    let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
    let node = node(op, &operands, &["y"], attributes);
    let mut graph = graph(vec![node], vec![input("x", x.0, &dims)], &["y"]);
    graph.initializer = constants;
    let model = ModelProto { opset_import: vec![opset("", 23)], ..model(graph) };
    let results = run(model, &Options::default(), std::slice::from_ref(x.1)).map_err(|e| e.to_string())?;
    Ok(results[0].to_f64s())
}

fn f32s(values: &[f32]) -> Tensor {
    Tensor::from_slice(&[values.len()], values).unwrap()
}

#[test]
fn ties_go_to_the_even_integer_before_the_zero_point_is_added() {
    let x = f32s(&[0.5, 1.5, 2.5, -0.5, -1.5, 1e9, -1e9]);
    let given = vec![constant("s", F32, &[], &[1.0]), constant("z", U8, &[], &[3.0])];
    let found = apply("QuantizeLinear", (F32, &x), given, vec![]);
    assert_eq!(found.unwrap(), [3.0, 5.0, 5.0, 3.0, 1.0, 255.0, 0.0]);
}

#[test]
fn quotients_are_of_the_numbers_not_of_a_reciprocal() {
    let scale = 0.0123f32;
    let x: Vec<f32> = (0..120).map(|n| (n as f32 + 0.5) * scale).collect();
    let expected: Vec<f64> = x.iter().map(|&x| (x / scale).round_ties_even().into()).collect();
    let otherwise: Vec<f64> = x.iter().map(|&x| (x * (1.0 / scale)).round_ties_even().into()).collect();
    assert_ne!(expected, otherwise);
    let given = vec![constant("s", F32, &[], &[scale.into()]), constant("z", U8, &[], &[0.0])];
    assert_eq!(apply("QuantizeLinear", (F32, &f32s(&x)), given, vec![]).unwrap(), expected);
}

#[test]
fn the_quotient_has_the_type_of_the_scale_or_that_of_the_precision() {
    // 2049 is between two numbers of f16, 2048 and 2050.
    let x = f32s(&[2049.0 / 16.0]);
    let given = || vec![constant("s", F16, &[], &[1.0 / 16.0]), constant("z", 4, &[], &[0.0])];
    assert_eq!(apply("QuantizeLinear", (F32, &x), given(), vec![]).unwrap(), [2048.0]);
    let precise = vec![int("precision", F32.into())];
    assert_eq!(apply("QuantizeLinear", (F32, &x), given(), precise).unwrap(), [2049.0]);
    let said = apply("QuantizeLinear", (F32, &x), given(), vec![int("precision", 6)]).unwrap_err();
    assert!(said.contains("give a scale, or an attribute precision, that is one"), "{said}");
}

#[test]
fn scales_are_put_together_before_the_sum_is_scaled() {
    let (a_scale, b_scale, y_scale) = (0.05f32, 0.01f32, 0.1f32);
    let sums: Vec<i32> = (-127..128).map(|b| 100 * b).collect();
    let scaled = |sum: i32| (sum as f32 * (a_scale * b_scale / y_scale)).round_ties_even();
    let apart = |sum: i32| (sum as f32 * (a_scale * b_scale) / y_scale).round_ties_even();
    assert!(sums.iter().any(|&sum| scaled(sum) != apart(sum)));
    let expected: Vec<f64> = sums.iter().map(|&sum| (scaled(sum) + 128.0).clamp(0.0, 255.0).into()).collect();
    let x = Tensor::from_slice(&[1, 1], &[100u8]).unwrap();
    let weights: Vec<f64> = (-127..128).map(f64::from).collect();
    let number = |name: &str, element: i32, value: f64| constant(name, element, &[], &[value]);
    let given = |weight: TensorProto| {
        vec![
            number("as", F32, a_scale.into()),
            number("az", U8, 0.0),
            weight,
            number("bs", F32, b_scale.into()),
            number("bz", I8, 0.0),
            number("ys", F32, y_scale.into()),
            number("yz", U8, 128.0),
        ]
    };
    let found = apply("QLinearMatMul", (U8, &x), given(constant("b", I8, &[1, 255], &weights)), vec![]);
    assert_eq!(found.unwrap(), expected);
    let image = Tensor::from_slice(&[1, 1, 1, 1], &[100u8]).unwrap();
    let filters = constant("b", I8, &[255, 1, 1, 1], &weights);
    assert_eq!(apply("QLinearConv", (U8, &image), given(filters), vec![]).unwrap(), expected);
}

#[test]
fn zeros_alone_have_a_scale_that_can_be_divided_by() {
    assert_eq!(apply("DynamicQuantizeLinear", (F32, &f32s(&[0.0; 3])), vec![], vec![]).unwrap(), [0.0; 3]);
}

/// A product with weights of few bits: `bits`, the extents, what is given behind the activations, and whether zero points and a group index are.
fn by_few_bits(bits: usize, (k, n, block): (usize, usize, usize), zeros: Option<i32>, indexed: bool) {
    let blocks = k.div_ceil(block);
    let most = (1usize << bits) - 1;
    let q = |row: usize, at: usize| (row * 7 + at * 5 + at / 3) & most;
    let packed = |numbers: usize, of: &dyn Fn(usize, usize) -> usize| -> Vec<f64> {
        let each = 8 / bits;
        let byte = |row: usize, at: usize| {
            (0..each)
                .filter(|i| at * each + i < numbers)
                .map(|i| of(row, at * each + i) << (i * bits))
                .sum::<usize>()
        };
        (0..n).flat_map(|row| (0..numbers.div_ceil(each)).map(move |at| byte(row, at) as f64)).collect()
    };
    let scale = |row: usize, block: usize| 0.25 + 0.125 * ((row + 3 * block) % 5) as f64;
    let zero = |row: usize, block: usize| (row + block) & most;
    let of_blocks = |of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..n).flat_map(|row| (0..blocks).map(move |block| of(row, block))).collect()
    };
    let group = |at: usize| if indexed { (at * 3) % blocks } else { at / block };
    let dims = |d: usize| [n as i64, d as i64];
    let bytes = |numbers: usize| numbers.div_ceil(8 / bits);
    let mut given = vec![
        constant("w", U8, &[n as i64, blocks as i64, (block * bits / 8) as i64], &packed(blocks * block, &q)),
        constant("s", F32, &[(n * blocks) as i64], &of_blocks(&scale)),
    ];
    match zeros {
        Some(F32) => given.push(constant("z", F32, &dims(blocks), &of_blocks(&|r, b| zero(r, b) as f64))),
        Some(_) => given.push(constant("z", U8, &dims(bytes(blocks)), &packed(blocks, &zero))),
        None => {}
    }
    let mut names: Vec<&str> = vec!["x", "w", "s"];
    names.push(if zeros.is_some() { "z" } else { "" });
    names.push(if indexed { "g" } else { "" });
    if indexed {
        let groups: Vec<f64> = (0..k).map(|at| group(at) as f64).collect();
        given.push(constant("g", 6, &[k as i64], &groups));
    }
    let x: Vec<f32> = (0..2 * k).map(|i| (i % 11) as f32 - 5.0).collect();
    let mut call = node(
        "MatMulNBits",
        &names,
        &["y"],
        vec![
            int("K", k as i64),
            int("N", n as i64),
            int("bits", bits as i64),
            int("block_size", block as i64),
        ],
    );
    call.domain = "com.microsoft".into();
    let mut graph = graph(vec![call], vec![input("x", F32, &["2", &k.to_string()])], &["y"]);
    graph.initializer = given;
    let model = ModelProto { opset_import: vec![opset("", 21), opset("com.microsoft", 1)], ..model(graph) };
    let data = Tensor::from_slice(&[2, k], &x).unwrap();
    let found = run(model, &Options::default(), &[data]).unwrap()[0].to_f64s();
    let zero_of =
        |row, at| if zeros.is_some() { zero(row, group(at)) as f64 } else { (most as f64 + 1.0) / 2.0 };
    let wanted = |m: usize, row: usize| -> f64 {
        let term =
            |at: usize| x[m * k + at] as f64 * (q(row, at) as f64 - zero_of(row, at)) * scale(row, group(at));
        (0..k).map(term).sum()
    };
    for (i, found) in found.iter().enumerate() {
        let wanted = wanted(i / n, i % n);
        assert!(
            (found - wanted).abs() <= 1e-3 * wanted.abs().max(1.0),
            "{bits} bits, {i}: {found}, wanted {wanted}"
        );
    }
}

#[test]
fn weights_of_few_bits_are_dequantized_by_blocks() {
    for bits in [2, 4, 8] {
        by_few_bits(bits, (64, 5, 32), None, false);
        by_few_bits(bits, (40, 3, 16), Some(U8), false);
        by_few_bits(bits, (48, 4, 16), Some(F32), false);
        by_few_bits(bits, (48, 4, 16), Some(U8), true);
    }
}

#[test]
fn weights_of_few_bits_that_are_wrong_are_refused() {
    let refused = |bits: i64, block: i64, bytes: usize| {
        let mut call = node(
            "MatMulNBits",
            &["x", "w", "s"],
            &["y"],
            vec![int("K", 32), int("N", 2), int("bits", bits), int("block_size", block)],
        );
        call.domain = "com.microsoft".into();
        let mut graph = graph(vec![call], vec![input("x", F32, &["1", "32"])], &["y"]);
        graph.initializer = vec![
            constant("w", U8, &[bytes as i64], &vec![0.0; bytes]),
            constant("s", F32, &[2], &[1.0, 1.0]),
        ];
        let model =
            ModelProto { opset_import: vec![opset("", 21), opset("com.microsoft", 1)], ..model(graph) };
        let data = Tensor::zeros(DType::F32, &[1, 32]).unwrap();
        run(model, &Options::default(), &[data]).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(3, 32, 32).contains("weights must have 2, 4 or 8 bits, found 3"));
    assert!(refused(4, 24, 32).contains("block_size must be a power of two from 16 on, found 24"));
    let said = refused(4, 32, 31);
    assert!(
        said.contains("the weights of 4 bits must be 2 x 16 bytes of uint8, found tensor<31xui8>"),
        "{said}"
    );
}
