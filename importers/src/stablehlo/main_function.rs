//! The function @main of the relay program: what it takes and gives, by the names of the source.
//!
//! ```text
//!   @main(%x: tensor<?x4xf32>) -> tuple<...>     @main(%x: tensor<?x4xf32, #relay.dims<["x.0", ""]>>) -> each element
//! ```

use super::Shapes;
use super::emit::{Emitter, Held};
use super::graph::{Function, Program};
use super::ops;
use super::types::{Element, Type};
use crate::sources::{Fault, Outcome, Source};
use fusion_dialects::relay::Builder;
use fusion_dialects::{
    Build, Context, Location, Module, Type as MlirType, Value, ValueLike, array_attr, dict_attr,
    function_type, str_attr, tensor_type_to_mlir, type_attr,
};
use fusion_operators::{Dim, TensorType};
use std::collections::HashSet;

/// The attribute that keeps the names of arguments and results.
const NAME: &str = "relay.name";

/// A module with the function @main.
pub fn module<'c>(
    context: &'c Context,
    program: &Program,
    source: &Source,
    shapes: &Shapes,
) -> Outcome<Module<'c>> {
    let main = main_of(program)?;
    let names = unique(&main.argument_names, "arg");
    if let Some(unknown) = shapes.keys().find(|given| !names.contains(given)) {
        let known = names.join(", ");
        return Fault::new(
            main.span,
            format!("a shape is given for {unknown}, which is no input; the inputs are {known}"),
        );
    }
    let arguments = main.body.arguments.iter().zip(&names);
    let types: Vec<Vec<TensorType>> = arguments
        .map(|(&value, name)| input_types(&main.types[value as usize], name, shapes, main))
        .collect::<Outcome<_>>()?;
    let inputs: Vec<MlirType> = types.iter().flatten().map(|ty| tensor_type_to_mlir(context, ty)).collect();
    let input_names: Vec<String> = types
        .iter()
        .zip(&names)
        .flat_map(|(own, name)| match own.len() {
            1 => vec![name.clone()],
            n => (0..n).map(|i| format!("{name}.{i}")).collect(),
        })
        .collect();
    let mut outcome = Ok(());
    let (line, column, _) = source.place(main.span.start);
    let location = Location::new(context, &source.name, line, column);
    let module = Build::module(context, location, |build| {
        let (mut result_types, mut result_names) = (Vec::new(), Vec::new());
        let region = build.region(&inputs, |inner, values| {
            let mut e = Emitter::new(context, program, source, ops::find, Builder::new(inner));
            e.span = main.span;
            let made = results(&mut e, main, values);
            outcome = made.map(|made| {
                let values: Vec<Value> = made.iter().map(|(_, value)| *value).collect();
                result_types = values.iter().map(|v| v.r#type()).collect();
                let named: Vec<String> = made.into_iter().map(|(name, _)| name).collect();
                result_names = unique(&named, "output");
                inner.op("func.return", &values, &[], &[]);
            });
        });
        let named = |names: &[String]| {
            let all: Vec<_> =
                names.iter().map(|name| dict_attr(context, &[(NAME, str_attr(context, name))])).collect();
            array_attr(context, &all)
        };
        let attrs = [
            ("sym_name", str_attr(context, "main")),
            ("function_type", type_attr(function_type(context, &inputs, &result_types))),
            ("arg_attrs", named(&input_names)),
            ("res_attrs", named(&result_names)),
        ];
        if outcome.is_ok() {
            build.op_with_regions("func.func", &[], &[], &attrs, vec![region]);
        }
    });
    outcome.map(|()| module)
}

/// @main, or else the only function that can be called from outside.
fn main_of(program: &Program) -> Outcome<&Function> {
    if let Some(main) = program.functions.get("main") {
        return Ok(main);
    }
    let public: Vec<&Function> = program.functions.values().filter(|f| f.public).collect();
    match public[..] {
        [one] => Ok(one),
        [] => Fault::new(Default::default(), "the program has no function; it needs func.func @main"),
        [_, second, ..] => Fault::new(
            second.span,
            "the program has several public functions, and none is @main; make all but one private, or call one @main",
        ),
    }
}

/// Names of which each is there once.
fn unique(names: &[String], absent: &str) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut all = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        let mut own = if name.is_empty() { format!("{absent}{i}") } else { name.clone() };
        while !taken.insert(own.clone()) {
            own.push('_');
        }
        all.push(own);
    }
    all
}

