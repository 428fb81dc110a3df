//! Tensor code whose extents are known at run time only: every extent gets a name, and a shape function says what it is.
//!
//! ```text
//!   @kernel(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>)         %x: tensor<n0x64xf32>     n0 = extent 0 of input 0
//!     %a = relay.add %x, %y : tensor<?x64xf32>            =>    %y: tensor<n1x64xf32>     n1 = extent 0 of input 1
//!     %s = relay.concat %a, %x : tensor<?x64xf32>               %a: tensor<n2x64xf32>     n2 = broadcast(n0, n1)
//!                                                               %s: tensor<n3x64xf32>     n3 = n2 + n0
//! ```
//!
//! The types follow from the operators' type relations, here once more with names and with the checks that their constraints leave
//! for run time ([`relations`]). Extents that must be the same number have one name. Where the program's types say more than
//! follows (a fixed extent, a name of the program), that becomes a check as well, so that a kernel never reads outside of its tensors.

mod constraints;
mod places;
pub mod ranges;
mod relations;
mod steps;
mod windows;

use super::host::is_view;
use crate::definitions::definition_of;
use fusion_bytecode::{Range, Shapes};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Op, OpExt, OperationLike, PassError, Value, arguments, defining_op, key, kind_of, name_of_location,
    ops_in, read_tensor, relay, tensor_type,
};
use fusion_operators::{Call, Dim, Operator, TensorType};
use relations::relation_of;
use std::collections::{BTreeMap, HashMap};
pub use steps::Steps;
use steps::Taken;

/// The attribute of primitive functions that are kernels for all sizes. Models have none: memory for them is planned.
pub const DYNAMIC: &str = "relay.dynamic";

/// A kernel of dynamic extents with names for all of them.
pub struct Named {
    /// The types of its values.
    types: HashMap<usize, TensorType>,
    /// What gives the names their numbers.
    pub shapes: Shapes,
    /// What is known of these numbers, step by step.
    pub ranges: Vec<Range>,
}

impl Named {
    /// The type of a value, with names.
    pub fn of(&self, value: Value) -> Option<&TensorType> {
        self.types.get(&key(value))
    }
}

/// True when a function takes or gives tensors of dynamic extents.
pub fn is_dynamic(function: Op) -> bool {
    let Some(body) = function.body(0) else { return false };
    let results = ops_in(body).into_iter().flat_map(|op| op.result_values());
    arguments(body).into_iter().chain(results).any(|v| tensor_type(v).is_some_and(|ty| ty.shape().is_none()))
}

/// True when an operator on tensors of dynamic extents can be compiled.
pub fn compiles(op: Op, operator: &'static Operator) -> bool {
    attempt(op, operator).is_ok()
}

/// Why an operator on tensors of dynamic extents cannot be compiled.
pub fn why_not(op: Op, operator: &'static Operator) -> String {
    attempt(op, operator).err().unwrap_or_default()
}

fn attempt(op: Op, operator: &'static Operator) -> Result<(), String> {
    let given = op.operand_values();
    let Some(types) = given.iter().map(|v| tensor_type(*v)).collect::<Option<Vec<_>>>() else {
        return Err("takes what is no tensor".to_owned());
    };
    let mut steps = Steps::default();
    let named: Vec<TensorType> = types.iter().enumerate().map(|(i, ty)| steps.input(i as u32, ty)).collect();
    steps.takes((0..types.len()).map(|i| Taken::Input(i as u32)).collect());
    // Names in its attributes are extents of what the function takes; here any will do.
    let attrs = op.attrs();
    let known: HashMap<String, Dim> =
        attrs.names().into_iter().map(|name| (name.to_owned(), Dim::Symbol(Shapes::name(0)))).collect();
    if definition_of(operator).is_none() && !is_view(operator) {
        return Err(format!("relay.{} has no definition in tensor expressions", operator.name));
    }
    results(&mut steps, &known, operator, &named, op).map(drop)
}

