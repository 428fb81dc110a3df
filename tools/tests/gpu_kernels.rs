//! Kernels of all kinds and of random extents, emulated on a random one of the GPUs, against the same program on the processor.
//!
//! Every case follows from its number. `FUSION_RANDOM_KERNELS=FROM..TO` runs others than the first ones, or one that failed alone.

use fusion_operators::Tensor;
use fusion_runtime::npz;
use std::fs;
use std::path::Path;
use std::process::Command;

const GPUS: [&str; 5] = ["nvidia:sm_80", "nvidia:sm_90a", "amd:gfx90a", "amd:gfx942", "amd:gfx1100"];
/// Cases that are run by default: each kind twice.
const CASES: u64 = 2 * KINDS.len() as u64;
/// Differences that are allowed, relative to the largest element.
const MOST_OFF: f64 = 1e-5;

/// What is computed, with what is made for it.
type Kind = (&'static str, fn(&mut Program) -> Value);

const KINDS: [Kind; 25] = [
    ("elements", elements),
    ("broadcast", broadcast),
    ("rows", rows),
    ("columns", columns),
    ("whole", whole),
    ("softmax", softmax),
    ("layer_norm", layer_norm),
    ("matmul", matmul),
    ("batch_matmul", batch_matmul),
    ("dense_bias_gelu", dense_bias_gelu),
    ("conv2d", conv2d),
    ("depthwise", depthwise),
    ("max_pool2d", max_pool2d),
    ("avg_pool2d", avg_pool2d),
    ("transpose", transpose),
    ("gather", gather),
    ("scatter", scatter),
    ("attention", attention),
    ("scatter_nd", scatter_nd),
    ("cumsum", cumsum),
    ("large_windows", large_windows),
    ("winograd", winograd),
    ("gather_nd", gather_nd),
    ("gather_elements", gather_elements),
    ("scatter_line", scatter_line),
];

/// A sequence of numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    /// Odd, prime, tiny, powers of two, and those beside them.
    fn extent(&mut self) -> u64 {
        const EXTENTS: [u64; 18] = [1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 32, 33, 61, 64, 65, 97, 128, 131];
        EXTENTS[self.below(EXTENTS.len() as u64) as usize]
    }
}

#[derive(Clone)]
struct Value {
    name: String,
    shape: Vec<u64>,
    element: &'static str,
}

impl Value {
    fn ty(&self) -> String {
        let extents: String = self.shape.iter().map(|n| format!("{n}x")).collect();
        format!("tensor<{extents}{}>", self.element)
    }
}

/// A program being written.
struct Program {
    numbers: Numbers,
    inputs: Vec<(Value, Tensor)>,
    lines: Vec<String>,
}

impl Program {
    fn add(&mut self, shape: &[u64], element: &'static str, tensor: impl Fn(&[usize]) -> Tensor) -> Value {
        let value = Value { name: format!("%a{}", self.inputs.len()), shape: shape.to_vec(), element };
        let extents: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
        self.inputs.push((value.clone(), tensor(&extents)));
        value
    }

    fn input(&mut self, shape: &[u64]) -> Value {
        let count = shape.iter().product::<u64>();
        let values: Vec<f32> = (0..count).map(|_| self.numbers.below(2001) as f32 / 1000.0 - 1.0).collect();
        self.add(shape, "f32", |extents| Tensor::from_slice(extents, &values).unwrap())
    }

    fn indices(&mut self, shape: &[u64], most: u64) -> Value {
        let values: Vec<i64> = (0..shape.iter().product()).map(|_| self.numbers.below(most) as i64).collect();
        self.add(shape, "i64", |extents| Tensor::from_slice(extents, &values).unwrap())
    }

    fn op(&mut self, name: &str, operands: &[&Value], attributes: &str, shape: &[u64]) -> Value {
        let result = Value { name: format!("%r{}", self.lines.len()), shape: shape.to_vec(), element: "f32" };
        let names: Vec<&str> = operands.iter().map(|v| v.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|v| v.ty()).collect();
        self.lines.push(format!(
            "{} = relay.{name} {} {{{attributes}}} : ({}) -> {}",
            result.name,
            names.join(", "),
            types.join(", "),
            result.ty()
        ));
        result
    }

