//! Passes and data structures of te: index expressions, schedules, default schedules.

pub mod auto_schedule;
pub mod intrinsics;
pub mod layout;
pub mod merge;
pub mod pack_arguments;
pub mod schedule;
pub mod threads;

pub use auto_schedule::side_by_side;
