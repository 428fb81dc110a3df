//! A graph as a function of relay, which `fusion-opt` and `fusion` read.

use super::{Graph, Place, Step};
use fusion_operators::{Attr, Attrs, Dim, Tensor, TensorType};
use std::fmt::Write;

impl Graph {
    /// `func.func @main` of the graph.
    pub fn text(&self) -> String {
        let mut body = String::new();
        for (place, (step, ty)) in self.steps.iter().zip(&self.types).enumerate() {
            let line = match step {
                Step::Input(_) => continue,
                Step::Constant(tensor) => {
                    format!("relay.constant {} : {}", elements(tensor), tensor_type(ty))
                }
                Step::Call { op, attrs, operands } => self.call_text(op.name, attrs, operands, ty),
            };
            let _ = writeln!(body, "  %v{place} = {line}");
        }
        let inputs: Vec<String> = self
            .steps
            .iter()
            .enumerate()
            .filter(|(_, step)| matches!(step, Step::Input(_)))
            .map(|(place, _)| format!("{}: {}", self.name(place), tensor_type(&self.types[place])))
            .collect();
        let of = |f: &dyn Fn(Place) -> String| -> String {
            self.results.iter().map(|&place| f(place)).collect::<Vec<_>>().join(", ")
        };
        let types = of(&|place| tensor_type(&self.types[place]));
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
        let types: Vec<String> = operands.iter().map(|&place| tensor_type(&self.types[place])).collect();
        let attrs: Vec<String> =
            attrs.iter().map(|(name, attr)| format!("{name} = {}", attribute(attr))).collect();
        let attrs = if attrs.is_empty() { String::new() } else { format!(" {{{}}}", attrs.join(", ")) };
        format!("relay.{op} {}{attrs} : ({}) -> {}", names.join(", "), types.join(", "), tensor_type(ty))
    }
}

/// A type as MLIR writes it: names and expressions of extents stand in the encoding.
fn tensor_type(ty: &TensorType) -> String {
    if ty.dims.iter().all(|dim| dim.known().is_some()) {
        return ty.to_string();
    }
    let known = |dim: &Dim| dim.known().map_or("?".to_owned(), |n| n.to_string());
    let dims: Vec<String> = ty.dims.iter().map(known).collect();
    let said = |dim: &Dim| match dim {
        Dim::Static(_) | Dim::Any => "\"\"".to_owned(),
        _ => format!("\"{dim}\""),
    };
    let names: Vec<String> = ty.dims.iter().map(said).collect();
    format!("tensor<{}x{}, #relay.dims<[{}]>>", dims.join("x"), ty.dtype, names.join(", "))
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
        Attr::Float(v) => format!("{} : f64", decimal(*v)),
        Attr::Bool(v) => v.to_string(),
        Attr::Str(v) => format!("{v:?}"),
        Attr::Ints(v) => list("i64", v.iter().map(i64::to_string).collect()),
        Attr::Floats(v) => list("f64", v.iter().map(|&v| decimal(v)).collect()),
        Attr::Type(v) => v.to_string(),
        Attr::Dim(v) => format!("#relay.dim<\"{v}\">"),
        Attr::Dims(v) => {
            let texts: Vec<String> = v.iter().map(|dim| format!("\"{dim}\"")).collect();
            format!("#relay.dims<[{}]>", texts.join(", "))
        }
    }
}
