//! Pools: `y[n, c, o] = max_k x[n, c, o s + k d - p]`, or the mean over the positions that count; the global ones over
//! all spatial axes. Images may lie in another order than NCHW.

use super::layout::{At, of_stored, spatial, to_stored};
use super::mean::mean;
use super::padding::{is_dynamic, load_in_window, pad_windows_at, reach, window_indices};
use super::{Table, TeCall, known_from};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Kernel, Scalars};
use fusion_operators::ops::layout::{self, LAYOUT_AVG_POOL2D, LAYOUT_MAX_POOL2D, Layouts};
use fusion_operators::ops::pooling::*;
use fusion_operators::ops::window::{Axis, Window};
use fusion_operators::{Dim, Layout, TensorType};

pub const TABLE: Table = &[
    (&MAX_POOL1D, max_pool),
    (&MAX_POOL2D, max_pool),
    (&MAX_POOL3D, max_pool),
    (&AVG_POOL1D, avg_pool),
    (&AVG_POOL2D, avg_pool),
    (&AVG_POOL3D, avg_pool),
    (&GLOBAL_MAX_POOL, global_max_pool),
    (&GLOBAL_AVG_POOL, global_avg_pool),
    (&LAYOUT_MAX_POOL2D, max_pool),
    (&LAYOUT_AVG_POOL2D, avg_pool),
];

/// The orders in which data and result lie: of plain pools, of any number of axes, their own.
fn orders(call: &TeCall) -> Result<(Layout, Layout), String> {
    if layout::plain(call.op).is_none() {
        const AXES: &str = "NCDEFGHIJKLM";
        let plain = || Layout::plain(AXES.get(..call.types[0].rank()).unwrap_or(AXES));
        return Ok((plain(), plain()));
    }
    let mut layouts = Layouts::of(&call.facts()).map_err(|v| v.to_string())?;
    Ok((layouts.operands.swap_remove(0), layouts.result))
}

fn window(call: &TeCall) -> Result<Window, String> {
    let rank = orders(call)?.0.plain_one().parts().len();
    Window::of_pool(&call.attrs, rank.saturating_sub(2)).map_err(|v| v.to_string())
}

/// Combines each window; padding changes nothing.
fn combine<'c>(
    kernel: &Kernel<'c>,
    call: &TeCall<'c>,
    (name, ty): (&str, &TensorType),
    how: Combine,
) -> Result<Value<'c>, String> {
    let window = window(call)?;
    let extents = window.kernel().ok_or("has a kernel of unknown extents")?;
    let given = (call.operands[0], &call.types[0]);
    if is_dynamic(&call.types[0]) {
        if layout::plain(call.op).is_some() {
            return Err(format!(
                "needs extents that are known when compiling, found {}; write it in NCHW",
                given.1
            ));
        }
        return Ok(kernel.reduce(name, ty, &extents, how, |s, axes, over| {
            let (lead, o) = axes.split_at(2);
            load_in_window(s, given, &window, (lead, o, over), how)
        }));
    }
    let (of_data, of_result) = orders(call)?;
    let windows = of_result.value(&call.results[0]).and_then(|ty| known_from(&ty, 2).ok());
    let windows = windows
        .ok_or_else(|| format!("needs a result whose extents are known, found {}", call.results[0]))?;
    let data = pad_windows_at(kernel, given, &spatial(&of_data)?, (&window, &windows), how)?;
    Ok(kernel.reduce(name, ty, &extents, how, |s, axes, over| {
        let at = of_stored(&of_result, axes);
        let o: Vec<Value> = at[2..].iter().map(|at| at.one(s)).collect();
        let read = window_indices(s, &window, &o, over).into_iter().map(At::One);
        let places: Vec<At> = at[..2].iter().copied().chain(read).collect();
        s.load(data, &to_stored(s, &of_data, &places))
    }))
}

fn max_pool<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Result<Vec<Value<'c>>, String> {
    Ok(vec![combine(kernel, call, (call.op.name, &call.results[0]), Combine::Max)?])
}