    fn extent(&mut self) -> u64 {
        self.numbers.extent()
    }

    fn small(&mut self, least: u64, most: u64) -> u64 {
        least + self.numbers.below(most - least + 1)
    }

    fn text(&self, result: &Value) -> String {
        let taken: Vec<String> = self.inputs.iter().map(|(v, _)| format!("{}: {}", v.name, v.ty())).collect();
        format!(
            "func.func @main({}) -> {} {{\n  {}\n  return {} : {}\n}}\n",
            taken.join(", "),
            result.ty(),
            self.lines.join("\n  "),
            result.name,
            result.ty()
        )
    }
}

fn elements(p: &mut Program) -> Value {
    let shape = [p.extent(), p.extent()];
    let (a, b) = (p.input(&shape), p.input(&shape));
    let product = p.op("mul", &[&a, &b], "", &shape);
    let shifted = p.op("tanh", &[&product], "", &shape);
    let sum = p.op("add", &[&shifted, &a], "", &shape);
    p.op("exp", &[&sum], "", &shape)
}

fn broadcast(p: &mut Program) -> Value {
    let shape = [p.small(1, 5), p.extent(), p.extent()];
    let (a, column, row) = (p.input(&shape), p.input(&[shape[1], 1]), p.input(&shape[2..]));
    let sum = p.op("add", &[&a, &column], "", &shape);
    let product = p.op("mul", &[&sum, &row], "", &shape);
    p.op("sigmoid", &[&product], "", &shape)
}

fn rows(p: &mut Program) -> Value {
    let shape = [p.extent(), p.extent() * p.small(1, 9)];
    let a = p.input(&shape);
    let square = p.op("mul", &[&a, &a], "", &shape);
    let sum = p.op("reduce_sum", &[&square], "axes = array<i64: 1>", &shape[..1]);
    p.op("sqrt", &[&sum], "", &shape[..1])
}

fn columns(p: &mut Program) -> Value {
    let shape = [p.extent() * p.small(1, 9), p.extent()];
    let a = p.input(&shape);
    p.op("reduce_max", &[&a], "axes = array<i64: 0>", &shape[1..])
}

fn whole(p: &mut Program) -> Value {
    let shape = [p.extent(), p.extent() * p.small(1, 9)];
    let a = p.input(&shape);
    let square = p.op("mul", &[&a, &a], "", &shape);
    p.op("reduce_mean", &[&square], "axes = array<i64: 0, 1>", &[])
}

fn softmax(p: &mut Program) -> Value {
    let shape = [p.small(1, 4), p.extent(), p.extent()];
    let axis = p.small(0, 2);
    let a = p.input(&shape);
    p.op("softmax", &[&a], &format!("axis = {axis} : i64"), &shape)
}

fn layer_norm(p: &mut Program) -> Value {
    let shape = [p.extent(), p.extent() * p.small(1, 5)];
    let (a, scale, shift) = (p.input(&shape), p.input(&shape[1..]), p.input(&shape[1..]));
    let doubled = p.op("add", &[&a, &a], "", &shape);
    p.op("layer_norm", &[&doubled, &scale, &shift], "axis = -1 : i64", &shape)
}

fn matmul(p: &mut Program) -> Value {
    let (m, n, k) = (p.extent(), p.extent(), p.extent());
    let (a, b) = (p.input(&[m, k]), p.input(&[k, n]));
    p.op("matmul", &[&a, &b], "", &[m, n])
}

fn batch_matmul(p: &mut Program) -> Value {
    let (b, m, n, k) = (p.small(1, 4), p.extent(), p.extent(), p.extent());
    let (x, y) = (p.input(&[b, m, k]), p.input(&[b, k, n]));
    p.op("batch_matmul", &[&x, &y], "", &[b, m, n])
}

fn dense_bias_gelu(p: &mut Program) -> Value {
    let (m, n, k) = (p.extent(), p.extent(), p.extent());
    let (x, w, bias) = (p.input(&[m, k]), p.input(&[n, k]), p.input(&[n]));
    let dense = p.op("dense", &[&x, &w], "", &[m, n]);
    let sum = p.op("add", &[&dense, &bias], "", &[m, n]);
    let erf = p.op("erf", &[&sum], "", &[m, n]);
    let sum_of_erf = p.op("mul", &[&sum, &erf], "", &[m, n]);
    p.op("add", &[&sum, &sum_of_erf], "", &[m, n])
}

