//! Steps of gradient descent (domain ai.onnx.preview.training), for any number of tensors at once. With the gradient
//! G = norm_coefficient * X + the given one, after T updates, at the rate R:
//!
//!     Momentum   V = alpha V + b G, with b = beta but 1 at first       X -= R V, or R (G + alpha V) as Nesterov has it
//!     Adagrad    H = H + G^2                                           X -= R / (1 + T decay) G / (sqrt(H) + epsilon)
//!     Adam       V = alpha V + (1 - alpha) G, H = beta H + (1 - beta) G^2
//!                X -= r V / (sqrt(H) + epsilon), with r = R sqrt(1 - beta^T) / (1 - alpha^T), but R at first

use fusion_operators::ops::elementwise as ew;

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;

const fn row(
    op_type: &'static str,
    convert: for<'m> fn(&mut Importer<'m>, &Node<'m>) -> Converted,
) -> Conversion {
    Conversion { domain: "ai.onnx.preview.training", op_type, convert }
}

pub const ROWS: &[Conversion] = &[row("Momentum", momentum), row("Adagrad", adagrad), row("Adam", adam)];

/// The operands of one tensor: rate and count in its element type, its value, and its gradient with regularization.
struct Step {
    rate: Value,
    count: Value,
    x: Value,
    gradient: Value,
}

/// Converts tensor by tensor: `f` gets each with its `kept` statistics, and gives its new value and theirs.
fn each(
    im: &mut Importer,
    node: &Node,
    kept: usize,
    f: impl Fn(&mut Importer, &Step, &[Value]) -> Converted,
) -> Converted {
    let coefficient = node.float("norm_coefficient", 0.0)?;
    let all = node.all_inputs()?;
    let given = all.len().saturating_sub(2);
    let count = given / (kept + 2);
    if count == 0 || given % (kept + 2) != 0 {
        return Err(Fault::value(format!(
            "behind rate and count, {} operands are expected for each tensor, found {given}",
            kept + 2
        )));
    }
    let mut results = vec![Vec::new(); kept + 1];
    for i in 0..count {
        let own: Vec<Value> = (0..kept + 2).map(|part| all[2 + part * count + i]).collect();
        let x = own[0];
        let dtype = im.dtype(x)?;
        let (rate, updates) = (im.cast(all[0], dtype)?, im.cast(all[1], dtype)?);
        let norm = im.mul_f(x, coefficient)?;
        let gradient = im.add(norm, own[1])?;
        let made = f(im, &Step { rate, count: updates, x, gradient }, &own[2..])?;
        for (results, value) in results.iter_mut().zip(made) {
            results.push(value);
        }
    }
    Ok(results.concat())
}

/// old * keep + new * share
fn blend(im: &mut Importer, old: Value, keep: f64, new: Value, share: f64) -> Made {
    let (old, new) = (im.mul_f(old, keep)?, im.mul_f(new, share)?);
    im.add(old, new)
}

/// x - rate * direction
fn moved(im: &mut Importer, x: Value, rate: Value, direction: Value) -> Made {
    let by = im.mul(rate, direction)?;
    im.sub(x, by)
}

/// 0 < count ? then : otherwise
fn later(im: &mut Importer, count: Value, then: Value, otherwise: Value) -> Made {
    let zero = im.like(count, 0.0)?;
    let is_later = im.less(zero, count)?;
    im.select(is_later, then, otherwise)
}

/// x / (sqrt(h) + epsilon)
fn scaled(im: &mut Importer, x: Value, h: Value, epsilon: f64) -> Made {
    let root = im.un(&ew::SQRT, h)?;
    let below = im.add_f(root, epsilon)?;
    im.div(x, below)
}

fn required(node: &Node, name: &str) -> Result<f64, Fault> {
    node.opt_float(name)?.ok_or_else(|| Fault::MissingAttribute { name: name.into() })
}

fn momentum(im: &mut Importer, node: &Node) -> Converted {
    let (alpha, beta) = (required(node, "alpha")?, required(node, "beta")?);
    let looks_ahead = match node.string("mode", "")? {
        "standard" => false,
        "nesterov" => true,
        _ => return Err(Fault::Attribute { name: "mode".into(), expected: "standard or nesterov" }),
    };
    each(im, node, 1, |im, step, kept| {
        let (beta, one) = (im.like(step.x, beta)?, im.like(step.x, 1.0)?);
        let share = later(im, step.count, beta, one)?;
        let new = im.mul(share, step.gradient)?;
        let v = blend(im, kept[0], alpha, new, 1.0)?;
        let direction = if looks_ahead { blend(im, v, alpha, step.gradient, 1.0)? } else { v };
        Ok(vec![moved(im, step.x, step.rate, direction)?, v])
    })
}

fn adagrad(im: &mut Importer, node: &Node) -> Converted {
    let (decay, epsilon) = (node.float("decay_factor", 0.0)?, node.float("epsilon", 1e-6)?);
    each(im, node, 1, |im, step, kept| {
        let slower = im.mul_f(step.count, decay)?;
        let below = im.add_f(slower, 1.0)?;
        let rate = im.div(step.rate, below)?;
        let square = im.mul(step.gradient, step.gradient)?;
        let h = im.add(kept[0], square)?;
        let direction = scaled(im, step.gradient, h, epsilon)?;
        Ok(vec![moved(im, step.x, rate, direction)?, h])
    })
}

fn adam(im: &mut Importer, node: &Node) -> Converted {
    let (alpha, beta) = (node.float("alpha", 0.9)?, node.float("beta", 0.999)?);
    let (epsilon, after) = (node.float("epsilon", 1e-6)?, node.float("norm_coefficient_post", 0.0)?);
    each(im, node, 2, |im, step, kept| {
        let v = blend(im, kept[0], alpha, step.gradient, 1.0 - alpha)?;
        let square = im.mul(step.gradient, step.gradient)?;
        let h = blend(im, kept[1], beta, square, 1.0 - beta)?;
        // What averages of so few steps lack: 1 - factor^T.
        let full = |im: &mut Importer, factor: f64| {
            let factor = im.like(step.count, factor)?;
            let power = im.bin(&ew::POW, factor, step.count)?;
            im.f_sub(1.0, power)
        };
        let (of_h, of_v) = (full(im, beta)?, full(im, alpha)?);
        let root = im.un(&ew::SQRT, of_h)?;
        let ratio = im.div(root, of_v)?;
        let adjusted = im.mul(step.rate, ratio)?;
        let rate = later(im, step.count, adjusted, step.rate)?;
        let direction = scaled(im, v, h, epsilon)?;
        let x = moved(im, step.x, rate, direction)?;
        Ok(vec![im.mul_f(x, 1.0 - after)?, v, h])
    })
}
