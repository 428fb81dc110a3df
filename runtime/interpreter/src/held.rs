//! Tensors that are counted while they are alive.

use fusion_operators::{DType, Tensor};
use std::cell::Cell as Mutable;

thread_local! {
    static LIVE: Mutable<u64> = const { Mutable::new(0) };
}

/// The bytes of all tensors and parts that are alive on this thread.
pub(crate) fn live_bytes() -> u64 {
    LIVE.get()
}

/// Counts bytes that are alive from now on.
pub(crate) fn count(bytes: u64) {
    LIVE.set(LIVE.get() + bytes);
}

/// Counts bytes no longer.
pub(crate) fn discount(bytes: u64) {
    LIVE.set(LIVE.get().saturating_sub(bytes));
}

/// A tensor that is counted while it is alive.
pub struct Held(Tensor);

impl Held {
    /// Counts a tensor from now on.
    pub(crate) fn new(tensor: Tensor) -> Self {
        let held = Held(tensor);
        count(held.bytes());
        held
    }

    fn bytes(&self) -> u64 {
        (self.0.bytes().len() + size_of::<Held>()) as u64
    }

    /// The tensor.
    pub fn into_tensor(mut self) -> Tensor {
        let empty = Tensor::from_f64s(DType::F32, &[0], &[]);
        match empty {
            Ok(empty) => {
                let bytes = self.0.bytes().len() as u64;
                discount(bytes);
                std::mem::replace(&mut self.0, empty)
            }
            Err(_) => self.0.clone(),
        }
    }
}

impl std::ops::Deref for Held {
    type Target = Tensor;
    fn deref(&self) -> &Tensor {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        discount(self.bytes());
    }
}
