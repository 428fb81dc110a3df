//! What was seen of an edge: its elements, or how many of them lie where.

/// Elements, each with how often it was seen, in ascending order where they come from a histogram.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    /// Elements and counts.
    pub points: Vec<(f64, f64)>,
    /// The least and the greatest element.
    pub range: (f64, f64),
}

impl Distribution {
    /// Of elements.
    pub fn of(elements: impl Iterator<Item = f64>) -> Distribution {
        let points: Vec<(f64, f64)> = elements.map(|x| (x, 1.0)).collect();
        let low = points.iter().fold(f64::INFINITY, |low, p| low.min(p.0));
        let high = points.iter().fold(f64::NEG_INFINITY, |high, p| high.max(p.0));
        let range = if points.is_empty() { (0.0, 0.0) } else { (low, high) };
        Distribution { points, range }
    }

    /// Of a histogram over a range: each part counts as its middle, the outermost ones as the ends.
    pub fn of_histogram(range: (f64, f64), counts: &[u64]) -> Distribution {
        let width = (range.1 - range.0) / counts.len().max(1) as f64;
        let middle = |i: usize| match i {
            0 => range.0,
            _ if i + 1 == counts.len() => range.1,
            _ => range.0 + (i as f64 + 0.5) * width,
        };
        let seen = counts.iter().enumerate().filter(|(_, n)| **n > 0);
        Distribution { points: seen.map(|(i, &n)| (middle(i), n as f64)).collect(), range }
    }

    /// The same, counted in so many equal parts of the range; 0 stays 0.
    pub fn in_parts(&self, parts: usize) -> Distribution {
        let (low, high) = self.range;
        let width = (high - low) / parts.max(1) as f64;
        if width <= 0.0 || width.is_nan() {
            return self.clone();
        }
        let mut counts = vec![0.0; parts];
        let mut points = Vec::new();
        for (x, n) in &self.points {
            match *x == 0.0 {
                true => points.push((0.0, *n)),
                false => counts[(((x - low) / width) as usize).min(parts - 1)] += n,
            }
        }
        let seen = counts.iter().enumerate().filter(|(_, n)| **n > 0.0);
        points.extend(seen.map(|(i, n)| (low + (i as f64 + 0.5) * width, *n)));
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Distribution { points, range: self.range }
    }

    /// The largest size of an element.
    pub fn size(&self) -> f64 {
        self.range.1.abs().max(self.range.0.abs())
    }

    /// How many elements there are.
    pub fn count(&self) -> f64 {
        self.points.iter().map(|p| p.1).sum()
    }

    /// The range without elements larger than `size`.
    pub fn clipped(&self, size: f64) -> (f64, f64) {
        (self.range.0.max(-size), self.range.1.min(size))
    }
}
