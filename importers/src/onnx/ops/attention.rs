//! Attention and rotary embeddings (operator sets 23 and 24).

use fusion_operators::ops::{elementwise as ew, shape as sh};
use fusion_operators::{Attrs, DType, Dim};

use super::{Conversion, row};
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};

pub const ROWS: &[Conversion] = &[row("Attention", attention), row("RotaryEmbedding", rotary)];

/// [batch, length, heads * size] as [batch, heads, length, size].
fn heads(im: &mut Importer, x: Value, count: i64) -> Made {
    let dims = im.dims(x)?;
    let width = im.extent(x, 2, "the operand")?;
    if count < 1 || width % count != 0 {
        return Err(Fault::value(format!("a width of {width} does not divide into {count} heads")));
    }
    let sizes = [Dim::Static(count as u64), Dim::Static((width / count) as u64)];
    let x = im.reshape_dims(x, &[&dims[..2], &sizes].concat())?;
    im.transpose(x, &[0, 2, 1, 3])
}

/// softmax(Q K' * scale + bias) V, with caches, masks, grouped heads and a soft cap.
fn attention(im: &mut Importer, node: &Node) -> Converted {
    let (mut q, mut k, mut v) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let flat = im.rank(q)? == 3;
    if flat {
        let (q_heads, kv_heads) = (node.required_int("q_num_heads")?, node.required_int("kv_num_heads")?);
        (q, k, v) = (heads(im, q, q_heads)?, heads(im, k, kv_heads)?, heads(im, v, kv_heads)?);
    }
    for operand in [q, k, v] {
        if im.rank(operand)? != 4 {
            return Err(Fault::value(format!(
                "the operands must have rank 3 or 4, found {}",
                im.ty(operand)?
            )));
        }
    }
    let (dtype, past) = (im.dtype(q)?, node.opt(4));
    let past_length = match past {
        Some(past) => im.extent(past, 2, "the past keys")?,
        None => 0,
    };
    if let Some(past) = past {
        k = im.concat(&[past, k], 2)?;
    }
    if let Some(past) = node.opt(5) {
        v = im.concat(&[past, v], 2)?;
    }
    let (present_k, present_v) = (k, v);
    (k, v) = (grouped(im, q, k)?, grouped(im, q, v)?);
    let size = im.extent(q, 3, "the queries")?;
    let scale = node.opt_float("scale")?.unwrap_or(1.0 / (size as f64).sqrt());
    let transposed = im.swap(k, 2, 3)?;
    let scores = if dtype.size() == 2 {
        // As the operator is defined: half floats stay what they are, and both sides are made smaller before their products could overflow.
        let (of_q, of_k) = if scale < 0.0 { (scale, 1.0) } else { (scale.sqrt(), scale.sqrt()) };
        let (scaled_q, scaled_k) = (im.mul_f(q, of_q)?, im.mul_f(transposed, of_k)?);
        im.matmul(scaled_q, scaled_k)?
    } else {
        let product = im.matmul(q, transposed)?;
        im.mul_f(product, scale)?
    };
    let mut stages = vec![scores];
    let biased = bias(im, node, scores, past_length)?;
    stages.push(biased);
    let cap = node.float("softcap", 0.0)?;
    let capped = match cap > 0.0 {
        true => {
            let scaled = im.mul_f(biased, 1.0 / cap)?;
            let bent = im.un(&ew::TANH, scaled)?;
            im.mul_f(bent, cap)?
        }
        false => biased,
    };
    stages.push(capped);
    let precision = node.opt_dtype("softmax_precision")?;
    let ready = match precision {
        Some(precision) if precision.size() > 2 => im.cast(capped, precision)?,
        _ => capped,
    };
    let weights = im.softmax(ready, 3)?;
    let weights = im.cast(weights, im.dtype(v)?)?;
    stages.push(weights);
    let mut y = im.matmul(weights, v)?;
    y = im.cast(y, dtype)?;
    if flat {
        y = im.transpose(y, &[0, 2, 1, 3])?;
        let dims = im.dims(y)?;
        let width = im.extent(y, 2, "the result")? * im.extent(y, 3, "the result")?;
        y = im.reshape_dims(y, &[dims[0].clone(), dims[1].clone(), Dim::Static(width as u64)])?;
    }
    let stage = usize::try_from(node.int("qk_matmul_output_mode", 0)?).unwrap_or(usize::MAX);
    let Some(&stage) = stages.get(stage) else {
        return Err(Fault::Attribute { name: "qk_matmul_output_mode".into(), expected: "from 0 to 3" });
    };
    let stage = if node.wants(3) { im.cast(stage, dtype)? } else { stage };
    Ok(vec![y, present_k, present_v, stage])
}

/// Keys or values with each head repeated for its group of query heads.
fn grouped(im: &mut Importer, q: Value, x: Value) -> Made {
    let (q_heads, own) = (im.extent(q, 1, "the queries")?, im.extent(x, 1, "the keys")?);
    if q_heads == own {
        return Ok(x);
    }
    if own == 0 || q_heads % own != 0 || q_heads > 1 << 20 {
        return Err(Fault::value(format!("{q_heads} query heads do not divide into {own} groups")));
    }
    let places: Vec<i64> = (0..q_heads).map(|h| h / (q_heads / own)).collect();
    let places = im.ints(&[places.len()], &places)?;
    im.gather(x, places, 1)
}

