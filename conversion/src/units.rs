//! Takes the kernels out of a program, so that each is compiled by itself: at the same time as others, once however many
//! kernels are the same, and not again where it was compiled before.
//!
//! ```text
//!   func @main { call @dense_0; call @dense_1 }        func @main { call @dense_5f3c; call @dense_5f3c }
//!   func @dense_0 { ... }                        =>    func @dense_5f3c             a declaration
//!   func @dense_1 { the same }                         a unit: func @dense_5f3c { ... }, as text
//! ```
//!
//! A kernel's new name is what it was called after and a hash of its content. It stays the same from model to model.

use fusion_dialects::loops::KERNEL;
use fusion_dialects::module::{FP_MATH, MAX_ERROR};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Build, Op, OpExt, nested_ops, source_of, str_attr, symbol_attr, top_level};
use indexmap::IndexMap;

/// A kernel as a program of its own.
#[derive(Clone, Debug)]
pub struct Unit {
    /// What the first of the same kernels was called.
    pub name: String,
    /// What all of them were called.
    pub names: Vec<String>,
    /// The function it defines.
    pub symbol: String,
    /// Its text; the same for kernels that are the same.
    pub content: String,
    /// Its text with the symbol, and where in the model each operation comes from.
    pub source: String,
}

impl Unit {
    /// A message with the kernel called what its program calls it.
    pub fn told(&self, message: &str) -> String {
        message.replace(&self.symbol, &self.name)
    }
}

/// What kernels are called while they are compared.
const NAMELESS: &str = "kernel";

/// Takes the kernels out of a program over loops, in order, and leaves declarations.
pub fn take(module: Op) -> Vec<Unit> {
    let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func)));
    let mut units: IndexMap<String, Unit> = IndexMap::new();
    let mut renamed: IndexMap<String, String> = IndexMap::new();
    let said = [FP_MATH, MAX_ERROR].map(|name| (name, module.attr(name)));
    for function in functions.into_iter().filter(|f| stands_alone(*f)) {
        let context = function.context_ref();
        // What is still to be lowered asks for it.
        for (name, attr) in said.iter().filter_map(|(name, attr)| Some((name, (*attr)?))) {
            function.set_attr(name, attr);
        }
        let name = function.text("sym_name").unwrap_or_default().to_owned();
        function.set_attr("sym_name", str_attr(context, NAMELESS));
        let content = source_of(function, false);
        let unit = units.entry(content).or_insert_with_key(|content| {
            let symbol = symbol(&name, content);
            declare(function, &symbol);
            function.set_attr("sym_name", str_attr(context, &symbol));
            let source = source_of(function, true);
            Unit { name: name.clone(), names: Vec::new(), symbol, content: content.clone(), source }
        });
        unit.names.push(name.clone());
        renamed.insert(name, unit.symbol.clone());
        function.erase();
    }
    for call in nested_ops(module).into_iter().filter(is_call) {
        if let Some(symbol) = call.text("callee").and_then(|name| renamed.get(name)) {
            call.set_attr("callee", symbol_attr(module.context_ref(), symbol));
        }
    }
    units.into_values().collect()
}

/// True for kernels that call nothing of the program.
fn stands_alone(function: Op) -> bool {
    function.attr(KERNEL).is_some() && function.body(0).is_some() && !nested_ops(function).iter().any(is_call)
}

fn is_call(op: &Op) -> bool {
    matches!(op.kind(), Some(Kind::Upstream(Upstream::Call)))
}

/// `fused_dense_add_3` and its content: `fused_dense_add_` and a hash.
fn symbol(name: &str, content: &str) -> String {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    format!("{stem}_{}", &blake3::hash(content.as_bytes()).to_hex()[..16])
}

/// Puts a declaration of a function before it, under that name.
pub fn declare(function: Op, symbol: &str) {
    let mut attrs: Vec<_> = ["function_type", "sym_visibility"]
        .into_iter()
        .filter_map(|name| Some((name, function.attr(name)?)))
        .collect();
    attrs.push(("sym_name", str_attr(function.context_ref(), symbol)));
    let build = Build::before(function);
    build.op_with_regions(Upstream::Func.name(), &[], &[], &attrs, vec![fusion_dialects::Region::new()]);
}
