//! RNN, GRU and LSTM: unrolled over a known number of steps, else a loop.
//!
//! The products with the input are taken for all steps at once; each step adds the product with the
//! state, and bends the gates.

mod bend;
mod weight;

use bend::Bend;
use fusion_operators::{DType, Dim};
use weight::Weight;

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::flow::collect::Place;
use crate::onnx::ops::flow::repeat::{Ends, Turn};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("RNN", |im, node| recurrent(im, node, Kind::Rnn, false)),
    row("GRU", |im, node| recurrent(im, node, Kind::Gru, false)),
    row("LSTM", |im, node| recurrent(im, node, Kind::Lstm, false)),
];

/// Most steps that are unrolled.
const MOST_STEPS: i64 = 4096;

/// Which recurrent operator it is.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// One gate, the state itself.
    Rnn,
    /// Update, reset, and candidate.
    Gru,
    /// Input, output, forget, and candidate, with a state of the cell.
    Lstm,
}

/// What one direction computes with.
struct Cell {
    kind: Kind,
    hidden: i64,
    bends: Vec<Bend>,
    /// Products with the input and all biases that may be added to them: [steps, batch, gates * hidden].
    inputs: Value,
    state_weight: Weight,
    /// The state's bias of the last gate of a GRU that is linear before its reset.
    late_bias: Option<Value>,
    /// Peepholes of the input, output and forget gates.
    peepholes: Option<[Value; 3]>,
    clip: Option<f64>,
    couples: bool,
}

impl Cell {
    fn bend(&self, im: &mut Importer, which: usize, x: Value) -> Made {
        let x = match self.clip {
            Some(bound) => im.clip(x, -bound, bound)?,
            None => x,
        };
        let Some(bend) = self.bends.get(which) else { return Err(Fault::value("an activation is missing")) };
        bend.of(im, x)
    }

    fn gate(&self, im: &mut Importer, x: Value, index: i64) -> Made {
        let last = im.rank(x)? - 1;
        im.slice(x, last, index * self.hidden, (index + 1) * self.hidden)
    }

    /// The next state from the products with the input of one step and the last state.
    fn step(
        &self,
        im: &mut Importer,
        input: Value,
        h: Value,
        c: Option<Value>,
    ) -> Result<(Value, Option<Value>), Fault> {
        match (self.kind, c) {
            (Kind::Rnn, _) => {
                let from_state = self.state_weight.times(im, h)?;
                let sum = im.add(input, from_state)?;
                Ok((self.bend(im, 0, sum)?, None))
            }
            (Kind::Gru, _) => Ok((self.gru(im, input, h)?, None)),
            (Kind::Lstm, Some(c)) => self.lstm(im, input, h, c),
            (Kind::Lstm, None) => Err(Fault::value("an LSTM has a cell state")),
        }
    }

    fn gru(&self, im: &mut Importer, input: Value, h: Value) -> Made {
        let n = self.hidden;
        let gates = self.state_weight.columns(im, 0, 2 * n)?;
        let candidate = self.state_weight.columns(im, 2 * n, 3 * n)?;
        let from_state = gates.times(im, h)?;
        let last = im.rank(input)? - 1;
        let from_input = im.slice(input, last, 0, 2 * n)?;
        let sums = im.add(from_input, from_state)?;
        let (z, r) = (self.gate(im, sums, 0)?, self.gate(im, sums, 1)?);
        let (z, r) = (self.bend(im, 0, z)?, self.bend(im, 0, r)?);
        let from_state = match self.late_bias {
            Some(bias) => {
                let product = candidate.times(im, h)?;
                let sum = im.add(product, bias)?;
                im.mul(r, sum)?
            }
            None => {
                let reset = im.mul(r, h)?;
                candidate.times(im, reset)?
            }
        };
        let from_input = self.gate(im, input, 2)?;
        let sum = im.add(from_input, from_state)?;
        let new = self.bend(im, 1, sum)?;
        // (1 - z) * new + z * h
        let rest = im.f_sub(1.0, z)?;
        let (a, b) = (im.mul(rest, new)?, im.mul(z, h)?);
        im.add(a, b)
    }

