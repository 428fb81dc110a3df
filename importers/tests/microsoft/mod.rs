//! Operators of `com.microsoft` beside what they stand for, written in operators of ONNX.

mod attention;

use crate::common::*;
use fusion_importers::onnx::Options;
use fusion_importers::onnx::proto::{AttributeProto, ModelProto, NodeProto};
use fusion_operators::{DType, Tensor};

/// Numbers of both signs, some of them again.
pub fn numbers(dtype: DType, shape: &[usize], seed: usize) -> Tensor {
    let count = shape.iter().product();
    let at = |i: usize| ((i * 37 + seed * 101 + i * i * 3) % 64) as f64;
    let number = |i: usize| match dtype {
        DType::U8 => 4.0 * at(i),
        DType::I8 => 4.0 * at(i) - 128.0,
        DType::I32 => at(i) - 32.0,
        _ => at(i) / 16.0 - 2.0,
    };
    Tensor::from_f64s(dtype, shape, &(0..count).map(number).collect::<Vec<_>>()).unwrap()
}

fn element(dtype: DType) -> i32 {
    match dtype {
        DType::F32 => 1,
        DType::U8 => 2,
        DType::I8 => 3,
        DType::I32 => 6,
        DType::I64 => 7,
        DType::Bool => 9,
        other => panic!("no test has {other}"),
    }
}

/// The results of nodes that read the tensors as `a`, `b`, `c` and so on.
pub fn results(nodes: Vec<NodeProto>, tensors: &[Tensor], outputs: &[&str]) -> Result<Vec<Tensor>, String> {
    let name = |i: usize| char::from(b'a' + i as u8).to_string();
    let of = |(i, tensor): (usize, &Tensor)| {
        let dims: Vec<String> = tensor.shape().iter().map(usize::to_string).collect();
        let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
        input(&name(i), element(tensor.dtype()), &dims)
    };
    let graph = graph(nodes, tensors.iter().enumerate().map(of).collect(), outputs);
    let opset_import = vec![opset("", 21), opset("com.microsoft", 1)];
    let model = ModelProto { opset_import, ..model(graph) };
    run(model, &Options::default(), tensors).map_err(|error| error.to_string())
}

pub fn microsoft(op: &str, inputs: &[&str], outputs: &[&str], attributes: Vec<AttributeProto>) -> NodeProto {
    NodeProto { domain: "com.microsoft".into(), ..node(op, inputs, outputs, attributes) }
}

/// One operator gives what the nodes do, as `y`.
fn stands_for(operator: NodeProto, tensors: &[Tensor], nodes: Vec<NodeProto>) {
    let name = operator.op_type.clone();
    let found = results(vec![operator], tensors, &["y"]).unwrap_or_else(|why| panic!("{name}: {why}"));
    let expected = results(nodes, tensors, &["y"]).unwrap_or_else(|why| panic!("for {name}: {why}"));
    assert_eq!(found[0].tensor_type(), expected[0].tensor_type(), "{name}");
    for (i, (a, b)) in found[0].to_f64s().iter().zip(expected[0].to_f64s()).enumerate() {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{name}: element {i} is {a}, expected {b}");
    }
}

fn floats(shape: &[usize], seed: usize) -> Tensor {
    numbers(DType::F32, shape, seed)
}

fn number(dtype: DType, value: f64) -> Tensor {
    Tensor::from_f64s(dtype, &[], &[value]).unwrap()
}

#[test]
fn gelus_of_sums() {
    let (x, bias) = (floats(&[2, 3, 8], 1), floats(&[8], 2));
    let both = [x.clone(), bias];
    let sum = node("Add", &["a", "b"], &["s"], vec![]);
    let exact = node("Gelu", &["s"], &["y"], vec![]);
    stands_for(microsoft("BiasGelu", &["a", "b"], &["y"], vec![]), &both, vec![sum.clone(), exact]);
    let tanh = node("Gelu", &["s"], &["y"], vec![text("approximate", "tanh")]);
    stands_for(microsoft("FastGelu", &["a", "b"], &["y"], vec![]), &both, vec![sum, tanh]);
    let quick = vec![
        node("Constant", &[], &["k"], vec![float("value_float", 1.5)]),
        node("Mul", &["a", "k"], &["s"], vec![]),
        node("Sigmoid", &["s"], &["g"], vec![]),
        node("Mul", &["a", "g"], &["y"], vec![]),
    ];
    let operator = microsoft("QuickGelu", &["a"], &["y"], vec![float("alpha", 1.5)]);
    stands_for(operator, std::slice::from_ref(&x), quick);
    let halves = vec![
        node("Split", &["s"], &["l", "r"], vec![int("axis", -1), int("num_outputs", 2)]),
        node("Gelu", &["r"], &["g"], vec![]),
        node("Mul", &["l", "g"], &["y"], vec![]),
    ];
    let sum = node("Add", &["a", "b"], &["s"], vec![]);
    let operator = microsoft("BiasSplitGelu", &["a", "b"], &["y"], vec![]);
    stands_for(operator, &both, [vec![sum], halves].concat());
}

