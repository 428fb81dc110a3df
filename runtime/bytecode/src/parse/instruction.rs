//! Instructions, each after the number of its line.

use super::{Names, Read, Words};
use crate::{Instruction as I, Register, Scalar};
use fusion_operators::{Attr, Attrs};

/// Reads an instruction; a comment may follow.
pub fn instruction(words: &mut Words, names: &Names) -> Read<I> {
    let mut results: Vec<Register> = Vec::new();
    let start = words.clone();
    if words.begins_with("%") {
        results.push(words.register()?);
        while words.eat(",") {
            results.push(words.register()?);
        }
        words.expect("=")?;
    }
    let called = words.clone();
    let name = hyphenated(words);
    // Kernels and operators give any number of results.
    let outputs = results.clone();
    let mut to = || match results.pop() {
        Some(to) if results.is_empty() => Ok(to),
        _ => start.wrong(format!("{name} gives one result")),
    };
    let made = match name.as_str() {
        "constant" => {
            words.expect("#")?;
            I::Constant { to: to()?, constant: words.number()? }
        }
        "kernel" => {
            let kernel = words.known(&names.kernels, "kernel")?;
            return Ok(I::Kernel { kernel, inputs: looked_at(words)?, outputs });
        }
        "operator" => {
            let operator = words.name()?;
            let inputs = looked_at(words)?;
            return Ok(I::Operator { operator, inputs, attributes: attributes(words)?, outputs });
        }
        "scalar" => {
            let at = words.clone();
            let name = words.name()?;
            let Some(scalar) = Scalar::named(&name) else {
                return at.wrong(format!("there is no scalar instruction {name:?}"));
            };
            let ty = words.dtype()?;
            let inputs = looked_at(words)?;
            words.expect("->")?;
            I::Scalar { to: to()?, scalar, ty, result: words.dtype()?, inputs }
        }
        "copy" => I::Copy { to: to()?, from: words.register()? },
        "move" => I::Move { to: to()?, from: words.taken()? },
        "tuple" => I::Tuple { to: to()?, elements: taken(words)? },
        "construct" => {
            let at = words.clone();
            let data = words.known(&names.data, "data type")?;
            words.expect("::")?;
            let name = words.name()?;
            let constructors = names.constructors.get(data as usize).map(Vec::as_slice).unwrap_or_default();
            let Some(tag) = constructors.iter().position(|c| c.name == name) else {
                return at.wrong(format!("the data type has no constructor {name:?}"));
            };
            I::Construct { to: to()?, data, tag: tag as u32, fields: taken(words)? }
        }
        "field" => {
            let from = words.register()?;
            words.expect(".")?;
            I::Field { to: to()?, from, index: words.number()? }
        }
        "closure" => {
            let function = words.known(&names.functions, "function")?;
            I::Closure { to: to()?, function, captured: taken(words)? }
        }
        "call" => {
            let function = words.known(&names.functions, "function")?;
            I::Call { to: to()?, function, arguments: taken(words)? }
        }
        "apply" => {
            let closure = words.taken()?;
            I::Apply { to: to()?, closure, arguments: taken(words)? }
        }
        "new-cell" => I::NewCell { to: to()?, value: words.taken()? },
        "read-cell" => I::ReadCell { to: to()?, cell: words.register()? },
        _ => {
            let made = without_result(&name, words, names)?;
            let Some(made) = made else { return called.wrong(format!("there is no instruction {name:?}")) };
            if !outputs.is_empty() {
                return start.wrong(format!("{name} gives no result"));
            }
            made
        }
    };
    Ok(made)
}

fn without_result(name: &str, words: &mut Words, names: &Names) -> Read<Option<I>> {
    Ok(Some(match name {
        "check-types" => {
            let (mut values, mut types) = (Vec::new(), Vec::new());
            while words.begins_with("%") {
                values.push(words.register()?);
                words.expect(":")?;
                types.push(words.tensor_type()?);
                if !words.eat(",") {
                    break;
                }
            }
            I::CheckTypes { values, types }
        }
        "drop" => I::Drop { value: words.taken()? },
        "tail-call" => {
            let function = words.known(&names.functions, "function")?;
            I::TailCall { function, arguments: taken(words)? }
        }
        "tail-apply" => {
            let closure = words.taken()?;
            I::TailApply { closure, arguments: taken(words)? }
        }
        "return" => I::Return { value: words.taken()? },
        "jump" => I::Jump { target: words.number()? },
        "jump-unless" => {
            let condition = words.register()?;
            words.expect(",")?;
            I::JumpUnless { condition, target: words.number()? }
        }
        "switch" => {
            let value = words.register()?;
            I::Switch { value, targets: words.list('[', ']', Words::number)? }
        }
        "write-cell" => {
            let cell = words.register()?;
            words.expect(",")?;
            I::WriteCell { cell, value: words.taken()? }
        }
        "fail" => I::Fail { message: words.quoted()? },
        _ => return Ok(None),
    }))
}

/// `tail-call`: words with hyphens between them.
fn hyphenated(words: &mut Words) -> String {
    let mut name = words.word();
    while words.rest().starts_with('-') && !words.begins_with("->") && words.eat("-") {
        name = format!("{name}-{}", words.word());
    }
    name
}

fn looked_at(words: &mut Words) -> Read<Vec<Register>> {
    words.list('(', ')', Words::register)
}

fn taken(words: &mut Words) -> Read<Vec<Register>> {
    words.list('(', ')', Words::taken)
}

fn attributes(words: &mut Words) -> Read<Attrs> {
    let mut attributes = Attrs::new();
    if !words.begins_with("{") {
        return Ok(attributes);
    }
    for (name, value) in words.list('{', '}', |words| {
        let name = words.name()?;
        words.expect("=")?;
        Ok((name, attribute(words)?))
    })? {
        attributes.set(&name, value);
    }
    Ok(attributes)
}

fn attribute(words: &mut Words) -> Read<Attr> {
    if words.begins_with("\"") {
        return Ok(Attr::Str(words.quoted()?));
    }
    if words.eat("[.]") {
        return Ok(Attr::Floats(Vec::new()));
    }
    if !words.begins_with("[") {
        let start = words.clone();
        return match number(words)?.as_str() {
            "true" => Ok(Attr::Bool(true)),
            "false" => Ok(Attr::Bool(false)),
            word => match (word.parse(), word.parse(), word.parse()) {
                (Ok(value), ..) => Ok(Attr::Int(value)),
                (_, Ok(value), _) => Ok(Attr::Type(value)),
                (.., Ok(value)) => Ok(Attr::Float(value)),
                _ => start.wrong(format!("{word} is no attribute")),
            },
        };
    }
    let start = words.clone();
    let numbers = words.list('[', ']', number)?;
    let ints: Result<Vec<i64>, _> = numbers.iter().map(|n| n.parse()).collect();
    let floats: Result<Vec<f64>, _> = numbers.iter().map(|n| n.parse()).collect();
    match (ints, floats) {
        (Ok(ints), _) => Ok(Attr::Ints(ints)),
        (_, Ok(floats)) => Ok(Attr::Floats(floats)),
        _ => start.wrong("a list of an attribute holds numbers"),
    }
}

/// A number as it is written, or another word.
fn number(words: &mut Words) -> Read<String> {
    let sign = if words.eat("-") { "-" } else { "" };
    let mut word = words.word();
    if word.ends_with('e') && words.rest().starts_with('-') && words.eat("-") {
        word = format!("{word}-{}", words.word());
    }
    if word.is_empty() { words.wrong("expected a number") } else { Ok(format!("{sign}{word}")) }
}