    fn lstm(
        &self,
        im: &mut Importer,
        input: Value,
        h: Value,
        c: Value,
    ) -> Result<(Value, Option<Value>), Fault> {
        let from_state = self.state_weight.times(im, h)?;
        let sums = im.add(input, from_state)?;
        let peep = |im: &mut Importer, sum: Value, which: usize, c: Value| match self.peepholes {
            Some(weights) => {
                let seen = im.mul(weights[which], c)?;
                im.add(sum, seen)
            }
            None => Ok(sum),
        };
        let i = self.gate(im, sums, 0)?;
        let i = peep(im, i, 0, c)?;
        let i = self.bend(im, 0, i)?;
        let f = match self.couples {
            true => im.f_sub(1.0, i)?,
            false => {
                let f = self.gate(im, sums, 2)?;
                let f = peep(im, f, 2, c)?;
                self.bend(im, 0, f)?
            }
        };
        let new = self.gate(im, sums, 3)?;
        let new = self.bend(im, 1, new)?;
        let (kept, taken) = (im.mul(f, c)?, im.mul(i, new)?);
        let c = im.add(kept, taken)?;
        let o = self.gate(im, sums, 1)?;
        let o = peep(im, o, 1, c)?;
        let o = self.bend(im, 0, o)?;
        let Some(bend) = self.bends.get(2) else { return Err(Fault::value("an activation is missing")) };
        // The clip bounds the arguments of gates, not of this.
        let bent = bend.of(im, c)?;
        Ok((im.mul(o, bent)?, Some(c)))
    }
}

/// The recurrent operator that a node's attributes describe, with weights of floats or of few bits.
pub fn recurrent<'m>(im: &mut Importer<'m>, node: &Node<'m>, kind: Kind, few_bits: bool) -> Converted {
    let (x, w, r) = (node.input(0)?, node.input(1)?, node.input(2)?);
    for v in [x, w, r] {
        if im.rank(v)? != 3 {
            return Err(Fault::value(format!(
                "the input and the weights must have rank 3, found {}",
                im.ty(v)?
            )));
        }
    }
    let batch_first = node.flag("layout")?;
    let x = if batch_first { im.swap(x, 0, 1)? } else { x };
    let (time, batch) = (im.dims(x)?[0].clone(), im.dims(x)?[1].clone());
    let steps = time.known().map(|_| im.extent(x, 0, "the input")).transpose()?;
    if let Some(steps) = steps.filter(|steps| !(1..=MOST_STEPS).contains(steps)) {
        return Err(Fault::unsupported(format!("a recurrence over {steps} steps")));
    }
    // Weights of few bits are turned: a column a gate.
    let hidden = im.extent(r, if few_bits { 1 } else { 2 }, "the weights of the state")?;
    let backward: &[bool] = match node.string("direction", "forward")? {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        _ => {
            return Err(Fault::Attribute {
                name: "direction".into(),
                expected: "forward, reverse or bidirectional",
            });
        }
    };
    if im.extent(w, 0, "the weights")? != backward.len() as i64 {
        return Err(Fault::value(format!(
            "{} directions need as many weights, found {}",
            backward.len(),
            im.ty(w)?
        )));
    }
    let lengths = node.opt(4).map(|v| im.cast(v, DType::I64)).transpose()?;
    let (mut sequences, mut last_h, mut last_c) = (Vec::new(), Vec::new(), Vec::new());
    for (d, &reversed) in backward.iter().enumerate() {
        let cell = cell(im, node, (kind, few_bits), x, d, hidden)?;
        let initial = |im: &mut Importer, v: Option<Value>| match v {
            Some(v) => im.select_at(v, usize::from(batch_first), d as i64),
            None => im.full_dims(im.dtype(x)?, &[batch.clone(), Dim::Static(hidden as u64)], 0.0),
        };
        let mut h = initial(im, node.opt(5))?;
        let mut c = if kind == Kind::Lstm { Some(initial(im, node.opt(6))?) } else { None };
        let Some(steps) = steps else {
            let (all, h, c) = looped(im, node, &cell, (h, c), reversed, lengths, &time)?;
            sequences.push(all);
            last_h.push(h);
            last_c.extend(c);
            continue;
        };
        let mut outputs = vec![h; steps as usize];
        for i in 0..steps {
            let step = if reversed { steps - 1 - i } else { i };
            let input = im.select_at(cell.inputs, 0, step)?;
            let (mut next_h, mut next_c) = cell.step(im, input, h, c)?;
            let mut output = next_h;
            if let Some(lengths) = lengths {
                let at = im.like(lengths, step as f64)?;
                let within = im.less(at, lengths)?;
                (output, next_h, next_c) = ended(im, within, (h, c), (next_h, next_c))?;
            }
            (h, c) = (next_h, next_c);
            outputs[step as usize] = im.expand_dims(output, &[0])?;
        }
        sequences.push(im.concat(&outputs, 0)?);
        last_h.push(h);
        last_c.extend(c);
    }
    // [steps, directions, batch, hidden], or [batch, steps, directions, hidden]
    let stack = |im: &mut Importer, list: &[Value], axis: usize| {
        let list = list.iter().map(|&v| im.expand_dims(v, &[axis as i64])).collect::<Result<Vec<_>, _>>()?;
        im.concat(&list, axis)
    };
    let mut y = stack(im, &sequences, 1)?;
    if batch_first {
        y = im.transpose(y, &[2, 0, 1, 3])?;
    }
    let axis = usize::from(batch_first);
    let mut results = vec![y, stack(im, &last_h, axis)?];
    if kind == Kind::Lstm {
        results.push(stack(im, &last_c, axis)?);
    }
    Ok(results)
}