/// Scores plus -infinity where a query must not see a key.
fn bias(im: &mut Importer, node: &Node, scores: Value, past: i64) -> Made {
    let mut result = scores;
    let hidden = |im: &mut Importer, seen: Value, result: Value| {
        let out = im.like(result, f64::NEG_INFINITY)?;
        im.select(seen, result, out)
    };
    if let Some(mut mask) = node.opt(3) {
        let (rank, boolean) = (im.rank(mask)?, im.dtype(mask)? == DType::Bool);
        let (keys, given) = (im.dims(scores)?[3].known(), im.dims(mask)?[rank - 1].known());
        if let (Some(keys), Some(given)) = (keys, given)
            && given < keys
            && given != 1
        {
            // Keys beyond the mask are not seen.
            let mut padding = vec![0; 2 * rank];
            padding[2 * rank - 1] = (keys - given) as i64;
            mask = im.pad(mask, &padding, if boolean { 0.0 } else { f64::NEG_INFINITY })?;
        }
        result = if boolean {
            hidden(im, mask, result)?
        } else {
            let mask = im.cast(mask, im.dtype(scores)?)?;
            im.add(result, mask)?
        };
    }
    if node.flag("is_causal")? {
        let queries = im.extent(scores, 2, "the queries")?;
        let keys = im.extent(scores, 3, "the keys")?;
        let i = im.arange(DType::I64, queries, past as f64, 1.0)?;
        let i = im.expand_dims(i, &[1])?;
        let j = im.arange(DType::I64, keys, 0.0, 1.0)?;
        let seen = im.bin(&ew::LESS_EQUAL, j, i)?;
        result = hidden(im, seen, result)?;
    }
    if let Some(lengths) = node.opt(6) {
        let keys = im.extent(scores, 3, "the keys")?;
        let lengths = im.cast(lengths, DType::I64)?;
        let lengths = im.expand_dims(lengths, &[1, 2, 3])?;
        let j = im.arange(DType::I64, keys, 0.0, 1.0)?;
        let seen = im.less(j, lengths)?;
        result = hidden(im, seen, result)?;
    }
    Ok(result)
}

/// Turns pairs of features by angles that grow with the position.
fn rotary(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let flat = im.rank(x)? == 3;
    let dims = im.dims(x)?;
    let split = if flat { heads(im, x, node.required_int("num_heads")?)? } else { x };
    if im.rank(split)? != 4 {
        return Err(Fault::value(format!("the operand must have rank 3 or 4, found {}", im.ty(x)?)));
    }
    let size = im.extent(split, 3, "the operand")?;
    let turned = match node.int("rotary_embedding_dim", 0)? {
        0 => size,
        n if (2..=size).contains(&n) => n,
        n => return Err(Fault::value(format!("rotary_embedding_dim {n} exceeds the head size {size}"))),
    };
    let half = turned / 2;
    // Caches as [batch, 1, length, half].
    let cache = |im: &mut Importer, index: usize| {
        let mut cache = node.input(index)?;
        if let Some(places) = node.opt(3) {
            cache = im.gather(cache, places, 0)?;
        }
        let last = im.rank(cache)? - 1;
        let cache = im.slice(cache, last, 0, half)?;
        im.expand_dims(cache, &[1])
    };
    let (cos, sin) = (cache(im, 1)?, cache(im, 2)?);
    let interleaved = node.flag("interleaved")?;
    let part = |im: &mut Importer, which: i64| {
        let (begin, end, stride) = match interleaved {
            true => (which, turned, 2),
            false => (which * half, (which + 1) * half, 1),
        };
        let attrs = Attrs::new()
            .with("begin", [begin])
            .with("end", [end])
            .with("axes", [3])
            .with("strides", [stride]);
        im.op(&sh::SLICE, &[split], attrs)
    };
    let (a, b) = (part(im, 0)?, part(im, 1)?);
    let (ac, bs) = (im.mul(a, cos)?, im.mul(b, sin)?);
    let (as_, bc) = (im.mul(a, sin)?, im.mul(b, cos)?);
    let (re, imaginary) = (im.sub(ac, bs)?, im.add(as_, bc)?);
    let mut y = if interleaved {
        let pair = [im.expand_dims(re, &[4])?, im.expand_dims(imaginary, &[4])?];
        let joined = im.concat(&pair, 4)?;
        let dims = [&im.dims(re)?[..3], &[Dim::Static(turned as u64)]].concat();
        im.reshape_dims(joined, &dims)?
    } else {
        im.concat(&[re, imaginary], 3)?
    };
    if turned < size {
        let rest = im.slice(split, 3, turned, size)?;
        y = im.concat(&[y, rest], 3)?;
    }
    if flat {
        y = im.transpose(y, &[0, 2, 1, 3])?;
        y = im.reshape_dims(y, &dims)?;
    }
    Ok(vec![y])
}
