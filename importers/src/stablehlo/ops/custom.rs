//! Calls of functions outside of StableHLO: the few that JAX makes on one device.

use super::combining::sorting::greatest;
use super::products::linear::{Triangular, cholesky, lu, triangular};
use super::{Row, row};
use crate::nearest::nearest;
use crate::sources::Outcome;
use crate::stablehlo::emit::{Convert, Emitter, Held, Results};
use crate::stablehlo::graph::{Attr, Operation};
use fusion_dialects::Value;
use fusion_operators::{DType, Dim};

pub const ROWS: &[Row] = &[row("stablehlo.custom_call", |e, op, x| {
    let Some(name) = op.word("call_target_name") else { return op.fault("call_target_name is missing") };
    let Some((_, convert)) = CALLS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
        let near = nearest(name, &known).map_or(String::new(), |n| format!("; did you mean {n}?"));
        return op.fault(format!(
            "the function {name} is outside of the program, and not one that is known{near}; \
             write the model without it, or lower it for another platform"
        ));
    };
    convert(e, op, x)
})];

/// What is called, and how it becomes relay operators.
const CALLS: &[(&str, Convert)] = &[
    ("Sharding", same),
    ("SPMDFullToShardShape", same),
    ("SPMDShardToFullShape", same),
    ("annotate_device_placement", same),
    ("LayoutConstraint", same),
    ("xla.sdy.FuncResultSharding", same),
    ("shape_assertion", |_, _, _| Ok(Vec::new())),
    ("mhlo.topk", top_k),
    ("mhlo.erf", |e, op, x| {
        let x = e.tensor(op, x, 0)?;
        Ok(vec![Held::Tensor(e.un(&fusion_operators::ops::elementwise::ERF, x)?)])
    }),
    ("lapack_spotrf_ffi", factor),
    ("lapack_dpotrf_ffi", factor),
    ("lapack_strsm_ffi", solve),
    ("lapack_dtrsm_ffi", solve),
    ("lapack_sgetrf_ffi", decompose),
    ("lapack_dgetrf_ffi", decompose),
];

fn same<'c, 'p>(_: &mut Emitter<'c, 'p>, _: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    Ok(x.to_vec())
}

/// An option of a call, in the dictionary that it is given.
fn option(op: &Operation, name: &str) -> Option<i64> {
    let maps = ["mhlo.backend_config", "backend_config", "mhlo.attributes"];
    maps.iter().find_map(|map| match op.attributes.get(*map) {
        Some(Attr::Map(options)) => options.get(name)?.integers()?.first().copied(),
        _ => None,
    })
}

fn top_k<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let x = e.tensor(op, x, 0)?;
    let Some(k) = option(op, "k") else { return op.fault("the option k is missing") };
    let axis = e.rank(x)?.saturating_sub(1);
    greatest(e, x, axis, k, option(op, "largest") == Some(0))
}

/// Letters of LAPACK's options: U and L for triangles, T and C for transposes, U for a diagonal of ones, L and R for sides.
fn letter(op: &Operation, name: &str) -> char {
    option(op, name).and_then(|n| u8::try_from(n).ok()).map_or(' ', char::from)
}

/// Zero for each matrix: that it has a factor.
fn success<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Held<'c>> {
    let shape = e.shape(x)?;
    let zero = e.int(DType::I32, 0)?;
    let batch = shape[..shape.len().saturating_sub(2)].iter().map(|&n| Dim::Static(n as u64)).collect();
    Ok(Held::Tensor(e.broadcast_dims(zero, batch)?))
}

/// JAX reads the triangle that it asked for, and gives NaN where there is no factor: so does the loop.
fn factor<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let x = e.tensor(op, x, 0)?;
    let made = cholesky(e, x, letter(op, "uplo") != 'U')?;
    Ok(vec![Held::Tensor(made), success(e, x)?])
}

fn solve<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let (a, b) = (e.tensor(op, x, 0)?, e.tensor(op, x, 1)?);
    let system = Triangular {
        left: letter(op, "side") != 'R',
        lower: letter(op, "uplo") == 'L',
        unit: letter(op, "diag") == 'U',
        transposed: letter(op, "trans_x") != 'N',
    };
    Ok(vec![Held::Tensor(triangular(e, a, b, system)?)])
}

fn decompose<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let x = e.tensor(op, x, 0)?;
    let [factors, pivots] = lu(e, x)?;
    Ok(vec![Held::Tensor(factors), Held::Tensor(pivots), success(e, x)?])
}
