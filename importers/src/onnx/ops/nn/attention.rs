//! Attention and rotary embeddings (operator sets 23 to 25).

use fusion_operators::ops::{elementwise as ew, reduction, shape as sh};
use fusion_operators::{Attrs, DType, Dim};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[row("Attention", attention), row("RotaryEmbedding", rotary)];

/// [batch, length, heads * size] as [batch, heads, length, size].
pub fn heads(im: &mut Importer, x: Value, count: i64) -> Made {
    let dims = im.dims(x)?;
    let width = im.extent(x, 2, "the operand")?;
    if count < 1 || width % count != 0 {
        return Err(Fault::value(format!("a width of {width} does not divide into {count} heads")));
    }
    let sizes = [Dim::Static(count as u64), Dim::Static((width / count) as u64)];
    let x = im.reshape_dims(x, &[&dims[..2], &sizes].concat())?;
    im.transpose(x, &[0, 2, 1, 3])
}

/// [batch, heads, length, size] as [batch, length, heads * size].
pub fn joined(im: &mut Importer, x: Value) -> Made {
    let x = im.transpose(x, &[0, 2, 1, 3])?;
    let dims = im.dims(x)?;
    let width = im.extent(x, 2, "the result")? * im.extent(x, 3, "the result")?;
    im.reshape_dims(x, &[dims[0].clone(), dims[1].clone(), Dim::Static(width as u64)])
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
    let cap = node.float("softcap", 0.0)?;
    let capped = match cap > 0.0 {
        true => {
            let scaled = im.mul_f(scores, 1.0 / cap)?;
            let bent = im.un(&ew::TANH, scaled)?;
            im.mul_f(bent, cap)?
        }
        false => scores,
    };
    let mask = Mask::read(im, node, capped, past_length)?;
    let biased = mask.apply(im, capped)?;
    let mut stages = vec![scores, capped, biased];
    let precision = node.opt_dtype("softmax_precision")?;
    let ready = match precision {
        Some(precision) if precision.size() > 2 => im.cast(biased, precision)?,
        _ => biased,
    };
    let weights = im.softmax(ready, 3)?;
    let mut weights = im.cast(weights, im.dtype(v)?)?;
    let y = im.matmul(weights, v)?;
    let y = im.cast(y, dtype)?;
    let sees = mask.sees(im)?;
    let mut y = or_zero(im, sees, y)?;
    if flat {
        y = joined(im, y)?;
    }
    let stage = usize::try_from(node.int("qk_matmul_output_mode", 0)?).unwrap_or(usize::MAX);
    if node.wants(3) && stage == 3 {
        weights = or_zero(im, sees, weights)?;
    }
    stages.push(weights);
    let Some(&stage) = stages.get(stage) else {
        return Err(Fault::Attribute { name: "qk_matmul_output_mode".into(), expected: "from 0 to 3" });
    };
    let stage = if node.wants(3) { im.cast(stage, dtype)? } else { stage };
    Ok(vec![y, present_k, present_v, stage])
}

