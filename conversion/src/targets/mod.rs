//! What each target adds.

pub mod c_interface;
