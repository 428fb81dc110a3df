//! What the count of cycles says of a convolution before there is a kernel: with data, weight and result in some order of axes.
//!
//! The nest is the one that its definition has (`relay_to_te/definitions/layout.rs`): axes of the result as it lies, steps of the sum in
//! the order of the data. Only the way in which layouts compare is wanted, so padding counts as data.

use super::Contraction;
use crate::auto_schedule::accesses::LANE_BYTES;
use crate::auto_schedule::operands::Operand;
use fusion_dialects::indices::expr::Expr;
use fusion_machine::{Dot4, Machine};
use fusion_operators::Layout;
use fusion_operators::layout::Part;
use fusion_operators::ops::window::Window;

/// How much longer than of floats sums of integers take that are widened and multiplied one by one.
const WIDENED: f64 = 2.0;

/// A convolution of one group: extents by the axes of its value.
pub struct Convolution<'a> {
    /// Of the data, NCHW.
    pub data: [u64; 4],
    /// Of the weight, OIHW.
    pub weight: [u64; 4],
    /// Of the result, NCHW.
    pub result: [u64; 4],
    /// Its windows.
    pub window: &'a Window,
    /// The instruction for its elements, where they are integers of 8 bits and there is one.
    pub dot4: Option<Dot4>,
}

/// An index of an axis of a value; of a split one its parts.
struct At {
    one: Expr,
    parts: Option<(Expr, Expr, u64)>,
}

impl At {
    fn one(one: Expr) -> Self {
        At { one, parts: None }
    }

    fn stored(&self, part: &Part, layout: &Layout) -> Expr {
        let of = part.inner.or(layout.inner(part.axis));
        match (&self.parts, of) {
            (_, None) => self.one.clone(),
            (Some((outer, inner, elements)), Some(of)) if *elements == of => {
                if part.inner.is_some() {
                    inner.clone()
                } else {
                    outer.clone()
                }
            }
            (_, Some(of)) if part.inner.is_some() => self.one.modulo(of as i64),
            (_, Some(of)) => self.one.div(of as i64),
        }
    }
}

/// Variables, one an axis of a nest.
#[derive(Default)]
struct Axes {
    extents: Vec<u64>,
}

impl Axes {
    fn add(&mut self, extent: u64) -> Expr {
        self.extents.push(extent);
        Expr::var(self.extents.len() - 1, extent)
    }

    /// The indices of a value of those extents whose axes are visited in a layout's order; of other axes 0.
    fn of(&mut self, layout: &Layout, extents: [u64; 4], visits: &dyn Fn(&Part) -> bool) -> [At; 4] {
        let mut found: [[Option<Expr>; 2]; 4] = Default::default();
        for part in layout.parts().iter().filter(|p| visits(p)) {
            let extent = part.inner.unwrap_or(extents[part.axis] / layout.inner(part.axis).unwrap_or(1));
            found[part.axis][usize::from(part.inner.is_some())] = Some(self.add(extent));
        }
        let mut axis = 0;
        found.map(|[outer, inner]| {
            let of = layout.inner(axis);
            axis += 1;
            let outer = outer.unwrap_or_default();
            match (inner, of) {
                (Some(inner), Some(of)) => {
                    At { one: outer.times(of as i64).plus(&inner), parts: Some((outer, inner, of)) }
                }
                _ => At::one(outer),
            }
        })
    }
}

impl Convolution<'_> {
    /// Cycles of one core with data, weight and result in those orders; `None` where no tile of the result fits the registers.
    pub fn cycles(&self, machine: &Machine, layouts: [&Layout; 3]) -> Option<f64> {
        match self.as_product() {
            Some(product) => product.count(machine, layouts),
            None => self.count(machine, layouts),
        }
    }

    /// A convolution of single pixels, with all pixels in one row: schedules make one loop of them.
    fn as_product(&self) -> Option<Self> {
        let ([n, c, h, w], [_, f, i, j]) = (self.data, self.result);
        let is_product = self.weight[2..] == [1, 1] && [h, w] == [i, j] && h > 1;
        is_product.then_some(Convolution {
            data: [n, c, 1, h * w],
            weight: self.weight,
            result: [n, f, 1, i * j],
            window: self.window,
            dot4: self.dot4,
        })
    }

    fn count(&self, machine: &Machine, [data, weight, result]: [&Layout; 3]) -> Option<f64> {
        let mut axes = Axes::default();
        let [n, f, i, j] = axes.of(result, self.result, &|_| true);
        let rank = axes.extents.len();
        let extents = [1, self.data[1], self.weight[2], self.weight[3]];
        let [_, c, k, l] = axes.of(data, extents, &|part| part.axis > 0);
        let place = |axis: usize, o: &At, k: &At| {
            let window = &self.window.axes[axis];
            At::one(o.one.times(window.stride as i64).plus(&k.one.times(window.dilation as i64)))
        };
        let read = [
            At::one(n.one.clone()),
            At { one: c.one.clone(), parts: c.parts.clone() },
            place(0, &i, &k),
            place(1, &j, &l),
        ];
        let reach = |axis: usize| {
            let window = &self.window.axes[axis];
            (self.result[2 + axis] - 1) * window.stride + window.span().unwrap_or(1)
        };
        let padded = [self.data[0], self.data[1], reach(0), reach(1)];
        let operand = |layout: &Layout, at: [&At; 4], extents: [u64; 4], input: usize| Operand {
            input: Some(input),
            stage: None,
            reader: 0,
            read: 0,
            shape: layout
                .parts()
                .iter()
                .map(|p| p.inner.unwrap_or(extents[p.axis] / layout.inner(p.axis).unwrap_or(1)))
                .collect(),
            indices: layout.parts().iter().map(|p| at[p.axis].stored(p, layout)).collect(),
            is_fused: false,
        };
        let [x0, x1, x2, x3] = &read;
        let operands = vec![
            operand(data, [x0, x1, x2, x3], padded, 0),
            operand(weight, [&f, &c, &k, &l], self.weight, 1),
        ];
        let steps: Vec<(usize, u64)> = (rank..axes.extents.len())
            .map(|at| (at, axes.extents[at]))
            .rev()
            .filter(|(_, n)| *n > 1)
            .collect();
        let depth = axes.extents[rank..].iter().product();
        axes.extents.truncate(rank);
        if axes.extents.contains(&0) || depth == 0 {
            return None;
        }
        let nest = Contraction {
            operands,
            extents: axes.extents,
            fused: 1,
            groups: None,
            blocks: 1,
            depth,
            steps,
            padding: Vec::new(),
            is_alone: true,
            innermost: None,
            lanes: machine.lanes(LANE_BYTES),
            dot: None,
        };
        let nest = match self.dot4 {
            Some(instruction) => nest.with_dots(instruction, machine, &[false, true]),
            None => nest,
        };
        let widens = self.dot4.is_some() && nest.dot.is_none();
        let cycles = nest.best(machine, &[false, true], &|_| true).map(|(cycles, _)| cycles);
        cycles.map(|cycles| if widens { WIDENED * cycles } else { cycles })
    }
}
