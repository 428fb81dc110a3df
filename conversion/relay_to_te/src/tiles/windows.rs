//! Tiles of windows: a convolution of images of dynamic extents, and the elementwise operators that its result alone goes through.
//!
//! ```text
//!   y[n, f, h, w] = relu(conv(x)[n, f, h, w] + r[n, f, h, w])         conv, add, relu; x with its border, r and y as they are
//! ```

use super::convolution::{geometry, is_convolution};
use super::{instance, operator_of};
use crate::definitions::is_elementwise;
use fusion_dialects::{Op, OpExt, op_key, tensor_type, users};
use fusion_operators::{Dim, TensorType};
use std::collections::HashSet;

/// The tiles among operations, without those that are taken.
pub fn tiles<'c>(ops: &[Op<'c>], taken: &HashSet<usize>) -> Vec<Vec<Op<'c>>> {
    let here: HashSet<usize> = ops.iter().map(|op| op_key(*op)).filter(|key| !taken.contains(key)).collect();
    let mut held: HashSet<usize> = HashSet::new();
    let mut tiles = Vec::new();
    for op in ops.iter().filter(|op| here.contains(&op_key(**op)) && is_convolution(**op)) {
        let free = |op: Op<'c>| here.contains(&op_key(op)) && !held.contains(&op_key(op));
        let Some(members) = tile(*op, &free) else { continue };
        held.extend(members.iter().map(|op| op_key(*op)));
        tiles.push(members);
    }
    tiles
}

/// A convolution with what is computed behind it.
fn tile<'c>(convolution: Op<'c>, free: &dyn Fn(Op<'c>) -> bool) -> Option<Vec<Op<'c>>> {
    let (operands, results) = (convolution.operand_values(), convolution.result_values());
    let result = tensor_type(*results.first()?)?;
    let weight = tensor_type(*operands.get(1)?)?;
    let data = tensor_type(*operands.first()?)?;
    // Another number of channels would be another kernel.
    let channels = [&result, &data].iter().all(|ty| ty.dims.get(1).is_some_and(|dim| dim.known().is_some()));
    if weight.shape().is_none() || !channels || !result.dtype.is_float() {
        return None;
    }
    let mut members = vec![convolution];
    let mut last = convolution;
    while let [user] = users(last.result_values()[0])[..]
        && free(user)
        && follows(user, last, &result)
    {
        members.push(user);
        last = user;
    }
    // What cannot be said for known extents is left as it is.
    let geometry = geometry(convolution)?;
    let sizes = vec![8; geometry.axes()];
    let is_typed = |members: &[Op]| instance::is_typed(members, &geometry, &sizes);
    if !is_typed(&members) {
        members.truncate(1);
    }
    is_typed(&members).then_some(members)
}

/// True for an elementwise operator of a result and of tensors of its extents, or of extents that are the same for all images and places.
fn follows<'c>(user: Op<'c>, last: Op<'c>, result: &TensorType) -> bool {
    let Some(operator) = operator_of(user) else { return false };
    let made = last.result_values()[0];
    let fits = |v: &fusion_dialects::Value<'c>| {
        let Some(ty) = tensor_type(*v) else { return false };
        // An operand of lower rank is aligned at the last axis.
        let missing = result.rank().saturating_sub(ty.rank());
        let broadcast = ty.dims.iter().enumerate().all(|(i, dim)| match i + missing {
            1 => dim.known().is_some(),
            at => *dim == Dim::Static(1) || (dim.known().is_some() && result.dims[at] == *dim && at > 1),
        });
        // What has no name may be 1.
        let same = ty.dims == result.dims && !ty.dims.contains(&Dim::Any);
        *v == made || same || (ty.rank() <= result.rank() && broadcast)
    };
    let results = user.result_values();
    is_elementwise(operator)
        && results.len() == 1
        && tensor_type(results[0]).is_some_and(|ty| ty.dims == result.dims && ty.dtype.is_float())
        && user.operand_values().iter().all(fits)
}