/// As many steps as there turn out to be: a loop that carries the state, and collects what each step gives.
fn looped<'m>(
    im: &mut Importer<'m>,
    node: &Node<'m>,
    cell: &Cell,
    (h, c): (Value, Option<Value>),
    reversed: bool,
    lengths: Option<Value>,
    time: &Dim,
) -> Result<(Value, Value, Option<Value>), Fault> {
    let steps = im.extent_of(cell.inputs, 0)?;
    let initial: Vec<Value> = [h].into_iter().chain(c).collect();
    let ends = Ends { limit: Some(steps), start: None };
    let carried = initial.len();
    let results = im.repeat(node, ends, (&initial, 1), false, |im, counter, going, state| {
        let step = if reversed {
            let last = im.add_f(steps, -1.0)?;
            im.sub(last, counter)?
        } else {
            counter
        };
        let input = im.gather(cell.inputs, step, 0)?;
        let (h, c) = (state[0], state.get(1).copied());
        let (mut next_h, mut next_c) = cell.step(im, input, h, c)?;
        let mut output = next_h;
        if let Some(lengths) = lengths {
            let within = im.less(step, lengths)?;
            (output, next_h, next_c) = ended(im, within, (h, c), (next_h, next_c))?;
        }
        let values = [next_h].into_iter().chain(next_c).chain([output]).collect();
        Ok(Turn { goes_on: going, values })
    })?;
    let mut all = results[carried];
    let place = Place { axis: 0, backward: reversed };
    all = im.stack_of(all, &place)?;
    let dims = [std::slice::from_ref(time), &im.dims(h)?].concat();
    let all = im.reshape_dims(all, &dims)?;
    Ok((all, results[0], results.get(1).copied().filter(|_| carried == 2)))
}