/// The types of the tensors that an argument is.
fn input_types(ty: &Type, name: &str, shapes: &Shapes, main: &Function) -> Outcome<Vec<TensorType>> {
    match ty {
        Type::Tensor(tensor) => {
            let Some(dtype) = tensor.element.kept() else {
                return Fault::new(
                    main.span,
                    format!(
                        "the input {name} has elements of type {}, which are not supported",
                        tensor.element
                    ),
                );
            };
            let plain: String =
                name.chars().map(|c| if c.is_alphanumeric() || c == '.' { c } else { '_' }).collect();
            let named = |(axis, dim): (usize, &Option<u64>)| {
                dim.map_or_else(|| Dim::Symbol(format!("_{plain}.{axis}")), Dim::Static)
            };
            let mut dims: Vec<Dim> = tensor.dims.iter().enumerate().map(named).collect();
            if let Some(given) = shapes.get(name) {
                let fits = given.len() == dims.len()
                    && dims.iter().zip(given).all(|(dim, given)| dim.compatible(given));
                if !fits {
                    let given: Vec<String> = given.iter().map(Dim::to_string).collect();
                    return Fault::new(
                        main.span,
                        format!("the input {name} is {ty}, and is given the shape [{}]", given.join(", ")),
                    );
                }
                let known = |(dim, given): (Dim, &Dim)| match given {
                    Dim::Any => dim,
                    _ if dim.known().is_some() => dim,
                    given => given.clone(),
                };
                dims = dims.into_iter().zip(given).map(known).collect();
            }
            if matches!(tensor.element, Element::Complex(_)) {
                dims.push(Dim::Static(2));
            }
            Ok(vec![TensorType::new(dims, dtype)])
        }
        Type::Tuple(types) => {
            let parts =
                types.iter().enumerate().map(|(i, ty)| input_types(ty, &format!("{name}.{i}"), shapes, main));
            Ok(parts.collect::<Outcome<Vec<_>>>()?.concat())
        }
        Type::Token => Ok(Vec::new()),
        Type::Other(text) => {
            Fault::new(main.span, format!("the input {name} is of type {text}, which is no tensor"))
        }
    }
}

/// An argument from the tensors it is.
fn taken<'c>(
    e: &mut Emitter<'c, '_>,
    ty: &Type,
    values: &mut impl Iterator<Item = Value<'c>>,
) -> Outcome<Held<'c>> {
    match ty {
        Type::Tensor(tensor) => {
            let Some(value) = values.next() else { return e.fault("an input is missing") };
            if !matches!(tensor.element, Element::Complex(_)) {
                return Ok(Held::Tensor(value));
            }
            let (axis, mut dims) = (tensor.dims.len(), e.dims(value)?);
            dims.pop();
            let mut part = |which: usize| {
                let piece = e.slice(value, axis, [which, which + 1, 1])?;
                e.reshape_dims(piece, dims.clone())
            };
            Ok(Held::Complex(part(0)?, part(1)?))
        }
        Type::Tuple(types) => {
            Ok(Held::Tuple(types.iter().map(|ty| taken(e, ty, values)).collect::<Outcome<_>>()?))
        }
        _ => Ok(Held::Token),
    }
}

/// The tensors that a result is, with their names.
fn given<'c>(
    e: &mut Emitter<'c, '_>,
    name: &str,
    held: &Held<'c>,
    all: &mut Vec<(String, Value<'c>)>,
) -> Outcome<()> {
    match held {
        Held::Tensor(value) => all.push((name.to_owned(), *value)),
        Held::Complex(re, im) => {
            let mut dims = e.dims(*re)?;
            let axis = dims.len();
            dims.push(Dim::Static(1));
            let (re, im) = (e.reshape_dims(*re, dims.clone())?, e.reshape_dims(*im, dims)?);
            all.push((name.to_owned(), e.concat(&[re, im], axis)?));
        }
        Held::Tuple(parts) => {
            for (i, part) in parts.iter().enumerate() {
                let own = if name.is_empty() { String::new() } else { format!("{name}.{i}") };
                given(e, &own, part, all)?;
            }
        }
        Held::Token => {}
    }
    Ok(())
}

fn results<'c>(
    e: &mut Emitter<'c, '_>,
    main: &Function,
    values: &[Value<'c>],
) -> Outcome<Vec<(String, Value<'c>)>> {
    let mut values = values.iter().copied();
    let types: Vec<Type> = main.body.arguments.iter().map(|&v| main.types[v as usize].clone()).collect();
    let arguments: Vec<Held> = types.iter().map(|ty| taken(e, ty, &mut values)).collect::<Outcome<_>>()?;
    let results = e.call(&main.name, arguments)?;
    let mut all = Vec::new();
    for (i, held) in results.iter().enumerate() {
        given(e, main.result_names.get(i).map_or("", String::as_str), held, &mut all)?;
    }
    Ok(all)
}
