//! Passes and data structures of te: index expressions, schedules, default schedules.

pub mod auto_schedule;
pub mod expr;
pub mod indices;
pub mod schedule;
pub mod threads;
