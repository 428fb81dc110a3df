//! Normalisations and softmax.
//!
//! `gamma * (x - mean) / sqrt(variance + epsilon) + beta` with given statistics (Ioffe and Szegedy,
//! 2015) or those of the data (Ulyanov et al., 2016; Wu and He, 2018; Ba et al., 2016); local response
//! normalisation (Krizhevsky et al., 2012, section 3.3); `exp(x - max) / sum exp(x - max)`.

use crate::form::{Form, float, form, int, operand};
use crate::operator::{Cost, Reference, Related, Relation, cost::elements};
use crate::reference::normalization as reference;
use crate::relation::{normalize_axis, same_as_first};
use crate::{Attr, Call, Dim, FusionKind, Operator, TensorType, Violation, operators, require};

const fn opaque(name: &'static str, relation: Relation, cost: Cost, is: Reference) -> Operator {
    Operator::new(name, FusionKind::Opaque, relation, cost, is)
}

/// `N` operations for each element of the result.
fn each<const N: u32>(_: &Call, results: &[TensorType]) -> f64 {
    f64::from(N) * elements(&results[..1])
}

/// C1: the data is a float tensor of that rank or more.
fn float_data(call: &Call, least_rank: usize) -> Result<(), Violation> {
    let data = &call.operands[0];
    require!(
        data.dtype.is_float() && data.rank() >= least_rank,
        C 1,
        "the data must be a float tensor of rank {least_rank} or more, found {data}"
    );
    Ok(())
}

/// C1 as [`float_data`]. C2: the other operands are float tensors `[C]` of the data's second extent.
fn by_channel(call: &Call, least_rank: usize) -> Related {
    float_data(call, least_rank)?;
    let mut result = call.operands[0].clone();
    for (ty, name) in call.operands[1..].iter().zip(["gamma", "beta", "mean", "variance"]) {
        let channels = &result.dims[1];
        require!(
            ty.dtype.is_float() && ty.rank() == 1 && ty.dims[0].compatible(channels),
            C 2,
            "{name} must be a float tensor [{channels}], one number a channel, found {ty}"
        );
        result.dims[1] = channels.meet(&ty.dims[0]);
    }
    Ok(vec![result])
}

fn batch_norm(call: &Call) -> Related {
    by_channel(call, 2)
}

fn instance_norm(call: &Call) -> Related {
    by_channel(call, 3)
}

/// C1, C2 as [`by_channel`]. C3: num_groups divides the channels.
fn group_norm(call: &Call) -> Related {
    let result = by_channel(call, 2)?;
    let channels = &result[0].dims[1];
    let groups = match call.attrs.get("num_groups") {
        Some(Attr::Int(n)) => u64::try_from(*n).ok().filter(|&n| n > 0),
        _ => None,
    };
    require!(
        groups.is_some_and(|g| channels.known().is_none_or(|c| c % g == 0)),
        C 3,
        "num_groups must be an integer above 0 that divides the {channels} channels, found {:?}",
        call.attrs.get("num_groups")
    );
    Ok(result)
}

/// C2: axis (-1 when absent) is in range.
fn axis_in_range(call: &Call) -> Result<usize, Violation> {
    let (axis, data) = (call.attrs.int_or("axis", -1), &call.operands[0]);
    normalize_axis(axis, data.rank())
        .ok_or_else(|| Violation::new(2, format!("axis must be in range for {data}, found {axis}")))
}

/// C1: the data is a float tensor. C2: axis is in range. C3: scale and shift are float tensors that
/// broadcast to the data's shape from `axis` on.
fn layer_norm(call: &Call) -> Related {
    float_data(call, 0)?;
    let inner = &call.operands[0].dims[axis_in_range(call)?..];
    for (ty, name) in call.operands[1..].iter().zip(["gamma", "beta"]) {
        let fits = |(of, to): (&Dim, &Dim)| *of == Dim::Static(1) || of.compatible(to);
        require!(
            ty.dtype.is_float() && ty.rank() <= inner.len() && ty.dims.iter().rev().zip(inner.iter().rev()).all(fits),
            C 3,
            "{name} must be a float tensor that broadcasts to the data's last {} dimensions, found {ty} for {}",
            inner.len(),
            call.operands[0]
        );
    }
    same_as_first(call)
}