/// Names all extents of a kernel.
pub fn name<'c>(function: Op<'c>) -> Result<Named, PassError<'c>> {
    let body = function.body(0).ok_or_else(|| PassError::at(function, "is a kernel without a body"))?;
    let mut steps = Steps::default();
    let mut types: HashMap<usize, TensorType> = HashMap::new();
    // Names of the program stand for one number each.
    let mut known: HashMap<String, Dim> = HashMap::new();
    steps.at(name_of_location(function.location()), "the program");
    let no_tensor = |op: Op<'c>| PassError::at(op, "has a value that is no tensor, which no kernel can have");
    for (i, argument) in arguments(body).into_iter().enumerate() {
        let written = tensor_type(argument).ok_or_else(|| no_tensor(function))?;
        let named = steps.input(i as u32, &written);
        let named = agree(&mut steps, &mut known, named, &written);
        types.insert(key(argument), named);
    }
    for op in ops_in(body) {
        let operator = match kind_of(op) {
            Some(Kind::Upstream(Upstream::Return)) => continue,
            Some(Kind::Relay(relay::Op::Constant)) => {
                for result in op.result_values() {
                    types.insert(key(result), tensor_type(result).ok_or_else(|| no_tensor(op))?);
                }
                continue;
            }
            Some(Kind::Operator(operator)) => operator,
            _ => return Err(PassError::at(op, "cannot stand in a kernel of dynamic extents")),
        };
        let operands: Option<Vec<TensorType>> =
            op.operand_values().into_iter().map(|v| types.get(&key(v)).cloned()).collect();
        let operands = operands.ok_or_else(|| no_tensor(op))?;
        steps.at(name_of_location(op.location()), operator.name);
        let given = arguments(body);
        steps.takes(op.operand_values().into_iter().map(|v| taken(v, &given)).collect());
        let made =
            results(&mut steps, &known, operator, &operands, op).map_err(|why| PassError::at(op, why))?;
        for (result, named) in op.result_values().into_iter().zip(made) {
            let written = tensor_type(result).ok_or_else(|| no_tensor(op))?;
            let named = agree(&mut steps, &mut known, named, &written);
            types.insert(key(result), named);
        }
    }
    let shapes = steps.finish();
    let given: HashMap<String, Range> = ranges::of(function)?.into_iter().collect();
    let mut of_steps = BTreeMap::new();
    for (name, dim) in &known {
        if let (Some(range), Dim::Symbol(step)) = (given.get(name), dim)
            && let Some(step) = Shapes::number(step)
        {
            of_steps.insert(step, *range);
        }
    }
    let ranges = ranges::of_steps(&shapes, &of_steps);
    Ok(Named { types, shapes, ranges })
}

/// What an operand of an operator is in a kernel that takes these values.
fn taken<'c>(operand: Value<'c>, given: &[Value<'c>]) -> Taken {
    if let Some(at) = given.iter().position(|of| key(*of) == key(operand)) {
        return Taken::Input(at as u32);
    }
    let constant = defining_op(operand).and_then(|op| op.attr("value")).and_then(read_tensor);
    match constant.filter(|tensor| tensor.len() == 1 && !tensor.dtype().is_float()) {
        Some(tensor) => Taken::Known(tensor.int_at(0)),
        None => Taken::Other,
    }
}

fn results(
    steps: &mut Steps,
    known: &HashMap<String, Dim>,
    operator: &'static Operator,
    operands: &[TensorType],
    op: Op,
) -> Result<Vec<TensorType>, String> {
    let attrs = op.attrs();
    if let Some(name) = attrs.names().into_iter().find(|name| !known.contains_key(*name)) {
        return Err(format!(
            "has the extent {name}, which nothing that its function takes has; name it there"
        ));
    }
    // Relations take names and numbers: an expression is a step of its own.
    let attrs = attrs.map_dims(|dim| steps.named(dim, &|name| known.get(name).cloned()).unwrap_or(Dim::Any));
    let relation = relation_of(operator).ok_or_else(|| {
        format!("relay.{} is not compiled for extents known at run time only", operator.name)
    })?;
    let made = relation(steps, &Call { op: operator, operands, attrs: &attrs })?;
    let own = |name: &str| Some(Dim::Symbol(name.to_owned()));
    let mut named = |dim: &Dim| {
        let extent = steps.named(dim, &own);
        extent.ok_or_else(|| "gives an extent that does not follow from those it takes".to_owned())
    };
    let made = made.into_iter().map(|ty| {
        Ok(TensorType::new(ty.dims.iter().map(&mut named).collect::<Result<_, String>>()?, ty.dtype))
    });
    let made: Vec<TensorType> = made.collect::<Result<_, String>>()?;
    match made.len() == op.result_values().len() {
        true => Ok(made),
        false => Err("gives another number of results than its row says".to_owned()),
    }
}

/// The type with what the program's own says more: fixed extents and names are compared when the kernel runs.
fn agree(
    steps: &mut Steps,
    known: &mut HashMap<String, Dim>,
    named: TensorType,
    written: &TensorType,
) -> TensorType {
    let mut dims = Vec::with_capacity(named.rank());
    for (dim, written) in named.dims.into_iter().zip(&written.dims) {
        let dim = match written {
            Dim::Any => dim,
            Dim::Static(_) => steps.equal(&dim, written, "an extent must be what its type says"),
            // What the type says follows from names of the program, where they are known: it is the same everywhere.
            Dim::Expr(_) => {
                let named = steps.named(written, &|name| known.get(name).cloned());
                named.map_or_else(
                    || dim.clone(),
                    |named| {
                        steps.equal(&named, &dim, &format!("an extent must be {written}, as its type says"))
                    },
                )
            }
            Dim::Symbol(name) => match known.get(name) {
                Some(same) => {
                    let same = same.clone();
                    steps.equal(&same, &dim, &format!("the extent {name} must be the same everywhere"))
                }
                None => {
                    known.insert(name.clone(), dim.clone());
                    dim
                }
            },
        };
        dims.push(dim);
    }
    TensorType::new(dims, named.dtype)
}

/// True for constants that are one number, which stands in the kernel's expressions.
pub fn is_number(constant: Op) -> bool {
    let Some(tensor) = constant.attr("value").and_then(read_tensor) else { return false };
    let size = tensor.dtype().size();
    tensor.is_empty() || tensor.bytes().chunks_exact(size).all(|element| element == &tensor.bytes()[..size])
}
