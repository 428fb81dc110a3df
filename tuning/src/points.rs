//! Points of a kernel's space: a set of matches that holds each nest once, and a config of each.

use fusion_operators::random::Random;
use fusion_schedule::auto_schedule::{Choice, KernelSpace, MatchSpace};

/// A point, by places in the space.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    cover: usize,
    configs: Vec<usize>,
}

/// How often a neighbour has another set of matches.
const OTHER_COVER: f64 = 0.1;
/// How often a neighbour has another config altogether.
const OTHER_CONFIG: f64 = 0.2;

/// The points of a space.
pub struct Points<'s> {
    space: &'s KernelSpace,
    /// The places of features: of each match the first one, which says whether it takes part; its knobs come behind.
    places: Vec<usize>,
    features: usize,
}

impl<'s> Points<'s> {
    /// Of a space.
    pub fn of(space: &'s KernelSpace) -> Points<'s> {
        // The first features are the estimate and the width of vectors.
        let mut features = 2;
        let places = space.matches.iter().map(|found| {
            let first = features;
            features += 2 + found.knobs.len();
            first
        });
        let places = places.collect();
        Points { space, places, features }
    }

    /// How many there are.
    pub fn number(&self) -> f64 {
        self.space.points()
    }

    fn matches(&self, point: &Point) -> impl Iterator<Item = (usize, &'s MatchSpace, usize)> {
        let cover = &self.space.covers[point.cover];
        cover.iter().zip(point.configs.clone()).map(|(&at, config)| (at, &self.space.matches[at], config))
    }

    /// The point of least estimate of a cover.
    fn least(&self, cover: usize) -> Point {
        Point { cover, configs: vec![0; self.space.covers[cover].len()] }
    }

    /// The points of least estimate of all covers, the least first.
    pub fn first(&self) -> Vec<Point> {
        (0..self.space.covers.len()).map(|cover| self.least(cover)).collect()
    }

    /// The point that chooses so, if there is one.
    pub fn of_choices(&self, choices: &[Choice]) -> Option<Point> {
        let config = |at: &usize| {
            let found = &self.space.matches[*at];
            let own = choices.iter().find(|choice| found.is_of(choice))?;
            let values: Vec<i64> = own.knobs.iter().map(|(_, value)| *value).collect();
            found.configs.iter().position(|(config, _)| *config == values)
        };
        let of_cover = |(cover, matches): (usize, &Vec<usize>)| {
            let configs = matches.iter().map(config).collect::<Option<_>>()?;
            (matches.len() == choices.len()).then_some(Point { cover, configs })
        };
        self.space.covers.iter().enumerate().find_map(of_cover)
    }

    /// All points, those of the first cover first, each in the order of estimates of its matches.
    pub fn all(&self) -> impl Iterator<Item = Point> + '_ {
        (0..self.space.covers.len()).flat_map(move |cover| {
            let counts: Vec<usize> =
                self.space.covers[cover].iter().map(|&at| self.space.matches[at].configs.len()).collect();
            let number = counts.iter().fold(1usize, |all, n| all.saturating_mul(*n));
            (0..number).map(move |mut at| {
                let configs = counts.iter().map(|n| {
                    let config = at % n;
                    at /= n;
                    config
                });
                Point { cover, configs: configs.collect() }
            })
        })
    }

    /// A point, each as likely as the others of its cover.
    pub fn random(&self, random: &mut Random) -> Point {
        let mut point = self.least(below(random, self.space.covers.len()));
        for (m, &at) in self.space.covers[point.cover].iter().enumerate() {
            point.configs[m] = below(random, self.space.matches[at].configs.len());
        }
        point
    }

    /// A point that differs in one knob; now and then in all of a match, or in the matches.
    pub fn neighbour(&self, point: &Point, random: &mut Random) -> Point {
        if self.space.covers.len() > 1 && random.next_f64() < OTHER_COVER {
            return self.random(random);
        }
        let mut next = point.clone();
        let m = below(random, next.configs.len());
        let Some(&at) = self.space.covers[point.cover].get(m) else { return next };
        let (configs, own) = (&self.space.matches[at].configs, point.configs[m]);
        next.configs[m] = below(random, configs.len());
        if random.next_f64() < OTHER_CONFIG || configs[own].0.is_empty() {
            return next;
        }
        let knob = below(random, configs[own].0.len());
        let differs_there = |other: &usize| {
            let (a, b) = (&configs[own].0, &configs[*other].0);
            (0..a.len()).all(|k| (a[k] == b[k]) == (k != knob))
        };
        let near: Vec<usize> = (0..configs.len()).filter(differs_there).collect();
        if !near.is_empty() {
            next.configs[m] = near[below(random, near.len())];
        }
        next
    }

    /// A point with each match and config from one of two, as far as they have one cover.
    pub fn crossed(&self, a: &Point, b: &Point, random: &mut Random) -> Point {
        let mut child = a.clone();
        if a.cover == b.cover {
            for (own, other) in child.configs.iter_mut().zip(&b.configs) {
                if random.next_u64().is_multiple_of(2) {
                    *own = *other;
                }
            }
        }
        child
    }

    /// What a point chooses.
    pub fn choices(&self, point: &Point) -> Vec<Choice> {
        self.matches(point).map(|(_, found, config)| found.choice(&found.configs[config].0)).collect()
    }

    /// The estimate of a point, in seconds.
    pub fn estimate(&self, point: &Point) -> f64 {
        self.matches(point).map(|(_, found, config)| found.configs[config].1).sum()
    }

    /// What cost models see of a point: the logarithms of its estimate and of the width of vectors, where that is not the target's; then of each match whether it takes part, and of those that do the
    /// logarithms of their estimate and knobs.
    pub fn features(&self, point: &Point) -> Vec<f32> {
        let mut features = vec![-1.0; self.features];
        features[0] = self.estimate(point).ln() as f32;
        let width = self.matches(point).find_map(|(_, found, _)| found.vector_bytes);
        features[1] = width.map_or(0.0, |bytes| bytes as f32).log2().max(0.0);
        for (at, found, config) in self.matches(point) {
            let (config, seconds) = &found.configs[config];
            let first = self.places[at];
            features[first] = 1.0;
            features[first + 1] = seconds.ln() as f32;
            for (feature, value) in features[first + 2..].iter_mut().zip(config) {
                *feature = (1.0 + value.max(&0).to_owned() as f32).log2();
            }
        }
        features
    }

    /// What a point differs from others in: its matches and the values of its knobs.
    pub fn parts(&self, point: &Point) -> Vec<(usize, usize, i64)> {
        let of_match = |(at, found, config): (usize, &MatchSpace, usize)| {
            let config =
                found.configs[config].0.iter().enumerate().map(|(knob, value)| (at, knob + 1, *value));
            std::iter::once((at, 0, 0)).chain(config.collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        self.matches(point).flat_map(of_match).collect()
    }
}

/// A number below another; 0 for none.
pub fn below(random: &mut Random, n: usize) -> usize {
    (random.next_u64() % n.max(1) as u64) as usize
}
