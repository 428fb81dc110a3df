//! Attention beside loops over heads, queries and keys.

use super::{microsoft, numbers, results};
use crate::common::*;
use fusion_importers::onnx::proto::AttributeProto;
use fusion_operators::{DType, Tensor};

const SIZE: usize = 4;

/// What one head gives for a query that sees some keys, each with a score added.
fn weighed(q: &[f64], keys: &[(Vec<f64>, Vec<f64>, f64)], cap: f64) -> Vec<f64> {
    let score = |(k, _, added): &(Vec<f64>, Vec<f64>, f64)| {
        let product: f64 = q.iter().zip(k).map(|(a, b)| a * b).sum::<f64>() / (SIZE as f64).sqrt();
        added + if cap > 0.0 { cap * (product / cap).tanh() } else { product }
    };
    let scores: Vec<f64> = keys.iter().map(score).collect();
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|s| (s - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    (0..SIZE).map(|c| keys.iter().zip(&powers).map(|((_, v, _), p)| v[c] * p / sum).sum()).collect()
}

/// Rows `[batch, length, heads * size]`.
fn of_rows(x: &Tensor, b: usize, i: usize, h: usize) -> Vec<f64> {
    let (length, width) = (x.shape()[1], x.shape()[2]);
    x.to_f64s()[(b * length + i) * width + h * SIZE..][..SIZE].to_vec()
}

/// Caches `[batch, heads, length, size]`.
fn of_cache(x: &Tensor, b: usize, j: usize, h: usize) -> Vec<f64> {
    let (heads, length) = (x.shape()[1], x.shape()[2]);
    x.to_f64s()[((b * heads + h) * length + j) * SIZE..][..SIZE].to_vec()
}

fn close(found: &Tensor, expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.to_f64s().iter().zip(expected).enumerate() {
        assert!((a - b).abs() < 1e-5, "element {i} is {a}, expected {b}");
    }
}

/// GroupQueryAttention of 4 query heads in 2 groups: `pasts` holds how many keys each member of the batch has, of `room`.
fn grouped(pasts: &[usize], room: usize, length: usize, window: Option<usize>, cap: f64) {
    let (batch, heads, groups) = (pasts.len(), 4, 2);
    let rows = |count: usize, seed: usize| numbers(DType::F32, &[batch, length, count * SIZE], seed);
    let cache = |seed: usize| numbers(DType::F32, &[batch, groups, room, SIZE], seed);
    let ends: Vec<i32> = pasts.iter().map(|past| (past + length - 1) as i32).collect();
    let total = [(room + length) as i32];
    let tensors = [
        rows(heads, 1),
        rows(groups, 2),
        rows(groups, 3),
        cache(4),
        cache(5),
        Tensor::from_slice(&[batch], &ends).unwrap(),
        Tensor::from_slice(&[], &total).unwrap(),
    ];
    let mut attributes = vec![int("num_heads", heads as i64), int("kv_num_heads", groups as i64)];
    attributes.extend(window.map(|window| int("local_window_size", window as i64)));
    attributes.push(float("softcap", cap as f32));
    let operator =
        microsoft("GroupQueryAttention", &["a", "b", "c", "d", "e", "f", "g"], &["y", "k", "v"], attributes);
    let found = results(vec![operator], &tensors, &["y", "k"]).unwrap();
    let mut expected = Vec::new();
    for (b, &past) in pasts.iter().enumerate() {
        for i in 0..length {
            for h in 0..heads {
                let last = past + i;
                let first = window.map_or(0, |window| (last + 1).saturating_sub(window));
                let key = |j: usize| match j.checked_sub(past) {
                    None => (of_cache(&tensors[3], b, j, h / 2), of_cache(&tensors[4], b, j, h / 2), 0.0),
                    Some(j) => (of_rows(&tensors[1], b, j, h / 2), of_rows(&tensors[2], b, j, h / 2), 0.0),
                };
                let keys: Vec<_> = (first..=last).map(key).collect();
                expected.extend(weighed(&of_rows(&tensors[0], b, i, h), &keys, cap));
            }
        }
    }
    close(&found[0], &expected);
    // The cache that is given on: old keys, then new ones, then zeros.
    assert_eq!(found[1].shape(), [batch, groups, room + length, SIZE]);
    for (b, &past) in pasts.iter().enumerate() {
        for j in 0..room + length {
            let wanted = match j {
                j if j < past => of_cache(&tensors[3], b, j, 1),
                j if j < past + length => of_rows(&tensors[1], b, j - past, 1),
                _ => vec![0.0; SIZE],
            };
            assert_eq!(of_cache(&found[1], b, j, 1), wanted, "member {b}, key {j}");
        }
    }
}

#[test]
fn groups_share_keys() {
    grouped(&[0, 0], 0, 5, None, 0.0);
    grouped(&[3], 3, 1, None, 0.0);
    grouped(&[3, 3], 3, 2, None, 0.0);
}

#[test]
fn members_of_a_batch_have_pasts_of_their_own() {
    grouped(&[4, 1, 3], 4, 1, None, 0.0);
    grouped(&[2, 4], 4, 3, None, 0.0);
}

#[test]
fn windows_and_bounds_of_scores() {
    grouped(&[0], 0, 6, Some(3), 0.0);
    grouped(&[5, 2], 5, 1, Some(2), 0.0);
    grouped(&[2], 2, 3, None, 1.5);
}

/// MultiHeadAttention of 3 heads, with a mask of keys and a bias.
#[test]
fn hidden_keys_have_a_filter_added() {
    let (batch, heads, length, keys) = (2, 3, 4, 5);
    let mask = Tensor::from_slice(&[2, 5], &[1i32, 1, 0, 0, 1, 0, 0, 0, 0, 0]).unwrap();
    let tensors = [
        numbers(DType::F32, &[batch, length, heads * SIZE], 1),
        numbers(DType::F32, &[batch, keys, heads * SIZE], 2),
        numbers(DType::F32, &[batch, keys, heads * SIZE], 3),
        mask.clone(),
        numbers(DType::F32, &[1, heads, length, keys], 4),
    ];
    let attributes: Vec<AttributeProto> = vec![int("num_heads", 3)];
    let operator = microsoft("MultiHeadAttention", &["a", "b", "c", "", "d", "e"], &["y"], attributes);
    let found = results(vec![operator], &tensors, &["y"]).unwrap();
    let (shown, bias) = (mask.to_ints(), tensors[4].to_f64s());
    let mut expected = Vec::new();
    for b in 0..batch {
        for i in 0..length {
            for h in 0..heads {
                let key = |j: usize| {
                    let hidden = if shown[b * keys + j] > 0 { 0.0 } else { -10000.0 };
                    let added = hidden + bias[(h * length + i) * keys + j];
                    (of_rows(&tensors[1], b, j, h), of_rows(&tensors[2], b, j, h), added)
                };
                let keys: Vec<_> = (0..keys).map(key).collect();
                expected.extend(weighed(&of_rows(&tensors[0], b, i, h), &keys, 0.0));
            }
        }
    }
    // Where all keys are hidden they weigh as without a mask, but scores near -10000 have few digits behind the point.
    let half = expected.len() / 2;
    close(&Tensor::from_f64s(DType::F32, &[half], &found[0].to_f64s()[..half]).unwrap(), &expected[..half]);
    for (a, b) in found[0].to_f64s()[half..].iter().zip(&expected[half..]) {
        assert!((a - b).abs() < 2e-2, "{a}, expected {b}");
    }
}

#[test]
fn projections_and_the_past_of_attention() {
    let (batch, length, past) = (2, 2, 3);
    let tensors = [
        numbers(DType::F32, &[batch, length, 6], 1),
        numbers(DType::F32, &[6, 24], 2),
        numbers(DType::F32, &[24], 3),
        numbers(DType::F32, &[2, batch, 2, past, SIZE], 4),
    ];
    let operator = microsoft(
        "Attention",
        &["a", "b", "c", "", "d"],
        &["y", "p"],
        vec![int("num_heads", 2), int("unidirectional", 1)],
    );
    let same = vec![
        node("MatMul", &["a", "b"], &["m"], vec![]),
        node("Add", &["m", "c"], &["s"], vec![]),
        node("Split", &["s"], &["q", "k", "v"], vec![int("axis", 2), int("num_outputs", 3)]),
        node("Split", &["d"], &["t", "u"], vec![int("axis", 0), int("num_outputs", 2)]),
        node("Squeeze", &["t", "z"], &["tk"], vec![]),
        node("Squeeze", &["u", "z"], &["tv"], vec![]),
        microsoft(
            "MultiHeadAttention",
            &["q", "k", "v", "", "", "", "tk", "tv"],
            &["y", "pk", "pv"],
            vec![int("num_heads", 2), int("unidirectional", 1)],
        ),
    ];
    let mut same = same;
    same.insert(0, node("Constant", &[], &["z"], vec![ints("value_ints", &[0])]));
    let (found, expected) =
        (results(vec![operator], &tensors, &["y", "p"]), results(same, &tensors, &["y", "pk", "pv"]));
    let (found, expected) = (found.unwrap(), expected.unwrap());
    close(&found[0], &expected[0].to_f64s());
    let both = [expected[1].to_f64s(), expected[2].to_f64s()].concat();
    close(&found[1], &both);
    // The last query of the second member sees all five keys: without the flag it gives the same.
    let all = microsoft("Attention", &["a", "b", "c", "", "d"], &["y"], vec![int("num_heads", 2)]);
    let all = results(vec![all], &tensors, &["y"]).unwrap();
    assert_eq!(all[0].to_f64s()[3 * 8..], found[0].to_f64s()[3 * 8..]);
    assert_ne!(all[0].to_f64s()[..8], found[0].to_f64s()[..8]);
}

#[test]
fn angles_follow_the_places() {
    let tensors = [
        numbers(DType::F32, &[1, 3, 8], 1),
        Tensor::from_slice(&[1], &[2i64]).unwrap(),
        numbers(DType::F32, &[6, 2], 2),
        numbers(DType::F32, &[6, 2], 3),
    ];
    for interleaved in [false, true] {
        let attributes = vec![int("num_heads", 2), int("interleaved", interleaved.into())];
        let operator = microsoft("RotaryEmbedding", &["a", "b", "c", "d"], &["y"], attributes);
        let found = results(vec![operator], &tensors, &["y"]).unwrap();
        let (cos, sin) = (tensors[2].to_f64s(), tensors[3].to_f64s());
        let mut expected = vec![0.0; 24];
        for i in 0..3 {
            for h in 0..2 {
                for pair in 0..2 {
                    let (first, second) =
                        if interleaved { (2 * pair, 2 * pair + 1) } else { (pair, pair + 2) };
                    let row = of_rows(&tensors[0], 0, i, h);
                    let angle = (i + 2) * 2 + pair;
                    let place = i * 8 + h * SIZE;
                    expected[place + first] = row[first] * cos[angle] - row[second] * sin[angle];
                    expected[place + second] = row[first] * sin[angle] + row[second] * cos[angle];
                }
            }
        }
        close(&found[0], &expected);
    }
}
