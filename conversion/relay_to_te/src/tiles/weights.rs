//! What makes a weight of constants, where a product of dynamic extents alone takes it.
//!
//! ```text
//!   %f = relay.cast %q         512 x 512 x i8, a constant
//!   %w = relay.mul %f, %s                                           a part of the tile: folded there, or a weight of few bits that stays packed
//!   %y = relay.dense %x, %w    n x 512
//! ```
//!
//! By itself it would be a kernel that gives the whole weight in each run.

use super::operator_of;
use crate::definitions::definition_of;
use fusion_dialects::rows::Kind;
use fusion_dialects::{Op, OpExt, OperationLike, defining_op, kind_of, op_key, relay, tensor_type, users};
use fusion_operators::ops::contraction::{DENSE, MATMUL};
use std::collections::{HashMap, HashSet};

/// The operations among some that make such weights, each with the product that takes its weight.
pub fn of_products<'c>(ops: &[Op<'c>]) -> HashMap<usize, Op<'c>> {
    let mut constant: HashSet<usize> = HashSet::new();
    for op in ops {
        let from_constants = op.operand_values().into_iter().all(|v| {
            defining_op(v).is_some_and(|maker| is_constant(maker) || constant.contains(&op_key(maker)))
        });
        let is_code = operator_of(*op).is_some_and(|operator| definition_of(operator).is_some());
        if is_code && op.region_count() == 0 && op.operand_count() > 0 && from_constants && is_static(*op) {
            constant.insert(op_key(*op));
        }
    }
    let mut products: HashMap<usize, Op<'c>> = HashMap::new();
    for op in ops.iter().rev().filter(|op| constant.contains(&op_key(**op))) {
        let [result] = op.result_values()[..] else { continue };
        let [user] = users(result)[..] else { continue };
        let is_weight = |product: Op<'c>| {
            let takes = operator_of(product).is_some_and(|o| o.is(&DENSE) || o.is(&MATMUL));
            let inside = ops.iter().any(|op| op_key(*op) == op_key(product));
            takes && inside && !is_static(product) && product.operand_values().get(1) == Some(&result)
        };
        let product = products.get(&op_key(user)).copied().or_else(|| is_weight(user).then_some(user));
        if let Some(product) = product {
            products.insert(op_key(*op), product);
        }
    }
    products
}

fn is_constant(op: Op) -> bool {
    matches!(kind_of(op), Some(Kind::Relay(relay::Op::Constant)))
}

fn is_static(op: Op) -> bool {
    let values = op.operand_values().into_iter().chain(op.result_values());
    values.into_iter().all(|v| tensor_type(v).is_some_and(|ty| ty.shape().is_some()))
}
