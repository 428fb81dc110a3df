//! The matrices of Winograd's method by Cook and Toom, at points a_0 .. a_{r-2} and at infinity.
//!
//! ```text
//!   f_i = prod_{k != i} (a_i - a_k)                       and f_0 its absolute value in G and B
//!   A[i, j] = a_i^j                                       [r, tile]; the last row is 0 .. 0 1
//!   G[i, j] = a_i^j / f_i                                 [r, kernel]; the last row is 0 .. 0 1
//!   B[j, i] = the factor of x^j in prod_{k != i} (x - a_k)    [r, r]; of the last column in prod_k (x - a_k)
//! ```
//! The points are those TVM takes, from Barabasz and others, Error analysis and improving the accuracy of Winograd convolution
//! (2018): other points give other transformed weights.

/// A matrix, row by row.
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub elements: Vec<f64>,
}

impl Matrix {
    fn of(rows: usize, columns: usize, element: impl Fn(usize, usize) -> f64) -> Matrix {
        let places = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        Matrix { rows, columns, elements: places.map(|(i, j)| element(i, j)).collect() }
    }

    pub fn transposed(&self) -> Matrix {
        Matrix::of(self.columns, self.rows, |i, j| self.elements[j * self.columns + i])
    }
}

/// The points for each r - 1, from 3 on.
const POINTS: [&[f64]; 11] = [
    &[0.0, -1.0, 1.0],
    &[0.0, -1.0, 1.0, 0.5],
    &[0.0, -1.0, 1.0, 0.5, -2.0],
    &[0.0, -1.0, 1.0, 0.5, -2.0, -0.5],
    &[0.0, -1.0, 1.0, 0.5, -0.5, 2.0, -2.0],
    &[0.0, -1.0, 1.0, 0.5, -0.5, 2.0, -2.0, -0.25],
    &[0.0, -1.0, 1.0, 0.5, -0.5, 2.0, -2.0, -0.25, 4.0],
    &[0.0, -1.0, 1.0, 0.5, -0.5, 2.0, -2.0, -0.25, 0.75, -4.0 / 3.0],
    &[0.0, -1.0, 1.0, 0.5, -0.5, 2.0, -2.0, -0.25, 4.0, 0.75, -4.0 / 3.0],
    &[0.0, -1.0, 1.0, 0.5, -0.5, 2.0, -2.0, -0.25, 4.0, 0.75, -4.0 / 3.0, 0.25],
    &[0.0, -1.0, 1.0, 0.5, -0.5, 2.0, -2.0, -0.25, 4.0, 0.25, -0.75, 4.0 / 3.0, -4.0],
];

/// The matrices for tiles and kernels of some size.
pub struct Matrices {
    points: &'static [f64],
    tile: usize,
    kernel: usize,
}

impl Matrices {
    /// For 2 to 8 results of a tile and 3 to 7 weights, as in TVM.
    pub fn new(tile: i64, kernel: i64) -> Option<Matrices> {
        if !(2..=8).contains(&tile) || !(3..=7).contains(&kernel) {
            return None;
        }
        let points = POINTS[(tile + kernel - 5) as usize];
        Some(Matrices { points, tile: tile as usize, kernel: kernel as usize })
    }

    /// r, how many numbers each is made of.
    pub fn extent(&self) -> usize {
        self.points.len() + 1
    }

    fn factor(&self, i: usize) -> f64 {
        let others = (0..self.points.len()).filter(|k| *k != i);
        others.map(|k| self.points[i] - self.points[k]).product()
    }

    /// The sign by which f_0 becomes positive.
    fn sign(&self, i: usize) -> f64 {
        if i == 0 { self.factor(0).signum() } else { 1.0 }
    }

    /// Powers of the points, each row divided by a number.
    fn powers(&self, columns: usize, divisor: impl Fn(usize) -> f64) -> Matrix {
        let last = self.points.len();
        Matrix::of(self.extent(), columns, |i, j| match i == last {
            true => f64::from(u8::from(j + 1 == columns)),
            false => self.points[i].powi(j as i32) / divisor(i),
        })
    }

    pub fn a(&self) -> Matrix {
        self.powers(self.tile, |_| 1.0)
    }

    pub fn g(&self) -> Matrix {
        self.powers(self.kernel, |i| self.factor(i) * self.sign(i))
    }

    pub fn b(&self) -> Matrix {
        let all = |left_out: usize| {
            let mut polynomial = vec![1.0];
            for (_, point) in self.points.iter().enumerate().filter(|(k, _)| *k != left_out) {
                // Times x - a_k.
                polynomial.insert(0, 0.0);
                (1..polynomial.len()).for_each(|j| polynomial[j - 1] -= point * polynomial[j]);
            }
            polynomial
        };
        let columns: Vec<Vec<f64>> = (0..self.extent()).map(all).collect();
        Matrix::of(self.extent(), self.extent(), |j, i| {
            self.sign(i) * columns[i].get(j).copied().unwrap_or_default()
        })
    }
}
