//! What is done with counted values, written into the code where it happens.
//!
//! ```text
//!   retain v      if v.count >= 0: v.count += 1
//!   release v     d = v.count - 1;  d > 0: v.count = d;  d == 0: free v;  d < 0: v lies in the library
//!   new class     v = run.free[class], which is filled when empty;  run.free[class] = v.next
//! ```

use super::layout::{
    BEHIND_POINTER, CLASS, FIELDS, FREE, Kind, LIVE, PARTS, TensorLayout, WORD, class_of, first_word,
    second_word,
};
use super::writer::{Callee, Order, Writer};
use fusion_dialects::Value;

/// Fills an empty list of free memory.
pub const REFILL: &str = "fusion_refill";
/// Frees a value without owners, and what it owned alone.
pub const FREE_VALUE: &str = "fusion_free";

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing.
    Nothing,
    /// It is a tensor whose elements are in the value, or borrowed.
    SmallTensor,
}

/// What a new value is, besides its parts.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// What it is.
    pub kind: Kind,
    /// The constructor of a data type; how many arguments a closure takes; bytes of a tensor's element.
    pub tag: u32,
    /// The data type; a tensor's element type.
    pub which: u16,
    /// How many.
    pub parts: u32,
}

/// The code of a function of the program, with the run it belongs to.
pub struct Code<'c> {
    /// Writes.
    pub writer: Writer<'c>,
    /// The run's context.
    pub run: Value<'c>,
}