#[test]
fn norms_of_sums() {
    let tensors =
        [floats(&[2, 3, 8], 1), floats(&[1, 3, 8], 2), floats(&[8], 3), floats(&[8], 4), floats(&[8], 5)];
    let epsilon = || vec![float("epsilon", 1e-5)];
    let sums = || vec![node("Add", &["a", "b"], &["s"], vec![]), node("Add", &["s", "e"], &["t"], vec![])];
    let layer = node("LayerNormalization", &["t", "c", "d"], &["y"], epsilon());
    let operator = |outputs: &[&str]| {
        microsoft("SkipLayerNormalization", &["a", "b", "c", "d", "e"], outputs, epsilon())
    };
    stands_for(operator(&["y"]), &tensors, [sums(), vec![layer]].concat());
    // The sum is the fourth result.
    stands_for(
        operator(&["n", "", "", "y"]),
        &tensors,
        [sums(), vec![node("Identity", &["t"], &["y"], vec![])]].concat(),
    );
    let rms = node("RMSNormalization", &["t", "c"], &["y"], epsilon());
    let mut nodes = [sums(), vec![rms]].concat();
    let operator = microsoft("SkipSimplifiedLayerNormalization", &["a", "b", "c", "e"], &["y"], epsilon());
    // RMSNormalization is of operator set 23.
    nodes.last_mut().unwrap().op_type = "SimplifiedLayerNormalization".into();
    nodes.last_mut().unwrap().attribute.push(int("axis", -1));
    stands_for(operator, &tensors, nodes);
    let said = results(
        vec![microsoft("SkipLayerNormalization", &["a", "b", "c", "d"], &["y", "m"], vec![])],
        &tensors,
        &["m"],
    );
    assert!(said.unwrap_err().contains("for training"));
}

#[test]
fn embeddings_are_added_and_normalized() {
    let ids = Tensor::from_slice(&[2, 3], &[1i32, 0, 4, 4, 2, 4]).unwrap();
    let segments = Tensor::from_slice(&[2, 3], &[0i32, 1, 1, 0, 0, 1]).unwrap();
    let mask = Tensor::from_slice(&[2, 3], &[1i32, 1, 0, 1, 1, 1]).unwrap();
    let tables =
        [floats(&[5, 8], 1), floats(&[4, 8], 2), floats(&[2, 8], 3), floats(&[8], 4), floats(&[8], 5)];
    let tensors: Vec<Tensor> = [ids, segments].into_iter().chain(tables).chain([mask]).collect();
    let nodes = vec![
        node("Gather", &["c", "a"], &["w"], vec![]),
        node("Constant", &[], &["i"], vec![ints("value_ints", &[0, 1, 2])]),
        node("Gather", &["d", "i"], &["p"], vec![]),
        node("Gather", &["e", "b"], &["t"], vec![]),
        node("Add", &["w", "p"], &["s"], vec![]),
        node("Add", &["s", "t"], &["u"], vec![]),
        node("LayerNormalization", &["u", "f", "g"], &["y"], vec![float("epsilon", 1e-12)]),
    ];
    let operands = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let operator = microsoft("EmbedLayerNormalization", &operands, &["y", "n"], vec![]);
    stands_for(operator.clone(), &tensors, nodes);
    let counts = results(vec![operator], &tensors, &["n"]).unwrap();
    assert_eq!(counts[0].to_ints(), [2, 3]);
}

