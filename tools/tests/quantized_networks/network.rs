//! Random quantized networks, as quantizers write them.
//!
//!     x -- Q -- DQ -- Add, Relu, MaxPool, ... -- Q -- DQ -- ...        exact: every operation rounds once, in f32
//!             \-- QLinearConv, QLinearMatMul -- DQ -- ...              exact: integers, then one product in f32
//!     DQ -- Conv, Gemm, AveragePool, ... -- Q                          a sum of floats, which has no order: an output
//!
//! Scales come from a pool of a few, so that they meet again; zero points are any, at the ends too; elements lie half between two
//! roundings, near that, and far outside of what is represented. Not made: blocks of scales, types of 4 and 16 bits, groups, loops.

use crate::onnx_programs::common::{float, graph, input, int, ints, model, node, opset};
use fusion_importers::onnx::proto::{AttributeProto, ModelProto, NodeProto, TensorProto};
use fusion_operators::Tensor;

/// A linear congruential generator (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn within(&mut self, least: i64, most: i64) -> i64 {
        least + self.below((most - least + 1) as u64) as i64
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

const U8: i32 = 2;
const I8: i32 = 3;
const I32: i32 = 6;
const SCALES: [f32; 8] = [0.02, 0.05, 0.0123, 0.1, 0.01, 0.5, 1.0 / 3.0, 0.007_812_5];

/// How a tensor is quantized.
#[derive(Clone, Copy)]
struct Quantization {
    scale: f32,
    zero: i64,
    element: i32,
}

/// A value in f32, and what it is the dequantized form of.
#[derive(Clone)]
struct Value {
    name: String,
    shape: Vec<i64>,
    quantized: Option<(String, Quantization)>,
}

/// An output.
pub struct Output {
    pub name: String,
    /// The sum of floats that was rounded to it, which may be off by one, and the scale.
    pub of_sum: Option<(String, f32)>,
}

/// A network, and what it is run on.
pub struct Network {
    pub model: ModelProto,
    pub x: Tensor,
    pub outputs: Vec<Output>,
}

struct Writer {
    random: Random,
    scales: Vec<f32>,
    nodes: Vec<NodeProto>,
    constants: Vec<TensorProto>,
    values: Vec<Value>,
    outputs: Vec<Output>,
}

/// The network of a seed.
pub fn network(seed: u64) -> Network {
    let mut random = Random(seed);
    random.below(1);
    let scales = (0..3).map(|_| random.of(&SCALES)).collect();
    let image = !random.one_in(3);
    let mut extent = |most| random.within(1, most);
    let shape = match image {
        true => vec![extent(2), extent(5), extent(9), extent(9)],
        false => vec![extent(5), extent(9), extent(9)],
    };
    let mut writer = Writer {
        random,
        scales,
        nodes: Vec::new(),
        constants: Vec::new(),
        values: Vec::new(),
        outputs: Vec::new(),
    };
    let x = writer.elements(&shape);
    let first = Value { name: "x".into(), shape: shape.clone(), quantized: None };
    let first = writer.rounded(&first);
    writer.values.push(first);
    for _ in 0..writer.random.within(2, 7) {
        match writer.random.below(10) {
            0 | 1 => writer.sum(image),
            2 | 3 => writer.integers(image),
            _ => writer.exact(image),
        }
    }
    writer.end();
    let dims: Vec<String> = shape.iter().map(i64::to_string).collect();
    let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
    let names: Vec<&str> = writer.outputs.iter().map(|output| output.name.as_str()).collect();
    let mut graph = graph(writer.nodes, vec![input("x", 1, &dims)], &names);
    graph.initializer = writer.constants;
    let model = ModelProto { ir_version: 10, opset_import: vec![opset("", 21)], ..model(graph) };
    Network { model, x, outputs: writer.outputs }
}

impl Writer {
    fn elements(&mut self, shape: &[i64]) -> Tensor {
        let count = shape.iter().product::<i64>();
        let scales = self.scales.clone();
        let mut one = || {
            let (scale, steps) = (self.random.of(&scales), self.random.within(-300, 300) as f32);
            match self.random.below(12) {
                0..=3 => (steps + 0.5) * scale,
                4..=6 => steps * scale,
                7 => {
                    self.random.of(&[0.0, -0.0, 1e6, -1e6, 1e-40, f32::MAX, f32::INFINITY, f32::NEG_INFINITY])
                }
                _ => self.random.within(-8_000_000, 8_000_000) as f32 / 1e6,
            }
        };
        let values: Vec<f32> = (0..count).map(|_| one()).collect();
        let shape: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        Tensor::from_slice(&shape, &values).unwrap()
    }

    fn name(&self) -> String {
        format!("t{}", self.nodes.len())
    }

