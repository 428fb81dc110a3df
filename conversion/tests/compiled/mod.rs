//! Random calls of operators, compiled to native code and run: against the reference semantics.

mod cells;
mod families;
mod few_bits;
mod inner_product_trick;
mod integers;
mod kernels;
mod loops;
mod moments;
mod more;
mod pieces;
mod rearranged;
mod results;
mod special;
mod strassen;
mod streams;
mod text;
mod whole;

use crate::common::{Random, attribute};
use fusion_conversion::compile::{Settings, compile};
use fusion_dialects::{Jit, Symbol, load_context, parse_module};
use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Operator, Tensor, TensorType};
use std::fmt::Write;
use std::sync::Once;

impl Random {
    /// Extents that vectors and tiles do and do not divide.
    fn extent(&mut self) -> usize {
        self.of(&[1, 2, 3, 8, 16, 17, 37])
    }

    /// Numbers within `least` and `most`; whole ones for integers.
    fn between(&mut self, dtype: DType, shape: &[usize], least: i64, most: i64) -> Tensor {
        let each = |r: &mut Random| match dtype.is_float() {
            true => r.within(64 * least, 64 * most) as f64 / 64.0,
            false => r.within(least, most) as f64,
        };
        let values: Vec<f64> = (0..shape.iter().product()).map(|_| each(self)).collect();
        Tensor::from_f64s(dtype, shape, &values).unwrap()
    }

    fn tensor(&mut self, dtype: DType, shape: &[usize]) -> Tensor {
        let signed = dtype.is_float() || DType::I8.class() == dtype.class();
        self.between(dtype, shape, if signed { -2 } else { 0 }, 2)
    }
}

/// A call whose operands are inputs of the program, then first results of earlier calls.
struct Step(&'static Operator, Attrs, Vec<usize>);

fn types(tensors: &[Tensor]) -> String {
    tensors.iter().map(|t| t.tensor_type().to_string()).collect::<Vec<_>>().join(", ")
}

/// The program as text, what its last call gives, and the greatest number on the way. Inputs from `taken` on are
/// constants.
fn program(steps: &[Step], inputs: &[Tensor], taken: usize) -> (String, Vec<Tensor>, f64) {
    let given: Vec<_> =
        inputs[..taken].iter().enumerate().map(|(i, t)| format!("%v{i}: {}", t.tensor_type())).collect();
    let (mut values, mut body, mut last) = (inputs.to_vec(), String::new(), Vec::new());
    for (i, tensor) in inputs.iter().enumerate().skip(taken) {
        let (bytes, ty) =
            (tensor.bytes().iter().map(|b| format!("{b:02X}")).collect::<String>(), tensor.tensor_type());
        writeln!(body, "  %v{i} = relay.constant dense<\"0x{bytes}\"> : {ty}").unwrap();
    }
    let mut returned = String::new();
    let mut scale = 1.0f64;
    for Step(op, attrs, operands) in steps {
        let taken: Vec<Tensor> = operands.iter().map(|&i| values[i].clone()).collect();
        last = evaluate(op, attrs, &taken).unwrap_or_else(|why| panic!("{op:?} {attrs:?} {taken:?}: {why}"));
        let name = format!("%v{}", values.len());
        let names: Vec<_> =
            operands.iter().map(|i| format!("%v{i}{}", if *i < inputs.len() { "" } else { "#0" })).collect();
        let attrs: Vec<_> = attrs.iter().map(|(n, a)| format!("{n} = {}", attribute(a))).collect();
        let (count, names, attrs) = (last.len(), names.join(", "), attrs.join(", "));
        let (from, to) = (types(&taken), types(&last));
        let op = op.name;
        writeln!(body, "  {name}:{count} = \"relay.{op}\"({names}) {{{attrs}}} : ({from}) -> ({to})")
            .unwrap();
        returned = (0..count).map(|i| format!("{name}#{i}")).collect::<Vec<_>>().join(", ");
        let numbers = last.iter().flat_map(Tensor::to_f64s).filter(|v| v.is_finite());
        scale = numbers.fold(scale, |most, v| most.max(v.abs()));
        values.push(last[0].clone());
    }
    let made = types(&last);
    let text = format!(
        "func.func @main({}) -> ({made}) {{\n{body}  return {returned} : {made}\n}}\n",
        given.join(", ")
    );
    (text, last, scale)
}

/// Bytes at an address that the widest vectors may be loaded from, or some bytes behind one.
struct Aligned {
    bytes: Vec<u8>,
    at: usize,
}

impl Aligned {
    fn new(contents: &[u8]) -> Self {
        Aligned::behind(0, contents)
    }

    fn behind(offset: usize, contents: &[u8]) -> Self {
        assert!(offset < 64);
        let mut bytes = vec![0; contents.len() + 128];
        let at = bytes.as_ptr().align_offset(64) + offset;
        bytes[at..][..contents.len()].copy_from_slice(contents);
        Aligned { bytes, at }
    }

    fn view(&self) -> &[u8] {
        &self.bytes[self.at..][..self.bytes.len() - 128]
    }

    fn view_mut(&mut self) -> &mut [u8] {
        let count = self.bytes.len() - 128;
        &mut self.bytes[self.at..][..count]
    }
}

fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        fusion_dialects::register_upstream_passes();
        fusion_transforms::register();
        fusion_conversion::register();
    });
}

