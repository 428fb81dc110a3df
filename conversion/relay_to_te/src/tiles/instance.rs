//! A tile's operations for known extents, as a module of their own.
//!
//! ```text
//!   %y = relay.dense %x, %w : tensor<n x 384>      =>     @main(%x: tensor<64x384>) { relay.constant w; relay.dense; return }
//! ```

use super::convolution::{convolution_of, padding_in_tile};
use super::geometry::{Geometry, prefix};
use super::patches::Patches;
use super::{TILE, Tile, operator_of};
use crate::PRIMITIVE;
use fusion_dialects::rows::Upstream;
use fusion_dialects::{
    Build, Module, Op, OpExt, OperationLike, Type, Value, ValueMap, attr_to_mlir, function_type, ints_attr,
    key, str_attr, tensor_type, tensor_type_to_mlir, type_attr, unit_attr,
};
use fusion_operators::{Attr, Attrs, Call, Dim, TensorType};
use std::collections::{HashMap, HashSet};

/// What the functions are called.
const ENTRY: &str = "main";

/// The types of what operations take and give, and their attributes, for known extents.
struct Typed {
    types: HashMap<usize, TensorType>,
    attrs: Vec<Attrs>,
}

impl Typed {
    /// `of` says which known extents a tensor has: with true for what a convolution takes windows of. None where the operators' type
    /// relations do not agree.
    fn of(
        members: &[Op],
        geometry: &Geometry,
        patches: Option<&Patches>,
        of: &dyn Fn(&TensorType, bool) -> Option<TensorType>,
    ) -> Option<Typed> {
        let convolution = convolution_of(members).filter(|_| geometry.windows.is_some());
        let weight = convolution.zip(patches).and_then(|(op, _)| op.operand_values().get(1).map(|v| key(*v)));
        let data = convolution.and_then(|op| op.operand_values().first().map(|v| key(*v)));
        let mut typed = Typed { types: HashMap::new(), attrs: Vec::new() };
        let made: HashSet<usize> = members.iter().flat_map(|op| op.result_values()).map(key).collect();
        for op in members {
            let operator = operator_of(*op)?;
            let mut operands = Vec::new();
            for value in op.operand_values() {
                let ty = match typed.types.get(&key(value)) {
                    Some(ty) => ty.clone(),
                    None if made.contains(&key(value)) => return None,
                    None if weight == Some(key(value)) => patches?.weight_type(&tensor_type(value)?)?,
                    None => of(&tensor_type(value)?, data == Some(key(value)))?,
                };
                typed.types.insert(key(value), ty.clone());
                operands.push(ty);
            }
            let written = op.result_values().into_iter().map(tensor_type).collect::<Option<Vec<_>>>()?;
            let results = written.iter().map(|ty| of(ty, false)).collect::<Option<Vec<_>>>()?;
            let mut attrs = of_known_extents(&op.attrs(), &results[0])?;
            if convolution == Some(*op) {
                match patches {
                    None => attrs.set("padding", padding_in_tile(*op, geometry)?),
                    Some(_) => attrs = Attrs::new(),
                }
            }
            let call = Call { op: operator, operands: &operands, attrs: &attrs };
            let related = (operator.relation)(&call).ok()?;
            if related != results {
                return None;
            }
            typed.types.extend(op.result_values().into_iter().map(key).zip(results));
            typed.attrs.push(attrs);
        }
        Some(typed)
    }
}

/// Attributes with the extents of a result in place of those that are not known: only those of the whole result are understood.
fn of_known_extents(attrs: &Attrs, result: &TensorType) -> Option<Attrs> {
    let mut made = Attrs::new();
    for (name, value) in attrs.iter().filter(|(name, _)| *name != TILE) {
        match value {
            Attr::Dim(_) => return None,
            Attr::Dims(dims) if dims.len() == result.rank() => made.set_dims(name, result.dims.clone()),
            Attr::Dims(_) => return None,
            _ => made.set(name, value.clone()),
        }
    }
    Some(made)
}

/// True when operations have types for tiles of these sizes.
pub fn is_typed(members: &[Op], geometry: &Geometry, sizes: &[u64]) -> bool {
    Typed::of(members, geometry, None, &|ty, is_data| geometry.tile_type(ty, is_data, sizes)).is_some()
}

