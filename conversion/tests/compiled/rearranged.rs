//! Products whose result is reshaped and transposed, as heads of attention are: extents that vectors divide, and others.

use super::text::Text;
use super::whole::compare_all;
use super::*;

/// A tensor with its axes in another order, and its extents then.
fn transposed<const N: usize>(
    text: &mut Text,
    x: &str,
    shape: [usize; N],
    axes: [usize; N],
) -> (String, [usize; N]) {
    let moved = axes.map(|axis| shape[axis]);
    let order = axes.map(|axis| axis.to_string()).join(", ");
    let line = format!("relay.transpose {x} {{axes = array<i64: {order}>}}");
    (text.call(&line, Some((&[&shape], &moved))), moved)
}

/// `x[b, s, k] w`, with a bias or a function before or behind, as `[b, s, h, d]` with its axes in some order.
fn program(random: &mut Random) -> (String, Vec<Tensor>) {
    let (b, s) = (random.of(&[1, 2, 3]), random.of(&[1, 5, 13, 16, 37]));
    let (h, d) = (random.of(&[1, 2, 3, 5]), random.of(&[1, 5, 8, 16, 20, 32, 48]));
    let (k, n) = (random.of(&[3, 17, 32]), h * d);
    let mut text = Text::new(random.flag());
    let flat = random.flag();
    let rows = if flat { vec![b * s] } else { vec![b, s] };
    let (x_of, p_of) = ([&rows[..], &[k]].concat(), [&rows[..], &[n]].concat());
    let x = text.given(random, &x_of, false);
    let mut at = match random.below(3) {
        0 if flat => {
            let w = text.given(random, &[n, k], true);
            text.call(&format!("relay.dense {x}, {w}"), Some((&[&x_of, &[n, k]], &p_of)))
        }
        1 if !flat => {
            let w = text.given(random, &[b, k, n], true);
            text.call(&format!("relay.batch_matmul {x}, {w}"), Some((&[&x_of, &[b, k, n]], &p_of)))
        }
        _ => {
            let w = text.given(random, &[k, n], true);
            text.call(&format!("relay.matmul {x}, {w}"), Some((&[&x_of, &[k, n]], &p_of)))
        }
    };
    if random.flag() {
        let bias = text.given(random, &[n], true);
        at = text.call(&format!("relay.add {at}, {bias}"), Some((&[&p_of, &[n]], &p_of)));
    }
    if random.flag() {
        at = text.call(&format!("relay.sigmoid {at}"), Some((&[&p_of], &p_of)));
    }
    let apart = [b, s, h, d];
    let shape = format!("{{shape = array<i64: {b}, {s}, {h}, {d}>}}");
    at = text.call(&format!("relay.reshape {at} {shape}"), Some((&[&p_of], &apart)));
    let axes = random.of(&[
        [0, 2, 1, 3],
        [2, 0, 1, 3],
        [1, 0, 2, 3],
        [1, 2, 0, 3],
        [0, 2, 3, 1],
        [0, 1, 3, 2],
        [3, 0, 2, 1],
    ]);
    let (mut at, moved) = transposed(&mut text, &at, apart, axes);
    if random.flag() {
        let other = text.given(random, &moved, false);
        at = text.call(&format!("relay.add {at}, {other}"), Some((&[&moved, &moved], &moved)));
    }
    if random.flag() {
        at = text.call(&format!("relay.relu {at}"), Some((&[&moved], &moved)));
    }
    text.done(&[(&at, &moved)])
}

#[test]
fn products_are_given_in_another_order() {
    let mut random = Random::new(61);
    compare_all((0..60).map(|_| program(&mut random)));
}

/// `[a, b, n]` with its rows in another order, or taken apart, and a function of each row.
fn rows(random: &mut Random) -> (String, Vec<Tensor>) {
    let shape = [random.of(&[1, 3, 16]), random.of(&[2, 5, 33]), random.of(&[1, 4, 7, 16, 50])];
    let mut text = Text::new(random.flag());
    let x = text.given(random, &shape, false);
    let axes = random.of(&[[1, 0, 2], [1, 0, 2], [0, 2, 1], [2, 0, 1]]);
    let (mut at, moved) = transposed(&mut text, &x, shape, axes);
    if random.flag() {
        let other = text.given(random, &moved, false);
        at = text.call(&format!("relay.add {at}, {other}"), Some((&[&moved, &moved], &moved)));
    }
    let softmax = format!("relay.softmax {at} {{axis = 2 : i64}}");
    at = text.call(&softmax, Some((&[&moved], &moved)));
    if random.flag() {
        at = text.call(&format!("relay.tanh {at}"), Some((&[&moved], &moved)));
    }
    text.done(&[(&at, &moved)])
}

#[test]
fn rows_are_read_in_another_order() {
    let mut random = Random::new(63);
    compare_all((0..30).map(|_| rows(&mut random)));
}

/// So large that rows of the next tile are prefetched, of which the last are fewer.
#[test]
fn rows_of_the_next_tile_are_asked_for() {
    let mut random = Random::new(62);
    let mut text = Text::new(true);
    let x = text.given(&mut random, &[2900, 128], false);
    let w = text.given(&mut random, &[128, 128], true);
    let p = text.call(&format!("relay.matmul {x}, {w}"), Some((&[&[2900, 128], &[128, 128]], &[2900, 128])));
    let apart = text.call(
        &format!("relay.reshape {p} {{shape = array<i64: 29, 100, 4, 32>}}"),
        Some((&[&[2900, 128]], &[29, 100, 4, 32])),
    );
    let (y, moved) = transposed(&mut text, &apart, [29, 100, 4, 32], [0, 2, 1, 3]);
    compare_all([text.done(&[(&y, &moved)])].into_iter());
}
