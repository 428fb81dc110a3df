//! Inputs of a program that become constants.
//!
//! ```text
//!     func @main(%x: tensor<4xf32>, %w: tensor<4xf32>)          func @main(%x: tensor<4xf32>)
//!       y = x * w                                        =>       w = constant
//!                                                                 y = x * w
//! ```
//!
//! What is computed of them alone is then computed by the compiler. ONNX models are bound while they are imported, which lets
//! shapes depend on values too.

use crate::error::{DriverError, failed};
use crate::language::{ENTRY, input_names, main_of, signature};
use fusion_dialects::relay::Builder;
use fusion_dialects::{
    Build, Module, OpExt, OperationLike, ValueLike, arguments, array_attr, array_elements, erase_argument,
    function_type, module_op, ops_in, replace_uses, tensor_type, type_attr,
};
use fusion_operators::Tensor;
use fusion_relay::language::named_by;
use indexmap::IndexMap;

/// Makes constants of the inputs of `@main` that values are given for.
pub fn bind(module: &Module, bound: &IndexMap<String, Tensor>) -> Result<(), DriverError> {
    let root = module_op(module);
    let Some(main) = main_of(root).filter(|_| !bound.is_empty()) else { return Ok(()) };
    let Some(body) = main.body(0) else { return Ok(()) };
    if named_by(root).contains(&ENTRY) {
        return Err(failed(format!(
            "@{ENTRY} is called by the program itself, so its inputs cannot become constants"
        )));
    }
    let (mut names, context) = (input_names(root), main.context_ref());
    for (name, tensor) in bound {
        let Some(place) = names.iter().position(|known| known == name) else {
            let all = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(failed(format!(
                "the program has no input {name:?} to make a constant; its inputs are {all}"
            )));
        };
        let Some(&argument) = arguments(body).get(place) else { continue };
        let found = tensor.tensor_type();
        if !tensor_type(argument).is_some_and(|ty| ty.compatible(&found)) {
            let expected = argument.r#type();
            return Err(failed(format!(
                "the program's input {name:?} is a {expected}, but the value to make it a constant is a {found}"
            )));
        }
        if let Some(first) = ops_in(body).first() {
            replace_uses(argument, Builder::new(Build::before(*first).at(main.location())).constant(tensor));
        }
        erase_argument(argument);
        names.remove(place);
        if let Some(attrs) = main.attr("arg_attrs").map(array_elements).filter(|attrs| place < attrs.len()) {
            let mut attrs = attrs;
            attrs.remove(place);
            main.set_attr("arg_attrs", array_attr(context, &attrs));
        }
        let (mut inputs, results) = signature(main).unwrap_or_default();
        inputs.remove(place);
        main.set_attr("function_type", type_attr(function_type(context, &inputs, &results)));
    }
    Ok(())
}
