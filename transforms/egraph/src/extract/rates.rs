//! The rates that kernels are costed with: those of one core, or of a whole GPU.

use super::looped::LoopRates;
use super::occupancy::Occupancy;
use super::registers::Registers;
use super::tiles::Tiles;
use crate::rules::half::PRODUCTS;
use fusion_dialects::module::FpMath;
use fusion_machine::{Dot4, Machine, Target};
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::{Call, DType, FusionKind, TensorType};
use fusion_schedule::auto_schedule::LANE_BYTES;
use fusion_schedule::intrinsics;

/// Rates of a target.
#[derive(Clone, Debug)]
pub struct Rates {
    /// Floating-point operations a second of a contraction.
    flops: f64,
    /// Those by matrix instructions, for the types of elements that there are some for.
    matrix: Vec<(DType, f64)>,
    /// Operations a second of elementwise code; a transcendental function counts as ten.
    pub operations: f64,
    /// The share of an operation that a sum of floats is.
    pub sums: f64,
    /// The memories, the nearest first: their bytes, and the bytes a second that come from each.
    memories: Vec<(f64, f64)>,
    /// How many elements of four bytes a product stores together; none where its results can be stored in no other order than their own.
    pub stored_together: Option<u64>,
    /// Seconds that calling a kernel takes.
    pub call: f64,
    /// How much of them kernels reach.
    pub occupancy: Occupancy,
    /// How much of that of contractions these reach.
    tiles: Tiles,
    /// Those of what runs a loop in registers.
    pub loops: LoopRates,
    /// What holds values between operators; none for GPUs.
    pub registers: Option<Registers>,
    /// What schedules count cycles with; none for GPUs.
    pub core: Option<Machine>,
    /// Which forms may be counted with.
    pub fp_math: FpMath,
}

/// The share of the peak that contractions reach.
const CONTRACTION: f64 = 0.85;
/// The share that those by matrix instructions do, whose operands take a way through shared memory.
const MATRIX: f64 = 0.5;

/// How many times as long as one of f32 a product takes that converts its operands in its tile (docs/explanation/quantization.md has the
/// measurement): a bf16 becomes f32 by a shift, an f16 by two operations.
const CONVERTED: [(DType, f64); 2] = [(DType::F16, 3.3), (DType::BF16, 1.8)];

/// True for integers of 8 bits alone.
pub fn are_bytes<'a>(types: impl IntoIterator<Item = &'a TensorType>) -> bool {
    types.into_iter().all(|ty| matches!(ty.dtype, DType::I8 | DType::U8))
}

impl Default for Rates {
    fn default() -> Self {
        Rates::of(&Target::default())
    }
}

impl Rates {
    /// The rates of a target.
    pub fn of(target: &Target) -> Self {
        if target.is_gpu() {
            return Rates::of_gpu(target);
        }
        let core = Machine::of(target, 0);
        let memories = core.memories.into_iter().filter(|(bytes, _)| *bytes > 0.0).collect();
        Rates {
            flops: CONTRACTION * target.peak_flops,
            matrix: Vec::new(),
            // A vector operation each cycle, where a multiply-add counts as two and several begin in one: on Zen 4 sigmoids, of ten operations, took 8 cycles a
            // vector behind a product, tanh 15.
            operations: target.peak_flops / (2 * target.multiply_adds.max(1)) as f64,
            sums: 1.0,
            memories,
            stored_together: Some(target.lanes(LANE_BYTES)),
            call: target.kernel_call,
            occupancy: Occupancy::default(),
            tiles: Tiles::default(),
            loops: LoopRates::of(target),
            registers: Registers::of(target),
            core: Some(core),
            fp_math: FpMath::default(),
        }
    }

    /// The rates of all cores together: no kernel of a GPU runs on one. What one kernel leaves for the next is in the cache that
    /// all share, or in memory.
    fn of_gpu(target: &Target) -> Self {
        let peak = target.flops_of(target.cores);
        let memories = vec![
            (target.l3.bytes as f64, target.l3.bandwidth_all),
            (f64::INFINITY, target.memory.bandwidth_all),
        ];
        let flops = |factors| MATRIX * target.matrix_flops_of(factors) * target.cores as f64;
        let elements = intrinsics::elements(target).into_iter();
        Rates {
            flops: CONTRACTION * peak,
            matrix: elements.map(|(dtype, factors)| (dtype, flops(factors))).collect(),
            operations: peak / 2.0,
            sums: 1.0,
            memories,
            // Tiles of matrix instructions are stored by rows.
            stored_together: None,
            call: target.kernel_call,
            occupancy: Occupancy::of(target),
            tiles: Tiles::of(target),
            loops: LoopRates::of(target),
            registers: None,
            core: None,
            fp_math: FpMath::default(),
        }
    }

