//! x86-64 from SSE2 to AVX-512.

use super::{Described, Family};

pub(super) const FAMILY: Family = Family {
    name: "x86_64",
    triple: "x86_64-unknown-linux-gnu",
    described: &[
        Described { feature: None, text: include_str!("descriptions/znver5.toml") },
        Described { feature: None, text: include_str!("descriptions/znver4.toml") },
        Described { feature: Some("amx-bf16"), text: include_str!("descriptions/sapphirerapids.toml") },
        Described { feature: Some("avx512f"), text: include_str!("descriptions/x86-64-v4.toml") },
        Described { feature: Some("avx"), text: include_str!("descriptions/x86-64-v3.toml") },
        Described { feature: Some("sse2"), text: include_str!("descriptions/x86-64.toml") },
    ],
};