#[test]
fn products_and_convolutions_with_what_is_fused_to_them() {
    let matrices = [floats(&[2, 4, 3], 1), floats(&[2, 5, 4], 2)];
    let operator = microsoft(
        "FusedMatMul",
        &["a", "b"],
        &["y"],
        vec![int("transA", 1), int("transB", 1), float("alpha", 0.5)],
    );
    let nodes = vec![
        node("Transpose", &["a"], &["p"], vec![ints("perm", &[0, 2, 1])]),
        node("Transpose", &["b"], &["q"], vec![ints("perm", &[0, 2, 1])]),
        node("MatMul", &["p", "q"], &["m"], vec![]),
        node("Constant", &[], &["k"], vec![float("value_float", 0.5)]),
        node("Mul", &["m", "k"], &["y"], vec![]),
    ];
    stands_for(operator, &matrices, nodes);
    // The first axis of each is that of rows, behind which the batch moves.
    let turned = [floats(&[4, 2, 3], 1), floats(&[5, 2, 3], 2)];
    let attributes = vec![int("transBatchA", 1), int("transBatchB", 1), int("transB", 1)];
    let operator = microsoft("FusedMatMul", &["a", "b"], &["y"], attributes);
    let nodes = vec![
        node("Transpose", &["a"], &["p"], vec![ints("perm", &[1, 0, 2])]),
        node("Transpose", &["b"], &["q"], vec![ints("perm", &[1, 2, 0])]),
        node("MatMul", &["p", "q"], &["y"], vec![]),
    ];
    stands_for(operator, &turned, nodes);
    let image =
        [floats(&[1, 2, 5, 5], 1), floats(&[3, 2, 3, 3], 2), floats(&[3], 3), floats(&[1, 3, 5, 5], 4)];
    let pads = || ints("pads", &[1, 1, 1, 1]);
    let operator =
        microsoft("FusedConv", &["a", "b", "c", "d"], &["y"], vec![pads(), text("activation", "Relu")]);
    let nodes = vec![
        node("Conv", &["a", "b", "c"], &["m"], vec![pads()]),
        node("Add", &["m", "d"], &["s"], vec![]),
        node("Relu", &["s"], &["y"], vec![]),
    ];
    stands_for(operator, &image, nodes);
    let said = results(
        vec![microsoft("FusedConv", &["a", "b"], &["y"], vec![text("activation", "Gelu")])],
        &image,
        &["y"],
    );
    assert!(said.unwrap_err().contains("the activation 'Gelu' is not supported"));
    let last = [floats(&[1, 5, 5, 2], 1), floats(&[3, 2, 3, 3], 2)];
    let nodes = vec![
        node("Transpose", &["a"], &["t"], vec![ints("perm", &[0, 3, 1, 2])]),
        node("Conv", &["t", "b"], &["m"], vec![]),
        node("Transpose", &["m"], &["y"], vec![ints("perm", &[0, 2, 3, 1])]),
    ];
    stands_for(microsoft("NhwcConv", &["a", "b"], &["y"], vec![]), &last, nodes);
}

#[test]
fn quantized_operators_are_those_of_the_numbers() {
    let tensors = [
        numbers(DType::U8, &[2, 3, 4], 1),
        number(DType::F32, 0.03),
        number(DType::U8, 120.0),
        numbers(DType::U8, &[3, 1], 2),
        number(DType::F32, 0.02),
        number(DType::U8, 100.0),
        number(DType::F32, 0.05),
        number(DType::U8, 128.0),
    ];
    let all = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let real = || {
        vec![
            node("DequantizeLinear", &["a", "b", "c"], &["p"], vec![]),
            node("DequantizeLinear", &["d", "e", "f"], &["q"], vec![]),
        ]
    };
    let quantize = |scale: &str, zero: &str| node("QuantizeLinear", &["m", scale, zero], &["y"], vec![]);
    for (name, plain) in [("QLinearAdd", "Add"), ("QLinearMul", "Mul")] {
        let middle = vec![node(plain, &["p", "q"], &["m"], vec![]), quantize("g", "h")];
        stands_for(microsoft(name, &all, &["y"], vec![]), &tensors, [real(), middle].concat());
    }
    let one = ["a", "b", "c", "g", "h"];
    let of_one: [(&str, &str, Vec<AttributeProto>, Vec<AttributeProto>); 4] = [
        ("QLinearSigmoid", "Sigmoid", vec![], vec![]),
        ("QLinearLeakyRelu", "LeakyRelu", vec![float("alpha", 0.2)], vec![float("alpha", 0.2)]),
        ("QLinearSoftmax", "Softmax", vec![int("opset", 13), int("axis", -1)], vec![int("axis", -1)]),
        ("QLinearReduceMean", "ReduceMean", vec![ints("axes", &[1]), int("keepdims", 1)], vec![]),
    ];
    for (name, plain, own, attributes) in of_one {
        let axes = node("Constant", &[], &["i"], vec![ints("value_ints", &[1])]);
        let operands: &[&str] = if plain == "ReduceMean" { &["p", "i"] } else { &["p"] };
        let nodes = [real(), vec![axes, node(plain, operands, &["m"], attributes), quantize("g", "h")]];
        stands_for(microsoft(name, &one, &["y"], own), &tensors, nodes.concat());
    }
    let parts = ["g", "h", "a", "b", "c", "a", "e", "f"];
    let nodes = vec![
        node("DequantizeLinear", &["a", "b", "c"], &["p"], vec![]),
        node("DequantizeLinear", &["a", "e", "f"], &["q"], vec![]),
        node("Concat", &["p", "q"], &["m"], vec![int("axis", 1)]),
        quantize("g", "h"),
    ];
    stands_for(microsoft("QLinearConcat", &parts, &["y"], vec![int("axis", 1)]), &tensors, nodes);
}

