//! A primitive function becomes a `te.kernel`.

use super::definitions::{TeCall, definition_of, looped};
use super::dynamic;
use super::host::is_view;
use super::tiles::helpers::Helpers;
use super::tiles::nest;
use super::tiles::versions::{VERSIONS, Version};
use super::tiles::{Tile, marked};
use fusion_bytecode::{Range, Shapes};
use fusion_dialects::module::FpMath;
use fusion_dialects::module::target_of;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::{self, Kernel, Scalars};
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, OperationLike, PassError, Type, Value, ValueLike, ValueMap,
    arguments, array_attr, function_parts, function_type, ints_attr, kind_of, op_key, ops_in, read_tensor,
    relay, str_attr, tensor_type, tensor_type_to_mlir, type_attr, users,
};
use fusion_operators::{Operator, TensorType};
use std::collections::{HashMap, HashSet};

/// Builds the kernel of a primitive function before it.
pub fn convert<'c>(function: Op<'c>) -> Result<(), PassError<'c>> {
    let build = Build::before(function).computing_in(FpMath::of(function)?.floats());
    let name = function.text("sym_name").unwrap_or_default().to_owned();
    let body =
        function.body(0).ok_or_else(|| PassError::at(function, "is a primitive function without a body"))?;
    let ty = function.attr("function_type").ok_or_else(|| PassError::at(function, "has no type"))?;
    let mlir_type =
        fusion_dialects::type_of_attr(ty).ok_or_else(|| PassError::at(function, "has no type"))?;
    let (inputs, results) =
        function_parts(mlir_type).ok_or_else(|| PassError::at(function, "has no function type"))?;
    if function.attr(dynamic::DYNAMIC).is_some() {
        return convert_open(function, &name, &results);
    }
    let mut outcome = Ok(());
    let region = build.region(&inputs, |inner, args| {
        let mut map = ValueMap::new();
        for (old, new) in arguments(body).into_iter().zip(args) {
            map.insert(old, *new);
        }
        let kernel = Kernel::new(inner);
        outcome = ops_in(body).into_iter().try_for_each(|op| convert_op(&kernel, op, &mut map));
    });
    outcome?;
    let attrs = [("sym_name", str_attr(build.context(), &name)), ("function_type", type_attr(mlir_type))];
    build.op_with_regions(te::Op::Kernel.name(), &[], &[], &attrs, vec![region]);
    Ok(())
}

/// As [`convert`], for a function some of whose extents are known at run time only.
fn convert_open<'c>(function: Op<'c>, name: &str, results: &[Type<'c>]) -> Result<(), PassError<'c>> {
    let build = Build::before(function).computing_in(FpMath::of(function)?.floats());
    let context = build.context();
    let body = function.body(0).ok_or_else(|| PassError::at(function, "has no body"))?;
    let named = dynamic::name(function)?;
    let types = |values: &[Value<'c>]| -> Vec<Type<'c>> {
        values.iter().filter_map(|v| named.of(*v)).map(|ty| tensor_type_to_mlir(context, ty)).collect()
    };
    let given = types(&arguments(body));
    let returned = ops_in(body).last().map(|op| op.operand_values()).unwrap_or_default();
    if given.len() != arguments(body).len() || returned.len() != results.len() {
        return Err(PassError::at(function, "takes or gives something else than tensors"));
    }
    let mut outcome = Ok(());
    let region = build.region(&given, |inner, args| {
        let mut map = ValueMap::new();
        for (old, new) in arguments(body).into_iter().zip(args) {
            map.insert(old, *new);
        }
        let kernel = Kernel::new(inner);
        let compiled = Compiled::of(body);
        let helpers = Helpers::new(build);
        outcome = ops_in(body).into_iter().try_for_each(|op| {
            if let Some((tile, versions)) = compiled.tiles.get(&op_key(op)) {
                return convert_tile((&kernel, &helpers), (tile, versions), &named, &mut map);
            }
            if compiled.has(op) {
                return Ok(());
            }
            let Some(Kind::Operator(operator)) = kind_of(op) else {
                return convert_op(&kernel, op, &mut map);
            };
            let kernel = kernel.at(op.location());
            let operands: Vec<Value> = op.operand_values().into_iter().map(|v| map.lookup(v)).collect();
            let known = |values: Vec<Value<'c>>| -> Vec<TensorType> {
                values.into_iter().filter_map(|v| named.of(v).cloned()).collect()
            };
            let (taken, made) = (known(op.operand_values()), known(op.result_values()));
            let made = match is_view(operator) {
                true => vec![kernel.build.value(
                    te::Op::View.name(),
                    &operands,
                    tensor_type_to_mlir(context, &made[0]),
                    &[],
                )],
                false => define(&kernel, op, operator, operands, (taken, made))?,
            };
            op.result_values().into_iter().zip(made).for_each(|(old, new)| map.insert(old, new));
            Ok(())
        });
    });
    outcome?;
    let names: Vec<Attribute> =
        (0..named.shapes.steps.len()).map(|step| str_attr(context, &Shapes::name(step as u32))).collect();
    let attrs = [
        ("sym_name", str_attr(context, name)),
        ("function_type", type_attr(function_type(context, &given, &types(&returned)))),
        (te::EXTENTS, array_attr(context, &names)),
    ];
    let made = build.op_with_regions(te::Op::Kernel.name(), &[], &[], &attrs, vec![region]);
    if named.ranges.iter().any(|range| *range != Range::default()) {
        let of = |range: &Range| [range.least, range.most, range.multiple].map(|n| n as i64);
        made.set_attr(te::RANGES, ints_attr(context, &named.ranges.iter().flat_map(of).collect::<Vec<_>>()));
    }
    Ok(())
}

/// The tiles of a function that are compiled.
struct Compiled<'c> {
    /// By their first operations.
    tiles: HashMap<usize, (Tile<'c>, Vec<Version>)>,
    /// All of their operations.
    members: HashSet<usize>,
}

impl<'c> Compiled<'c> {
    fn of(body: Block<'c>) -> Self {
        let mut compiled = Compiled { tiles: HashMap::new(), members: HashSet::new() };
        for tile in marked(&ops_in(body)) {
            let first = tile.members[0];
            if let Some(versions) = first.attr(VERSIONS).and_then(Version::read) {
                compiled.members.extend(tile.members.iter().map(|op| op_key(*op)));
                compiled.tiles.insert(op_key(first), (tile, versions));
            }
        }
        compiled
    }

    /// True for what such a tile computes, and for constants that only these take.
    fn has(&self, op: Op<'c>) -> bool {
        let member = |op: Op<'c>| self.members.contains(&op_key(op));
        let is_constant = matches!(kind_of(op), Some(Kind::Relay(relay::Op::Constant)));
        member(op) || (is_constant && op.result_values().into_iter().flat_map(users).all(member))
    }
}

/// The loops over a tile that is compiled.
fn convert_tile<'c>(
    (kernel, helpers): (&Kernel<'c>, &Helpers<'c>),
    (tile, versions): (&Tile<'c>, &[Version]),
    named: &dynamic::Named,
    map: &mut ValueMap<'c>,
) -> Result<(), PassError<'c>> {
    let first = tile.members[0];
    let operands: Vec<Value> = tile.inputs.iter().map(|v| map.lookup(*v)).collect();
    let made = nest::build(&kernel.at(first.location()), helpers, (tile, versions), &operands, &|v| {
        named.of(v).cloned()
    });
    let made = made.ok_or_else(|| PassError::at(first, "begins a tile whose extents are not understood"))?;
    tile.outputs.iter().zip(made).for_each(|(old, new)| map.insert(*old, new));
    Ok(())
}

