//! Values between the host and the machine, by loops: a list may be as long as memory allows.

use super::heap::{Handle, Heap, Kind, Sort};
use fusion_bytecode::{DataType, Program, TypeMismatch, ValueType, match_types};
use fusion_operators::{Item, TensorType, ValueTree};
use indexmap::{IndexMap, IndexSet};

/// Parts of a value that are given to the host: what is shared is given every time it is met, which may be without end.
const MOST_ITEMS: usize = 1 << 26;

/// Data types and tags of constructors, by name.
pub struct Constructors {
    /// None where several data types have a constructor of that name.
    by_name: IndexMap<String, Option<(u32, u32, u32)>>,
}

impl Constructors {
    /// Those of a program.
    pub fn new(data: &[DataType]) -> Self {
        let mut by_name = IndexMap::new();
        for (id, ty) in data.iter().enumerate() {
            for (tag, constructor) in ty.constructors.iter().enumerate() {
                let this = Some((id as u32, tag as u32, constructor.fields));
                by_name.entry(constructor.name.clone()).and_modify(|other| *other = None).or_insert(this);
            }
        }
        Constructors { by_name }
    }
}

/// Makes a value of the machine.
pub fn from_host(heap: &mut Heap, constructors: &Constructors, value: &ValueTree) -> Result<Handle, String> {
    let mut made: Vec<Handle> = Vec::new();
    // Backwards, so that parts are made before what they are parts of.
    for item in value.items.iter().rev() {
        let handle = one(heap, constructors, item, &mut made);
        match handle {
            Ok(handle) => made.push(handle),
            Err(why) => {
                made.into_iter().for_each(|handle| heap.release(handle));
                return Err(why);
            }
        }
    }
    match made[..] {
        [handle] => Ok(handle),
        _ => {
            made.into_iter().for_each(|handle| heap.release(handle));
            Err("it is not one value".to_owned())
        }
    }
}

fn one(
    heap: &mut Heap,
    constructors: &Constructors,
    item: &Item,
    made: &mut Vec<Handle>,
) -> Result<Handle, String> {
    let (kind, tag, data, parts) = match item {
        Item::Tensor(tensor) => {
            return heap.tensors.copy_in(tensor).map(Handle::tensor).map_err(|error| error.to_string());
        }
        Item::Tuple(parts) => (Kind::Tuple, 0, 0, *parts),
        Item::Cell => (Kind::Cell, 0, 0, 1),
        Item::Data(name, parts) => match constructors.by_name.get(name) {
            Some(Some((data, tag, fields))) if *fields as usize == *parts => {
                (Kind::Data, *tag, *data, *parts)
            }
            Some(Some((_, _, fields))) => {
                return Err(format!("the constructor {name} takes {fields} fields, found {parts}"));
            }
            Some(None) => return Err(format!("several data types have a constructor {name}")),
            None => return Err(format!("no data type has a constructor {name}")),
        },
        Item::Function | Item::More => return Err("functions cannot be given to a program".to_owned()),
    };
    let Some(start) = made.len().checked_sub(parts) else {
        return Err("it is not one value".to_owned());
    };
    // The last one made is the first part.
    let fields: Vec<Handle> = made[start..].iter().rev().copied().collect();
    let handle = heap.make(kind, tag, data, &fields).map_err(|error| error.to_string())?;
    made.truncate(start);
    Ok(handle)
}

/// Whether values have the types that a program's inputs have; else a sentence.
pub fn check_inputs(heap: &Heap, program: &Program, values: &[Handle]) -> Result<(), String> {
    let mut tensors: Vec<(&TensorType, &TensorType)> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for ((name, ty), &value) in program.inputs.iter().zip(values) {
        let mut left = vec![(ty, value)];
        while let Some((ty, value)) = left.pop() {
            let fits = match (ty, value.sort()) {
                (ValueType::Tensor(ty), Sort::Tensor(slot)) => {
                    tensors.push((ty, heap.tensors.type_of(slot)));
                    names.push(name);
                    true
                }
                (ValueType::Tuple(elements), Sort::Node(place)) => {
                    let fields = (0..heap.fields(place)).filter_map(|index| heap.field(place, index));
                    left.extend(elements.iter().zip(fields));
                    heap.kind(place) == Kind::Tuple && heap.fields(place) == elements.len()
                }
                (ValueType::Data(data, _), Sort::Node(place)) => {
                    heap.kind(place) == Kind::Data && heap.data(place) == *data
                }
                (ValueType::Cell(held), Sort::Node(place)) => {
                    left.extend(heap.field(place, 0).map(|value| (&**held, value)));
                    heap.kind(place) == Kind::Cell
                }
                _ => false,
            };
            if !fits {
                let what = program.type_text(ty);
                return Err(format!("input {name:?} of the program does not have the type {what}"));
            }
        }
    }
    match_types(tensors).map_err(|mismatch: Box<TypeMismatch>| {
        format!("input {:?} of the program has another type: {mismatch}", names[mismatch.place])
    })
}

/// A value for the host.
pub fn to_host(heap: &Heap, data: &[DataType], value: Handle) -> Result<ValueTree, String> {
    enum Left {
        Value(Handle),
        /// The end of a cell.
        Cell(u32),
    }
    let (mut items, mut left) = (Vec::new(), vec![Left::Value(value)]);
    let mut inside: IndexSet<u32> = IndexSet::new();
    while let Some(next) = left.pop() {
        let value = match next {
            Left::Value(value) => value,
            Left::Cell(cell) => {
                inside.swap_remove(&cell);
                continue;
            }
        };
        if items.len() >= MOST_ITEMS {
            items.push(Item::More);
            continue;
        }
        let place = match value.sort() {
            Sort::Nothing => {
                items.push(Item::More);
                continue;
            }
            Sort::Tensor(slot) => {
                items.push(Item::Tensor(heap.tensors.copy_out(slot).map_err(|error| error.to_string())?));
                continue;
            }
            Sort::Node(place) => place,
        };
        let fields = heap.fields(place);
        items.push(match heap.kind(place) {
            Kind::Tuple => Item::Tuple(fields),
            Kind::Data => {
                let constructors = data.get(heap.data(place) as usize).map(|ty| &ty.constructors);
                let constructor = constructors.and_then(|all| all.get(heap.tag(place) as usize));
                Item::Data(constructor.map(|c| c.name.clone()).unwrap_or_default(), fields)
            }
            Kind::Closure => {
                items.push(Item::Function);
                continue;
            }
            Kind::Cell if !inside.insert(place) => {
                items.push(Item::More);
                continue;
            }
            Kind::Cell => {
                left.push(Left::Cell(place));
                Item::Cell
            }
        });
        left.extend((0..fields).rev().filter_map(|index| heap.field(place, index)).map(Left::Value));
    }
    Ok(ValueTree { items })
}