#[test]
fn pools_of_images_with_channels_last() {
    let tensors = [
        numbers(DType::U8, &[1, 6, 6, 2], 1),
        number(DType::F32, 0.05),
        number(DType::U8, 120.0),
        number(DType::F32, 0.04),
        number(DType::U8, 110.0),
    ];
    let all = ["a", "b", "c", "d", "e"];
    let kernel = || vec![ints("kernel_shape", &[3, 3]), ints("strides", &[2, 2])];
    for (name, plain, attributes) in [
        ("QLinearAveragePool", "AveragePool", kernel()),
        ("QLinearGlobalAveragePool", "GlobalAveragePool", vec![]),
    ] {
        let nodes = vec![
            node("DequantizeLinear", &["a", "b", "c"], &["p"], vec![]),
            node("Transpose", &["p"], &["t"], vec![ints("perm", &[0, 3, 1, 2])]),
            node(plain, &["t"], &["m"], attributes.clone()),
            node("Transpose", &["m"], &["u"], vec![ints("perm", &[0, 2, 3, 1])]),
            node("QuantizeLinear", &["u", "d", "e"], &["y"], vec![]),
        ];
        let own = [attributes, vec![int("channels_last", 1)]].concat();
        stands_for(microsoft(name, &all, &["y"], own), &tensors, nodes);
    }
}

#[test]
fn products_of_integers_as_floats() {
    let tensors = [
        floats(&[3, 8], 1),
        numbers(DType::I8, &[8, 5], 2),
        number(DType::F32, 0.02),
        number(DType::I8, 4.0),
        floats(&[5], 3),
    ];
    let nodes = vec![
        node("DynamicQuantizeLinear", &["a"], &["q", "s", "z"], vec![]),
        node("MatMulInteger", &["q", "b", "z", "d"], &["n"], vec![]),
        node("Cast", &["n"], &["f"], vec![int("to", 1)]),
        node("Mul", &["s", "c"], &["k"], vec![]),
        node("Mul", &["f", "k"], &["m"], vec![]),
        node("Add", &["m", "e"], &["y"], vec![]),
    ];
    let operator = microsoft("DynamicQuantizeMatMul", &["a", "b", "c", "d", "e"], &["y"], vec![]);
    stands_for(operator, &tensors, nodes.clone());
    let mut apart = nodes[..1].to_vec();
    apart.push(microsoft("MatMulIntegerToFloat", &["q", "b", "s", "c", "z", "d", "e"], &["y"], vec![]));
    let found = results(apart, &tensors, &["y"]).unwrap();
    assert_eq!(found[0].to_f64s(), results(nodes, &tensors, &["y"]).unwrap()[0].to_f64s());
}

