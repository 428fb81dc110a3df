//! Values of the sort that an instruction takes, or the message that says what was found.

use super::{State, Step};
use crate::vm::heap::{Handle, Kind, Sort};
use crate::vm::tensors::Slot;
use fusion_operators::DType;

impl State {
    pub(super) fn tensor(&self, value: Handle) -> Step<Slot> {
        match value.sort() {
            Sort::Tensor(slot) => Ok(slot),
            _ => Err(self.no_tensor(value)),
        }
    }

    #[inline]
    pub(super) fn truth(&self, value: Handle) -> Step<bool> {
        if let Sort::Tensor(slot) = value.sort()
            && let ty = self.heap.tensors.type_of(slot)
            && ty.dtype == DType::Bool
            && let [byte] = self.heap.tensors.bytes(slot)
        {
            return Ok(*byte != 0);
        }
        Err(format!("a condition is a tensor<i1>, found {}", self.what(value)))
    }

    #[inline]
    pub(super) fn data_tag(&self, value: Handle) -> Step<u32> {
        match value.sort() {
            Sort::Node(place) if self.heap.kind(place) == Kind::Data => Ok(self.heap.tag(place)),
            _ => {
                Err(format!("a value of a data type was expected to be matched, found {}", self.what(value)))
            }
        }
    }

    pub(super) fn cell(&self, value: Handle) -> Step<u32> {
        match value.sort() {
            Sort::Node(place) if self.heap.kind(place) == Kind::Cell => Ok(place),
            _ => Err(format!("a reference was expected, found {}", self.what(value))),
        }
    }

    #[cold]
    pub(super) fn no_tensor(&self, value: Handle) -> String {
        format!("a tensor was expected, found {}", self.what(value))
    }

    #[cold]
    pub(super) fn no_field(&self, value: Handle, index: u32) -> String {
        format!("field {index} of {} was asked for, which it does not have", self.what(value))
    }

    /// What a message calls a value.
    #[cold]
    pub(super) fn what(&self, value: Handle) -> String {
        match value.sort() {
            Sort::Nothing => "nothing".to_owned(),
            Sort::Tensor(slot) => format!("a {}", self.heap.tensors.type_of(slot)),
            Sort::Node(place) => match self.heap.kind(place) {
                Kind::Tuple => format!("a tuple of {}", self.heap.fields(place)),
                Kind::Data => format!("a value of a data type with {} fields", self.heap.fields(place)),
                Kind::Closure => "a function".to_owned(),
                Kind::Cell => "a reference".to_owned(),
            },
        }
    }
}
