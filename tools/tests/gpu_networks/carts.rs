//! CartPole (Barto, Sutton and Anderson, 1983): many carts at once, which random numbers push, in a loop whose state is all of them.

use crate::gpu_kernels::program::{Program, Value};
use fusion_operators::{DType, Tensor};

const CARTS: u64 = 300;
const STEPS: u64 = 20;

/// What is known of the carts: places and angles with their speeds, random numbers, and for how long none has fallen.
type State = [Value; 6];

/// One step, in which carts that have fallen begin anew.
fn step(p: &mut Program, [x, xd, th, thd, random, length]: &State) -> State {
    let f = |p: &mut Program, number: &str| p.number(number, "f32");
    let times = |p: &mut Program, a: &Value, number: &str| {
        let factor = p.number(number, "f32");
        p.like("mul", &[a, &factor])
    };
    let (factor, more) = (p.number("1664525", "i32"), p.number("1013904223", "i32"));
    let random = p.like("mul", &[random, &factor]);
    let random = p.like("add", &[&random, &more]);
    let zero = p.number("0", "i32");
    let left = p.op_of("less", &[&random, &zero], "", &[CARTS], "i1");
    let (minus, plus) = (f(p, "-10.0"), f(p, "10.0"));
    let force = p.op_of("where", &[&left, &minus, &plus], "", &[CARTS], "f32");
    let (c, s) = (p.like("cos", &[th]), p.like("sin", &[th]));
    let square = p.like("mul", &[thd, thd]);
    let swing = p.like("mul", &[&square, &s]);
    let swing = times(p, &swing, "0.05");
    let all = p.like("add", &[&force, &swing]);
    let push = times(p, &all, "0.9090909");
    let (weight, with) = (times(p, &s, "9.8"), p.like("mul", &[&c, &push]));
    let above = p.like("sub", &[&weight, &with]);
    let squared = p.like("mul", &[&c, &c]);
    let part = times(p, &squared, "-0.04545455");
    let whole = f(p, "0.6666667");
    let below = p.like("add", &[&part, &whole]);
    let thacc = p.like("div", &[&above, &below]);
    let back = p.like("mul", &[&thacc, &c]);
    let back = times(p, &back, "0.04545455");
    let xacc = p.like("sub", &[&push, &back]);
    let moved = [(x, xd), (xd, &xacc), (th, thd), (thd, &thacc)].map(|(value, speed)| {
        let change = times(p, speed, "0.02");
        p.like("add", &[value, &change])
    });
    let beyond = |p: &mut Program, value: &Value, most: &str| {
        let (size, most) = (p.like("abs", &[value]), p.number(most, "f32"));
        p.op_of("greater", &[&size, &most], "", &[CARTS], "i1")
    };
    let (out, tilted) = (beyond(p, &moved[0], "2.4"), beyond(p, &moved[2], "0.20943951"));
    let fallen = p.like("logical_or", &[&out, &tilted]);
    let start = p.cast(&random, "f32");
    let start = times(p, &start, "2.3283064e-11");
    let other = times(p, &start, "-1.0");
    let [x, xd, th, thd] = moved;
    let [x, xd, th, thd] = [(&start, x), (&other, xd), (&start, th), (&other, thd)]
        .map(|(anew, value)| p.op_of("where", &[&fallen, anew, &value], "", &[CARTS], "f32"));
    let (one, none) = (f(p, "1.0"), f(p, "0.0"));
    let longer = p.like("add", &[length, &one]);
    let length = p.op_of("where", &[&fallen, &none, &longer], "", &[CARTS], "f32");
    [x, xd, th, thd, random, length]
}