#[test]
fn an_lstm_of_few_bits_is_near_that_of_floats() {
    let (inputs, hidden, scale) = (6, 5, 0.01);
    let w = numbers(DType::I8, &[1, inputs, 4 * hidden], 1);
    let r = numbers(DType::I8, &[1, hidden, 4 * hidden], 2);
    let of = |value: f64| Tensor::from_f64s(DType::F32, &[1], &[value]).unwrap();
    let zero = Tensor::from_f64s(DType::I8, &[1], &[3.0]).unwrap();
    let tensors = [floats(&[4, 2, inputs], 3), w, r, floats(&[1, 8 * hidden], 4), of(scale), zero];
    let names = ["a", "b", "c", "d", "", "", "", "", "e", "f", "e", "f"];
    let few = microsoft("DynamicQuantizeLSTM", &names, &["y"], vec![int("hidden_size", hidden as i64)]);
    let found = results(vec![few], &tensors, &["y"]).unwrap();
    let plain = vec![
        node("DequantizeLinear", &["b", "e", "f"], &["p"], vec![int("axis", 0)]),
        node("Transpose", &["p"], &["w"], vec![ints("perm", &[0, 2, 1])]),
        node("DequantizeLinear", &["c", "e", "f"], &["q"], vec![int("axis", 0)]),
        node("Transpose", &["q"], &["r"], vec![ints("perm", &[0, 2, 1])]),
        node("LSTM", &["a", "w", "r", "d"], &["y"], vec![int("hidden_size", hidden as i64)]),
    ];
    let expected = results(plain, &tensors, &["y"]).unwrap();
    let differences = found[0].to_f64s().into_iter().zip(expected[0].to_f64s()).map(|(a, b)| (a - b).abs());
    let most = differences.fold(0.0, f64::max);
    assert!(most > 0.0 && most < 0.05, "{most}");
}

#[test]
fn rows_of_a_table_of_few_bits() {
    // Numbers 0 to 15 of 4 bits, two in a byte, the first in the lower half; blocks of 16 along rows of 32.
    let bytes: Vec<u8> = (0..3 * 16).map(|i| (i * 7 % 256) as u8).collect();
    let table = Tensor::from_slice(&[3, 16], &bytes).unwrap();
    let rows = Tensor::from_slice(&[2], &[2i64, 0]).unwrap();
    let scales = floats(&[3, 2], 5);
    let zeros = Tensor::from_slice(&[3, 1], &[0x3cu8, 0x51, 0x9f]).unwrap();
    let attributes = vec![int("bits", 4), int("block_size", 16), int("quantize_axis", 1)];
    let operator = microsoft("GatherBlockQuantized", &["a", "b", "c", "d"], &["y"], attributes);
    let tensors = [table, rows, scales.clone(), zeros.clone()];
    let found = results(vec![operator], &tensors, &["y"]).unwrap();
    let half = |byte: u8, high: bool| f64::from(if high { byte >> 4 } else { byte & 15 });
    let mut expected = Vec::new();
    for row in [2usize, 0] {
        for k in 0..32 {
            let zero = half(zeros.to_ints()[row] as u8, k / 16 == 1);
            let number = half(bytes[row * 16 + k / 2], k % 2 == 1);
            expected.push((number - zero) * scales.to_f64s()[row * 2 + k / 16]);
        }
    }
    assert_eq!(found[0].shape(), [2, 32]);
    assert_eq!(found[0].to_f64s(), expected);
}

#[test]
fn inverses_need_pivots() {
    let x = Tensor::from_slice(
        &[2, 3, 3],
        &[0f32, 1.0, 0.0, 0.0, 0.0, 2.0, 4.0, 0.0, 0.0, 2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 4.0],
    )
    .unwrap();
    let nodes =
        vec![microsoft("Inverse", &["a"], &["i"], vec![]), node("MatMul", &["a", "i"], &["y"], vec![])];
    let found = results(nodes, &[x], &["y"]).unwrap()[0].to_f64s();
    for (i, value) in found.into_iter().enumerate() {
        let expected = f64::from(u8::from(i % 9 % 4 == 0));
        assert!((value - expected).abs() < 1e-6, "element {i} is {value}");
    }
}

#[test]
fn distances_of_all_rows() {
    let tensors = [floats(&[3, 4], 1), floats(&[5, 4], 2)];
    let found = results(
        vec![microsoft("CDist", &["a", "b"], &["y"], vec![text("metric", "euclidean")])],
        &tensors,
        &["y"],
    );
    let (found, a, b) = (found.unwrap()[0].to_f64s(), tensors[0].to_f64s(), tensors[1].to_f64s());
    for (n, value) in found.into_iter().enumerate() {
        let (i, j) = (n / 5, n % 5);
        let expected: f64 = (0..4).map(|k| (a[i * 4 + k] - b[j * 4 + k]).powi(2)).sum();
        assert!((value - expected.sqrt()).abs() < 1e-5);
    }
}
