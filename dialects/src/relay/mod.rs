//! The relay dialect: typed functional tensor programs.

mod builder;
mod data;
pub mod fold;
mod instance;
mod pattern;
pub mod verify;

pub use builder::{Builder, constant_value};
pub use data::{Constructor, DataType};
pub use instance::{Instance, agree, has_hole, join};
pub use pattern::{Pattern, PatternError};

/// The attribute of functions that names their type variables, a list of texts.
pub const TYPE_PARAMS: &str = "relay.type_params";

/// The attribute of a function's arguments and results with their names.
pub const NAME: &str = "relay.name";

/// The unit attribute of a `relay.fn` whose first block argument is the function itself.
pub const RECURSIVE: &str = "relay.recursive";

/// The unit attribute of a `relay.match` that may miss values; it fails at run time then.
pub const PARTIAL: &str = "relay.partial";

crate::operations! {
    /// relay's constants and functional side; operators have rows of facts instead.
    Op {
        Constant = "relay.constant",
        Tuple = "relay.tuple",
        Get = "relay.get",
        Yield = "relay.yield",
        Fn = "relay.fn",
        Apply = "relay.apply",
        Call = "relay.call",
        Global = "relay.global",
        Instantiate = "relay.instantiate",
        Ascribe = "relay.ascribe",
        Data = "relay.data",
        Construct = "relay.construct",
        Match = "relay.match",
        If = "relay.if",
        While = "relay.while",
        RefNew = "relay.ref.new",
        RefRead = "relay.ref.read",
        RefWrite = "relay.ref.write",
    }
}
