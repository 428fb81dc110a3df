//! Values of a running program.
//!
//! A value is a number: 0 is none, odd ones are tensors, even ones places in a block of words where tuples, data, closures and
//! cells lie:
//!
//! ```text
//!   owners | kind and number of fields | tag or function | data type | field 0 | field 1 ...
//! ```
//! Programs say themselves when an owner is added and when one lets go, so a value is no more than its number and copying one costs
//! nothing. What the last owner let go of waits in a list of its length; freeing works off a list and never recurs.

use super::tensors::{NoMemory, Slot, Tensors};

/// A value, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handle(u32);

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tuple.
    Tuple,
    /// A value of a data type.
    Data,
    /// A function with bound parameters.
    Closure,
    /// A cell.
    Cell,
}

/// What a number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Nothing.
    Nothing,
    /// A tensor.
    Tensor(Slot),
    /// A place among the words.
    Node(u32),
}

const KINDS: [Kind; 4] = [Kind::Tuple, Kind::Data, Kind::Closure, Kind::Cell];
/// Words before the fields.
const HEADER: usize = 4;
/// No place: the end of a list.
const END: u32 = 0;

impl Handle {
    /// No value.
    pub const NOTHING: Handle = Handle(0);

    /// A tensor.
    #[inline]
    pub fn tensor(slot: Slot) -> Handle {
        Handle(slot << 1 | 1)
    }

    fn node(place: u32) -> Handle {
        Handle(place << 1)
    }

    /// What it stands for.
    #[inline]
    pub fn sort(self) -> Sort {
        match self.0 {
            0 => Sort::Nothing,
            n if n & 1 == 1 => Sort::Tensor(n >> 1),
            n => Sort::Node(n >> 1),
        }
    }
}

/// All values of a machine.
pub struct Heap {
    /// The tensors.
    pub tensors: Tensors,
    words: Vec<u32>,
    /// The first place that waits, by number of fields; the next one is in its third word.
    waiting: Vec<u32>,
    /// Values to let go of.
    left: Vec<Handle>,
    live: usize,
    most_bytes: usize,
}

impl Heap {
    /// No values yet.
    pub fn new(most_bytes: usize) -> Self {
        // Place 0 is none.
        let (words, waiting, left) = (vec![0; HEADER], Vec::new(), Vec::new());
        Heap { tensors: Tensors::new(most_bytes), words, waiting, left, live: 0, most_bytes }
    }

    /// Values that have owners.
    pub fn live(&self) -> usize {
        self.live + self.tensors.live()
    }

    /// Frees what owns itself through a cell, when nothing else has an owner any more.
    pub fn free_cycles(&mut self) {
        let mut place = HEADER;
        while self.live > 0 && place < self.words.len() {
            let fields = self.fields(place as u32);
            // Places that wait have no owners.
            if self.words[place] > 0 {
                self.live -= 1;
                for index in 0..fields {
                    if let Sort::Tensor(slot) = Handle(self.words[place + HEADER + index]).sort() {
                        self.tensors.release(slot);
                    }
                }
            }
            place += HEADER + fields;
        }
        self.words.truncate(HEADER);
        self.waiting.clear();
    }

    /// A new value with one owner; its fields are taken.
    #[inline]
    pub fn make(&mut self, kind: Kind, tag: u32, data: u32, fields: &[Handle]) -> Result<Handle, NoMemory> {
        let place = match self.waiting.get(fields.len()) {
            Some(&place) if place != END => {
                self.waiting[fields.len()] = self.words[place as usize + 2];
                place
            }
            _ => self.make_room(fields.len())?,
        };
        let words = &mut self.words[place as usize..][..HEADER + fields.len()];
        words[0] = 1;
        words[1] = (fields.len() as u32) << 2 | kind as u32;
        words[2] = tag;
        words[3] = data;
        for (word, field) in words[HEADER..].iter_mut().zip(fields) {
            *word = field.0;
        }
        self.live += 1;
        Ok(Handle::node(place))
    }

    #[cold]
    fn make_room(&mut self, fields: usize) -> Result<u32, NoMemory> {
        if self.waiting.len() <= fields {
            self.waiting.resize(fields + 1, END);
        }
        let (start, more) = (self.words.len(), HEADER + fields);
        let held = start * size_of::<u32>() + self.tensors.held_bytes();
        let none = NoMemory::Bytes { bytes: more * size_of::<u32>(), held, most: self.most_bytes };
        let fits = held <= self.most_bytes && start + more <= (u32::MAX / 2) as usize;
        if !fits || self.words.try_reserve(more).is_err() {
            return Err(none);
        }
        self.words.resize(start + more, 0);
        Ok(start as u32)
    }

    /// What a value at a place is.
    #[inline]
    pub fn kind(&self, place: u32) -> Kind {
        KINDS[(self.words[place as usize + 1] & 3) as usize]
    }

    /// The tag of data, the function of a closure.
    #[inline]
    pub fn tag(&self, place: u32) -> u32 {
        self.words[place as usize + 2]
    }

    /// The data type of data.
    pub fn data(&self, place: u32) -> u32 {
        self.words[place as usize + 3]
    }

    /// How many fields a value has.
    #[inline]
    pub fn fields(&self, place: u32) -> usize {
        (self.words[place as usize + 1] >> 2) as usize
    }

    /// A field, if there is one; it has no owner more.
    #[inline]
    pub fn field(&self, place: u32, index: usize) -> Option<Handle> {
        let inside = index < self.fields(place);
        inside.then(|| Handle(self.words[place as usize + HEADER + index]))
    }

    /// Puts another value into a field and gives what was there. There must be that field.
    #[inline]
    pub fn replace_field(&mut self, place: u32, index: usize, value: Handle) -> Handle {
        Handle(std::mem::replace(&mut self.words[place as usize + HEADER + index], value.0))
    }

    /// One owner more.
    #[inline]
    pub fn retain(&mut self, value: Handle) {
        match value.sort() {
            Sort::Nothing => {}
            Sort::Tensor(slot) => self.tensors.retain(slot),
            Sort::Node(place) => {
                let owners = &mut self.words[place as usize];
                *owners = owners.saturating_add(1);
            }
        }
    }

    /// One owner less; without owners, the value lets go of its fields.
    #[inline]
    pub fn release(&mut self, value: Handle) {
        if let Some(place) = self.let_go(value) {
            self.free(place);
        }
    }

    /// One owner less; the place of a value that has none left.
    #[inline]
    fn let_go(&mut self, value: Handle) -> Option<u32> {
        match value.sort() {
            Sort::Nothing => None,
            Sort::Tensor(slot) => {
                self.tensors.release(slot);
                None
            }
            Sort::Node(place) => {
                let owners = &mut self.words[place as usize];
                *owners -= 1;
                (*owners == 0).then_some(place)
            }
        }
    }

    fn free(&mut self, place: u32) {
        self.free_alone(place);
        while let Some(value) = self.left.pop() {
            if let Some(place) = self.let_go(value) {
                self.free_alone(place);
            }
        }
    }

    /// Frees one value and notes its fields.
    fn free_alone(&mut self, place: u32) {
        let fields = self.fields(place);
        let start = place as usize + HEADER;
        self.left.extend(self.words[start..start + fields].iter().map(|&word| Handle(word)));
        self.words[place as usize + 2] = self.waiting[fields];
        self.waiting[fields] = place;
        self.live -= 1;
    }
}
