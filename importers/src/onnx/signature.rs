//! What a program of a model takes: the graph's inputs, with what is known about them beforehand.

use fusion_operators::{Dim, Tensor, TensorType};
use indexmap::{IndexMap, IndexSet};

use super::error::ImportError;
use super::model::Model;
use super::parts::Part;
use super::proto::{DimensionProto, MapTypeProto, TypeProto, ValueInfoProto, dimension_proto, type_proto};
use super::tensor::{MOST_EXTENT, element_type, held_type, part_type};

/// What is known about a model's inputs beyond what it says.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values of graph inputs, used only where a value is needed at import.
    pub bound: IndexMap<String, Tensor>,
    /// Shapes of graph inputs, in place of symbolic ones: an extent that is not known stays as the model has it, a name is one for it. Of a
    /// sequence, how many extents its elements have.
    pub shapes: IndexMap<String, Vec<Dim>>,
    /// Optional graph inputs that are not given: the program takes the others alone.
    pub absent: IndexSet<String>,
}

/// A graph input.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its type; symbolic extents keep their names.
    pub ty: TensorType,
    /// Whether it is a sequence, of tensors of that type.
    pub is_sequence: bool,
    /// Which part it is of what graph input, where that is held in two.
    pub part: Option<(Part, String)>,
}

/// What a program of the model takes: the graph's inputs that are not initializers.
pub fn signature(model: &Model, options: &Options) -> Result<Vec<Input>, ImportError> {
    let mut inputs: Vec<Input> = Vec::new();
    for info in model.inputs() {
        if inputs.iter().any(|i| i.name == info.name) {
            let problem = "is named twice".into();
            return Err(ImportError::Input { input: info.name.clone(), problem });
        }
        let declared = info.r#type.as_ref().and_then(|t| t.value.as_ref());
        let kind = match declared {
            Some(type_proto::Value::Optional(_)) if options.absent.contains(&info.name) => continue,
            // What is given is what may be there.
            Some(type_proto::Value::Optional(optional)) => {
                optional.elem_type.as_ref().and_then(|t| t.value.as_ref())
            }
            kind => kind,
        };
        let (ty, is_sequence) = match kind {
            Some(type_proto::Value::Sequence(sequence)) => {
                (element_type_of(info, sequence.elem_type.as_deref(), options)?, true)
            }
            Some(type_proto::Value::Map(map)) => {
                inputs.extend(of_parts(info, [Part::Keys, Part::Values], map_types(info, map, options)?));
                continue;
            }
            kind => (input_type(info, kind, options)?, false),
        };
        let is_complex = element_number(info).is_some_and(|number| part_type(number as i32).is_some());
        if is_complex {
            inputs.extend(of_parts(info, [Part::Real, Part::Imag], [ty.clone(), ty]));
            continue;
        }
        inputs.push(Input { name: info.name.clone(), ty, is_sequence, part: None });
    }
    let graph = model.graph();
    for name in options.bound.keys().chain(options.shapes.keys()).chain(&options.absent) {
        let is_input = graph.input.iter().any(|i| i.name == *name) || inputs.iter().any(|i| i.name == *name);
        if !is_input {
            let problem = "has a given value or shape, or none, but the model has no such input".into();
            return Err(ImportError::Input { input: name.clone(), problem });
        }
    }
    rename(&mut inputs, options)?;
    Ok(inputs)
}

/// An input of two parts.
fn of_parts(info: &ValueInfoProto, parts: [Part; 2], types: [TensorType; 2]) -> [Input; 2] {
    let [first, second] = types;
    [(parts[0], first), (parts[1], second)].map(|(part, ty)| Input {
        name: part.of(&info.name),
        ty,
        is_sequence: false,
        part: Some((part, info.name.clone())),
    })
}

/// The shape that is given for an input, or for one of its parts.
fn given_shape(info: &ValueInfoProto, options: &Options) -> Option<Vec<Dim>> {
    let parts = [Part::Real, Part::Imag, Part::Keys, Part::Values].map(|part| part.of(&info.name));
    let mut names = std::iter::once(&info.name).chain(&parts);
    names.find_map(|name| {
        let bound =
            || options.bound.get(name).map(|t| t.shape().iter().map(|&n| (n as u64).into()).collect());
        options.shapes.get(name).cloned().or_else(bound)
    })
}