/// Beyond a sequence's end its state stays, and its output is 0: the output and the state.
fn ended(
    im: &mut Importer,
    within: Value,
    (h, c): (Value, Option<Value>),
    (next_h, next_c): (Value, Option<Value>),
) -> Result<(Value, Value, Option<Value>), Fault> {
    let within = im.expand_dims(within, &[1])?;
    let zero = im.like(h, 0.0)?;
    let output = im.select(within, next_h, zero)?;
    let next_c = match (next_c, c) {
        (Some(new), Some(old)) => Some(im.select(within, new, old)?),
        _ => None,
    };
    Ok((output, im.select(within, next_h, h)?, next_c))
}

fn cell(
    im: &mut Importer,
    node: &Node,
    (kind, few_bits): (Kind, bool),
    x: Value,
    direction: usize,
    hidden: i64,
) -> Result<Cell, Fault> {
    let d = direction as i64;
    let gates = match kind {
        Kind::Rnn => 1,
        Kind::Gru => 3,
        Kind::Lstm => 4,
    };
    let (weight, state_weight) = match few_bits {
        true => (Weight::few_bits(im, node, (1, 8), d)?, Weight::few_bits(im, node, (2, 10), d)?),
        false => (Weight::floats(im, node.input(1)?, d)?, Weight::floats(im, node.input(2)?, d)?),
    };
    let mut inputs = weight.times(im, x)?;
    let mut late_bias = None;
    let late = kind == Kind::Gru && node.flag("linear_before_reset")?;
    if let Some(bias) = node.opt(3) {
        let bias = im.select_at(bias, 0, d)?;
        let own = im.slice(bias, 0, 0, gates * hidden)?;
        let mut state = im.slice(bias, 0, gates * hidden, 2 * gates * hidden)?;
        if late {
            late_bias = Some(im.slice(state, 0, 2 * hidden, 3 * hidden)?);
            let early = im.slice(state, 0, 0, 2 * hidden)?;
            state = im.pad(early, &[0, hidden], 0.0)?;
        }
        let both = im.add(own, state)?;
        inputs = im.add(inputs, both)?;
    } else if late {
        late_bias = Some(im.like(x, 0.0)?);
    }
    let mut peepholes = None;
    if let Some(p) = node.opt(7).filter(|_| kind == Kind::Lstm) {
        let p = im.select_at(p, 0, d)?;
        let part = |im: &mut Importer, i: i64| im.slice(p, 0, i * hidden, (i + 1) * hidden);
        peepholes = Some([part(im, 0)?, part(im, 1)?, part(im, 2)?]);
    }
    let defaults: &[&str] = match kind {
        Kind::Rnn => &["Tanh"],
        Kind::Gru => &["Sigmoid", "Tanh"],
        Kind::Lstm => &["Sigmoid", "Tanh", "Tanh"],
    };
    let names = match node.strings("activations")? {
        Some(names) if !names.is_empty() => {
            let own = names.get(direction * defaults.len()..(direction + 1) * defaults.len());
            own.map(<[&str]>::to_vec).ok_or_else(|| {
                Fault::value(format!(
                    "attribute activations must name {} functions a direction",
                    defaults.len()
                ))
            })?
        }
        _ => defaults.to_vec(),
    };
    let (alphas, betas) = (node.floats("activation_alpha")?, node.floats("activation_beta")?);
    let parameter = |list: &Option<Vec<f64>>, i: usize| {
        list.as_ref().and_then(|l| l.get(direction * defaults.len() + i)).copied()
    };
    let bends = names.into_iter().enumerate();
    let bends = bends.map(|(i, name)| Bend::named(name, [parameter(&alphas, i), parameter(&betas, i)]));
    let bends = bends.collect::<Result<_, _>>()?;
    let (clip, couples) = (node.opt_float("clip")?, node.flag("input_forget")?);
    Ok(Cell { kind, hidden, bends, inputs, state_weight, late_bias, peepholes, clip, couples })
}