impl<'c> Code<'c> {
    fn int32(&self, value: i64) -> Value<'c> {
        self.writer.int(self.writer.spelling.int32, value)
    }

    fn int64(&self, value: i64) -> Value<'c> {
        self.writer.int(self.writer.spelling.int64, value)
    }

    /// The number of owners.
    fn count(&self, value: Value<'c>) -> Value<'c> {
        self.writer.load(self.writer.spelling.int32, value, 0)
    }

    /// Another owner.
    pub fn retain(&mut self, value: Value<'c>) {
        let int32 = self.writer.spelling.int32;
        let count = self.count(value);
        let minus_one = self.int32(-1);
        let counted = self.writer.compare(Order::More, count, minus_one);
        self.writer.when(counted, None, |w| {
            let more = w.add(int32, count, 1);
            w.store(more, value, 0);
        });
    }

    /// One owner less.
    pub fn release(&mut self, value: Value<'c>, known: Known) {
        let (run, int32) = (self.run, self.writer.spelling.int32);
        let count = self.count(value);
        let left = self.writer.add(int32, count, -1);
        let zero = self.int32(0);
        let (last, after) = (self.writer.build.new_block(&[]), self.writer.build.new_block(&[]));
        let others = self.writer.build.new_block(&[]);
        let more = self.writer.compare(Order::More, left, zero);
        let store = self.writer.build.new_block(&[]);
        self.writer.jump_if(more, store.block(), others.block(), None);
        self.writer.build = store;
        self.writer.store(left, value, 0);
        self.writer.jump(after.block());
        self.writer.build = others;
        let none = self.writer.compare(Order::Equal, left, zero);
        self.writer.jump_if(none, last.block(), after.block(), None);
        self.writer.build = last;
        match known {
            Known::SmallTensor => self.give_back(value),
            Known::Nothing => {
                self.writer.call(Callee::C(FREE_VALUE), &[run, value], None);
            }
        }
        self.writer.jump(after.block());
        self.writer.build = after;
    }

    /// Puts the memory of a value, whose parts have other owners now, into its list.
    pub fn give_back(&mut self, value: Value<'c>) {
        let spelling = self.writer.spelling;
        let class = self.writer.load(spelling.int8, value, CLASS);
        let class = self.writer.build.value("llvm.zext", &[class], spelling.int64, &[]);
        let lists = self.writer.at(self.run, FREE);
        let list = self.writer.at_index(lists, class, spelling.pointer);
        let first = self.writer.load(spelling.pointer, list, 0);
        self.writer.store(first, value, 0);
        self.writer.store(value, list, 0);
        self.count_live(-1);
    }

    fn count_live(&self, change: i64) {
        let int64 = self.writer.spelling.int64;
        let live = self.writer.load(int64, self.run, LIVE);
        let changed = self.writer.add(int64, live, change);
        self.writer.store(changed, self.run, LIVE);
    }

    /// Memory for a value of that many bytes, with its head written.
    pub fn new_value(&mut self, bytes: u64, head: Head) -> Value<'c> {
        let (run, class) = (self.run, class_of(bytes));
        let (pointer, list) = (self.writer.spelling.pointer, FREE + 8 * u64::from(class));
        let first = self.writer.load(pointer, run, list);
        let null = self.writer.build.value("llvm.mlir.zero", &[], pointer, &[]);
        let empty = self.writer.compare(Order::Equal, first, null);
        let class_number = self.int32(class.into());
        self.writer.rarely(empty, |w| {
            w.call(Callee::C(REFILL), &[run, class_number], Some(pointer));
        });
        let value = self.writer.load(pointer, run, list);
        let next = self.writer.load(pointer, value, 0);
        self.writer.store(next, run, list);
        self.count_live(1);
        let first = self.int64(first_word(1, head.tag));
        let second = self.int64(second_word(head.kind, class, head.which, head.parts));
        self.writer.store(first, value, 0);
        self.writer.store(second, value, WORD);
        value
    }

    /// A value that owns others.
    pub fn new_owner(&mut self, head: Head, parts: &[Value<'c>]) -> Value<'c> {
        let value = self.new_value(FIELDS + 8 * parts.len() as u64, head);
        for (i, part) in parts.iter().enumerate() {
            self.writer.store(*part, value, FIELDS + 8 * i as u64);
        }
        value
    }

    /// A function value.
    pub fn new_closure(&mut self, code: Value<'c>, takes: u32, captured: &[Value<'c>]) -> Value<'c> {
        let parts = captured.len() as u32;
        let head = Head { kind: Kind::Closure, tag: takes, which: 0, parts };
        let value = self.new_value(BEHIND_POINTER + 8 * captured.len() as u64, head);
        self.writer.store(code, value, FIELDS);
        for (i, part) in captured.iter().enumerate() {
            self.writer.store(*part, value, BEHIND_POINTER + 8 * i as u64);
        }
        value
    }

    /// A tensor whose elements lie in it and are not written yet.
    pub fn new_tensor(&mut self, layout: TensorLayout, head: Head, extents: &[u64]) -> Value<'c> {
        let value = self.new_value(layout.bytes, head);
        let data = self.writer.at(value, layout.data);
        self.writer.store(data, value, FIELDS);
        for (i, extent) in extents.iter().enumerate() {
            let extent = self.int64(*extent as i64);
            self.writer.store(extent, value, BEHIND_POINTER + 8 * i as u64);
        }
        value
    }

    /// A part, without another owner.
    pub fn part(&self, value: Value<'c>, first: u64, index: u32) -> Value<'c> {
        self.writer.load(self.writer.spelling.pointer, value, first + 8 * u64::from(index))
    }

    /// Parts with owners of their own, and one owner of the whole less: where that was the last, the parts just move.
    ///
    /// `all` says that these are all parts; else that is found out.
    pub fn take_apart(&mut self, value: Value<'c>, first: u64, parts: &[u32], all: bool) -> Vec<Value<'c>> {
        let taken: Vec<Value> = parts.iter().map(|&index| self.part(value, first, index)).collect();
        let one = self.int32(1);
        let count = self.count(value);
        let mut moves = self.writer.compare(Order::Equal, count, one);
        if !all {
            let number = self.writer.load(self.writer.spelling.int32, value, PARTS);
            let expected = self.int32(parts.len() as i64);
            let same = self.writer.compare(Order::Equal, number, expected);
            moves = self.writer.build.value("llvm.and", &[moves, same], self.writer.spelling.boolean, &[]);
        }
        let (moving, sharing) = (self.writer.build.new_block(&[]), self.writer.build.new_block(&[]));
        let after = self.writer.build.new_block(&[]);
        self.writer.jump_if(moves, moving.block(), sharing.block(), None);
        self.writer.build = moving;
        self.give_back(value);
        self.writer.jump(after.block());
        self.writer.build = sharing;
        taken.iter().for_each(|part| self.retain(*part));
        self.release(value, Known::Nothing);
        self.writer.jump(after.block());
        self.writer.build = after;
        taken
    }
}