    fn constant(&mut self, element: i32, dims: &[i64], floats: Vec<f32>, numbers: Vec<i64>) -> String {
        let name = format!("c{}", self.constants.len());
        self.constants.push(TensorProto {
            name: name.clone(),
            dims: dims.to_vec(),
            data_type: element,
            float_data: floats,
            int32_data: numbers.into_iter().map(|n| n as i32).collect(),
            ..Default::default()
        });
        name
    }

    fn add(&mut self, op: &str, operands: &[&str], attributes: Vec<AttributeProto>) -> String {
        let name = self.name();
        self.nodes.push(node(op, operands, &[&name], attributes));
        name
    }

    fn quantization(&mut self, element: i32) -> Quantization {
        let (least, most) = if element == U8 { (0, 255) } else { (-128, 127) };
        let any = self.random.within(least, most);
        let middle = i64::midpoint(least, most) + 1;
        let zero = self.random.of(&[any, any, any, middle, least, most]);
        Quantization { scale: self.random.of(&self.scales.clone()), zero, element }
    }

    /// The names of a scale and a zero point.
    fn named(&mut self, q: Quantization) -> (String, String) {
        (
            self.constant(1, &[], vec![q.scale], Vec::new()),
            self.constant(q.element, &[], Vec::new(), vec![q.zero]),
        )
    }

    fn quantize(&mut self, value: &str, q: Quantization) -> String {
        let (scale, zero) = self.named(q);
        self.add("QuantizeLinear", &[value, &scale, &zero], Vec::new())
    }

    fn dequantized(&mut self, name: String, shape: Vec<i64>, q: Quantization) -> Value {
        let (scale, zero) = self.named(q);
        let float = self.add("DequantizeLinear", &[&name, &scale, &zero], Vec::new());
        Value { name: float, shape, quantized: Some((name, q)) }
    }

    /// Quantized and back.
    fn rounded(&mut self, value: &Value) -> Value {
        let element = self.random.of(&[U8, I8]);
        let q = self.quantization(element);
        let name = self.quantize(&value.name, q);
        self.dequantized(name, value.shape.clone(), q)
    }

    fn any(&mut self) -> Value {
        let at = self.random.below(self.values.len() as u64) as usize;
        // The last one more often.
        if self.random.one_in(2) {
            self.values[self.values.len() - 1].clone()
        } else {
            self.values[at].clone()
        }
    }

    /// One that is quantized.
    fn quantized(&mut self) -> (String, Quantization, Vec<i64>) {
        let value = self.any();
        let value = if value.quantized.is_some() { value } else { self.rounded(&value) };
        let (name, q) = value.quantized.unwrap();
        (name, q, value.shape)
    }

    fn like(&mut self, value: &Value) -> Value {
        let same: Vec<Value> = self.values.iter().filter(|v| v.shape == value.shape).cloned().collect();
        let at = self.random.below(same.len() as u64) as usize;
        same[at].clone()
    }

    /// An operation that is exact, or rounds once.
    fn exact(&mut self, image: bool) {
        let value = self.any();
        let mut shape = value.shape.clone();
        let axis = self.random.below(shape.len() as u64) as usize;
        let x = value.name.as_str();
        let name = match self.random.below(if image { 8 } else { 6 }) {
            0 | 1 => {
                let other = self.like(&value);
                self.add("Add", &[x, &other.name], Vec::new())
            }
            2 => self.add("Relu", &[x], Vec::new()),
            3 => {
                let bounds = self.random.of(&[(0.0, 6.0), (-1.0, 1.0), (-0.5, 0.1)]);
                let [least, most] =
                    [bounds.0, bounds.1].map(|bound| self.constant(1, &[], vec![bound], Vec::new()));
                self.add("Clip", &[x, &least, &most], Vec::new())
            }
            4 => {
                let other = self.like(&value);
                shape[axis] *= 2;
                self.add("Concat", &[x, &other.name], vec![int("axis", axis as i64)])
            }
            5 => {
                let mut order: Vec<i64> = (0..shape.len() as i64).collect();
                let (a, b) = if image { (2, 3) } else { (0, 1) };
                order.swap(a, b);
                shape.swap(a, b);
                self.add("Transpose", &[x], vec![ints("perm", &order)])
            }
            6 => {
                let factors = self.constant(1, &[4], vec![1.0, 1.0, 2.0, 1.0], Vec::new());
                shape[2] *= 2;
                self.add("Resize", &[x, "", &factors], Vec::new())
            }
            _ => {
                let pads = ints("pads", &[0, 0, 1, 1]);
                self.add("MaxPool", &[x], vec![ints("kernel_shape", &[2, 2]), pads])
            }
        };
        let made = Value { name, shape, quantized: None };
        let made = if self.random.one_in(4) { made } else { self.rounded(&made) };
        self.values.push(made);
    }

