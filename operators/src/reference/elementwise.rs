//! Elementwise semantics with NumPy broadcasting.

use super::reduction::limits;
use super::{EvalError, Evaluated, broadcast_steps, for_each_run, static_shape};
use crate::{DType, Tensor, TensorType};
use std::borrow::Cow;

/// Applies a function of f64 to each element, rounding to the result's type.
pub fn map(result: &TensorType, x: &Tensor, f: impl Fn(f64) -> f64) -> Evaluated {
    let values: Vec<f64> = x.to_f64s().into_iter().map(f).collect();
    Ok(vec![Tensor::from_f64s(result.dtype, &static_shape(result)?, &values)?])
}

/// For each element of the result, the flat index of the operand's element that broadcasts to it.
pub fn broadcast_indices(result: &[usize], operand: &[usize]) -> Vec<usize> {
    let mut indices = Vec::with_capacity(result.iter().product());
    for_each_run(result, (0, &broadcast_steps(result.len(), operand)), |first, elements, step| {
        indices.extend((0..elements as isize).map(|i| (first + i * step) as usize));
    });
    indices
}

/// The elements of an operand of f32 for every element of the result: weights are folded so, by the hundred million.
fn broadcast<'a>(operand: &'a Tensor, result: &[usize]) -> Option<Cow<'a, [f32]>> {
    let own = operand.as_slice::<f32>()?;
    if operand.shape() == result {
        return Some(own.into());
    }
    let mut values = Vec::with_capacity(result.iter().product());
    for_each_run(
        result,
        (0, &broadcast_steps(result.len(), operand.shape())),
        |first, elements, step| match (first as usize, step) {
            (first, 0) => values.resize(values.len() + elements, own[first]),
            (first, 1) => values.extend_from_slice(&own[first..first + elements]),
            (first, step) => values.extend(own[first..].iter().step_by(step as usize).take(elements)),
        },
    );
    Some(values.into())
}

/// Applies a function of two numbers with broadcasting: floats when the operands are floats,
/// integers otherwise.
pub fn zip(
    result: &TensorType,
    operands: &[Tensor],
    float: impl Fn(f64, f64) -> f64,
    int: impl Fn(i128, i128) -> Result<i128, EvalError>,
) -> Evaluated {
    let shape = static_shape(result)?;
    let (a, b) = (&operands[0], &operands[1]);
    if result.dtype == DType::F32
        && let (Some(a), Some(b)) = (broadcast(a, &shape), broadcast(b, &shape))
    {
        let mut results = Tensor::zeros(result.dtype, &shape)?;
        let elements = bytemuck::cast_slice_mut::<u8, f32>(results.bytes_mut());
        for (to, (a, b)) in elements.iter_mut().zip(a.iter().zip(b.iter())) {
            *to = float((*a).into(), (*b).into()) as f32;
        }
        return Ok(vec![results]);
    }
    let pairs = broadcast_indices(&shape, a.shape()).into_iter().zip(broadcast_indices(&shape, b.shape()));
    if a.dtype().is_float() {
        let (a, b) = (a.to_f64s(), b.to_f64s());
        let values: Vec<f64> = pairs.map(|(i, j)| float(a[i], b[j])).collect();
        return Ok(vec![Tensor::from_f64s(result.dtype, &shape, &values)?]);
    }
    let values: Result<Vec<i128>, _> = pairs.map(|(i, j)| int(a.int_at(i), b.int_at(j))).collect();
    Ok(vec![Tensor::from_ints(result.dtype, &shape, &values?)?])
}

/// As [`map`], with a function of integers for integer operands.
pub fn map_int(
    result: &TensorType,
    x: &Tensor,
    float: impl Fn(f64) -> f64,
    int: impl Fn(i128) -> i128,
) -> Evaluated {
    if x.dtype().is_float() {
        return map(result, x, float);
    }
    let values: Vec<i128> = x.to_ints().into_iter().map(int).collect();
    Ok(vec![Tensor::from_ints(result.dtype, &static_shape(result)?, &values)?])
}

/// Remainder with the sign of the divisor (`floor`) or of the dividend.
pub fn modulo(result: &TensorType, x: &[Tensor], floor: bool) -> Evaluated {
    let float = |a: f64, b: f64| {
        let rest = a % b;
        if floor && rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
    };
    zip(result, x, float, |a, b| match b {
        0 => Err(EvalError::Value("integer remainder by zero".into())),
        _ if floor && a % b != 0 && (a % b < 0) != (b < 0) => Ok(a % b + b),
        _ => Ok(a % b),
    })
}

/// Powers; of integers, exact modulo the type's range (a negative exponent gives 0, 1 or -1).
pub fn power(result: &TensorType, x: &[Tensor]) -> Evaluated {
    zip(result, x, f64::powf, |a, b| {
        Ok(match (a, b) {
            (_, 0) | (1, _) => 1,
            (-1, _) => {
                if b % 2 == 0 {
                    1
                } else {
                    -1
                }
            }
            (_, b) if b < 0 => 0,
            (0, _) => 0,
            _ => i128::from(wrapping_power(a as i64, b)),
        })
    })
}

