//! What stands in the place of attention in nets with a state instead of a cache (operator set 27).
//!
//!     S = exp(g) S + k (b (v - S' k))'        LinearAttention: a matrix a head, unrolled over a known number of steps;
//!     y = scale S' q                          without g nothing decays, without b v is what is written
//!
//!     y[t] = f(sum_i w[i] x[t + i - k + 1])   CausalConvWithState: a filter a channel over the past

use fusion_operators::Attrs;
use fusion_operators::ops::convolution::CONV1D;
use fusion_operators::ops::elementwise as ew;

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::nn::activation::swish;
use crate::onnx::ops::nn::attention::{grouped, heads};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] =
    &[row("LinearAttention", linear_attention), row("CausalConvWithState", causal_conv)];

/// Most steps that are unrolled.
const MOST_STEPS: i64 = 4096;

/// What an update rule reads besides keys and values.
struct Rule {
    decays: bool,
    corrects: bool,
}

impl Rule {
    fn read(node: &Node) -> Result<Rule, Fault> {
        let (decays, corrects) = match node.string("update_rule", "gated_delta")? {
            "linear" => (false, false),
            "gated" => (true, false),
            "delta" => (false, true),
            "gated_delta" => (true, true),
            _ => {
                let expected = "linear, gated, delta or gated_delta";
                return Err(Fault::Attribute { name: "update_rule".into(), expected });
            }
        };
        for (index, name, wanted) in [(4, "decay", decays), (5, "beta", corrects)] {
            if node.opt(index).is_some() != wanted {
                let verb = if wanted { "needs" } else { "does not take" };
                return Err(Fault::value(format!("this update_rule {verb} the operand {name}")));
            }
        }
        Ok(Rule { decays, corrects })
    }
}

/// A number a head and step, or a head's vector: [batch, heads, steps, 1 or more].
fn per_head(im: &mut Importer, node: &Node, index: usize, widths: &[(i64, i64)]) -> Made {
    let x = node.input(index)?;
    if im.rank(x)? != 3 {
        return Err(Fault::value(format!("operand {index} must have rank 3, found {}", im.ty(x)?)));
    }
    let width = im.extent(x, 2, "the operand")?;
    let Some(&(_, count)) = widths.iter().find(|(fits, _)| *fits == width) else {
        return Err(Fault::value(format!("the last extent of {} fits no number of heads", im.ty(x)?)));
    };
    let x = heads(im, x, count)?;
    im.wide(x)
}

fn linear_attention(im: &mut Importer, node: &Node) -> Converted {
    let rule = Rule::read(node)?;
    let (q_heads, kv_heads) = (node.required_int("q_num_heads")?, node.required_int("kv_num_heads")?);
    let operands = [node.input(0)?, node.input(1)?, node.input(2)?];
    let dtype = im.dtype(operands[0])?;
    for operand in operands {
        if im.rank(operand)? != 3 {
            return Err(Fault::value(format!("the operands must have rank 3, found {}", im.ty(operand)?)));
        }
    }
    let mut split = operands;
    for (x, count) in split.iter_mut().zip([q_heads, kv_heads, kv_heads]) {
        *x = heads(im, *x, count)?;
        *x = im.wide(*x)?;
    }
    let [q, k, v] = split;
    let steps = im.extent(q, 2, "the queries")?;
    if !(1..=MOST_STEPS).contains(&steps) {
        return Err(Fault::unsupported(format!("linear attention over {steps} steps")));
    }
    let size = im.extent(k, 3, "the keys")?;
    let decay = match rule.decays {
        true => {
            let all = kv_heads.saturating_mul(size);
            let decay = per_head(im, node, 4, &[(kv_heads, kv_heads), (all, kv_heads)])?;
            Some(im.un(&ew::EXP, decay)?)
        }
        false => None,
    };
    let beta = match rule.corrects {
        true => Some(per_head(im, node, 5, &[(kv_heads, kv_heads), (1, 1)])?),
        false => None,
    };
    let (mut state, state_type) = match node.opt(3) {
        Some(past) => (im.wide(past)?, im.dtype(past)?),
        None => {
            let shape = [im.extent(k, 0, "the keys")?, kv_heads, size, im.extent(v, 3, "the values")?];
            (im.full(im.dtype(k)?, &shape, 0.0)?, dtype)
        }
    };
    let mut rows = Vec::new();
    for step in 0..steps {
        let at = |im: &mut Importer, x: Value| im.slice(x, 2, step, step + 1);
        let (q, k, mut v) = (at(im, q)?, at(im, k)?, at(im, v)?);
        if let Some(decay) = decay {
            let factor = at(im, decay)?;
            let factor = im.swap(factor, 2, 3)?;
            state = im.mul(state, factor)?;
        }
        if let Some(beta) = beta {
            let held = im.matmul(k, state)?;
            let missing = im.sub(v, held)?;
            let rate = at(im, beta)?;
            v = im.mul(rate, missing)?;
        }
        let column = im.swap(k, 2, 3)?;
        let written = im.mul(column, v)?;
        state = im.add(state, written)?;
        let shared = grouped(im, q, state)?;
        rows.push(im.matmul(q, shared)?);
    }
    let y = im.concat(&rows, 2)?;
    let scale = match node.float("scale", 0.0)? {
        0.0 => 1.0 / (size as f64).sqrt(),
        scale => scale,
    };
    let y = im.mul_f(y, scale)?;
    let y = im.transpose(y, &[0, 2, 1, 3])?;
    let width = q_heads.saturating_mul(im.extent(v, 3, "the values")?);
    let batch = im.extent(y, 0, "the queries")?;
    let y = im.reshape(y, &[batch, steps, width])?;
    Ok(vec![im.cast(y, dtype)?, im.cast(state, state_type)?])
}

fn causal_conv(im: &mut Importer, node: &Node) -> Converted {
    let (x, w) = (node.input(0)?, node.input(1)?);
    if im.rank(x)? != 3 || im.rank(w)? != 3 {
        let (x, w) = (im.ty(x)?, im.ty(w)?);
        return Err(Fault::value(format!("data and weight must have rank 3, found {x} and {w}")));
    }
    let (channels, taps) = (im.extent(w, 0, "the weight")?, im.extent(w, 2, "the weight")?);
    if taps < 1 {
        return Err(Fault::value(format!("the weight has no taps: {}", im.ty(w)?)));
    }
    let bends = match node.string("activation", "none")? {
        "none" => false,
        "silu" | "swish" => true,
        _ => return Err(Fault::Attribute { name: "activation".into(), expected: "none, silu or swish" }),
    };
    let past = match node.opt(3) {
        Some(past) => im.concat(&[past, x], 2)?,
        None => im.pad(x, &[0, 0, taps - 1, 0, 0, 0], 0.0)?,
    };
    let attrs = Attrs::new().with("groups", channels);
    let mut y = im.op(&CONV1D, &[past, w], attrs)?;
    if let Some(bias) = node.opt(2) {
        let bias = im.along_channels(bias, 3)?;
        y = im.add(y, bias)?;
    }
    if bends {
        let wide = im.wide(y)?;
        let bent = swish(im, wide, 1.0)?;
        y = im.cast(bent, im.dtype(x)?)?;
    }
    let length = im.extent(past, 2, "the data")?;
    let state = im.slice(past, 2, length - (taps - 1), length)?;
    Ok(vec![y, state])
}
