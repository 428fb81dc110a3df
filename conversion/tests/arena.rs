//! Properties of the memory planner, on random programs and on shapes of programs that are known.

use fusion_te_to_loop::plan_memory::arena::{ALIGNMENT, Arena, Lifetime, pack};

/// A small generator of numbers (xorshift), so that failures repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn check(buffers: &[Lifetime], arena: &Arena) {
    assert_eq!(arena.offsets.len(), buffers.len());
    assert!(arena.total >= arena.peak, "{} < {}", arena.total, arena.peak);
    let sum: u64 = buffers.iter().map(|b| b.size.next_multiple_of(ALIGNMENT)).sum();
    assert!(arena.total <= sum, "{} is more than {sum}, no sharing at all", arena.total);
    for (i, a) in buffers.iter().enumerate() {
        let from = arena.offsets[i];
        assert_eq!(from % ALIGNMENT, 0);
        assert!(from + a.size <= arena.total);
        for (j, b) in buffers.iter().enumerate().skip(i + 1) {
            let other = arena.offsets[j];
            let apart = from + a.size <= other || other + b.size <= from || a.size == 0 || b.size == 0;
            assert!(apart || !a.meets(b), "{a:?} at {from} and {b:?} at {other} overlap");
        }
    }
}

fn random_program(random: &mut Random) -> Vec<Lifetime> {
    let (count, moments) = (random.below(120), 1 + random.below(200));
    (0..count)
        .map(|_| {
            let first = random.below(moments) as usize;
            let length = if random.below(8) == 0 { moments } else { 4 };
            let size = if random.below(4) == 0 { random.below(100_000) } else { random.below(2_000) };
            Lifetime { size, first, last: first + random.below(length) as usize }
        })
        .collect()
}

#[test]
fn live_buffers_never_overlap() {
    let mut random = Random(fusion_operators::random::seed(0x9e37_79b9_7f4a_7c15));
    let (mut total, mut peak) = (0, 0);
    for _ in 0..2_000 {
        let buffers = random_program(&mut random);
        let arena = pack(&buffers);
        check(&buffers, &arena);
        assert_eq!(arena, pack(&buffers), "the same program gets the same plan");
        (total, peak) = (total + arena.total, peak + arena.peak);
    }
    let ratio = total as f64 / peak as f64;
    println!("2,000 random programs: {ratio:.4} of the lower bound");
    assert!(ratio < 1.05, "the planner wastes memory: {ratio:.4} of the lower bound");
}

#[test]
fn a_chain_needs_two_buffers() {
    let chain: Vec<_> = (0..1_000).map(|i| Lifetime { size: 4096, first: i, last: i + 1 }).collect();
    let arena = pack(&chain);
    check(&chain, &arena);
    assert_eq!((arena.total, arena.peak), (8192, 8192));
}

#[test]
fn nothing_needs_nothing() {
    assert_eq!(pack(&[]), Arena { offsets: vec![], total: 0, peak: 0 });
    let empty = [Lifetime { size: 0, first: 3, last: 9 }; 4];
    assert_eq!(pack(&empty), Arena { offsets: vec![0; 4], total: 0, peak: 0 });
}

#[test]
fn many_buffers_are_packed_near_the_lower_bound() {
    let mut random = Random(7);
    let buffers: Vec<_> = (0..50_000)
        .map(|i| Lifetime { size: 1 + random.below(1 << 20), first: i, last: i + random.below(12) as usize })
        .collect();
    let arena = pack(&buffers);
    let ratio = arena.total as f64 / arena.peak as f64;
    assert!(ratio < 1.25, "{ratio:.4} of the lower bound");
}