/// The types of a map's keys and of its values.
fn map_types(
    info: &ValueInfoProto,
    map: &MapTypeProto,
    options: &Options,
) -> Result<[TensorType; 2], ImportError> {
    let unsupported = |what: String| ImportError::UnsupportedValue { value: info.name.clone(), what };
    let Some(type_proto::Value::Tensor(value)) = map.value_type.as_ref().and_then(|t| t.value.as_ref())
    else {
        return Err(unsupported("is a map to something else than numbers or strings".into()));
    };
    if value.shape.as_ref().is_some_and(|shape| !shape.dim.is_empty()) {
        return Err(unsupported("is a map to tensors".into()));
    }
    let count = match given_shape(info, options).as_deref() {
        Some([count]) => count.clone(),
        Some(shape) => {
            let problem = format!("is a map, which has one extent, but is given {}", shape.len());
            return Err(ImportError::Input { input: info.name.clone(), problem });
        }
        None => Dim::Symbol(format!("{}.count", plain(&info.name))),
    };
    let column = |number: i32, what: &str| match element_type(number) {
        Ok(dtype) => Ok(TensorType::new(vec![count.clone()], dtype)),
        Err(name) => Err(unsupported(format!("is a map with {what} of type {name}"))),
    };
    Ok([column(map.key_type, "keys")?, column(value.elem_type, "values")?])
}

/// Gives extents the names that options have for them, in all inputs: others may have the same.
fn rename(inputs: &mut [Input], options: &Options) -> Result<(), ImportError> {
    let mut names: IndexMap<String, String> = IndexMap::new();
    for input in inputs.iter() {
        let given = options.shapes.get(&input.name).into_iter().flatten();
        for (given, dim) in given.zip(&input.ty.dims) {
            let (Dim::Symbol(given), Dim::Symbol(declared)) = (given, dim) else { continue };
            let fail = |problem: String| Err(ImportError::Input { input: input.name.clone(), problem });
            match names.insert(declared.clone(), given.clone()) {
                Some(other) if other != *given => {
                    return fail(format!(
                        "calls the extent {declared} {given}, which was called {other} before"
                    ));
                }
                _ => {}
            }
            let taken = |other: &Input| {
                other.ty.dims.iter().any(|dim| matches!(dim, Dim::Symbol(name) if name == given))
            };
            if given != declared && inputs.iter().any(taken) {
                return fail(format!(
                    "calls the extent {declared} {given}, which another extent is called; give it a new name"
                ));
            }
        }
    }
    let named = |name: &str| Some(Dim::Symbol(names.get(name).map_or_else(|| name.to_owned(), Clone::clone)));
    let dims = inputs.iter_mut().flat_map(|input| &mut input.ty.dims);
    dims.for_each(|dim| *dim = dim.replace(&named));
    Ok(())
}

/// The type of the elements of a sequence. Their extents may differ; a shape that is given says how many there are.
fn element_type_of(
    info: &ValueInfoProto,
    element: Option<&TypeProto>,
    options: &Options,
) -> Result<TensorType, ImportError> {
    let unsupported = |what: String| ImportError::UnsupportedValue { value: info.name.clone(), what };
    let Some(type_proto::Value::Tensor(tensor)) = element.and_then(|t| t.value.as_ref()) else {
        return Err(unsupported("is a sequence of something else than tensors".into()));
    };
    let dtype =
        element_type(tensor.elem_type).map_err(|name| unsupported(format!("has elements of type {name}")))?;
    let known = |dim: &DimensionProto| match dim.value {
        Some(dimension_proto::Value::DimValue(n)) => u64::try_from(n).map_or(Dim::Any, Dim::Static),
        _ => Dim::Any,
    };
    let dims = match (options.shapes.get(&info.name), &tensor.shape) {
        (Some(shape), _) => vec![Dim::Any; shape.len()],
        (None, Some(shape)) => shape.dim.iter().map(known).collect(),
        (None, None) => return Err(unsupported("is a sequence of tensors whose rank is not said".into())),
    };
    Ok(TensorType::new(dims, dtype))
}