/// Keys or values with each head repeated for its group of query heads.
pub fn grouped(im: &mut Importer, q: Value, x: Value) -> Made {
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

/// Which keys a query sees, and what is added to the scores.
struct Mask {
    /// True where a key is seen; they hold together.
    seen: Vec<Value>,
    added: Option<Value>,
    /// Whether there may be queries that see no key.
    gaps: bool,
}

impl Mask {
    fn read(im: &mut Importer, node: &Node, scores: Value, past: i64) -> Result<Mask, Fault> {
        let mut mask = Mask { seen: vec![], added: None, gaps: false };
        if let Some(given) = node.opt(3) {
            mask.gaps = true;
            let boolean = im.dtype(given)? == DType::Bool;
            let given = padded(im, given, scores, if boolean { 0.0 } else { f64::NEG_INFINITY })?;
            match boolean {
                true => mask.seen.push(given),
                false => mask.added = Some(im.cast(given, im.dtype(scores)?)?),
            }
        }
        let window = |name: &str| match node.int(name, -1)? {
            -1 => Ok(None),
            n if (0..1 << 40).contains(&n) => Ok(Some(n)),
            n => Err(Fault::value(format!("attribute {name} must be -1 or a number of keys, found {n}"))),
        };
        let (left, right) = (window("left_window_size")?, window("right_window_size")?);
        let causal = node.flag("is_causal")?;
        if causal || left.is_some() || right.is_some() {
            let i = positions(im, node, scores, past)?;
            let keys = im.extent(scores, 3, "the keys")?;
            let j = im.arange(DType::I64, keys, 0.0, 1.0)?;
            let mut within = |im: &mut Importer, reach: i64, before: bool| {
                let end = if reach == 0 { i } else { im.add_f(i, reach as f64)? };
                let (low, high) = if before { (end, j) } else { (j, end) };
                mask.seen.push(im.bin(&ew::LESS_EQUAL, low, high)?);
                Ok::<_, Fault>(())
            };
            if causal {
                within(im, 0, false)?;
            }
            if let Some(reach) = right {
                within(im, reach, false)?;
            }
            if let Some(reach) = left {
                within(im, -reach, true)?;
            }
            mask.gaps |= left.is_some();
        }
        if let Some(lengths) = node.opt(6) {
            let keys = im.extent(scores, 3, "the keys")?;
            let lengths = im.cast(lengths, DType::I64)?;
            let lengths = im.expand_dims(lengths, &[1, 2, 3])?;
            let j = im.arange(DType::I64, keys, 0.0, 1.0)?;
            mask.seen.push(im.less(j, lengths)?);
            mask.gaps = true;
        }
        Ok(mask)
    }

    /// Scores plus -infinity where a query must not see a key.
    fn apply(&self, im: &mut Importer, scores: Value) -> Made {
        let mut result = match self.added {
            Some(added) => im.add(scores, added)?,
            None => scores,
        };
        for &seen in &self.seen {
            let out = im.like(result, f64::NEG_INFINITY)?;
            result = im.select(seen, result, out)?;
        }
        Ok(result)
    }

    /// Which queries see a key; none where all do. Asked of the mask, as scores may be infinite themselves.
    fn sees(&self, im: &mut Importer) -> Result<Option<Value>, Fault> {
        if !self.gaps {
            return Ok(None);
        }
        let mut seen = self.seen.clone();
        if let Some(added) = self.added {
            let out = im.like(added, f64::NEG_INFINITY)?;
            seen.push(im.bin(&ew::NOT_EQUAL, added, out)?);
        }
        let Some((&first, rest)) = seen.split_first() else { return Ok(None) };
        let all = rest.iter().try_fold(first, |all, &next| im.and(all, next))?;
        let last = im.rank(all)?.saturating_sub(1);
        Ok(Some(im.reduce(&reduction::REDUCE_ANY, all, &[last], true)?))
    }
}

/// A mask for fewer keys than there are, extended by keys that are not seen.
fn padded(im: &mut Importer, mask: Value, scores: Value, unseen: f64) -> Made {
    let rank = im.rank(mask)?;
    if rank == 0 {
        return Err(Fault::value("the mask must have rank 1 or more, found a scalar"));
    }
    let (keys, given) = (im.dims(scores)?[3].known(), im.dims(mask)?[rank - 1].known());
    match (keys, given) {
        (Some(keys), Some(given)) if given < keys && given != 1 => {
            let mut padding = vec![0; 2 * rank];
            padding[2 * rank - 1] = (keys - given) as i64;
            im.pad(mask, &padding, unseen)
        }
        _ => Ok(mask),
    }
}

/// Where each query stands among the keys, as a column: behind the past, or at the end of the keys that are no padding.
fn positions(im: &mut Importer, node: &Node, scores: Value, past: i64) -> Made {
    let queries = im.extent(scores, 2, "the queries")?;
    let i = im.arange(DType::I64, queries, past as f64, 1.0)?;
    let i = im.expand_dims(i, &[1])?;
    match node.opt(6) {
        Some(lengths) if node.opt(4).is_none() => {
            let lengths = im.cast(lengths, DType::I64)?;
            let before = im.add_f(lengths, -(queries as f64))?;
            let before = im.expand_dims(before, &[1, 2, 3])?;
            im.add(before, i)
        }
        _ => Ok(i),
    }
}

/// 0 in rows of queries that see no key.
fn or_zero(im: &mut Importer, sees: Option<Value>, x: Value) -> Made {
    let Some(sees) = sees else { return Ok(x) };
    let zero = im.like(x, 0.0)?;
    im.select(sees, x, zero)
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
    let mut y = turned_by(im, split, (cos, sin), turned, node.flag("interleaved")?)?;
    if flat {
        y = im.transpose(y, &[0, 2, 1, 3])?;
        y = im.reshape_dims(y, &dims)?;
    }
    Ok(vec![y])
}

/// The first `turned` features of each head turned in pairs, by angles whose cosines and sines are `[batch, 1, length, turned / 2]`.
/// A pair is a feature and that half of `turned` further on, or two neighbours if they are interleaved.
pub fn turned_by(
    im: &mut Importer,
    x: Value,
    (cos, sin): (Value, Value),
    turned: i64,
    interleaved: bool,
) -> Made {
    let (size, half) = (im.extent(x, 3, "the operand")?, turned / 2);
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
        im.op(&sh::SLICE, &[x], attrs)
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
        let rest = im.slice(x, 3, turned, size)?;
        y = im.concat(&[y, rest], 3)?;
    }
    Ok(y)
}
