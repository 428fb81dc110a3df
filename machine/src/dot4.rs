//! Instructions that add four products of integers of 8 bits to each 32-bit lane.
//!
//!     c[i] += a[4 i] b[4 i] + a[4 i + 1] b[4 i + 1] + a[4 i + 2] b[4 i + 2] + a[4 i + 3] b[4 i + 3]
//!
//! Each is exact: `vpmaddubsw`, whose sums of two products saturate at 16 bits, is none of them.

/// Such an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dot4 {
    /// Of unsigned by signed numbers: AVX512-VNNI and AVX-VNNI.
    Vpdpbusd,
    /// Of numbers widened to 16 bits, two products at a time: SSE2, AVX2 and AVX512BW.
    Vpmaddwd,
    /// Of signed by signed numbers: AArch64's dot products.
    Sdot,
}

/// What is known of one.
pub struct Dot4Facts {
    /// The instruction.
    pub dot: Dot4,
    /// What descriptions of targets call it.
    pub name: &'static str,
    /// Processors with all features of one of these lists have it, for vectors of so many bytes.
    pub features: &'static [(u64, &'static [&'static str])],
    /// Multiply-adds that one takes as long as, with what it needs besides.
    pub multiply_adds: u64,
}

/// Products that each of them adds to a lane.
pub const TOGETHER: u64 = 4;

/// All of them, the best one first.
pub const DOT4: [Dot4Facts; 3] = [
    Dot4Facts {
        dot: Dot4::Vpdpbusd,
        name: "vpdpbusd",
        features: &[(64, &["avx512vnni"]), (32, &["avx512vnni", "avx512vl"]), (32, &["avxvnni"])],
        multiply_adds: 1,
    },
    Dot4Facts { dot: Dot4::Sdot, name: "sdot", features: &[(16, &["dotprod"])], multiply_adds: 1 },
    Dot4Facts {
        dot: Dot4::Vpmaddwd,
        name: "vpmaddwd",
        features: &[(64, &["avx512bw"]), (32, &["avx2"]), (16, &["sse2"])],
        multiply_adds: 2,
    },
];

impl Dot4 {
    /// How many times as fast as multiply-adds of f32 products are by it.
    pub fn gain(self) -> f64 {
        TOGETHER as f64 / self.facts().multiply_adds as f64
    }

    /// The facts of it.
    pub fn facts(self) -> &'static Dot4Facts {
        DOT4.iter().find(|facts| facts.dot == self).unwrap_or(&DOT4[0])
    }

    /// The one that descriptions call so.
    pub fn named(name: &str) -> Option<Dot4> {
        DOT4.iter().find(|facts| facts.name == name).map(|facts| facts.dot)
    }

    /// Whether a processor of those features has it, for vectors of so many bytes.
    pub fn is_of(self, vector_bytes: u64, has: &dyn Fn(&str) -> bool) -> bool {
        let lists = self.facts().features.iter().filter(|(bytes, _)| *bytes == vector_bytes);
        lists.map(|(_, features)| features).any(|features| features.iter().all(|f| has(f)))
    }

    /// The best one of a processor of those features, for vectors of so many bytes.
    pub fn of_features(vector_bytes: u64, has: &dyn Fn(&str) -> bool) -> Option<Dot4> {
        DOT4.iter().map(|facts| facts.dot).find(|dot| dot.is_of(vector_bytes, has))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_one_of_the_features_is_taken() {
        let of = |bytes, features: &[&str]| Dot4::of_features(bytes, &|f| features.contains(&f));
        assert_eq!(of(64, &["sse2", "avx512bw", "avx512vnni"]), Some(Dot4::Vpdpbusd));
        assert_eq!(of(64, &["sse2", "avx512bw"]), Some(Dot4::Vpmaddwd));
        assert_eq!(of(32, &["avx2", "avx512vnni"]), Some(Dot4::Vpmaddwd));
        assert_eq!(of(32, &["avx2", "avxvnni"]), Some(Dot4::Vpdpbusd));
        assert_eq!(of(16, &["neon"]), None);
    }

    #[test]
    fn each_is_found_by_its_name() {
        for facts in &DOT4 {
            assert_eq!(Dot4::named(facts.name), Some(facts.dot));
            assert_eq!(facts.dot.facts().name, facts.name);
        }
        assert_eq!(Dot4::named("vpmaddubsw"), None);
    }
}