/// The number of the element type of a graph input that is a tensor.
pub(super) fn element_number(info: &ValueInfoProto) -> Option<i64> {
    match info.r#type.as_ref()?.value.as_ref()? {
        type_proto::Value::Tensor(tensor) => Some(tensor.elem_type.into()),
        _ => None,
    }
}

/// A name as expressions of extents may have it: letters, digits and some signs.
fn plain(name: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() || "_.".contains(c) { c } else { '_' };
    let plain: String = name.chars().map(letter).collect();
    let begins = plain.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if begins { plain } else { format!("_{plain}") }
}

fn input_type(
    info: &ValueInfoProto,
    kind: Option<&type_proto::Value>,
    options: &Options,
) -> Result<TensorType, ImportError> {
    let fail = |problem: String| ImportError::Input { input: info.name.clone(), problem };
    let unsupported =
        |what: &str| ImportError::UnsupportedValue { value: info.name.clone(), what: what.to_owned() };
    let tensor = match kind {
        Some(type_proto::Value::Tensor(tensor)) => tensor,
        Some(_) => return Err(unsupported("is a sparse tensor")),
        None => return Err(fail("has no type".into())),
    };
    let dtype = match part_type(tensor.elem_type) {
        Some(dtype) => dtype,
        None => held_type(tensor.elem_type)
            .map_err(|name| unsupported(&format!("has elements of type {name}")))?,
    };
    let given = given_shape(info, options);
    let unnamed = |axis: usize| format!("{}.{axis}", plain(&info.name));
    let declared = match &tensor.shape {
        None => None,
        Some(shape) => {
            let mut dims = Vec::with_capacity(shape.dim.len());
            for (axis, dim) in shape.dim.iter().enumerate() {
                dims.push(match &dim.value {
                    Some(dimension_proto::Value::DimValue(n)) => match u64::try_from(*n) {
                        Ok(n) if n <= MOST_EXTENT => Dim::Static(n),
                        // As exporters write an extent that they do not know.
                        Err(_) if *n == -1 => Dim::Symbol(unnamed(axis)),
                        _ => return Err(fail(format!("has the extent {n}, which is out of range"))),
                    },
                    Some(dimension_proto::Value::DimParam(name)) if name.contains(char::is_alphanumeric) => {
                        Dim::Symbol(plain(name))
                    }
                    // So that shapes can be computed from it, an extent without a name gets one.
                    _ => Dim::Symbol(unnamed(axis)),
                });
            }
            Some(TensorType::new(dims, dtype))
        }
    };
    if let Some(value) = options.bound.get(&info.name)
        && value.dtype() != dtype
    {
        return Err(fail(format!("is a tensor of {dtype}, but the given value is {}", value.tensor_type())));
    }
    if let Some(extent) = given.iter().flatten().filter_map(Dim::known).find(|&n| n > MOST_EXTENT) {
        return Err(fail(format!("is given the extent {extent}, which is out of range")));
    }
    match (given, declared) {
        (Some(shape), Some(declared)) => {
            let given = TensorType::new(shape, dtype);
            if !declared.compatible(&given) {
                return Err(fail(format!("is {declared}, but is given the shape of {given}")));
            }
            // What is given is a number, or stays as it is; names are given to all inputs together.
            let dims = given.dims.into_iter().zip(declared.dims);
            Ok(TensorType::new(
                dims.map(|(given, declared)| given.known().map_or(declared, Dim::Static)).collect(),
                dtype,
            ))
        }
        (Some(shape), None) => {
            let named = |(axis, dim): (usize, Dim)| {
                dim.known().map_or_else(|| Dim::Symbol(unnamed(axis)), Dim::Static)
            };
            Ok(TensorType::new(shape.into_iter().enumerate().map(named).collect(), dtype))
        }
        (None, Some(declared)) => Ok(declared),
        (None, None) => Err(fail("has no shape; give one".into())),
    }
}
