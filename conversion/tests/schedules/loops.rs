//! Runs loop nests one operation at a time, strictly: an index outside of a buffer, or an element that nothing wrote, is an
//! error. Iterations that may run in any order run backwards.

use fusion_dialects::loops::{LoopKind, loop_kind};
use fusion_dialects::{
    Affine, Block, Op, OpExt, Value, ValueLike, affine_map_of, arguments, buffer_parts, key, ops_in,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

type Buffer = Rc<RefCell<Vec<Option<f32>>>>;

#[derive(Clone)]
enum Item {
    Float(f32),
    Int(i64),
    Buffer(Buffer),
}

#[derive(Default)]
struct Machine {
    items: HashMap<usize, Item>,
}

/// Runs a kernel on buffers: arguments, results, and a workspace when it takes one more.
pub fn run(function: Op, inputs: &[Vec<f32>], outputs: &[usize]) -> Result<Vec<Vec<f32>>, String> {
    let body = function.body(0).ok_or("the function has no body")?;
    let parameters = arguments(body);
    let given = inputs.iter().map(|data| data.iter().copied().map(Some).collect::<Vec<_>>());
    let made = outputs.iter().map(|&n| vec![None; n]);
    let mut buffers: Vec<Buffer> = given.chain(made).map(|b| Rc::new(RefCell::new(b))).collect();
    while buffers.len() < parameters.len() {
        buffers.push(Rc::default());
    }
    let mut machine = Machine::default();
    for (parameter, buffer) in parameters.iter().zip(&buffers) {
        machine.items.insert(key(*parameter), Item::Buffer(Rc::clone(buffer)));
    }
    machine.block(body)?;
    let results = &buffers[inputs.len()..inputs.len() + outputs.len()];
    let whole = |b: &Buffer| b.borrow().iter().copied().collect::<Option<Vec<f32>>>();
    results.iter().map(|b| whole(b).ok_or_else(|| "a result is not written wholly".to_owned())).collect()
}

impl Machine {
    fn block(&mut self, block: Block) -> Result<Vec<Item>, String> {
        for op in ops_in(block) {
            match op.full_name().as_str() {
                "loop.yield" | "func.return" => {
                    return op.operand_values().into_iter().map(|v| self.get(v)).collect();
                }
                name => self.op(op, name)?,
            }
        }
        Ok(Vec::new())
    }

    fn get(&self, value: Value) -> Result<Item, String> {
        self.items.get(&key(value)).cloned().ok_or_else(|| format!("{value} is not known"))
    }

    fn int(&self, value: Value) -> Result<i64, String> {
        match self.get(value)? {
            Item::Int(n) => Ok(n),
            _ => Err(format!("{value} is no integer")),
        }
    }

    fn float(&self, value: Value) -> Result<f32, String> {
        match self.get(value)? {
            Item::Float(x) => Ok(x),
            _ => Err(format!("{value} is no float")),
        }
    }

    fn place(&self, buffer: Value, index: Value) -> Result<(Buffer, usize), String> {
        let Item::Buffer(data) = self.get(buffer)? else { return Err(format!("{buffer} is no buffer")) };
        let at = self.int(index)?;
        let length = data.borrow().len();
        match usize::try_from(at).ok().filter(|&at| at < length) {
            Some(at) => Ok((data, at)),
            None => Err(format!("index {at} of a buffer of {length}")),
        }
    }

    fn op(&mut self, op: Op, name: &str) -> Result<(), String> {
        let v = op.operand_values();
        let result = match name {
            "loop.for" | "loop.upto" => return self.for_loop(op, name == "loop.upto"),
            "loop.guard" => {
                let body = op.body(0).ok_or("no body")?;
                let values = match self.int(v[0])? {
                    0 => v[1..].iter().map(|v| self.get(*v)).collect::<Result<Vec<_>, _>>()?,
                    _ => self.block(body)?,
                };
                return self.set(op, values);
            }
            "loop.alloc" | "memref.view" => {
                let length = buffer_parts(op.result_values()[0].r#type()).map_or(0, |(_, n)| n);
                Item::Buffer(Rc::new(RefCell::new(vec![None; length as usize])))
            }
            "loop.load" => {
                let (data, at) = self.place(v[0], v[1])?;
                let element = data.borrow()[at];
                Item::Float(
                    element.ok_or_else(|| format!("element {at} is read before it is written: {op}"))?,
                )
            }
            "loop.store" => {
                let (data, at) = self.place(v[1], v[2])?;
                let value = self.float(v[0])?;
                data.borrow_mut()[at] = Some(value);
                return Ok(());
            }
            "loop.prefetch" => return self.place(v[0], v[1]).map(|_| ()),
            "affine.apply" => {
                let map = op.attr("map").and_then(affine_map_of).ok_or("no map")?;
                let inputs = v.iter().map(|v| self.int(*v)).collect::<Result<Vec<_>, _>>()?;
                Item::Int(apply(&map, &inputs))
            }
            "arith.constant" => {
                let text = op.attr("value").map(|a| a.to_string()).unwrap_or_default();
                constant(&text).ok_or_else(|| format!("{text} is no constant known here"))?
            }
            "arith.addi" => Item::Int(self.int(v[0])? + self.int(v[1])?),
            "arith.subi" => Item::Int(self.int(v[0])? - self.int(v[1])?),
            "arith.muli" => Item::Int(self.int(v[0])? * self.int(v[1])?),
            "arith.andi" => Item::Int(self.int(v[0])? & self.int(v[1])?),
            "arith.minsi" => Item::Int(self.int(v[0])?.min(self.int(v[1])?)),
            "arith.maxsi" => Item::Int(self.int(v[0])?.max(self.int(v[1])?)),
            "arith.cmpi" => {
                let (a, b) = (self.int(v[0])?, self.int(v[1])?);
                let holds = [a == b, a != b, a < b, a <= b, a > b, a >= b];
                let how = op.int("predicate").and_then(|p| usize::try_from(p).ok());
                let holds = how.and_then(|p| holds.get(p)).ok_or("an unsigned comparison")?;
                Item::Int((*holds).into())
            }
            "arith.select" => self.get(if self.int(v[0])? == 0 { v[2] } else { v[1] })?,
            "arith.addf" => Item::Float(self.float(v[0])? + self.float(v[1])?),
            "arith.subf" => Item::Float(self.float(v[0])? - self.float(v[1])?),
            "arith.mulf" => Item::Float(self.float(v[0])? * self.float(v[1])?),
            "arith.divf" => Item::Float(self.float(v[0])? / self.float(v[1])?),
            "arith.maximumf" => Item::Float(self.float(v[0])?.max(self.float(v[1])?)),
            "math.exp" => Item::Float(self.float(v[0])?.exp()),
            _ => return Err(format!("{name} is not known here")),
        };
        self.set(op, vec![result])
    }

    fn for_loop(&mut self, op: Op, upto: bool) -> Result<(), String> {
        let body = op.body(0).ok_or("no body")?;
        let parameters = arguments(body);
        let operands = op.operand_values();
        let extent = if upto { self.int(operands[0])? } else { op.int("extent").unwrap_or(0) };
        let inits = operands.into_iter().skip(usize::from(upto));
        let mut carried = inits.map(|v| self.get(v)).collect::<Result<Vec<_>, _>>()?;
        let any_order = carried.is_empty() && loop_kind(op) != LoopKind::Serial;
        for step in 0..extent {
            let index = if any_order { extent - 1 - step } else { step };
            self.items.insert(key(parameters[0]), Item::Int(index));
            for (parameter, value) in parameters[1..].iter().zip(carried) {
                self.items.insert(key(*parameter), value);
            }
            carried = self.block(body)?;
        }
        self.set(op, carried)
    }

    fn set(&mut self, op: Op, items: Vec<Item>) -> Result<(), String> {
        for (result, item) in op.result_values().into_iter().zip(items) {
            self.items.insert(key(result), item);
        }
        Ok(())
    }
}

fn apply(e: &Affine, inputs: &[i64]) -> i64 {
    let both = |a: &Affine, b: &Affine| (apply(a, inputs), apply(b, inputs));
    match e {
        Affine::Input(i) => inputs[*i],
        Affine::Constant(c) => *c,
        Affine::Add(a, b) => both(a, b).0 + both(a, b).1,
        Affine::Mul(a, b) => both(a, b).0 * both(a, b).1,
        Affine::Mod(a, b) => both(a, b).0.rem_euclid(both(a, b).1),
        Affine::FloorDiv(a, b) => both(a, b).0.div_euclid(both(a, b).1),
        Affine::CeilDiv(a, b) => -(-both(a, b).0).div_euclid(both(a, b).1),
    }
}

fn constant(text: &str) -> Option<Item> {
    let (value, ty) = match text {
        "true" => return Some(Item::Int(1)),
        "false" => return Some(Item::Int(0)),
        _ => text.split_once(" : ")?,
    };
    if ty == "index" {
        return value.parse().ok().map(Item::Int);
    }
    match value.strip_prefix("0x") {
        Some(bits) => u32::from_str_radix(bits, 16).ok().map(|b| Item::Float(f32::from_bits(b))),
        None => value.parse().ok().map(Item::Float),
    }
}