/// x to the power of n, of which the lowest 64 bits are kept.
fn wrapping_power(mut x: i64, mut n: i128) -> i64 {
    let mut power = 1i64;
    while n > 0 {
        if n & 1 == 1 {
            power = power.wrapping_mul(x);
        }
        x = x.wrapping_mul(x);
        n >>= 1;
    }
    power
}

/// Shifts; by the width or more, and by less than 0, the value a longer and longer shift tends to.
pub fn shift(result: &TensorType, x: &[Tensor], f: impl Fn(i128, u32) -> i128) -> Evaluated {
    let bits = 8 * result.dtype.size() as i128;
    let within = |n: i128| if (0..bits).contains(&n) { n } else { bits };
    zip(result, x, |a, _| a, |a, n| Ok(f(a, within(n) as u32)))
}

/// `condition ? x : y` with broadcasting.
pub fn select(result: &TensorType, x: &[Tensor]) -> Evaluated {
    let shape = static_shape(result)?;
    let size = result.dtype.size();
    let indices: Vec<_> = x.iter().map(|t| broadcast_indices(&shape, t.shape())).collect();
    let mut data = Vec::new();
    for (i, &condition) in indices[0].iter().enumerate() {
        let from = if x[0].int_at(condition) != 0 { 1 } else { 2 };
        data.extend(&x[from].bytes()[indices[from][i] * size..][..size]);
    }
    Ok(vec![Tensor::from_bytes(result.dtype, &shape, data)?])
}

/// Conversion of element types: float to integer truncates and saturates, integers wrap.
pub fn cast(result: &TensorType, x: &Tensor) -> Evaluated {
    use crate::dtype::Class;
    let shape = static_shape(result)?;
    let to = result.dtype;
    if !x.dtype().is_float() {
        return Ok(vec![Tensor::from_ints(to, &shape, &x.to_ints())?]);
    }
    if !to.is_int() {
        return Ok(vec![Tensor::from_f64s(to, &shape, &x.to_f64s())?]);
    }
    let bits = 8 * to.size() as u32;
    let (least, most) = match to.class() {
        Class::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    };
    // `as` truncates toward zero, saturates, and takes NaN to 0.
    let values: Vec<i128> = x.to_f64s().into_iter().map(|v| (v as i128).clamp(least, most)).collect();
    Ok(vec![Tensor::from_ints(to, &shape, &values)?])
}

/// The same bytes as another element type; a boolean's byte is 0 or 1.
pub fn bitcast(result: &TensorType, x: &Tensor) -> Evaluated {
    let shape = static_shape(result)?;
    let bytes: Vec<u8> = match result.dtype {
        DType::Bool => x.bytes().iter().map(|&byte| (byte != 0).into()).collect(),
        _ => x.bytes().to_vec(),
    };
    Ok(vec![Tensor::from_bytes(result.dtype, &shape, bytes)?])
}

/// `min(max(x, min), max)`; integers within the bounds that their type has.
pub fn clip(call: &crate::Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let least = call.attrs.float_or("min", f64::NEG_INFINITY);
    let most = call.attrs.float_or("max", f64::INFINITY);
    let (lowest, highest) = limits(results[0].dtype);
    let bound = |v: f64| (v as i128).clamp(lowest, highest);
    map_int(
        &results[0],
        &x[0],
        |v| if v.is_nan() { v } else { v.max(least).min(most) },
        |v| v.max(bound(least)).min(bound(most)),
    )
}

/// The error function to f64 precision: below 3 the series whose terms are all positive, so that nothing cancels, the continued
/// fraction of the complement above (Abramowitz and Stegun 7.1.6 and 7.1.14).
pub fn erf(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() {
        return x;
    }
    let value = if a < 3.0 {
        let (mut term, mut sum, mut n) = (a, a, 0.0);
        while term > 1e-17 * sum {
            n += 1.0;
            term *= 2.0 * a * a / (2.0 * n + 1.0);
            sum += term;
        }
        sum * (-a * a).exp() * std::f64::consts::FRAC_2_SQRT_PI
    } else if a < 6.0 {
        let mut fraction = a;
        for k in (1..=60).rev() {
            fraction = a + f64::from(k) / 2.0 / fraction;
        }
        1.0 - (-a * a).exp() / (fraction * std::f64::consts::PI.sqrt())
    } else {
        1.0
    };
    value.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::erf;

    #[test]
    fn the_error_function_is_exact_where_its_forms_meet() {
        // Of Abramowitz and Stegun, table 7.1, and of 50 digits.
        let known = [
            (0.0, 0.0),
            (0.5, 0.520_499_877_813_046_5),
            (2.0, 0.995_322_265_018_952_7),
            (2.8, 0.999_924_986_805_334_6),
            (3.0, 0.999_977_909_503_001_4),
            (-2.8, -0.999_924_986_805_334_6),
        ];
        for (x, wanted) in known {
            assert!((erf(x) - wanted).abs() <= 8.0 * f64::EPSILON, "erf {x} is {}, not {wanted}", erf(x));
        }
    }
}
