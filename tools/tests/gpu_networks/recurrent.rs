//! Recurrent networks, unrolled as importers write them.

use crate::gpu_kernels::program::{Program, Value};

/// Steps of each.
const STEPS: u64 = 6;
/// Elements of a state.
const STATE: u64 = 40;

fn linear(p: &mut Program, x: &Value, w: &Value, b: &Value) -> Value {
    let sums = p.op("matmul", &[x, w], "", &[x.shape[0], w.shape[1]]);
    p.like("add", &[&sums, b])
}

/// Weights and biases of what is read and of the state, of so many gates.
fn cell(p: &mut Program, inputs: u64, gates: u64) -> [Value; 4] {
    let most = (STATE as f32).sqrt().recip();
    [&[inputs, gates * STATE][..], &[STATE, gates * STATE], &[gates * STATE], &[gates * STATE]]
        .map(|shape| p.weight(shape, most))
}

/// Parts of the last axis, of the length of a state.
fn gates(p: &mut Program, x: &Value) -> Vec<Value> {
    let count = x.shape[1] / STATE;
    let part = |at: u64| (at * STATE, (at + 1) * STATE);
    let pieces = (0..count).map(part);
    pieces
        .map(|(begin, end)| {
            let bounds =
                format!("begin = array<i64: {begin}>, end = array<i64: {end}>, axes = array<i64: 1>");
            p.op("slice", &[x], &bounds, &[x.shape[0], STATE])
        })
        .collect()
}

fn lstm_step(p: &mut Program, x: &Value, [h, c]: [&Value; 2], [wx, wh, bx, bh]: &[Value; 4]) -> [Value; 2] {
    let (a, b) = (linear(p, x, wx, bx), linear(p, h, wh, bh));
    let all = p.like("add", &[&a, &b]);
    let parts = gates(p, &all);
    let [i, f, o] = [0, 1, 3].map(|at| p.like("sigmoid", &[&parts[at]]));
    let g = p.like("tanh", &[&parts[2]]);
    let (kept, new) = (p.like("mul", &[&f, c]), p.like("mul", &[&i, &g]));
    let c = p.like("add", &[&kept, &new]);
    let seen = p.like("tanh", &[&c]);
    [p.like("mul", &[&o, &seen]), c]
}

fn gru_step(p: &mut Program, x: &Value, h: &Value, [wx, wh, bx, bh]: &[Value; 4]) -> Value {
    let (a, b) = (linear(p, x, wx, bx), linear(p, h, wh, bh));
    let (a, b) = (gates(p, &a), gates(p, &b));
    let [r, z] = [0, 1].map(|at| {
        let sum = p.like("add", &[&a[at], &b[at]]);
        p.like("sigmoid", &[&sum])
    });
    let reset = p.like("mul", &[&r, &b[2]]);
    let new = p.like("add", &[&a[2], &reset]);
    let new = p.like("tanh", &[&new]);
    let (one, kept) = (p.number("1.0", "f32"), p.like("mul", &[&z, h]));
    let rest = p.op("sub", &[&one, &z], "", &z.shape);
    let new = p.like("mul", &[&rest, &new]);
    p.like("add", &[&new, &kept])
}

/// A step of a sequence.
fn row(p: &mut Program, x: &Value, step: u64) -> Value {
    let bounds = format!("begin = array<i64: {step}>, end = array<i64: {}>, axes = array<i64: 0>", step + 1);
    let shape = [&[1], &x.shape[1..]].concat();
    let row = p.op("slice", &[x], &bounds, &shape);
    p.op("squeeze", &[&row], "axes = array<i64: 0>", &x.shape[1..])
}

/// All steps' results, one behind the other.
fn stacked(p: &mut Program, rows: &[Value]) -> Value {
    let wide: Vec<Value> = rows
        .iter()
        .map(|row| {
            p.op("expand_dims", &[row], "axes = array<i64: 0>", &[&[1], row.shape.as_slice()].concat())
        })
        .collect();
    let shape = [&[rows.len() as u64], rows[0].shape.as_slice()].concat();
    p.op("concat", &wide.iter().collect::<Vec<_>>(), "axis = 0 : i64", &shape)
}

fn zeros(p: &mut Program, batch: u64) -> Value {
    p.weight(&[batch, STATE], 0.0)
}

fn lstm_of(p: &mut Program, batch: u64) -> Vec<Value> {
    let (x, weights) = (p.input(&[STEPS, batch, 24]), cell(p, 24, 4));
    let zero = zeros(p, batch);
    let (mut state, mut rows) = ([zero.clone(), zero], Vec::new());
    for step in 0..STEPS {
        let x = row(p, &x, step);
        state = lstm_step(p, &x, state.each_ref(), &weights);
        rows.push(state[0].clone());
    }
    vec![stacked(p, &rows)]
}

pub fn lstm(p: &mut Program) -> Vec<Value> {
    lstm_of(p, 1)
}

pub fn lstm_of_a_batch(p: &mut Program) -> Vec<Value> {
    lstm_of(p, 16)
}

pub fn gru(p: &mut Program) -> Vec<Value> {
    let (x, weights) = (p.input(&[STEPS, 1, 24]), cell(p, 24, 3));
    let (mut state, mut rows) = (zeros(p, 1), Vec::new());
    for step in 0..STEPS {
        let x = row(p, &x, step);
        state = gru_step(p, &x, &state, &weights);
        rows.push(state.clone());
    }
    vec![stacked(p, &rows)]
}

/// Two layers behind an embedding of letters, and what letters come next.
pub fn char_rnn(p: &mut Program) -> Vec<Value> {
    let (letters, table) = (p.indices(&[STEPS, 1], 29), p.weight(&[29, 20], 1.0));
    let x = p.op("gather", &[&table, &letters], "axis = 0 : i64", &[STEPS, 1, 20]);
    let layers = [cell(p, 20, 4), cell(p, STATE, 4)];
    let (w, b) = (p.weight(&[STATE, 29], 0.2), p.weight(&[29], 0.1));
    let zero = zeros(p, 1);
    let (mut states, mut rows) = ([[zero.clone(), zero.clone()], [zero.clone(), zero]], Vec::new());
    for step in 0..STEPS {
        let mut seen = row(p, &x, step);
        for (state, weights) in states.iter_mut().zip(&layers) {
            *state = lstm_step(p, &seen, state.each_ref(), weights);
            seen = state[0].clone();
        }
        rows.push(linear(p, &seen, &w, &b));
    }
    vec![stacked(p, &rows)]
}
