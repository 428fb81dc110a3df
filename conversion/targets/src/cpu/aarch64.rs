//! AArch64. Vectors are those of NEON also where there is SVE: loops have vectors of a fixed width.

use super::{Described, Family};

pub(super) const FAMILY: Family = Family {
    name: "aarch64",
    triple: "aarch64-unknown-linux-gnu",
    described: &[Described { feature: Some("neon"), text: include_str!("descriptions/neoverse-n1.toml") }],
};