fn convert_op<'c>(kernel: &Kernel<'c>, op: Op<'c>, map: &mut ValueMap<'c>) -> Result<(), PassError<'c>> {
    let kernel = &kernel.at(op.location());
    let operands: Vec<Value> = op.operand_values().into_iter().map(|v| map.lookup(v)).collect();
    let results = match kind_of(op) {
        Some(Kind::Upstream(Upstream::Return)) => {
            kernel.build.op(te::Op::Return.name(), &operands, &[], &[]);
            return Ok(());
        }
        Some(Kind::Relay(relay::Op::Constant)) => vec![constant(kernel, op)?],
        Some(Kind::Relay(relay::Op::While)) => looped::build(kernel, op, &|v| map.lookup(v))?,
        Some(Kind::Operator(operator)) => call(kernel, op, operator, operands)?,
        _ => return Err(PassError::at(op, "cannot stand in a kernel")),
    };
    for (old, new) in op.result_values().into_iter().zip(results) {
        map.insert(old, new);
    }
    Ok(())
}

fn call<'c>(
    kernel: &Kernel<'c>,
    op: Op<'c>,
    operator: &'static Operator,
    operands: Vec<Value<'c>>,
) -> Result<Vec<Value<'c>>, PassError<'c>> {
    let known = |values: &[Value<'c>]| -> Result<Vec<TensorType>, PassError<'c>> {
        let of = |v: &Value<'c>| {
            tensor_type(*v).filter(|t| t.shape().is_some()).ok_or_else(|| {
                PassError::at(op, format_args!("has an operand or result of type {}: compiling a kernel needs every extent; give the shapes of the model's inputs", v.r#type()))
            })
        };
        values.iter().map(of).collect()
    };
    let types = known(&operands)?;
    let results = known(&op.result_values())?;
    define(kernel, op, operator, operands, (types, results))
}

fn define<'c>(
    kernel: &Kernel<'c>,
    op: Op<'c>,
    operator: &'static Operator,
    operands: Vec<Value<'c>>,
    (types, results): (Vec<TensorType>, Vec<TensorType>),
) -> Result<Vec<Value<'c>>, PassError<'c>> {
    let Some(define) = definition_of(operator) else {
        return Err(PassError::at(op, "has no definition in tensor expressions"));
    };
    let (target, fp_math) = (target_of(op)?, FpMath::of(op)?);
    define(kernel, &TeCall { op: operator, attrs: op.attrs(), operands, types, results, target, fp_math })
        .map_err(|why| PassError::at(op, why))
}

/// A constant inside a kernel is one number, written into the expressions that use it.
fn constant<'c>(kernel: &Kernel<'c>, op: Op<'c>) -> Result<Value<'c>, PassError<'c>> {
    let tensor = op.attr("value").and_then(read_tensor);
    let tensor = tensor.ok_or_else(|| PassError::at(op, "holds no elements that can be read"))?;
    let size = tensor.dtype().size();
    if tensor.is_empty() {
        return Ok(
            kernel.compute("constant", &tensor.tensor_type(), |s: &Scalars, _| s.int(0, tensor.dtype()))
        );
    }
    if tensor.bytes().chunks_exact(size).any(|e| e != &tensor.bytes()[..size]) {
        return Err(PassError::at(
            op,
            "holds several different numbers and cannot stand in a kernel: pass it as an argument",
        ));
    }
    let ty = tensor.tensor_type();
    Ok(kernel.compute("constant", &ty, |s: &Scalars, _| match ty.dtype.is_float() {
        true => s.float(tensor.f64_at(0), s.compute_type(ty.dtype)),
        false => s.int(tensor.int_at(0) as i64, ty.dtype),
    }))
}
