//! What a program needs to bring passes, rewrite rules and targets of its own.
//!
//! A pass is a type with [`Pass`]; [`Compiler::pass`](crate::Compiler::pass) has it run on each model. It sees the dialect relay, before
//! kernels are chosen. A rule is an equation, which [`Compiler::rule`](crate::Compiler::rule) adds to a family. A processor is a file of
//! facts, which [`Target::from_file`](crate::Target::from_file) reads. A code generator compiles functions that `relay-partition-graph` made for
//! it ([`add_code_generator`]).

pub use crate::external::{Generate, add as add_code_generator};
pub use fusion_dialects::rows::Kind;
pub use fusion_dialects::{
    Attribute, Op, OpExt, OptionSpec, Pass, PassError, RunContext, StatisticSpec, Value, int_attr, kind_of,
    nested_ops, register, str_attr, tensor_type,
};
pub use fusion_egraph::rule::{Match, Rule, rule};
pub use fusion_egraph::rules::{Family, add as add_rule};
pub use fusion_machine::Target as Description;
