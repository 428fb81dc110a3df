//! Programs that tests write, with inputs and constants that look random.

use crate::common::Numbers;
use fusion_operators::{DType, Tensor};

/// A value of a program.
#[derive(Clone)]
pub struct Value {
    pub name: String,
    pub shape: Vec<u64>,
    pub element: &'static str,
}

impl Value {
    pub fn ty(&self) -> String {
        let extents: String = self.shape.iter().map(|n| format!("{n}x")).collect();
        format!("tensor<{extents}{}>", self.element)
    }
}

/// A program being written, and how it is to be run.
pub struct Program {
    pub numbers: Numbers,
    /// What it is to run on.
    pub gpu: &'static str,
    /// Options of the compiler.
    pub options: Vec<&'static str>,
    /// Whether the GPU has four cores only, so that a few tiles take several waves.
    pub few_cores: bool,
    /// Differences that are allowed, relative to the largest element.
    pub most_off: f64,
    /// The number that kinds of schedules are drawn by, where those of least estimate are not to be taken.
    pub schedules: Option<u64>,
    inputs: Vec<(Value, Tensor)>,
    lines: Vec<String>,
    made: usize,
}

impl Program {
    pub fn new(numbers: Numbers, gpu: &'static str) -> Program {
        let (inputs, lines) = (Vec::new(), Vec::new());
        Program {
            numbers,
            gpu,
            options: Vec::new(),
            few_cores: false,
            most_off: 1e-5,
            schedules: None,
            inputs,
            lines,
            made: 0,
        }
    }

    pub fn below(&mut self, most: u64) -> u64 {
        self.numbers.next() % most
    }

    /// Odd, prime, tiny, powers of two, and those beside them.
    pub fn extent(&mut self) -> u64 {
        self.numbers.among(&[1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 32, 33, 61, 64, 65, 97, 128, 131])
    }

    pub fn small(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// Takes a tensor.
    pub fn take(&mut self, element: &'static str, tensor: Tensor) -> Value {
        let shape = tensor.shape().iter().map(|n| *n as u64).collect();
        let value = Value { name: format!("%a{}", self.inputs.len()), shape, element };
        self.inputs.push((value.clone(), tensor));
        value
    }

    pub fn input(&mut self, shape: &[u64]) -> Value {
        let tensor = self.numbers.tensor(shape);
        self.take("f32", tensor)
    }

    /// An input of f16.
    pub fn narrow_input(&mut self, shape: &[u64]) -> Value {
        let tensor = self.numbers.tensor(shape);
        let narrow = Tensor::from_f64s(DType::F16, tensor.shape(), &tensor.to_f64s()).unwrap();
        self.take("f16", narrow)
    }

    pub fn indices(&mut self, shape: &[u64], most: u64) -> Value {
        let values: Vec<i64> = (0..shape.iter().product()).map(|_| self.below(most) as i64).collect();
        let extents: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
        self.take("i64", Tensor::from_slice(&extents, &values).unwrap())
    }

    /// A constant of numbers up to `most`.
    pub fn weight(&mut self, shape: &[u64], most: f32) -> Value {
        let tensor: Tensor = self.numbers.tensor(shape);
        let hex: String = tensor
            .to_f64s()
            .into_iter()
            .flat_map(|v| (v as f32 * most).to_le_bytes())
            .map(|byte| format!("{byte:02X}"))
            .collect();
        self.constant(&format!("\"0x{hex}\""), shape, "f32")
    }

    /// One number.
    pub fn number(&mut self, number: &str, element: &'static str) -> Value {
        self.constant(number, &[], element)
    }

    fn constant(&mut self, elements: &str, shape: &[u64], element: &'static str) -> Value {
        let value = self.value(shape, element);
        self.lines.push(format!("{} = relay.constant dense<{elements}> : {}", value.name, value.ty()));
        value
    }

    /// A value of a new name.
    pub fn value(&mut self, shape: &[u64], element: &'static str) -> Value {
        self.made += 1;
        Value { name: format!("%r{}", self.made), shape: shape.to_vec(), element }
    }

    /// Adds a line, or several.
    pub fn line(&mut self, line: String) {
        self.lines.push(line);
    }

    pub fn op(&mut self, name: &str, operands: &[&Value], attributes: &str, shape: &[u64]) -> Value {
        let element = operands.first().map_or("f32", |v| v.element);
        self.op_of(name, operands, attributes, shape, element)
    }

    /// The same of a result of that type.
    pub fn op_of(
        &mut self,
        name: &str,
        operands: &[&Value],
        attributes: &str,
        shape: &[u64],
        element: &'static str,
    ) -> Value {
        let result = self.value(shape, element);
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

    /// An operator that keeps the shape of its first operand.
    pub fn like(&mut self, name: &str, operands: &[&Value]) -> Value {
        let shape = operands[0].shape.clone();
        self.op(name, operands, "", &shape)
    }

    pub fn cast(&mut self, value: &Value, element: &'static str) -> Value {
        self.op_of("cast", &[value], &format!("dtype = {element}"), &value.shape, element)
    }

    /// The program with these results.
    pub fn text(&self, results: &[&Value]) -> String {
        let join = |all: Vec<String>| all.join(", ");
        let types = join(results.iter().map(|v| v.ty()).collect());
        format!(
            "func.func @main({}) -> ({types}) {{\n  {}\n  return {} : {types}\n}}\n",
            join(self.inputs.iter().map(|(v, _)| format!("{}: {}", v.name, v.ty())).collect()),
            self.lines.join("\n  "),
            join(results.iter().map(|v| v.name.clone()).collect()),
        )
    }

    /// What it takes, by name.
    pub fn inputs(&self) -> Vec<(String, &Tensor)> {
        self.inputs.iter().enumerate().map(|(i, (_, tensor))| (format!("input_{i}"), tensor)).collect()
    }
}