fn avg_pool<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Result<Vec<Value<'c>>, String> {
    let ty = &call.results[0];
    let wide = ty.with_dtype(kernel.compute_type(ty.dtype));
    let sum = combine(kernel, call, ("sum", &wide), Combine::Sum)?;
    let padded = call.attrs.flag("count_include_pad");
    let (of_data, of_result) = orders(call)?;
    let misfit = || format!("has extents that are not of its layouts, found {} and {ty}", call.types[0]);
    let (data, result) = (of_data.value(&call.types[0]), of_result.value(ty));
    let (data, result) = data.zip(result).ok_or_else(misfit)?;
    let counts: Vec<Count> = window(call)?
        .axes
        .iter()
        .zip(data.dims[2..].iter().zip(&result.dims[2..]))
        .map(|(axis, (data, windows))| Count::new(axis, data, windows, padded))
        .collect::<Result<_, _>>()?;
    let mean = kernel.compute(call.op.name, ty, |s, axes| {
        let constant = counts.iter().filter(|c| c.is_constant()).map(|c| c.kernel as f64).product();
        let at = of_stored(&of_result, axes);
        let varying = counts.iter().zip(&at[2..]).filter(|(count, _)| !count.is_constant());
        let count = varying.fold(s.float(constant, wide.dtype), |product, (count, o)| {
            s.mul(product, s.from_index(count.of(s, o.one(s)), wide.dtype))
        });
        s.div(s.load(sum, axes), count)
    });
    Ok(vec![mean])
}

/// How many kernel positions of a window along an axis count: those in `from..to`, where the first window starts at 0.
struct Count {
    stride: i64,
    dilation: i64,
    kernel: i64,
    /// `None` when no position is before it.
    from: Option<i64>,
    /// `None` when every position is before it.
    to: Option<i64>,
    /// An extent that is known at run time only, which is added to that.
    dynamic: Option<Dim>,
}

impl Count {
    fn new(axis: &Axis, dim: &Dim, windows: &Dim, padded: bool) -> Result<Count, String> {
        let [begin, end] = [axis.begin, axis.end];
        let data = dim.known().unwrap_or(0);
        let from = if padded { 0 } else { begin };
        let to = begin.saturating_add(data).saturating_add(if padded { end } else { 0 });
        let kernel = axis.kernel.known().unwrap_or(1);
        let fits = |n: u64| {
            // What is compared is up to a dilation greater.
            i64::try_from(n.saturating_add(axis.dilation)).map(|_| n as i64).map_err(|_| {
                format!("has data of extent {data} with padding {begin} and {end}, which is more than can be addressed")
            })
        };
        fits(kernel.saturating_mul(axis.dilation))?;
        Ok(Count {
            stride: axis.stride as i64,
            dilation: axis.dilation as i64,
            kernel: kernel as i64,
            from: if from > 0 { Some(fits(from)?) } else { None },
            to: match windows.known() {
                Some(windows) if reach(axis, windows)? <= to => None,
                _ => Some(fits(to)?),
            },
            dynamic: dim.known().is_none().then(|| dim.clone()),
        })
    }

    fn is_constant(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// Positions of window `o` before a bound: `clamp(ceil((bound - o s) / d), 0, kernel)`.
    fn before<'c>(&self, s: &Scalars<'c>, o: Value<'c>, bound: i64, more: Option<&Dim>) -> Value<'c> {
        let mut rounded_up = s.index_affine(o, -self.stride, bound + self.dilation - 1);
        if let Some(dim) = more {
            rounded_up = s.index_add(rounded_up, s.extent(dim));
        }
        s.index_div(s.index_clamp(rounded_up, 0, self.kernel * self.dilation), self.dilation)
    }

    fn of<'c>(&self, s: &Scalars<'c>, o: Value<'c>) -> Value<'c> {
        let from = self.from.map(|bound| self.before(s, o, bound, None));
        let to = self.to.map(|bound| self.before(s, o, bound, self.dynamic.as_ref()));
        match (from, to) {
            (None, None) => s.index(self.kernel),
            (None, Some(to)) => to,
            (Some(from), None) => s.index_affine(from, -1, self.kernel),
            (Some(from), Some(to)) => s.index_add(s.index_affine(from, -1, 0), to),
        }
    }
}

fn global_max_pool<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Result<Vec<Value<'c>>, String> {
    let max =
        kernel.reduce(call.op.name, &call.results[0], &call.dims(0)[2..], Combine::Max, |s, axes, over| {
            s.load(call.operands[0], &[&axes[..2], over].concat())
        });
    Ok(vec![max])
}

fn global_avg_pool<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Result<Vec<Value<'c>>, String> {
    let mean = mean(kernel, call.op.name, &call.results[0], &call.dims(0)[2..], |s, axes, over| {
        s.load(call.operands[0], &[&axes[..2], over].concat())
    });
    Ok(vec![mean])
}