/// The extent of a window's result.
fn windows(extent: u64, kernel: u64, stride: u64, dilation: u64, padding: [u64; 2]) -> u64 {
    (extent + padding[0] + padding[1] - (kernel - 1) * dilation - 1) / stride + 1
}

fn conv2d(p: &mut Program) -> Value {
    let groups = p.small(1, 3);
    let (n, c, o) = (p.small(1, 2), groups * p.small(1, 17), groups * p.small(1, 17));
    let (kernel, stride, dilation) = (p.small(1, 4), p.small(1, 3), p.small(1, 2));
    let padding = [p.small(0, 2), p.small(0, 2), p.small(0, 2), p.small(0, 2)];
    let (h, w) = (p.small(7, 21), p.small(7, 21));
    let (data, filter) = (p.input(&[n, c, h, w]), p.input(&[o, c / groups, kernel, kernel]));
    let along =
        |extent, axis: usize| windows(extent, kernel, stride, dilation, [padding[axis], padding[axis + 2]]);
    let attributes = format!(
        "strides = array<i64: {stride}, {stride}>, dilation = array<i64: {dilation}, {dilation}>, groups = {groups} : i64, \
         padding = array<i64: {}, {}, {}, {}>",
        padding[0], padding[1], padding[2], padding[3]
    );
    let shape = [n, o, along(h, 0), along(w, 1)];
    let convolved = p.op("conv2d", &[&data, &filter], &attributes, &shape);
    p.op("relu", &[&convolved], "", &shape)
}

fn depthwise(p: &mut Program) -> Value {
    let (n, c, h, w) = (p.small(1, 2), p.extent().min(40), p.small(5, 19), p.small(5, 19));
    let stride = p.small(1, 2);
    let (data, filter) = (p.input(&[n, c, h, w]), p.input(&[c, 1, 3, 3]));
    let attributes = format!(
        "groups = {c} : i64, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: {stride}, {stride}>"
    );
    let along = |extent| windows(extent, 3, stride, 1, [1, 1]);
    p.op("conv2d", &[&data, &filter], &attributes, &[n, c, along(h), along(w)])
}

fn pool(p: &mut Program, name: &str) -> Value {
    let (n, c, h, w) = (p.small(1, 3), p.small(1, 9), p.small(5, 23), p.small(5, 23));
    let (kernel, stride) = (p.small(2, 4), p.small(1, 3));
    let data = p.input(&[n, c, h, w]);
    let attributes = format!(
        "kernel = array<i64: {kernel}, {kernel}>, strides = array<i64: {stride}, {stride}>, padding = array<i64: 1, 0, 1, 1>"
    );
    let shape = [n, c, windows(h, kernel, stride, 1, [1, 1]), windows(w, kernel, stride, 1, [0, 1])];
    p.op(name, &[&data], &attributes, &shape)
}

fn max_pool2d(p: &mut Program) -> Value {
    pool(p, "max_pool2d")
}

fn avg_pool2d(p: &mut Program) -> Value {
    pool(p, "avg_pool2d")
}

fn transpose(p: &mut Program) -> Value {
    let shape = [p.small(1, 5), p.extent(), p.extent()];
    let axes = [[2, 1, 0], [0, 2, 1], [1, 0, 2], [2, 0, 1], [1, 2, 0]][p.numbers.below(5) as usize];
    let a = p.input(&shape);
    let attributes = format!("axes = array<i64: {}, {}, {}>", axes[0], axes[1], axes[2]);
    p.op("transpose", &[&a], &attributes, &axes.map(|axis: usize| shape[axis]))
}

fn gather(p: &mut Program) -> Value {
    let (n, m, k) = (p.extent(), p.extent(), p.extent());
    let table = p.input(&[n, m]);
    let at = p.indices(&[k], n);
    let rows = p.op("gather", &[&table, &at], "axis = 0 : i64", &[k, m]);
    p.op("relu", &[&rows], "", &[k, m])
}

fn scatter(p: &mut Program) -> Value {
    let (n, m) = (p.extent(), p.extent());
    let k = p.small(1, n);
    let (data, at, updates) = (p.input(&[n, m]), p.indices(&[k, m], n), p.input(&[k, m]));
    p.op("scatter_elements", &[&data, &at, &updates], "reduction = \"add\"", &[n, m])
}

