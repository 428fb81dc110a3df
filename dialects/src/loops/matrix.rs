//! Instructions that multiply small matrices: what each takes of a thread, a row each.
//!
//!     D = A * B + C      A m x k, B k x n, C and D m x n in f32, spread over the registers of a warp's threads
//!
//! Which element a thread has in which register is what the declared intrinsics (`te/intrinsics`) say, and what
//! `runtime/gpu/matrix.c` computes with. The numbers are those of the dialect's `Instruction` attribute and of
//! `runtime/gpu/gpu.h`.

use fusion_operators::DType;

/// The family of an instruction: how code for it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// NVIDIA's `mma.sync`.
    Mma,
    /// AMD's matrix cores, CDNA.
    Mfma,
    /// AMD's RDNA.
    Wmma,
    /// NVIDIA's `wgmma.mma_async`, of four warps: A and B are in shared memory.
    Wgmma,
    /// NVIDIA's `tcgen05.mma`: A and B are in shared memory, and the sums of four warps in memory of their own
    /// while nobody reads them.
    TensorMemory,
}

/// What an instruction takes.
#[derive(Debug)]
pub struct Instruction {
    /// What it is called in the dialect.
    pub name: &'static str,
    /// How code for it is made.
    pub family: Family,
    /// Rows of A, columns of B, and columns of A, which are rows of B.
    pub shape: [u64; 3],
    /// The type of elements of A and B in registers: those of tf32 are f32.
    pub dtype: DType,
    /// Threads that do it together.
    pub lanes: u64,
    /// Elements that each has of A, of B and of C; none of what is in shared memory.
    pub elements: [u64; 3],
}

const fn row(
    name: &'static str,
    family: Family,
    shape: [u64; 3],
    dtype: DType,
    lanes: u64,
    elements: [u64; 3],
) -> Instruction {
    Instruction { name, family, shape, dtype, lanes, elements }
}

/// All of them, each at its number.
#[rustfmt::skip]
pub const INSTRUCTIONS: [Instruction; 30] = {
    use DType::{BF16, F16, F32};
    use Family::{Mfma, Mma, TensorMemory, Wgmma, Wmma};
    [
        row("mma_m16n8k16_f16",    Mma,  [16, 8, 16],  F16,  32, [8, 4, 4]),
        row("mma_m16n8k16_bf16",   Mma,  [16, 8, 16],  BF16, 32, [8, 4, 4]),
        row("mma_m16n8k8_tf32",    Mma,  [16, 8, 8],   F32,  32, [4, 2, 4]),
        row("mfma_16x16x16_f16",   Mfma, [16, 16, 16], F16,  64, [4, 4, 4]),
        row("mfma_16x16x16_bf16",  Mfma, [16, 16, 16], BF16, 64, [4, 4, 4]),
        row("mfma_32x32x8_f16",    Mfma, [32, 32, 8],  F16,  64, [4, 4, 16]),
        row("mfma_32x32x8_bf16",   Mfma, [32, 32, 8],  BF16, 64, [4, 4, 16]),
        row("mfma_16x16x4_f32",    Mfma, [16, 16, 4],  F32,  64, [1, 1, 4]),
        row("mfma_32x32x2_f32",    Mfma, [32, 32, 2],  F32,  64, [1, 1, 16]),
        row("wmma_16x16x16_f16",   Wmma, [16, 16, 16], F16,  32, [16, 16, 8]),
        row("wmma_16x16x16_bf16",  Wmma, [16, 16, 16], BF16, 32, [16, 16, 8]),
        row("wgmma_m64n64k64_f16",    Wgmma, [64, 64, 64], F16,  128, [0, 0, 32]),
        row("wgmma_m64n64k64_bf16",   Wgmma, [64, 64, 64], BF16, 128, [0, 0, 32]),
        row("wgmma_m64n128k64_f16",   Wgmma, [64, 128, 64], F16,  128, [0, 0, 64]),
        row("wgmma_m64n128k64_bf16",  Wgmma, [64, 128, 64], BF16, 128, [0, 0, 64]),
        row("wgmma_m64n256k64_f16",   Wgmma, [64, 256, 64], F16,  128, [0, 0, 128]),
        row("wgmma_m64n256k64_bf16",  Wgmma, [64, 256, 64], BF16, 128, [0, 0, 128]),
        row("wgmma_m64n64k32_tf32",   Wgmma, [64, 64, 32],  F32,  128, [0, 0, 32]),
        row("wgmma_m64n128k32_tf32",  Wgmma, [64, 128, 32], F32,  128, [0, 0, 64]),
        row("wgmma_m64n256k32_tf32",  Wgmma, [64, 256, 32], F32,  128, [0, 0, 128]),
        row("wmma_16x16x16_halves_f16",  Wmma, [16, 16, 16], F16,  32, [8, 8, 8]),
        row("wmma_16x16x16_halves_bf16", Wmma, [16, 16, 16], BF16, 32, [8, 8, 8]),
        row("mfma_16x16x32_f16",   Mfma, [16, 16, 32], F16,  64, [8, 8, 4]),
        row("mfma_16x16x32_bf16",  Mfma, [16, 16, 32], BF16, 64, [8, 8, 4]),
        row("mfma_32x32x16_f16",   Mfma, [32, 32, 16], F16,  64, [8, 8, 16]),
        row("mfma_32x32x16_bf16",  Mfma, [32, 32, 16], BF16, 64, [8, 8, 16]),
        row("tcgen05_m128n64k64_f16",    TensorMemory, [128, 64, 64], F16,  128, [0, 0, 64]),
        row("tcgen05_m128n64k64_bf16",   TensorMemory, [128, 64, 64], BF16, 128, [0, 0, 64]),
        row("tcgen05_m128n128k64_f16",   TensorMemory, [128, 128, 64], F16,  128, [0, 0, 128]),
        row("tcgen05_m128n128k64_bf16",  TensorMemory, [128, 128, 64], BF16, 128, [0, 0, 128]),
    ]
};

impl Instruction {
    /// The one of that number.
    pub fn numbered(number: i64) -> Option<&'static Instruction> {
        usize::try_from(number).ok().and_then(|n| INSTRUCTIONS.get(n))
    }

    /// True for those that read A and B from shared memory.
    pub fn reads_shared(&self) -> bool {
        matches!(self.family, Family::Wgmma | Family::TensorMemory)
    }

    /// The types of a thread's registers of A, B and C: elements and their number.
    pub fn registers(&self) -> [(DType, u64); 3] {
        let [a, b, c] = self.elements;
        [(self.dtype, a), (self.dtype, b), (DType::F32, c)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_all_elements_together() {
        for row in &INSTRUCTIONS {
            let ([m, n, k], [a, b, c]) = (row.shape, row.elements);
            // Both halves of a wave have the operands of RDNA 3's, whole rows.
            let copies = match row.family {
                Family::Wmma if a == k => 2,
                Family::Wgmma | Family::TensorMemory => 0,
                Family::Mma | Family::Mfma | Family::Wmma => 1,
            };
            assert_eq!(a * row.lanes, m * k * copies, "A of {}", row.name);
            assert_eq!(b * row.lanes, k * n * copies, "B of {}", row.name);
            assert_eq!(c * row.lanes, m * n, "C of {}", row.name);
        }
    }
}