/// A tile of these sizes as the `@main` of a module; none where it has no types.
pub fn of_tile<'c>(tile: &Tile<'c>, sizes: &[u64]) -> Option<Module<'c>> {
    let patches = tile.patches_of(sizes).map(|(patches, _)| patches);
    let of = |ty: &TensorType, is_data: bool| tile.tile_type(ty, is_data, sizes);
    let typed = Typed::of(&tile.members, &tile.geometry, patches, &of)?;
    module(tile, &typed, patches, false)
}

/// An operator of rows as a kernel, whose leading extents are these.
pub fn of_rows<'c>(op: Op<'c>, leading: &[u64]) -> Option<Module<'c>> {
    let known = |ty: &TensorType, _: bool| {
        let own = prefix(ty);
        let first = if own == 0 { &[] } else { leading };
        let rest = ty.dims[own..].iter().map(Dim::known).collect::<Option<Vec<u64>>>()?;
        Some(TensorType::fixed(&[first, &rest].concat(), ty.dtype))
    };
    let mut tile = Tile::of(vec![op])?;
    tile.geometry = Geometry::rows();
    // Its constants may hold any numbers.
    let constants = std::mem::take(&mut tile.constants);
    tile.inputs.extend(constants.into_iter().flat_map(OpExt::result_values));
    tile.outputs = op.result_values();
    let typed = Typed::of(&tile.members, &tile.geometry, None, &known)?;
    module(&tile, &typed, None, true)
}

fn module<'c>(
    tile: &Tile<'c>,
    typed: &Typed,
    patches: Option<&Patches>,
    is_kernel: bool,
) -> Option<Module<'c>> {
    let first = *tile.members.first()?;
    let context = first.context_ref();
    let types = |values: &[Value<'c>]| -> Option<Vec<Type<'c>>> {
        values.iter().map(|v| Some(tensor_type_to_mlir(context, typed.types.get(&key(*v))?))).collect()
    };
    let (takes, gives) = (types(&tile.inputs)?, types(&tile.outputs)?);
    let weight = match patches {
        Some(_) => Some(*convolution_of(&tile.members)?.operand_values().get(1)?),
        None => None,
    };
    // As it is before it is laid out for columns, where it is no constant.
    if weight.is_some_and(|weight| tile.inputs.contains(&weight)) {
        return None;
    }
    Some(Build::module(context, first.location(), |build| {
        let body = build.region(&takes, |inner, arguments| {
            let mut map = ValueMap::new();
            tile.inputs.iter().zip(arguments).for_each(|(old, new)| map.insert(*old, *new));
            for constant in &tile.constants {
                map.clone_op(&inner.at(constant.location()), *constant);
            }
            if let Some((weight, ty)) = weight.and_then(|w| Some((w, typed.types.get(&key(w))?))) {
                let shape: Vec<i64> = ty.shape().unwrap_or_default().iter().map(|&n| n as i64).collect();
                let shape = [("shape", ints_attr(context, &shape))];
                let ty = tensor_type_to_mlir(context, ty);
                let laid_out = inner.value("relay.reshape", &[map.lookup(weight)], ty, &shape);
                map.insert(weight, laid_out);
            }
            for (op, attrs) in tile.members.iter().zip(&typed.attrs) {
                let operands: Vec<Value> = op.operand_values().into_iter().map(|v| map.lookup(v)).collect();
                let attrs: Vec<(&str, _)> =
                    attrs.iter().map(|(name, value)| (name, attr_to_mlir(context, value))).collect();
                let results = types(&op.result_values()).unwrap_or_default();
                let name = format!("relay.{}", operator_of(*op).map_or("", |operator| operator.name));
                let made = inner.at(op.location()).op(&name, &operands, &results, &attrs);
                op.result_values().into_iter().zip(made.result_values()).for_each(|(a, b)| map.insert(a, b));
            }
            let given: Vec<Value> = tile.outputs.iter().map(|v| map.lookup(*v)).collect();
            inner.op(Upstream::Return.name(), &given, &[], &[]);
        });
        let mut attrs = vec![
            ("sym_name", str_attr(context, ENTRY)),
            ("function_type", type_attr(function_type(context, &takes, &gives))),
        ];
        if is_kernel {
            attrs.push((PRIMITIVE, unit_attr(context)));
        }
        build.op_with_regions(Upstream::Func.name(), &[], &[], &attrs, vec![body]);
    }))
}