fn scatter_nd(p: &mut Program) -> Value {
    let (n, m) = (p.extent(), p.extent());
    let k = p.small(1, 2 * n);
    let (data, at, updates) = (p.input(&[n, m]), p.indices(&[k, 1], n), p.input(&[k, m]));
    let reduction = ["none", "add", "max"][p.numbers.below(3) as usize];
    p.op("scatter_nd", &[&data, &at, &updates], &format!("reduction = \"{reduction}\""), &[n, m])
}

fn gather_nd(p: &mut Program) -> Value {
    let (n, m, k) = (p.extent(), p.extent(), p.extent());
    let table = p.input(&[n, m]);
    let at = p.indices(&[k, 1], n);
    p.op("gather_nd", &[&table, &at], "", &[k, m])
}

fn gather_elements(p: &mut Program) -> Value {
    let (n, m, k) = (p.extent(), p.extent(), p.extent());
    let (table, at) = (p.input(&[n, m]), p.indices(&[n, k], m));
    p.op("gather_elements", &[&table, &at], "axis = 1 : i64", &[n, k])
}

/// Updates along the only axis, of which many meet in one element.
fn scatter_line(p: &mut Program) -> Value {
    let (n, k) = (p.extent(), p.extent());
    let (data, at, updates) = (p.input(&[n]), p.indices(&[k], n), p.input(&[k]));
    let reduction = ["none", "add", "mul", "min"][p.numbers.below(4) as usize];
    p.op("scatter_elements", &[&data, &at, &updates], &format!("reduction = \"{reduction}\""), &[n])
}

fn cumsum(p: &mut Program) -> Value {
    let shape = [p.small(1, 7), p.extent(), p.small(1, 40)];
    let axis = p.numbers.below(3);
    let a = p.input(&shape);
    p.op("cumsum", &[&a], &format!("axis = {axis} : i64, reverse = true"), &shape)
}

fn winograd(p: &mut Program) -> Value {
    let (n, c, f) = (p.small(1, 2), [3, 16, 21, 32][p.numbers.below(4) as usize], p.small(1, 33));
    let (h, w, tile) = (p.small(4, 17), p.small(4, 17), [2, 4][p.numbers.below(2) as usize]);
    let (data, filter) = (p.input(&[n, c, h, w]), p.input(&[(tile + 2) * (tile + 2), c, f]));
    let attributes = format!("tile = {tile} : i64, padding = array<i64: 1, 1, 1, 1>");
    p.op("winograd_conv2d", &[&data, &filter], &attributes, &[n, f, h, w])
}

/// So many results that a thread has several: a depthwise convolution or a pool.
fn large_windows(p: &mut Program) -> Value {
    let (c, h, w) = (p.small(64, 96), p.small(90, 130), p.small(90, 130));
    let data = p.input(&[1, c, h, w]);
    if p.small(0, 1) == 0 {
        let filter = p.input(&[c, 1, 3, 3]);
        let attributes =
            format!("groups = {c} : i64, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>");
        let sums = p.op("conv2d", &[&data, &filter], &attributes, &[1, c, h, w]);
        return p.op("relu", &[&sums], "", &[1, c, h, w]);
    }
    let attributes =
        "kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>";
    p.op("max_pool2d", &[&data], attributes, &[1, c, h, w])
}

fn attention(p: &mut Program) -> Value {
    let (b, queries, keys, width) = (p.small(1, 3), p.extent(), p.extent(), p.small(3, 40));
    let columns = p.small(5, 70);
    let (q, k, v) = (p.input(&[b, queries, width]), p.input(&[b, keys, width]), p.input(&[b, keys, columns]));
    let bias = p.input(&[queries, keys]);
    p.op("attention", &[&q, &k, &v, &bias], "scale = 0.4 : f64", &[b, queries, columns])
}

fn run(directory: &Path, more: &[&str]) -> Result<Vec<f64>, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fusion"));
    command.args(["run", "m.mlir", "--inputs", "x.npz", "--outputs", "y.npz"]).args(more);
    let output = command.current_dir(directory).env("FUSION_CACHE", "0").output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let results = npz::read(&directory.join("y.npz")).unwrap();
    Ok(results.values().next().unwrap().to_f64s())
}

