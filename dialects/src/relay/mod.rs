//! The relay dialect: typed functional tensor programs.

mod builder;
pub mod fold;
pub mod verify;

pub use builder::{Builder, constant_value};

crate::operations! {
    /// relay's constants and functional side; operators have rows of facts instead.
    Op {
        Constant = "relay.constant",
        Tuple = "relay.tuple",
        Get = "relay.get",
        Yield = "relay.yield",
        Fn = "relay.fn",
        Apply = "relay.apply",
        If = "relay.if",
        While = "relay.while",
        RefNew = "relay.ref.new",
        RefRead = "relay.ref.read",
        RefWrite = "relay.ref.write",
    }
}

/// True for every operation of the dialect.
pub fn is_relay(kind: crate::rows::Kind) -> bool {
    matches!(kind, crate::rows::Kind::Operator(_) | crate::rows::Kind::Relay(_))
}
