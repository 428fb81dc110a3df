//! Constants that say which lanes of a vector are meant.

use fusion_dialects::{Attribute, Build, Value, scalar_type, vector_type};
use fusion_operators::DType;

/// A vector of booleans, one a lane.
pub fn constant<'c>(build: &Build<'c>, lanes: impl Iterator<Item = bool>) -> Value<'c> {
    let lanes: Vec<String> = lanes.map(|l| l.to_string()).collect();
    let ty = vector_type(scalar_type(build.context(), DType::Bool), lanes.len() as u64);
    let value = Attribute::parse(build.context(), &format!("dense<[{}]> : {ty}", lanes.join(", ")));
    build.value("arith.constant", &[], ty, &value.map(|v| ("value", v)).into_iter().collect::<Vec<_>>())
}
