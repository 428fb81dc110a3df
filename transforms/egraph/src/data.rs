//! What is known of a class.

use super::contents::Contents;
use super::language::{Attributes, Constant};
use super::numbers::sample::Sample;
use super::orders::Orders;
use egg::Id;
use fusion_operators::{FusionKind, TensorType};

/// What is known of a class.
#[derive(Clone, Debug)]
pub struct Data {
    /// Of a value: the types of what it gives, one but for calls of several results. Empty for attributes.
    pub types: Vec<TensorType>,
    /// Of attributes: them.
    pub attrs: Option<Attributes>,
    /// The constant it is known to be.
    pub constant: Option<Constant>,
    /// True when it is computed of constants alone, and so when compiling.
    pub is_constant: bool,
    /// How many constants of the source take part in it, of a constant.
    pub parts: u32,
    /// What it is on a few samples of the inputs.
    pub sample: Option<Sample>,
    /// True when its roundings are those of the source, as a number is rounded to an integer that is computed of it.
    pub keeps_roundings: bool,
    /// What is known of its elements.
    pub contents: Contents,
    /// The orders in which it is to be had, of an image.
    pub orders: Orders,
    /// How the freest of its calls fuses; none where it has no call.
    pub kind: Option<FusionKind>,
    /// The place in the block from which on it can be computed.
    pub place: u32,
    /// The operations of the source it stands for, by their numbers; the first few.
    pub origins: Vec<u32>,
    /// The oldest of its classes: what was added first.
    pub oldest: Id,
}
