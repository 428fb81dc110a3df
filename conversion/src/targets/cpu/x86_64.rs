//! x86-64 from SSE2 to AVX-512. The caches are those of the smaller cores of each generation.

use super::{Facts, Family};

pub(super) const FAMILY: Family = Family {
    name: "x86_64",
    triple: "x86_64-unknown-linux-gnu",
    with_feature: &[
        ("avx512f", Facts { vector_bytes: 64, vector_registers: 32, l1_bytes: 32 << 10, l2_bytes: 1 << 20 }),
        ("avx", Facts { vector_bytes: 32, vector_registers: 16, l1_bytes: 32 << 10, l2_bytes: 256 << 10 }),
    ],
    otherwise: Facts { vector_bytes: 16, vector_registers: 16, l1_bytes: 32 << 10, l2_bytes: 256 << 10 },
};
