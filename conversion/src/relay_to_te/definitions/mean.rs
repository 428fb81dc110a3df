//! Means over reduction axes: `y[i] = sum_k f(i, k) / n`.

use fusion_dialects::Value;
use fusion_dialects::te::scalar::compute_type;
use fusion_dialects::te::{Combine, Kernel, Scalar, Scalars};
use fusion_operators::TensorType;

/// The mean over all reduction axes of a float; NaN over none. Half types are summed in f32.
pub fn mean<'c>(
    kernel: &Kernel<'c>,
    name: &str,
    ty: &TensorType,
    reduce: &[u64],
    body: impl FnOnce(&Scalars<'c>, &[Value<'c>], &[Value<'c>]) -> Scalar<'c>,
) -> Value<'c> {
    let wide = ty.with_dtype(compute_type(ty.dtype));
    let sum = kernel.reduce("sum", &wide, reduce, Combine::Sum, body);
    let count: f64 = reduce.iter().map(|&n| n as f64).product();
    kernel.compute(name, ty, |s, i| s.div(s.load(sum, i), s.float(count, wide.dtype)))
}
