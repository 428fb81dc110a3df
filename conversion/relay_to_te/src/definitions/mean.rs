//! Means over reduction axes: `y[i] = sum_k f(i, k) / n`.

use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Kernel, Scalar, Scalars};
use fusion_operators::{DType, Dim, TensorType};

/// The mean over all reduction axes of a float; NaN over none. Half types are summed in f32.
pub fn mean<'c>(
    kernel: &Kernel<'c>,
    name: &str,
    ty: &TensorType,
    reduce: &[Dim],
    body: impl Fn(&Scalars<'c>, &[Value<'c>], &[Value<'c>]) -> Scalar<'c>,
) -> Value<'c> {
    let wide = ty.with_dtype(kernel.compute_type(ty.dtype));
    let sum = kernel.reduce("sum", &wide, reduce, Combine::Sum, body);
    kernel.compute(name, ty, |s, i| s.div(s.load(sum, i), count(s, reduce, wide.dtype)))
}

/// The number of points of some axes, as a float.
pub fn count<'c>(s: &Scalars<'c>, axes: &[Dim], dtype: DType) -> Scalar<'c> {
    let known: f64 = axes.iter().filter_map(Dim::known).map(|n| n as f64).product();
    let dynamic = axes.iter().filter(|dim| dim.known().is_none());
    let dynamic = dynamic.map(|dim| s.cast(s.from_index(s.extent(dim), DType::I64), dtype));
    dynamic.fold(s.float(known, dtype), |product, extent| s.mul(product, extent))
}
