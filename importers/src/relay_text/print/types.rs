//! Types as the language writes them.

use crate::relay_text::elements::element_name;
use fusion_dialects::{Type, TypeParts, type_parts};

/// A type; `_` where it is not known.
pub fn type_text(ty: Type) -> String {
    let list = |types: &[Type]| types.iter().map(|ty| type_text(*ty)).collect::<Vec<_>>().join(", ");
    match type_parts(ty) {
        TypeParts::Tensor(tensor) if tensor.dims.is_empty() => element_name(tensor.dtype).to_owned(),
        TypeParts::Tensor(tensor) => {
            let extents: Vec<String> = tensor.dims.iter().map(ToString::to_string).collect();
            let comma = if extents.len() == 1 { "," } else { "" };
            format!("Tensor[({}{comma}), {}]", extents.join(", "), element_name(tensor.dtype))
        }
        TypeParts::Tuple(parts) if parts.len() == 1 => format!("({},)", list(&parts)),
        TypeParts::Tuple(parts) => format!("({})", list(&parts)),
        TypeParts::Function(inputs, results) => {
            let result = match results[..] {
                [result] => type_text(result),
                _ => format!("({})", list(&results)),
            };
            format!("fn ({}) -> {result}", list(&inputs))
        }
        TypeParts::Adt(name, arguments) if arguments.is_empty() => name.to_owned(),
        TypeParts::Adt(name, arguments) => format!("{name}[{}]", list(&arguments)),
        TypeParts::Ref(value) => format!("ref({})", type_text(value)),
        TypeParts::Var(name) => name.to_owned(),
        TypeParts::Hole => "_".to_owned(),
        TypeParts::Other => ty.to_string(),
    }
}
