//! Values between the host and the machine, by loops: a list may be as long as memory allows.

use super::heap::{Handle, Heap, Kind, Sort};
use fusion_bytecode::DataType;
use fusion_operators::{Item, ValueTree};
use indexmap::IndexSet;

/// Parts of a value that are given to the host: what is shared is given every time it is met, which may be without end.
const MOST_ITEMS: usize = 1 << 26;

/// Makes a value of the machine; `constructors` are the data types and tags of those in it, in the order of items.
pub fn from_host(heap: &mut Heap, constructors: &[(u32, u32)], value: &ValueTree) -> Result<Handle, String> {
    let mut made: Vec<Handle> = Vec::new();
    let mut constructors = constructors.iter().rev();
    // Backwards, so that parts are made before what they are parts of.
    for item in value.items.iter().rev() {
        let handle = one(heap, &mut constructors, item, &mut made);
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

/// Constructors from the last one on.
type Reversed<'a> = std::iter::Rev<std::slice::Iter<'a, (u32, u32)>>;

fn one(
    heap: &mut Heap,
    constructors: &mut Reversed,
    item: &Item,
    made: &mut Vec<Handle>,
) -> Result<Handle, String> {
    let (kind, tag, data, parts) = match item {
        Item::Tensor(tensor) => {
            return heap.tensors.copy_in(tensor).map(Handle::tensor).map_err(|error| error.to_string());
        }
        Item::Tuple(parts) => (Kind::Tuple, 0, 0, *parts),
        Item::Cell => (Kind::Cell, 0, 0, 1),
        Item::Data(name, parts) => {
            let (data, tag) = constructors.next().ok_or_else(|| format!("there is no constructor {name}"))?;
            (Kind::Data, *tag, *data, *parts)
        }
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
