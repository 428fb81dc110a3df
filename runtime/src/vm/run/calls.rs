//! Calls: frames and registers for them, and closures taken apart into arguments.

use super::{Frame, State, Step};
use crate::vm::Limits;
use crate::vm::code::{Code, List};
use crate::vm::heap::{Handle, Kind, Sort};
use crate::vm::tensors::NoMemory;
use fusion_bytecode::Register;

impl State {
    /// Notes where to go on after a call.
    #[inline]
    pub(super) fn push(&mut self, limits: Limits, to: Register) -> Step<()> {
        if self.frames.len() >= limits.depth {
            return Err(format!(
                "the recursion is deeper than {} calls; write it with a tail call, or allow more",
                limits.depth
            ));
        }
        self.frames.push(Frame { at: self.at as u32, base: self.base as u32, size: self.size as u32, to });
        Ok(())
    }

    /// Makes room for the registers of a function, from a place on.
    #[inline]
    pub(super) fn enter(&mut self, code: &Code, limits: Limits, function: u32, base: usize) -> Step<()> {
        let size = code.functions[function as usize].registers as usize;
        if self.registers.len() < base + size {
            self.grow(limits, base + size)?;
        }
        (self.base, self.size) = (base, size);
        Ok(())
    }

    #[cold]
    fn grow(&mut self, limits: Limits, size: usize) -> Step<()> {
        let (held, more) =
            (self.registers.len() * size_of::<Handle>(), size.saturating_sub(self.registers.len()));
        let fits = size * size_of::<Handle>() <= limits.bytes && size <= u32::MAX as usize;
        if !fits || self.registers.try_reserve(more).is_err() {
            let (bytes, most) = (more * size_of::<Handle>(), limits.bytes);
            let error = NoMemory::Bytes { bytes, held, most };
            return Err(format!("the recursion is too deep: {error}"));
        }
        self.registers.resize(size, Handle::NOTHING);
        Ok(())
    }

    /// Puts the list of values into the first registers; gives where the function starts.
    #[inline]
    pub(super) fn arrive(&mut self, code: &Code, function: u32) -> usize {
        self.registers[self.base..self.base + self.values.len()].copy_from_slice(&self.values);
        self.values.clear();
        code.functions[function as usize].start as usize
    }

    /// Takes a closure and arguments into the list of values; gives the closure's function.
    pub(super) fn open(&mut self, code: &Code, closure: Register, list: List) -> Step<u32> {
        let value = self.get(closure);
        let place = match value.sort() {
            Sort::Node(place) if self.heap.kind(place) == Kind::Closure => place,
            _ => return Err(format!("a function was expected to be called, found {}", self.what(value))),
        };
        let (function, bound) = (self.heap.tag(place), self.heap.fields(place));
        let takes = code.functions[function as usize].parameters as usize;
        let arguments = code.list(list);
        if bound + arguments.len() != takes {
            return Err(format!(
                "a function that takes {} arguments is called with {}",
                takes.saturating_sub(bound),
                arguments.len()
            ));
        }
        self.take(closure);
        self.values.clear();
        for index in 0..bound {
            let value = self.heap.field(place, index).unwrap_or_default();
            self.heap.retain(value);
            self.values.push(value);
        }
        for &register in arguments {
            let value = std::mem::take(&mut self.registers[self.base + register as usize]);
            self.values.push(value);
        }
        self.heap.release(value);
        Ok(function)
    }
}