/// Runs a program; inputs and outputs begin so many bytes behind a line.
fn run(source: &str, inputs: &[Tensor], types: &[TensorType], offset: usize) -> Result<Vec<Tensor>, String> {
    run_with("", source, inputs, types, offset)
}

/// The same with features of the processor switched off, or on.
fn run_with(
    features: &str,
    source: &str,
    inputs: &[Tensor],
    types: &[TensorType],
    offset: usize,
) -> Result<Vec<Tensor>, String> {
    let context = load_context();
    let module = parse_module(&context, source).map_err(|why| why.join("\n"))?;
    let mut settings = Settings::default();
    settings.processor.target.optimization = 1;
    settings.processor.target.features = features.to_owned();
    let compiled = compile(&module, &settings).map_err(|why| why.to_string())?;
    let constants = Aligned::new(&compiled.constants.to_bytes());
    let address = constants.view().as_ptr().cast_mut().cast();
    let symbols = [Symbol { name: "fusion_constants", address }, crate::common::threads::threads()];
    let jit = Jit::new(&compiled.objects, &symbols).map_err(|why| why.to_string())?;
    let inputs: Vec<_> = inputs.iter().map(|t| Aligned::behind(offset, t.bytes())).collect();
    let inputs: Vec<_> = inputs.iter().map(Aligned::view).collect();
    let bytes = |t: &TensorType| t.bytes().unwrap_or(0) as usize;
    let mut outputs: Vec<_> = types.iter().map(|t| Aligned::behind(offset, &vec![0xa5; bytes(t)])).collect();
    let mut views: Vec<_> = outputs.iter_mut().map(Aligned::view_mut).collect();
    let mut workspace = Aligned::new(&vec![0xa5; compiled.workspace_bytes as usize]);
    let status =
        jit.run("fusion_run", &inputs, &mut views, workspace.view_mut()).map_err(|why| why.to_string())?;
    if status != 0 {
        return Err(format!("status {status}"));
    }
    let tensor = |(t, data): (&TensorType, &Aligned)| {
        let shape: Vec<usize> = t.shape().unwrap_or_default().into_iter().map(|n| n as usize).collect();
        Tensor::from_bytes(t.dtype, &shape, data.view()).map_err(|why| why.to_string())
    };
    types.iter().zip(&outputs).map(tensor).collect()
}

/// Where two tensors differ by more than roundings explain.
fn difference(found: &Tensor, wanted: &Tensor, scale: f64) -> Option<String> {
    let (relative, absolute) = match wanted.dtype() {
        DType::F64 => (1e-9, 1e-9),
        DType::F32 => (1e-4, 1e-5),
        DType::F16 | DType::BF16 => (2e-2, 2e-2),
        _ => (0.0, 0.0),
    };
    let exact = !wanted.dtype().is_float();
    (0..wanted.len()).find_map(|i| {
        let (x, y) = (found.f64_at(i), wanted.f64_at(i));
        let same = match exact {
            true => found.int_at(i) == wanted.int_at(i),
            false => {
                x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= absolute * scale + relative * y.abs()
            }
        };
        (!same).then(|| format!("[{i}] is {x}, wanted {y}"))
    })
}

/// Compiles programs and remembers those that compute something else than the reference.
#[derive(Default)]
struct Checker {
    failures: Vec<String>,
    /// Bytes from a line to where inputs and outputs begin.
    offset: usize,
    /// Features of the processor, as LLVM takes them.
    features: &'static str,
}

impl Checker {
    fn call(&mut self, op: &'static Operator, attrs: Attrs, operands: &[Tensor]) {
        self.chain(&[Step(op, attrs, (0..operands.len()).collect())], operands);
    }

    /// As `call`, with all operands but the first as constants of the program.
    fn call_on_constants(&mut self, op: &'static Operator, attrs: Attrs, operands: &[Tensor]) {
        self.check(&[Step(op, attrs, (0..operands.len()).collect())], operands, 1);
    }

    fn chain(&mut self, steps: &[Step], inputs: &[Tensor]) {
        self.check(steps, inputs, inputs.len());
    }

    fn check(&mut self, steps: &[Step], inputs: &[Tensor], taken: usize) {
        register();
        let (source, wanted, scale) = program(steps, inputs, taken);
        let types: Vec<_> = wanted.iter().map(Tensor::tensor_type).collect();
        let why = match run_with(self.features, &source, &inputs[..taken], &types, self.offset) {
            Ok(found) => found.iter().zip(&wanted).find_map(|(f, w)| difference(f, w, scale)),
            Err(why) => Some(why),
        };
        self.failures.extend(why.map(|why| format!("{why}\n{source}")));
    }

    fn finish(self) {
        assert!(self.failures.is_empty(), "{} failures:\n{}", self.failures.len(), self.failures.join("\n"));
    }
}
