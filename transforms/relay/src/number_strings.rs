//! `relay-number-strings`: strings become their numbers in the program's list of strings.
//!
//! ```text
//!   relay.strings = ["a", "b"]
//!   %k = relay.constant dense<"b"> : tensor<!relay.string>          %k = relay.constant dense<1> : tensor<i64>
//!   %y = relay.equal %x, %k                                  ==>    %y = relay.equal %x, %k
//!      : (tensor<3x!relay.string>, tensor<!relay.string>)              : (tensor<3xi64>, tensor<i64>)
//! ```
//!
//! What only moves or compares elements means the same of numbers, as each string stands once in the list. From here on tensor code needs
//! to know nothing of strings. A module without a list gets one of its own constants. Operators that make strings, or look into them, are
//! no tensor code: the program around it calls them, and here they are errors.

use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Context, Op, OpExt, OperationLike, Pass, PassError, RunContext, Type, Value, ValueLike, arguments,
    function_parts, function_type, kind_of, nested_ops, read_tensor, relay, set_type, tensor_type_of,
    tensor_type_to_mlir, texts_attr, texts_of, type_attr, type_of_attr, write_tensor,
};
use fusion_operators::{DType, Dictionary, Tensor};

/// The attribute of a module: its strings, each once.
pub const STRINGS: &str = "relay.strings";

/// The pass.
pub struct NumberStrings;

impl Pass for NumberStrings {
    const NAME: &'static str = "relay-number-strings";
    const DESCRIPTION: &'static str = "Put the numbers of strings in their place";
    const ANCHOR: Option<&'static str> = Some("builtin.module");

    fn run<'c>(module: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        if module.attr(STRINGS).is_none() {
            name_strings(module, &strings_of(module));
        }
        let mut list = Dictionary::of(module.attr(STRINGS).map(texts_of).unwrap_or_default());
        let known = list.len();
        for op in nested_ops(module) {
            if let Some(Kind::Operator(operator)) = kind_of(op)
                && makes_or_reads_strings(op)
            {
                let why = format!(
                    "relay.{} makes strings or looks into them, which is no tensor code",
                    operator.name
                );
                return Err(PassError::at(op, why));
            }
            renumber(op, &mut list);
            if list.len() > known {
                return Err(PassError::at(
                    op,
                    format!("has a string that is not in the list {STRINGS} of the module"),
                ));
            }
        }
        Ok(())
    }
}

/// True for operators of the family of strings: their types would be wrong with numbers.
fn makes_or_reads_strings(op: Op) -> bool {
    use fusion_operators::ops::strings;
    matches!(kind_of(op), Some(Kind::Operator(operator)) if strings::ALL.iter().any(|row| row.is(operator)))
}

/// The type with numbers in place of strings, where it has any.
fn numbered<'c>(context: &'c Context, ty: Type<'c>) -> Option<Type<'c>> {
    let tensor = tensor_type_of(ty).filter(|tensor| tensor.dtype == DType::String)?;
    Some(tensor_type_to_mlir(context, &tensor.with_dtype(DType::I64)))
}

fn values<'c>(op: Op<'c>) -> Vec<Value<'c>> {
    let blocks = (0..op.region_count()).filter_map(|i| op.body(i));
    op.result_values().into_iter().chain(blocks.flat_map(arguments)).collect()
}

fn renumber<'c>(op: Op<'c>, list: &mut Dictionary) {
    let context = op.context_ref();
    if let Some(tensor) = string_constant(op) {
        let numbers: Vec<i64> = list.numbers(&tensor).into_iter().map(|number| number as i64).collect();
        if let Ok(numbers) = Tensor::from_slice(tensor.shape(), &numbers) {
            op.set_attr("value", write_tensor(context, &numbers, "strings"));
        }
    }
    for value in values(op) {
        if let Some(ty) = numbered(context, value.r#type()) {
            set_type(value, ty);
        }
    }
    if let Some((takes, gives)) = op.attr("function_type").and_then(type_of_attr).and_then(function_parts) {
        let all = |types: Vec<Type<'c>>| -> Vec<Type<'c>> {
            types.into_iter().map(|ty| numbered(context, ty).unwrap_or(ty)).collect()
        };
        op.set_attr("function_type", type_attr(function_type(context, &all(takes), &all(gives))));
    }
}

/// The strings of a constant of strings.
fn string_constant(op: Op) -> Option<Tensor> {
    let is_constant = matches!(kind_of(op), Some(Kind::Relay(relay::Op::Constant)));
    let value = op.attr("value").filter(|_| is_constant)?;
    let of_strings =
        |value: &Value| tensor_type_of(value.r#type()).is_some_and(|ty| ty.dtype == DType::String);
    op.result_values().iter().all(of_strings).then(|| read_tensor(value))?
}

/// True when there are strings anywhere in a module.
pub fn has_strings(module: Op) -> bool {
    let of_strings =
        |value: Value| tensor_type_of(value.r#type()).is_some_and(|ty| ty.dtype == DType::String);
    nested_ops(module).into_iter().any(|op| values(op).into_iter().any(of_strings))
}

/// The strings of all constants of a module, each once.
pub fn strings_of(module: Op) -> Vec<String> {
    let mut list = Dictionary::default();
    nested_ops(module).into_iter().filter_map(string_constant).for_each(|tensor| drop(list.numbers(&tensor)));
    list.strings().iter().map(|string| string.to_string()).collect()
}

/// Says what the strings of a module's program are.
pub fn name_strings(module: Op, strings: &[String]) {
    let strings: Vec<&str> = strings.iter().map(String::as_str).collect();
    module.set_attr(STRINGS, texts_attr(module.context_ref(), &strings));
}
