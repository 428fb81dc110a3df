//! What a loop kernel takes, by how many of its steps stand behind each other.
//!
//!     for 100 { x = f(x) }        =>        for 25 { x = f(f(f(f(x)))) }
//!
//!     cycles = blocks * trips * step
//!     step   = max(operations * vectors / multiply_adds + spills, chain * latency, begun / width, decoding)
//!     begun  = operations * vectors + counting / together + moves
//!
//! A block is as many vectors of elements as the schedule lets take turns. Counting goes on beside arithmetic, in other units: it costs
//! where it is what keeps operations from beginning. (Measured on Sapphire Rapids: bodies of two, six and 60 operations take the same
//! time with 1 to 16 steps behind each other.) Steps that stand behind each other need no more registers than one, since each needs what the
//! one before gave; what does not fit in registers is stored and loaded in each step, however they stand. What more steps cost is code
//! ([`code`]): a processor keeps only so many operations decoded, and a block of many takes long to compile. On a GPU a thread is an
//! element, its threads hide the chain, and there are no other units: counting takes the place of operations.

use super::code;
use super::occupancy::Occupancy;
use fusion_machine::Target;
use fusion_relay::loop_kernels::Steps;
use fusion_schedule::auto_schedule::LANE_BYTES;
use fusion_schedule::side_by_side;

/// Operations that counting, comparing and going back take.
const COUNTING: f64 = 3.0;
/// Operations of any kind that begin in a cycle.
const WIDTH: f64 = 4.0;
/// More steps than this find nothing left to save.
const MOST_STEPS: u64 = 16;

/// The rates of what runs a loop in registers.
#[derive(Clone, Copy, Debug)]
pub struct LoopRates {
    clock: f64,
    lanes: f64,
    multiply_adds: f64,
    latency: f64,
    registers: f64,
    loads: f64,
    /// Operations a second of all threads of a GPU; none on a processor.
    threads: Option<f64>,
    occupancy: Occupancy,
}

impl LoopRates {
    /// Those of a target: of one core, or of a whole GPU.
    pub fn of(target: &Target) -> LoopRates {
        LoopRates {
            clock: target.clock(),
            lanes: target.lanes(LANE_BYTES) as f64,
            multiply_adds: target.multiply_adds.max(1) as f64,
            latency: target.latency as f64,
            registers: target.vector_registers as f64,
            loads: target.loads.max(1) as f64,
            threads: target.is_gpu().then(|| target.flops_of(target.cores) / 2.0),
            occupancy: Occupancy::of(target),
        }
    }

    /// Seconds that the loop of a kernel takes with so many steps behind each other: without the call, and what is read and written.
    pub fn seconds(&self, steps: &Steps, together: u64) -> f64 {
        let together = together.clamp(1, steps.trips.max(1));
        let (trips, elements) = (steps.trips as f64, steps.elements as f64);
        let (rounds, rest) = (steps.trips / together, steps.trips % together);
        // A loop of one round is none.
        let iterations: u64 = [rounds, rest].into_iter().filter(|n| *n > 1).sum();
        if let Some(rate) = self.threads {
            let operations = trips * (steps.operations + steps.moved as f64 / together as f64)
                + iterations as f64 * COUNTING;
            return elements * operations / rate / self.occupancy.share(elements, 0.0);
        }
        let in_turns = side_by_side(steps.carried, self.registers as u64) as f64;
        let vectors = in_turns.min((elements / self.lanes).ceil()).max(1.0);
        let blocks = (elements / (self.lanes * vectors)).ceil();
        let pressure = (steps.live as f64 * vectors - self.registers).max(0.0);
        let work = steps.operations * vectors;
        let busy = work / self.multiply_adds + 2.0 * pressure / self.loads;
        let code = work * (together + u64::from(rest > 0)) as f64;
        let decoding = code::fetching(work, code);
        let counting = (COUNTING + steps.moved as f64 * vectors) * iterations as f64 / trips.max(1.0);
        let step = busy.max(steps.chain * self.latency).max((work + counting) / WIDTH).max(decoding);
        blocks * trips * step / self.clock + code::compiling(code)
    }

    /// The numbers of steps that may stand behind each other: divisors of all steps, and powers of two.
    pub fn choices(&self, steps: &Steps) -> Vec<u64> {
        let most = MOST_STEPS.min(steps.trips);
        (1..=most).filter(|n| steps.trips.is_multiple_of(*n) || n.is_power_of_two()).collect()
    }

    /// How many steps stand behind each other: the fewest that are as quick as any, but for a share that is noise of the model.
    pub fn choose(&self, steps: &Steps, noise: f64) -> u64 {
        let priced: Vec<(u64, f64)> =
            self.choices(steps).into_iter().map(|n| (n, self.seconds(steps, n))).collect();
        let least = priced.iter().map(|(_, s)| *s).fold(f64::INFINITY, f64::min);
        priced.iter().find(|(_, s)| *s <= least * (1.0 + noise)).map_or(1, |(n, _)| *n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A core with many units, of which a loop of few operations lets most idle.
    fn wide() -> LoopRates {
        LoopRates::of(&Target { latency: 1, multiply_adds: 4, ..Target::default() })
    }

    fn small() -> Steps {
        Steps { trips: 100, elements: 16, operations: 2.0, chain: 1.0, carried: 1, moved: 0, live: 2 }
    }

    #[test]
    fn counting_costs_where_it_keeps_operations_from_beginning() {
        assert!(wide().choose(&small(), 0.01) > 1);
        // As many units as operations begin in a cycle: with many operations counting is hidden but for a part that is noise.
        let large = Steps { operations: 600.0, chain: 50.0, carried: 4, live: 8, ..small() };
        assert_eq!(wide().choose(&large, 0.01), 1);
        // Two units are what large bodies and small ones wait for.
        let usual = LoopRates::of(&Target::default());
        assert_eq!(usual.choose(&Steps { elements: 4096, ..small() }, 0.01), 1);
    }

    #[test]
    fn a_chain_that_waits_for_itself_hides_counting() {
        let rates = LoopRates::of(&Target::default());
        let chain = Steps { chain: 6.0, operations: 6.0, carried: 8, ..small() };
        assert_eq!(rates.choose(&chain, 0.01), 1);
    }

    #[test]
    fn more_code_than_is_kept_decoded_costs() {
        let steps = Steps { operations: 60.0, chain: 1.0, elements: 4096, ..small() };
        assert!(wide().seconds(&steps, 10) > wide().seconds(&steps, 2));
    }

    #[test]
    fn what_does_not_fit_in_registers_costs_in_each_step() {
        let steps = Steps { operations: 8.0, elements: 4096, ..small() };
        let more = Steps { live: 12, ..steps };
        for together in [1, 4] {
            assert!(wide().seconds(&more, together) > wide().seconds(&steps, together));
        }
    }

    #[test]
    fn on_a_gpu_counting_takes_the_place_of_operations() {
        let mut target = Target::default();
        target.gpu = fusion_machine::Gpu { warp: 32, core_threads: 2048, ..target.gpu };
        let rates = LoopRates::of(&target);
        assert!(rates.choose(&small(), 0.01) > 1);
        let one = Steps { trips: 1, ..small() };
        assert_eq!(rates.choose(&one, 0.01), 1);
    }
}