    /// An operation on quantized numbers.
    fn integers(&mut self, image: bool) {
        let (x, q, mut shape) = self.quantized();
        let (scale, zero) = self.named(q);
        let columns = self.random.within(1, 9);
        let (inner, rank) = (*shape.last().unwrap(), shape.len());
        let [weight_scale, weight_zero] =
            [self.random.of(&self.scales.clone()), self.random.within(-3, 3) as f32];
        // The standard leaves open whether products of int8 saturate.
        let element = if image { self.random.of(&[U8, I8]) } else { U8 };
        let to = self.quantization(element);
        let (to_scale, to_zero) = self.named(to);
        let name = if image {
            let channels = shape[1];
            let weight = self.weights(&[columns, channels, 1, 1]);
            let scales = (0..columns).map(|i| weight_scale * (1.0 + 0.37 * i as f32)).collect();
            let scales = self.constant(1, &[columns], scales, Vec::new());
            let zeros = self.constant(I8, &[columns], Vec::new(), vec![0; columns as usize]);
            let bias = (0..columns).map(|_| self.random.within(-3000, 3000)).collect();
            let bias = self.constant(I32, &[columns], Vec::new(), bias);
            shape[1] = columns;
            let operands = [&x, &scale, &zero, &weight, &scales, &zeros, &to_scale, &to_zero, &bias];
            self.add("QLinearConv", &operands.map(String::as_str), Vec::new())
        } else {
            let weight = self.weights(&[inner, columns]);
            let weight_scale = self.constant(1, &[], vec![weight_scale], Vec::new());
            let weight_zero = self.constant(I8, &[], Vec::new(), vec![weight_zero as i64]);
            shape[rank - 1] = columns;
            let operands = [&x, &scale, &zero, &weight, &weight_scale, &weight_zero, &to_scale, &to_zero];
            self.add("QLinearMatMul", &operands.map(String::as_str), Vec::new())
        };
        let made = self.dequantized(name, shape, to);
        self.values.push(made);
    }

    fn weights(&mut self, shape: &[i64]) -> String {
        let one = |_| self.random.within(-127, 127);
        let numbers = (0..shape.iter().product()).map(one).collect();
        self.constant(I8, shape, Vec::new(), numbers)
    }

    /// Weights in f32, with a scale for each of the first axis, or one for all.
    fn dequantized_weights(&mut self, shape: &[i64], each: bool) -> String {
        let (numbers, scale) = (self.weights(shape), self.random.of(&self.scales.clone()));
        let count = if each { shape[0] } else { 1 };
        let dims: &[i64] = if each { &[count] } else { &[] };
        let scales = (0..count).map(|i| scale * (1.0 + 0.21 * i as f32)).collect();
        let scales = self.constant(1, dims, scales, Vec::new());
        let axis = if each { vec![int("axis", 0)] } else { Vec::new() };
        self.add("DequantizeLinear", &[&numbers, &scales], axis)
    }

    /// A sum of floats, what is done with it, and what that is rounded to: an output.
    fn sum(&mut self, image: bool) {
        let value = self.any();
        let (x, columns) = (value.name.as_str(), self.random.within(1, 9));
        let mut name = if image {
            match self.random.below(4) {
                0 | 1 => {
                    let weight = self.dequantized_weights(&[columns, value.shape[1], 3, 3], true);
                    let bias = self.dequantized_weights(&[columns], false);
                    self.add("Conv", &[x, &weight, &bias], vec![ints("pads", &[1, 1, 1, 1])])
                }
                2 => {
                    let pads = ints("pads", &[1, 1, 1, 1]);
                    self.add("AveragePool", &[x], vec![ints("kernel_shape", &[3, 3]), pads])
                }
                _ => self.add("GlobalAveragePool", &[x], Vec::new()),
            }
        } else {
            let inner = *value.shape.last().unwrap();
            let weight = self.dequantized_weights(&[inner, columns], self.random.0.is_multiple_of(2));
            match self.random.one_in(2) {
                true => self.add("MatMul", &[x, &weight], Vec::new()),
                false => {
                    let rows = self.constant(7, &[2], Vec::new(), Vec::new());
                    self.constants.last_mut().unwrap().int64_data = vec![-1, inner];
                    let flat = self.add("Reshape", &[x, &rows], Vec::new());
                    let bias = self.dequantized_weights(&[columns], false);
                    self.add("Gemm", &[&flat, &weight, &bias], vec![float("alpha", 0.5)])
                }
            }
        };
        if self.random.one_in(2) {
            name = self.add("Relu", &[&name], Vec::new());
        }
        let element = self.random.of(&[U8, I8]);
        let q = self.quantization(element);
        let quantized = self.quantize(&name, q);
        self.outputs.push(Output { name: quantized, of_sum: Some((name, q.scale)) });
    }

    /// The last value, and its quantized form, are outputs.
    fn end(&mut self) {
        let last = self.values[self.values.len() - 1].clone();
        let last = if last.quantized.is_some() { last } else { self.rounded(&last) };
        let quantized = last.quantized.map(|(name, _)| name);
        self.outputs.extend(
            [Some(last.name), quantized].into_iter().flatten().map(|name| Output { name, of_sum: None }),
        );
    }
}
