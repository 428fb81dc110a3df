//! Values that come from outside: constructors are looked up by their names.

use crate::InterpretError;
use crate::code::Constructor;
use crate::value::{Parts, Value};
use fusion_dialects::relay::{self, DataType};
use fusion_dialects::rows::Kind;
use fusion_dialects::{Op, top_level};
use fusion_operators::{Item, ValueTree};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The values of some trees.
pub fn values<'c>(module: Op<'c>, trees: &[ValueTree]) -> Result<Vec<Value<'c>>, InterpretError> {
    let declared = top_level(module, |kind| matches!(kind, Kind::Relay(relay::Op::Data)));
    let mut constructors: HashMap<&str, Rc<Constructor>> = HashMap::new();
    for data in declared.into_iter().filter_map(DataType::of) {
        for (tag, constructor) in data.constructors.iter().enumerate() {
            let known = Constructor {
                data: data.name.to_owned(),
                name: constructor.name.to_owned(),
                tag,
                fields: constructor.fields.len(),
            };
            constructors.entry(constructor.name).or_insert_with(|| Rc::new(known));
        }
    }
    trees.iter().enumerate().map(|(i, tree)| value(&constructors, i, tree)).collect()
}

/// A value, from its last part to its first.
fn value<'c>(
    constructors: &HashMap<&str, Rc<Constructor>>,
    input: usize,
    tree: &ValueTree,
) -> Result<Value<'c>, InterpretError> {
    let wrong = |why: String| InterpretError::Value { input, why };
    let mut made: Vec<Value<'c>> = Vec::new();
    for item in tree.items.iter().rev() {
        let parts = item.parts();
        let start = made.len().checked_sub(parts).ok_or_else(|| wrong("lacks parts".to_owned()))?;
        let mut inner = made.split_off(start);
        inner.reverse();
        made.push(match item {
            Item::Tensor(tensor) => Value::from(tensor.clone()),
            Item::Tuple(_) => Value::Tuple(Rc::new(Parts::new(inner))),
            Item::Data(name, _) => {
                let constructor = constructors
                    .get(name.as_str())
                    .ok_or_else(|| wrong(format!("has a {name}, which no data type of the program has")))?;
                if constructor.fields != parts {
                    let takes = constructor.fields;
                    return Err(wrong(format!("has a {name} of {parts} fields, which takes {takes}")));
                }
                Value::Data(constructor.clone(), Rc::new(Parts::new(inner)))
            }
            Item::Cell => Value::Cell(Rc::new(RefCell::new(inner.pop().unwrap_or(Value::Unset)))),
            Item::Function => return Err(wrong("has a function, which cannot be handed in".to_owned())),
            Item::More => return Err(wrong("is not whole".to_owned())),
        });
    }
    match (made.pop(), made.is_empty()) {
        (Some(value), true) => Ok(value),
        _ => Err(wrong("is not one value".to_owned())),
    }
}
