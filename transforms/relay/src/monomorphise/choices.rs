//! What a use of something polymorphic chooses, and how it is put in place.

use fusion_dialects::relay::Instance;
use fusion_dialects::{
    Op, OpExt, OperationLike, PassError, Type, TypeParts, ValueLike, arguments, nested_ops, parts_of_type,
    set_type, type_key, type_parts,
};
use fusion_operators::Dim;
use std::collections::{HashMap, HashSet};

/// What a use chooses: the types of type variables and the known extents of named ones, in order of their names.
pub type Choice = (Vec<(String, usize)>, Vec<(String, u64)>);

/// Constructors in a type of an instance, and how deep they are nested.
const MOST_SIZE: usize = 4_096;

const MOST_DEPTH: usize = 64;

/// True when a type has type variables.
pub fn has_variable(ty: Type) -> bool {
    let mut seen = HashSet::new();
    let mut stack = vec![ty];
    while let Some(ty) = stack.pop() {
        if !seen.insert(type_key(ty)) {
            continue;
        }
        if matches!(type_parts(ty), TypeParts::Var(_)) {
            return true;
        }
        stack.extend(parts_of_type(ty));
    }
    false
}

/// What of an instance is put in place: types, and extents that are known.
pub fn chosen<'c>(mut instance: Instance<'c>) -> (Instance<'c>, Choice) {
    instance.dims.retain(|_, dim| matches!(dim, Dim::Static(_)));
    instance.types.sort_keys();
    instance.dims.sort_keys();
    let types = instance.types.iter().map(|(name, ty)| (name.clone(), type_key(*ty))).collect();
    let dims = instance.dims.iter().filter_map(|(name, dim)| Some((name.clone(), dim.known()?))).collect();
    (instance, (types, dims))
}

/// Puts what was chosen into the types of all values in an operation.
pub fn put<'c>(op: Op<'c>, instance: &Instance<'c>) {
    let mut known: HashMap<usize, Type<'c>> = HashMap::new();
    let context = op.context_ref();
    let mut replaced =
        |ty: Type<'c>| *known.entry(type_key(ty)).or_insert_with(|| instance.apply(context, ty));
    let mut ops = nested_ops(op);
    ops.push(op);
    for op in ops {
        let blocks = (0..op.region_count()).filter_map(|i| op.body(i));
        for value in op.result_values().into_iter().chain(blocks.flat_map(arguments)) {
            let (old, new) = (value.r#type(), replaced(value.r#type()));
            if old != new {
                set_type(value, new);
            }
        }
    }
}

/// Refuses a type that is so large that there is no end of instances.
pub fn bounded<'c>(at: Op<'c>, what: &str, instance: &Instance<'c>) -> Result<(), PassError<'c>> {
    let mut size = 0;
    let mut stack: Vec<(Type, usize)> = instance.types.values().map(|ty| (*ty, 1)).collect();
    while let Some((ty, depth)) = stack.pop() {
        size += 1;
        if size > MOST_SIZE || depth > MOST_DEPTH {
            let message = format!(
                "needs {what} at a type of more than {MOST_SIZE} parts or {MOST_DEPTH} levels: it uses itself at ever larger types, and so has no end of instances; write the types of its parameters"
            );
            return Err(PassError::at(at, message));
        }
        stack.extend(parts_of_type(ty).into_iter().map(|ty| (ty, depth + 1)));
    }
    Ok(())
}
