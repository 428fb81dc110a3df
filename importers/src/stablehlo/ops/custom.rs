//! Calls of functions outside of StableHLO: the few that JAX makes on one device.

use super::combining::sorting::greatest;
use super::products::linear::{Triangular, cholesky, lu, triangular};
use super::products::orthogonal::{geqrf, orgqr};
use super::{Row, row};
use crate::sources::Outcome;
use crate::stablehlo::emit::{Convert, Emitter, Held, Results};
use crate::stablehlo::graph::{Attr, Operation};
use fusion_dialects::Value;
use fusion_operators::ops::indexing;
use fusion_operators::{Attrs, DType, Dim};

pub const ROWS: &[Row] = &[row("stablehlo.custom_call", |e, op, x| {
    let Some(name) = op.word("call_target_name") else { return op.fault("call_target_name is missing") };
    let Some((_, convert)) = CALLS.iter().find(|(known, _)| *known == name) else {
        return op.fault(format!(
            "the function {name} is outside of the program, and not one that is known; \
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
    ("ApproxTopK", approximate_top_k),
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
    ("lapack_sgeqrf_ffi", reflect),
    ("lapack_dgeqrf_ffi", reflect),
    ("lapack_sorgqr_ffi", rotation),
    ("lapack_dorgqr_ffi", rotation),
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

/// The greatest or the least elements of operand 0 and what operand 1 has at their places; all of them are found here.
fn approximate_top_k<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let (values, others) = (e.tensor(op, x, 0)?, e.tensor(op, x, 1)?);
    let (Some(k), Some(axis)) = (option(op, "top_k"), option(op, "reduction_dim")) else {
        return op.fault("the options top_k and reduction_dim are missing");
    };
    let rank = e.rank(values)? as i64;
    let axis = usize::try_from(if axis < 0 { axis + rank } else { axis }).unwrap_or_default();
    let comparator = match op.attributes.get("called_computations") {
        Some(Attr::List(names)) => names.first().and_then(|name| match name {
            Attr::Symbol(name) | Attr::Text(name) => e.program.functions.get(name),
            _ => None,
        }),
        _ => None,
    };
    let comparison =
        comparator.and_then(|f| f.body.operations.first()).and_then(|o| o.word("comparison_direction"));
    let found = greatest(e, values, axis, k, comparison == Some("LT"))?;
    let places = e.tensor(op, &found, 1)?;
    let attrs = Attrs::new().with("axis", axis as i64);
    let others = e.op(&indexing::GATHER_ELEMENTS, &[others, places], attrs)?;
    Ok(vec![found[0].clone(), Held::Tensor(others)])
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

fn reflect<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let x = e.tensor(op, x, 0)?;
    Ok(geqrf(e, x)?.map(Held::Tensor).to_vec())
}

fn rotation<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let (x, factors) = (e.tensor(op, x, 0)?, e.tensor(op, x, 1)?);
    Ok(vec![Held::Tensor(orgqr(e, x, factors)?)])
}