/// C1: the data is a float tensor of rank 2 or more. C2: size is above 0.
fn lrn(call: &Call) -> Related {
    float_data(call, 2)?;
    let size = call.attrs.get("size");
    require!(matches!(size, Some(Attr::Int(1..))), C 2, "size must be an integer above 0, found {size:?}");
    same_as_first(call)
}

/// C1: the data is a float tensor. C2: axis is in range.
fn along_axis(call: &Call) -> Related {
    float_data(call, 0)?;
    axis_in_range(call)?;
    same_as_first(call)
}

const SOFTMAX_FORM: Form =
    form(&[operand("data")]).attributes(&[int("axis")]).about("C1: float. C2: axis is in range.");

operators! {
    /// gamma * (x - mean) / sqrt(variance + epsilon) + beta, each of them [C], along axis 1
    ///
    /// `epsilon` is 1e-5 when absent.
    /// - C1: the data is a float tensor of rank 2 or more.
    /// - C2: the other operands are float tensors [C] of the data's second extent.
    BATCH_NORM = Operator { fusion: FusionKind::Broadcast, ..opaque("batch_norm", batch_norm, each::<4>, reference::batch_norm) }
        .of(form(&[operand("data"), operand("gamma"), operand("beta"), operand("mean"), operand("variance")])
            .attributes(&[float("epsilon")]));
    /// Normalises over the spatial axes, then scales and shifts by [C]
    ///
    /// C1 (rank 3 or more), C2 as relay.batch_norm.
    INSTANCE_NORM = opaque("instance_norm", instance_norm, each::<8>, reference::instance_norm)
        .of(form(&[operand("data"), operand("gamma"), operand("beta")]).attributes(&[float("epsilon")]));
    /// Normalises over each group of channels and the spatial axes, then scales and shifts by [C]
    ///
    /// C1, C2 as relay.batch_norm. C3: num_groups divides the channels.
    GROUP_NORM = opaque("group_norm", group_norm, each::<8>, reference::group_norm)
        .of(form(&[operand("data"), operand("gamma"), operand("beta")])
            .attributes(&[int("num_groups").required(), float("epsilon")]));
    /// Normalises over the axes from `axis` to the last, then scales and shifts by operands of those axes
    ///
    /// `axis` is -1 and `epsilon` 1e-5 when absent.
    /// - C1: the data is a float tensor. C2: axis is in range. C3: scale and shift are float tensors
    ///   that broadcast to the data's shape from `axis` on.
    LAYER_NORM = Operator { fusion: FusionKind::Rows, ..opaque("layer_norm", layer_norm, each::<8>, reference::layer_norm) }
        .of(form(&[operand("data"), operand("gamma"), operand("beta")]).attributes(&[int("axis"), float("epsilon")]));
    /// x / (bias + alpha / size * sum of x^2 over `size` neighbouring channels)^beta
    ///
    /// alpha is 1e-4, beta 0.75 and bias 1 when absent; the window reaches floor((size - 1) / 2) back and ceil((size - 1) / 2) on.
    /// - C1: the data is a float tensor of rank 2 or more. C2: size is above 0.
    LRN = opaque("lrn", lrn, each::<24>, reference::lrn)
        .of(form(&[operand("data")])
            .attributes(&[int("size").required(), float("alpha"), float("beta"), float("bias")]));
    /// exp(x - max) / sum of the same, along `axis` (-1 when absent)
    SOFTMAX = Operator { fusion: FusionKind::Rows, ..opaque("softmax", along_axis, each::<14>, reference::softmax) }.of(SOFTMAX_FORM);
    /// x - max - log(sum of exp(x - max)), along `axis` (-1 when absent)
    LOG_SOFTMAX = Operator { fusion: FusionKind::Rows, ..opaque("log_softmax", along_axis, each::<14>, reference::log_softmax) }.of(SOFTMAX_FORM);
}