/// What is wrong with a case, if anything.
fn check(case: u64) -> Option<String> {
    let mut numbers = Numbers(case ^ 0x5DEE_CE66);
    // The first numbers of neighbouring seeds are alike.
    for _ in 0..4 {
        numbers.next();
    }
    let (kind, build) = KINDS[(case % KINDS.len() as u64) as usize];
    let gpu = GPUS[numbers.below(GPUS.len() as u64) as usize];
    let wrong = check_on(gpu, numbers, build)?;
    Some(format!("case {case}, {kind}: {wrong}"))
}

/// What is wrong with a program on a GPU, if anything.
fn check_on(gpu: &str, numbers: Numbers, build: fn(&mut Program) -> Value) -> Option<String> {
    let mut program = Program { numbers, inputs: Vec::new(), lines: Vec::new() };
    let result = build(&mut program);
    let text = program.text(&result);
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("m.mlir"), &text).unwrap();
    let inputs: Vec<(String, &Tensor)> =
        program.inputs.iter().enumerate().map(|(i, (_, tensor))| (format!("input_{i}"), tensor)).collect();
    npz::write(&here.join("x.npz"), inputs.iter().map(|(name, tensor)| (name.as_str(), *tensor))).unwrap();
    let wrong = |what: String| Some(format!("on {gpu}: {what}\n{text}"));
    let wanted = match run(here, &[]) {
        Ok(wanted) => wanted,
        Err(why) => return wrong(format!("on the processor: {why}")),
    };
    let got = match run(here, &["--target", gpu, "--emulate"]) {
        Ok(got) => got,
        Err(why) => return wrong(why),
    };
    let most = wanted.iter().fold(1e-3, |most: f64, v| most.max(v.abs()));
    let off = got.iter().zip(&wanted).map(|(a, b)| (a - b).abs() / most).fold(0.0, f64::max);
    // Not a number is not below.
    let right = got.len() == wanted.len() && got.iter().all(|v| v.is_finite()) && off <= MOST_OFF;
    if right { None } else { wrong(format!("is off by {off:e}")) }
}

#[test]
fn random_kernels_compute_what_the_processor_does() {
    let range = std::env::var("FUSION_RANDOM_KERNELS").unwrap_or_default();
    let (from, to) = range
        .split_once("..")
        .and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)))
        .unwrap_or((0, CASES));
    let wrong: Vec<String> = (from..to).filter_map(check).collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), to - from, wrong.join("\n"));
}

/// Kernels whose threads have several elements each, of which there have to be many.
const LARGE: [fn(&mut Program) -> Value; 4] = [
    // Rows of a table, and what is added to each of them.
    |p| {
        let (table, at, bias) = (p.input(&[50, 520]), p.indices(&[1100], 50), p.input(&[520]));
        let rows = p.op("gather", &[&table, &at], "axis = 0 : i64", &[1100, 520]);
        p.op("add", &[&rows, &bias], "", &[1100, 520])
    },
    // Elements that are each read elsewhere.
    |p| {
        let (table, at) = (p.input(&[1100, 90]), p.indices(&[1100, 520], 90));
        p.op("gather_elements", &[&table, &at], "axis = 1 : i64", &[1100, 520])
    },
    // Windows whose rows are no multiple of a thread's columns.
    |p| {
        let x = p.input(&[1, 64, 115, 115]);
        let attributes =
            "kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>";
        p.op("max_pool2d", &[&x], attributes, &[1, 64, 115, 115])
    },
    |p| {
        let (x, w) = (p.input(&[1, 66, 117, 117]), p.input(&[66, 1, 3, 3]));
        p.op("conv2d", &[&x, &w], "groups = 66 : i64", &[1, 66, 115, 115])
    },
];

#[test]
fn threads_with_several_elements_compute_what_the_processor_does() {
    for (number, build) in LARGE.into_iter().enumerate() {
        for gpu in ["nvidia:sm_80", "amd:gfx1100"] {
            let wrong = check_on(gpu, Numbers(number as u64), build);
            assert!(wrong.is_none(), "{}", wrong.unwrap_or_default());
        }
    }
}
