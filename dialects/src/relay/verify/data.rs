//! Data types: declaration, construction, match.

use super::{listed, same, types_of, yielded};
use crate::bridge::symbols::Symbols;
use crate::relay::{DataType, Instance, Pattern, PatternError, has_hole};
use crate::{
    Op, OpExt, Type, TypeParts, adt_type, arguments, array_elements, symbol_path, type_parts, var_type,
};

pub fn declaration(op: Op) -> Result<(), String> {
    let data = DataType::of(op).ok_or("declares no data type")?;
    let twice = |names: &[&str]| {
        names
            .iter()
            .enumerate()
            .find(|(i, name)| names[..*i].contains(name))
            .map(|(_, name)| name.to_string())
    };
    if let Some(name) = twice(&data.parameters) {
        return Err(format!("violates constraint C1: the parameter {name:?} is there twice"));
    }
    let names: Vec<_> = data.constructors.iter().map(|c| c.name).collect();
    if let Some(name) = twice(&names) {
        return Err(format!("violates constraint C1: the constructor {name:?} is there twice"));
    }
    for constructor in &data.constructors {
        for field in &constructor.fields {
            if has_hole(*field) {
                let name = constructor.name;
                return Err(format!(
                    "violates constraint C2: a field of @{name} is of type {field}; write its type"
                ));
            }
            if let Some(name) = free_variable(*field, &data.parameters) {
                return Err(format!(
                    "violates constraint C2: a field of @{} has the type variable {name:?}, which is no parameter of @{}",
                    constructor.name, data.name
                ));
            }
        }
    }
    Ok(())
}

fn free_variable(ty: Type, bound: &[&str]) -> Option<String> {
    let first = |types: Vec<Type>| types.into_iter().find_map(|ty| free_variable(ty, bound));
    match type_parts(ty) {
        TypeParts::Var(name) => (!bound.contains(&name)).then(|| name.to_owned()),
        TypeParts::Tuple(parts) | TypeParts::Adt(_, parts) => first(parts),
        TypeParts::Function(inputs, results) => first(inputs).or_else(|| first(results)),
        TypeParts::Ref(value) => free_variable(value, bound),
        TypeParts::Tensor(_) | TypeParts::Hole | TypeParts::Other => None,
    }
}

pub fn construction(op: Op, symbols: &Symbols) -> Result<(), String> {
    let attr = op.attr("constructor").ok_or("violates constraint C1: names no constructor")?;
    let path = symbol_path(attr).unwrap_or_default();
    let [data, name] = path[..] else {
        return Err(format!(
            "violates constraint C1: {attr} names no constructor; write @Type::@Constructor"
        ));
    };
    let data = symbols
        .named(op, data)
        .and_then(DataType::of)
        .ok_or_else(|| format!("violates constraint C1: the module declares no data type @{data}"))?;
    let Some((_, constructor)) = data.constructor(name) else {
        let known: Vec<_> = data.constructors.iter().map(|c| c.name).collect();
        return Err(format!(
            "violates constraint C1: the data type @{} has no constructor @{name}; it has {}",
            data.name,
            known.join(", ")
        ));
    };
    let (fields, result) = (types_of(&op.operand_values()), types_of(&op.result_values())[0]);
    if fields.len() != constructor.fields.len() {
        return Err(format!(
            "violates constraint C2: @{name} takes {} fields, found {}",
            constructor.fields.len(),
            fields.len()
        ));
    }
    let context = op.context_ref();
    let parameters: Vec<_> = data.parameters.iter().map(|p| var_type(context, p)).collect();
    let mut instance = Instance::default();
    let made = adt_type(context, data.name, &parameters);
    if instance.matches(made, result) && instance.match_all(&constructor.fields, &fields) {
        return Ok(());
    }
    Err(format!(
        "violates constraint C3: @{name} makes {made} of {}, found {result} of {}",
        listed(&constructor.fields),
        listed(&fields)
    ))
}

pub fn matching(op: Op, symbols: &Symbols) -> Result<(), String> {
    let patterns = op.attr("patterns").map(array_elements).unwrap_or_default();
    let regions = crate::OperationLike::region_count(&op);
    if patterns.is_empty() || patterns.len() != regions {
        let count = patterns.len();
        return Err(format!("violates constraint C1: there are {count} patterns and {regions} regions"));
    }
    let (value, results) = (types_of(&op.operand_values())[0], types_of(&op.result_values()));
    let fields = |data: &str, name: &str, ty| {
        let declared = symbols
            .named(op, data)
            .and_then(DataType::of)
            .ok_or_else(|| PatternError(format!("the module declares no data type @{data}")))?;
        declared.fields_in(name, ty)
    };
    for (index, attr) in patterns.into_iter().enumerate() {
        let wrong = |error: PatternError| format!("violates constraint C2: {error}");
        let bound = Pattern::read(attr).and_then(|p| p.bound_types(value, &fields)).map_err(wrong)?;
        let block = op.body(index).ok_or_else(|| format!("clause {index} is empty"))?;
        let takes = format!("violates constraint C3: what clause {index} takes");
        same(&types_of(&arguments(block)), &bound, &takes)?;
        let yields = format!("violates constraint C4: what clause {index} yields");
        same(&yielded(block)?, &results, &yields)?;
    }
    Ok(())
}