/// Repeats steps, of which the body has several, on values that are carried.
fn repeat(
    p: &mut Program,
    trips: u64,
    given: &[Value],
    body: impl FnOnce(&mut Program, &[Value]) -> Vec<Value>,
) -> Vec<Value> {
    let (start, end) = (p.number("0", "i64"), p.number(&trips.to_string(), "i64"));
    let carried: Vec<Value> = given.iter().map(|v| p.value(&v.shape, v.element)).collect();
    let result = p.value(&[], "i64");
    let types: Vec<String> = given.iter().map(Value::ty).collect();
    let types = types.join(", ");
    let list = |values: &[Value]| values.iter().map(|v| v.name.clone()).collect::<Vec<_>>().join(", ");
    let parameters: Vec<String> = carried.iter().map(|v| format!("{}: {}", v.name, v.ty())).collect();
    let parameters = parameters.join(", ");
    p.line(format!(
        "{}:{} = relay.while({}, {}) {{
         ^bb0(%i: tensor<i64>, {parameters}):
           %less = relay.less %i, {} : (tensor<i64>, tensor<i64>) -> tensor<i1>
           relay.yield %less : tensor<i1>
         }} do {{
         ^bb0(%i: tensor<i64>, {parameters}):",
        result.name,
        given.len() + 1,
        start.name,
        list(given),
        end.name
    ));
    let next = body(p, &carried);
    let one = p.number("1", "i64");
    p.line(format!(
        "  %next = relay.add %i, {} : (tensor<i64>, tensor<i64>) -> tensor<i64>
           relay.yield %next, {} : tensor<i64>, {types}
         }} : (tensor<i64>, {types}) -> (tensor<i64>, {types})",
        one.name,
        list(&next)
    ));
    let named = |(at, v): (usize, &Value)| Value { name: format!("{}#{}", result.name, at + 1), ..v.clone() };
    given.iter().enumerate().map(named).collect()
}

fn seeds(p: &mut Program) -> Value {
    let values: Vec<f64> = (0..CARTS).map(|_| f64::from(p.numbers.next() as u32 as i32)).collect();
    p.take("i32", Tensor::from_f64s(DType::I32, &[CARTS as usize], &values).unwrap())
}

/// Small numbers that the carts begin with.
fn begin(p: &mut Program, shape: &[u64]) -> Value {
    let (given, small) = (p.input(shape), p.number("0.05", "f32"));
    p.like("mul", &[&given, &small])
}

fn separate(p: &mut Program, steps_of_a_trip: u64) -> Vec<Value> {
    let places = [0; 4].map(|_| begin(p, &[CARTS]));
    let (random, length) = (seeds(p), p.weight(&[CARTS], 0.0));
    let given = [&places[..], &[random, length]].concat();
    repeat(p, STEPS / steps_of_a_trip, &given, |p, carried| {
        let mut state: State = std::array::from_fn(|at| carried[at].clone());
        for _ in 0..steps_of_a_trip {
            state = step(p, &state);
        }
        state.to_vec()
    })
}

pub fn carts(p: &mut Program) -> Vec<Value> {
    separate(p, 1)
}

/// Ten steps in each trip of the loop.
pub fn unrolled(p: &mut Program) -> Vec<Value> {
    separate(p, 10)
}

/// What is known of places is in one tensor, taken apart and put together in every step.
pub fn stacked(p: &mut Program) -> Vec<Value> {
    let (places, random, length) = (begin(p, &[4, CARTS]), seeds(p), p.weight(&[CARTS], 0.0));
    repeat(p, STEPS, &[places, random, length], |p, carried| {
        let parts: [Value; 4] = std::array::from_fn(|at| {
            let bounds =
                format!("begin = array<i64: {at}>, end = array<i64: {}>, axes = array<i64: 0>", at + 1);
            let row = p.op("slice", &[&carried[0]], &bounds, &[1, CARTS]);
            p.op("squeeze", &[&row], "axes = array<i64: 0>", &[CARTS])
        });
        let [x, xd, th, thd] = parts;
        let [x, xd, th, thd, random, length] =
            step(p, &[x, xd, th, thd, carried[1].clone(), carried[2].clone()]);
        let rows =
            [x, xd, th, thd].map(|part| p.op("expand_dims", &[&part], "axes = array<i64: 0>", &[1, CARTS]));
        let places = p.op("concat", &rows.each_ref(), "axis = 0 : i64", &[4, CARTS]);
        vec![places, random, length]
    })
}
