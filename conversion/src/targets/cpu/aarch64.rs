//! AArch64. Vectors are those of NEON also where there is SVE: loops have vectors of a fixed width.

use super::{Facts, Family};

pub(super) const FAMILY: Family = Family {
    name: "aarch64",
    triple: "aarch64-unknown-linux-gnu",
    with_feature: &[],
    otherwise: Facts { vector_bytes: 16, vector_registers: 32, l1_bytes: 64 << 10, l2_bytes: 512 << 10 },
};
