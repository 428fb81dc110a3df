//! A graph as a function of relay, which `fusion-opt` and `fusion` read.

use super::{Graph, Place, Step};
use fusion_operators::{Attr, Attrs, Tensor, TensorType};
use std::fmt::Write;

impl Graph {
    /// `func.func @main` of the graph.
    pub fn text(&self) -> String {
        let mut body = String::new();
        for (place, (step, ty)) in self.steps.iter().zip(&self.types).enumerate() {
            let line = match step {
                Step::Input(_) => continue,
                Step::Constant(tensor) => format!("relay.constant {} : {ty}", elements(tensor)),
                Step::Call { op, attrs, operands } => self.call_text(op.name, attrs, operands, ty),
            };
            let _ = writeln!(body, "  %v{place} = {line}");
        }
        let inputs: Vec<String> = self
            .steps
            .iter()
            .enumerate()
            .filter(|(_, step)| matches!(step, Step::Input(_)))
            .map(|(place, _)| format!("{}: {}", self.name(place), self.types[place]))
            .collect();
        let of = |f: &dyn Fn(Place) -> String| -> String {
            self.results.iter().map(|&place| f(place)).collect::<Vec<_>>().join(", ")
        };
        let types = of(&|place| self.types[place].to_string());
        format!(
            "func.func @main({}) -> ({types}) {{\n{body}  return {} : {types}\n}}\n",
            inputs.join(", "),
            of(&|place| self.name(place))
        )
    }

    fn name(&self, place: Place) -> String {
        match self.steps[place] {
            Step::Input(number) => format!("%x{number}"),
            _ => format!("%v{place}"),
        }
    }

    fn call_text(&self, op: &str, attrs: &Attrs, operands: &[Place], ty: &TensorType) -> String {
        let names: Vec<String> = operands.iter().map(|&place| self.name(place)).collect();
        let types: Vec<String> = operands.iter().map(|&place| self.types[place].to_string()).collect();
        let attrs: Vec<String> =
            attrs.iter().map(|(name, attr)| format!("{name} = {}", attribute(attr))).collect();
        let attrs = if attrs.is_empty() { String::new() } else { format!(" {{{}}}", attrs.join(", ")) };
        format!("relay.{op} {}{attrs} : ({}) -> {ty}", names.join(", "), types.join(", "))
    }
}

/// As `dense<...>`: one number, or the bytes.
fn elements(tensor: &Tensor) -> String {
    let size = tensor.dtype().size();
    let mut all = tensor.bytes().chunks_exact(size);
    let first = all.next();
    if tensor.dtype().is_float() && first.is_some_and(|first| all.all(|other| other == first)) {
        return format!("dense<{}>", decimal(tensor.f64_at(0)));
    }
    let bytes: String = tensor.bytes().iter().map(|byte| format!("{byte:02X}")).collect();
    format!("dense<\"0x{bytes}\">")
}

/// With a point, as MLIR reads floats.
fn decimal(number: f64) -> String {
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0e{exponent}"),
        _ => text,
    }
}

/// An attribute as MLIR writes it.
pub fn attribute(attr: &Attr) -> String {
    let list = |kind: &str, items: Vec<String>| match items.is_empty() {
        true => format!("array<{kind}>"),
        false => format!("array<{kind}: {}>", items.join(", ")),
    };
    match attr {
        Attr::Int(v) => format!("{v} : i64"),
        Attr::Float(v) => format!("{v:?} : f64"),
        Attr::Bool(v) => v.to_string(),
        Attr::Str(v) => format!("{v:?}"),
        Attr::Ints(v) => list("i64", v.iter().map(i64::to_string).collect()),
        Attr::Floats(v) => list("f64", v.iter().map(|v| format!("{v:?}")).collect()),
        Attr::Type(v) => v.to_string(),
    }
}
