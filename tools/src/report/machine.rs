//! What a program is compiled for as a roof over what kernels can reach.
//!
//! ```text
//!   roof(kernel) = max(FLOPs / peak, bytes / bandwidth of the nearest memory that holds them)   seconds
//! ```
//!
//! All numbers are those of one core of a processor, or of all cores of a GPU, which share a kernel.

use super::row::Row;
use fusion_machine::{Dot4, Factors, Memory, Target};
use serde::Serialize;

/// The numbers of a target that make its roof.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// What it is called.
    pub name: String,
    /// Operations a second.
    pub peak_flops: f64,
    /// The same by matrix instructions on f16 and bf16, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix_flops: Option<f64>,
    /// The same on f32 whose factors are rounded to tf32.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix_flops_tf32: Option<f64>,
    /// The same on f32.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix_flops_f32: Option<f64>,
    /// The memories, the nearest first.
    pub memories: Vec<Level>,
}

/// A memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// What it is called.
    pub name: &'static str,
    /// Bytes it holds; none for the last, which holds all.
    pub bytes: Option<u64>,
    /// Bytes a second.
    pub bandwidth: f64,
}

impl Machine {
    /// Of a target.
    pub fn of(target: &Target) -> Machine {
        if target.is_gpu() {
            return Machine::of_gpu(target);
        }
        let caches = [("L1", &target.l1), ("L2", &target.l2), ("L3", &target.l3)];
        let caches = caches.into_iter().filter(|(_, memory)| memory.bytes > 0);
        let mut memories: Vec<Level> = caches
            .map(|(name, memory)| Level { name, bytes: Some(memory.bytes), bandwidth: memory.bandwidth })
            .collect();
        memories.push(Level { name: "memory", bytes: None, bandwidth: target.memory.bandwidth });
        Machine {
            name: target.name.clone(),
            peak_flops: target.peak_flops,
            matrix_flops: None,
            matrix_flops_tf32: None,
            matrix_flops_f32: None,
            memories,
        }
    }

    /// Of so many threads of a processor, each on a core of its own, which share the bandwidth of what is beyond their caches.
    pub fn of_threads(target: &Target, threads: u16) -> Machine {
        let threads = f64::from(threads.max(1)).min(target.cores.max(1) as f64);
        let together = |memory: &Memory| Memory {
            bandwidth: (threads * memory.bandwidth).min(memory.bandwidth_all.max(memory.bandwidth)),
            ..*memory
        };
        Machine::of(&Target {
            peak_flops: threads * target.peak_flops,
            l1: together(&target.l1),
            l2: together(&target.l2),
            l3: together(&target.l3),
            memory: together(&target.memory),
            ..target.clone()
        })
    }

    /// Seconds that a kernel takes at least, where it is known what it computes and moves.
    pub fn roof_of(&self, row: &Row) -> Option<f64> {
        let machine = self.with_dots(row.dot4.as_deref().and_then(Dot4::named));
        Some(machine.roof(row.flops? as f64, row.bytes? as f64)).filter(|roof| *roof > 0.0)
    }

    fn of_gpu(target: &Target) -> Machine {
        let (cores, memory) = (target.cores as f64, target.memory.bandwidth_all);
        let shared = Level { name: "L2", bytes: Some(target.l3.bytes), bandwidth: target.l3.bandwidth_all };
        let matrix = |factors| Some(target.gpu.matrix_flops_of(factors) * cores).filter(|flops| *flops > 0.0);
        Machine {
            name: target.name.clone(),
            peak_flops: target.peak_flops * cores,
            matrix_flops: matrix(Factors::Half),
            matrix_flops_tf32: matrix(Factors::Tf32),
            matrix_flops_f32: matrix(Factors::F32),
            memories: vec![shared, Level { name: "memory", bytes: None, bandwidth: memory }],
        }
    }

    /// The same roof where matrix instructions do the arithmetic.
    pub fn with_matrices(&self, factors: Factors) -> Machine {
        let flops = match factors {
            Factors::Half => self.matrix_flops,
            Factors::Tf32 => self.matrix_flops_tf32,
            Factors::F32 => self.matrix_flops_f32,
        };
        Machine { peak_flops: flops.unwrap_or(self.peak_flops), ..self.clone() }
    }

    /// The same roof where an instruction adds four products of bytes at once.
    pub fn with_dots(&self, dot4: Option<Dot4>) -> Machine {
        let times = dot4.map_or(1.0, Dot4::gain);
        Machine { peak_flops: times * self.peak_flops, ..self.clone() }
    }

    /// Seconds that a kernel takes at least.
    pub fn roof(&self, flops: f64, bytes: f64) -> f64 {
        f64::max(flops / self.peak_flops, bytes / self.bandwidth(bytes))
    }

    /// Whether that is the time of its arithmetic, not of its bytes.
    pub fn is_arithmetic(&self, flops: f64, bytes: f64) -> bool {
        flops / self.peak_flops > bytes / self.bandwidth(bytes)
    }

    /// The nearest memory that holds so many bytes.
    pub fn holding(&self, bytes: f64) -> Option<&Level> {
        self.memories.iter().find(|level| level.bytes.is_none_or(|size| bytes <= size as f64))
    }

    fn bandwidth(&self, bytes: f64) -> f64 {
        self.holding(bytes).map_or(f64::INFINITY, |level| level.bandwidth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roof_is_that_of_arithmetic_or_of_memory() {
        let machine = Machine::of(&Target::default());
        assert_eq!(machine.roof(192e9, 0.0), 1.0);
        assert_eq!(machine.roof(1.0, 15e9), 1.0);
        assert_eq!(machine.roof(0.0, 38e3), 38e3 / 120e9);
        assert!(machine.is_arithmetic(192e9, 1.0) && !machine.is_arithmetic(1.0, 15e9));
    }

    #[test]
    fn threads_share_what_all_cores_have() {
        let memory = Memory { bandwidth_all: 40e9, ..Target::default().memory };
        let target = Target { cores: 4, memory, ..Target::default() };
        let roof = |threads, flops, bytes| Machine::of_threads(&target, threads).roof(flops, bytes);
        assert_eq!(roof(1, 192e9, 0.0), 1.0);
        assert_eq!(roof(2, 192e9, 0.0), 0.5);
        // There are no more cores than four, and the memory gives no more than 40 GB/s.
        assert_eq!((roof(8, 192e9, 0.0), roof(4, 0.0, 40e9)), (0.25, 1.0));
    }

    #[test]
    fn the_roof_of_matrix_instructions_is_that_of_what_they_multiply() {
        let gpu = |name: &str| Machine::of(name.parse::<fusion::driver::Target>().unwrap().description());
        let flops = |name: &str, factors| gpu(name).with_matrices(factors).peak_flops;
        let of_half = |name: &str, factors| flops(name, factors) / flops(name, Factors::Half);
        for (name, factors, wanted) in [
            ("nvidia:sm_80", Factors::Tf32, 1.0 / 2.0),
            ("nvidia:sm_90a", Factors::Tf32, 1.0 / 2.0),
            ("amd:gfx90a", Factors::F32, 1.0 / 4.0),
            ("amd:gfx942", Factors::F32, 1.0 / 8.0),
        ] {
            assert!((of_half(name, factors) - wanted).abs() < 1e-2, "{name}: {}", of_half(name, factors));
        }
        // Without such instructions the roof is that of multiply-adds.
        let amd = gpu("amd:gfx1100");
        assert_eq!(amd.with_matrices(Factors::F32).peak_flops, amd.peak_flops);
    }
}