    /// The same for programs of such an arithmetic.
    pub fn with(self, fp_math: FpMath) -> Rates {
        Rates { fp_math, ..self }
    }

    /// Those of what stays in registers: memory and calls take no time, and a sum is half an operation, as it is part of a multiply-add or done
    /// by another unit.
    pub fn in_registers(&self) -> Rates {
        let memories = vec![(f64::INFINITY, f64::INFINITY)];
        Rates { memories, call: 0.0, registers: None, sums: 0.5, ..self.clone() }
    }

    /// Floating-point operations a second of a contraction of tensors of those types, which takes that many for so many results.
    pub fn contraction(&self, operands: &[TensorType], operations: f64, results: f64) -> f64 {
        let of = |t: &TensorType| {
            let rates = self.matrix.iter().filter(|(dtype, _)| *dtype == t.dtype).map(|(_, rate)| *rate);
            rates.fold(self.flops, f64::max)
        };
        let rate = operands.iter().map(of).reduce(f64::min).unwrap_or(self.flops);
        let rate = rate * self.dots(operands);
        let bytes = operands.first().map_or(LANE_BYTES as usize, |t| t.dtype.size()) as f64;
        let depth = operations / (2.0 * results.max(1.0));
        rate * self.tiles.share((results, depth), (rate, bytes))
    }

    /// The instruction that adds four products of a call at once. Channels of a plain convolution lie apart.
    pub fn dot4_of(&self, call: &Call) -> Option<Dot4> {
        let is_product = call.op.fusion == FusionKind::Contraction && !call.op.is(&CONV2D);
        self.core?.dot4.filter(|_| is_product && call.operands.len() == 2 && are_bytes(call.operands))
    }

    /// How many times as fast as in floats products of operands of those types are, by instructions that add four of 8 bits.
    fn dots(&self, operands: &[TensorType]) -> f64 {
        let dot4 = self.core.and_then(|core| core.dot4);
        dot4.filter(|_| operands.len() == 2 && are_bytes(operands)).map_or(1.0, Dot4::gain)
    }

    /// How many times as long as one of f32 a product takes whose operands a processor converts as they are read.
    pub fn conversions(&self, call: &Call) -> f64 {
        let dtype = call.operands.first().filter(|_| self.core.is_some()).map(|ty| ty.dtype);
        let times = CONVERTED.iter().find(|(own, _)| Some(*own) == dtype).map(|(_, times)| *times);
        times.filter(|_| PRODUCTS.iter().any(|o| call.op.is(o))).unwrap_or(1.0)
    }

    /// The same of f32 without matrix instructions.
    pub fn of_contractions(&self) -> f64 {
        self.flops
    }

    /// The memories, the nearest first: their bytes, and the bytes a second that come from each.
    pub(super) fn memories(&self) -> &[(f64, f64)] {
        &self.memories
    }

    /// Seconds that so many bytes take that a kernel keeps beside what it works on: in a core's second cache.
    pub fn beside(&self, bytes: f64) -> f64 {
        self.memories.get(1).map_or(0.0, |(_, rate)| bytes / rate)
    }

    /// Seconds that reading or writing a tensor takes where nothing hides it: at the rate of the second cache where that holds twice as much, or
    /// of the memory behind all caches.
    pub fn apart(&self, bytes: f64) -> f64 {
        let held = self.memories.get(1).filter(|(size, _)| 2.0 * bytes <= *size);
        held.or(self.memories.last()).map_or(0.0, |(_, rate)| bytes / rate)
    }

    /// Seconds that reading or writing a tensor takes: at the rate of the memory that holds twice as much.
    pub fn moving(&self, bytes: f64) -> f64 {
        self.moving_part(bytes, bytes)
    }

    /// Seconds that reading so many bytes of a tensor takes: a piece lies where all of it does.
    pub fn moving_part(&self, bytes: f64, part: f64) -> f64 {
        let memory = self.memories.iter().find(|(size, _)| 2.0 * bytes <= *size);
        memory.map_or(0.0, |(_, rate)| part.min(bytes) / rate)
    }
}
