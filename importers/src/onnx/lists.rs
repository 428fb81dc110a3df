//! The functions of a program that uses lists, written in the language.
//!
//! ```text
//!   relay.call @sequence_at_0(%xs, %position)      def @sequence_at_0(%xs: List[T], %p: int64) -> T { @sequence_at(%xs, %p) }
//! ```
//! Each operation on lists of one type of elements is a function, which calls those of the prelude. There a sequence is a list whose
//! last element is the head: loops make them one by one.

use std::cell::RefCell;

use fusion_dialects::{Context, Module, OpExt, Type, module_op, nested_ops, ops_in, tensor_type_to_mlir};
use fusion_operators::{Dim, TensorType};
use indexmap::IndexMap;

use super::emit::{Held, ListOp};
use super::error::ImportError;
use crate::relay_text;

/// The functions that a program uses, by their names.
#[derive(Default)]
pub struct Functions {
    names: RefCell<IndexMap<(ListOp, String), (String, TensorType)>>,
}

impl Functions {
    /// The name of the function for an operation on lists of such elements.
    pub fn name(&self, op: ListOp, element: &TensorType) -> String {
        let mut names = self.names.borrow_mut();
        let number = names.len();
        let key = (op, element.to_string());
        let (name, _) =
            names.entry(key).or_insert_with(|| (format!("sequence_{}_{number}", word(op)), element.clone()));
        name.clone()
    }

    /// Adds the functions that a module calls, in front of its own.
    pub fn add_to(&self, context: &Context, module: &Module) -> Result<(), ImportError> {
        let Some(body) = module_op(module).body(0) else { return Ok(()) };
        let called: Vec<String> = nested_ops(module_op(module))
            .into_iter()
            .filter_map(|op| Some(op.text("callee")?.to_owned()))
            .collect();
        let names = self.names.borrow();
        let used = names.iter().filter(|(_, (name, _))| called.contains(name));
        let texts: Vec<String> = used.map(|((op, _), (name, ty))| text(context, *op, name, ty)).collect();
        let (false, Some(first)) = (texts.is_empty(), ops_in(body).first().copied()) else { return Ok(()) };
        let source = format!("import \"prelude\"\n{}", texts.concat());
        let written =
            relay_text::import(context, "sequences", source, None).map_err(ImportError::Sequences)?;
        if let Some(functions) = module_op(&written).body(0) {
            ops_in(functions).into_iter().for_each(|op| op.move_before_op(first));
        }
        Ok(())
    }
}

fn word(op: ListOp) -> &'static str {
    match op {
        ListOp::Empty => "empty",
        ListOp::Push => "push",
        ListOp::Insert => "insert",
        ListOp::Erase => "erase",
        ListOp::At => "at",
        ListOp::Length => "length",
        ListOp::Concat(_) => "concat",
        ListOp::Stack(_) => "stack",
        ListOp::Forward => "forward",
    }
}

/// The type of what a program holds.
pub fn held_type<'c>(context: &'c Context, held: &Held) -> Type<'c> {
    match held {
        Held::Tensor(ty) => tensor_type_to_mlir(context, ty),
        Held::List(element) => {
            fusion_dialects::adt_type(context, "List", &[tensor_type_to_mlir(context, element)])
        }
    }
}

fn text(context: &Context, op: ListOp, name: &str, element: &TensorType) -> String {
    let written = |held: &Held| relay_text::type_text(held_type(context, held));
    let (list, x) = (written(&Held::List(element.clone())), written(&Held::Tensor(element.clone())));
    let result = written(&op.result(element));
    let (takes, body) = match op {
        ListOp::Empty => (String::new(), "Nil".to_owned()),
        ListOp::Push => (format!("%xs: {list}, %x: {x}"), "Cons(%x, %xs)".to_owned()),
        ListOp::Insert => {
            (format!("%xs: {list}, %at: int64, %x: {x}"), "@sequence_insert(%xs, %at, %x)".to_owned())
        }
        ListOp::Erase => (format!("%xs: {list}, %at: int64"), "@sequence_erase(%xs, %at)".to_owned()),
        ListOp::At => (format!("%xs: {list}, %at: int64"), "@sequence_at(%xs, %at)".to_owned()),
        ListOp::Length => (format!("%xs: {list}"), "@sequence_length(%xs)".to_owned()),
        ListOp::Forward => (format!("%xs: {list}"), "@rev(%xs)".to_owned()),
        ListOp::Concat(axis) => (format!("%xs: {list}"), joined(&x, &result, "%x", axis)),
        ListOp::Stack(axis) => {
            let Held::Tensor(ty) = op.result(element) else { return String::new() };
            let none: Vec<String> = ty.dims.iter().map(|dim| dim.known().unwrap_or(0).to_string()).collect();
            let dtype = relay_text::element_name(ty.dtype);
            let rows = joined(&x, &result, &format!("expand_dims(%x, axis={axis})"), axis);
            let none = format!("zeros(shape=[{}], dtype=\"{dtype}\")", none.join(", "));
            (format!("%xs: {list}"), format!("match (%xs) {{ Nil => {none}, _ => {rows} }}"))
        }
    };
    format!("def @{name}({takes}) -> {result} {{ {body} }}\n")
}

/// The elements, each as `row` has it, one after the other along an axis.
fn joined(element: &str, whole: &str, row: &str, axis: usize) -> String {
    let both = format!("fn (%a: {whole}, %b: {whole}) -> {whole} {{ concatenate((%a, %b), axis={axis}) }}");
    let rows = format!("@sequence_map(fn (%x: {element}) -> {whole} {{ {row} }}, %xs, Nil)");
    format!("@joined({both}, {rows})")
}

/// The type of an element whose extents are numbers or `?`: names of a model's extents mean nothing in another function.
pub fn without_names(ty: &TensorType) -> TensorType {
    let dims = ty.dims.iter().map(|dim| dim.known().map_or(Dim::Any, Dim::Static)).collect();
    TensorType::new(dims, ty.dtype)
}
