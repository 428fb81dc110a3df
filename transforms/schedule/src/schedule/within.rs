//! The body of a computation where there is one, and other scalars elsewhere.
//!
//!     a = x[k]           a = x[k] if k < 23 else 0
//!     y = exp(a)    =>   y = exp(a)
//!     yield y            yield y if k < 23 else 0
//!
//! Nothing is read elsewhere, and nothing divides by what was not read; what is computed there is not taken.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::{Op as Te, Scalar, Scalars};
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, Value, ValueLike, ValueMap, defining_op, key, kind_of, ops_in,
    tensor_type,
};
use fusion_operators::DType;

/// Copies a body, whose indices are mapped already, to a place where `condition` says whether it is there.
pub fn clone_within<'c>(
    build: &Build<'c>,
    body: Block<'c>,
    mut map: ValueMap<'c>,
    condition: Value<'c>,
    elsewhere: &[Value<'c>],
) {
    let ops = ops_in(body);
    let given = ops.last().map(|end| end.operand_values()).unwrap_or_default();
    // What is yielded as it was read is chosen by the load.
    let read =
        |value: &Value| defining_op(*value).is_some_and(|op| matches!(kind_of(op), Some(Kind::Te(Te::Load))));
    let otherwise_of = |value: Value| {
        given.iter().zip(elsewhere).find(|(v, _)| key(**v) == key(value)).map(|(_, otherwise)| *otherwise)
    };
    for op in ops {
        let results = op.result_values();
        match kind_of(op) {
            Some(Kind::Te(Te::Load)) => {
                let mut operands: Vec<Value> = op.operand_values().iter().map(|v| map.lookup(*v)).collect();
                let otherwise = otherwise_of(results[0]).unwrap_or_else(|| zero(build, operands[0]).value);
                operands.extend([condition, otherwise]);
                let loaded = build.value(Te::LoadIf.name(), &operands, results[0].r#type(), &[]);
                map.insert(results[0], loaded);
            }
            Some(Kind::Te(Te::LoadIf)) => {
                let mut operands: Vec<Value> = op.operand_values().iter().map(|v| map.lookup(*v)).collect();
                let own = operands.len() - 2;
                operands[own] = both(build, condition, operands[own]);
                let loaded = build.value(Te::LoadIf.name(), &operands, results[0].r#type(), &[]);
                map.insert(results[0], loaded);
            }
            Some(Kind::Te(Te::Yield)) => {
                let chosen = |(value, otherwise): (&Value<'c>, &Value<'c>)| {
                    if read(value) {
                        return map.lookup(*value);
                    }
                    let operands = [condition, map.lookup(*value), *otherwise];
                    build.value(Upstream::Select.name(), &operands, otherwise.r#type(), &[])
                };
                let yielded: Vec<Value> = given.iter().zip(elsewhere).map(chosen).collect();
                build.op(Te::Yield.name(), &yielded, &[], &[]);
            }
            _ if divides_integers(op) => {
                let divisor = op.operand_values()[1];
                let (old, ty) = (map.lookup(divisor), divisor.r#type());
                let Some(one) = Attribute::parse(build.context(), &format!("1 : {ty}")) else { continue };
                let one = build.value(Upstream::ArithConstant.name(), &[], ty, &[("value", one)]);
                let safe = build.value(Upstream::Select.name(), &[condition, old, one], ty, &[]);
                let mut here = map.clone();
                here.insert(divisor, safe);
                let copy = here.clone_op(build, op);
                results.into_iter().zip(copy.result_values()).for_each(|(old, new)| map.insert(old, new));
            }
            _ => {
                map.clone_op(build, op);
            }
        }
    }
}

fn zero<'c>(build: &Build<'c>, tensor: Value<'c>) -> Scalar<'c> {
    let dtype = tensor_type(tensor).map_or(DType::F32, |ty| ty.dtype);
    Scalars { build: *build }.int(0, dtype)
}

fn both<'c>(build: &Build<'c>, a: Value<'c>, b: Value<'c>) -> Value<'c> {
    build.value(Upstream::AndI.name(), &[a, b], b.r#type(), &[])
}

/// True for a division of scalars that is none by 0.
fn divides_integers(op: Op) -> bool {
    let divides = matches!(
        kind_of(op),
        Some(Kind::Upstream(
            Upstream::DivSI | Upstream::DivUI | Upstream::RemSI | Upstream::RemUI | Upstream::FloorDivSI
        ))
    );
    divides && op.result_values().first().is_some_and(|v| v.r#type().to_string() != "index")
}
