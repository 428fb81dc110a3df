//! Loading, transposing and storing a rectangle: rows in memory, columns in registers. Short rows that lie one behind the other are one vector:
//! columns are interleaved, `a0 b0 c0 d0 a1 b1 ..`.

use super::group::Group;
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::{
    Affine, Build, Op, OpExt, Type, Value, ValueLike, affine_map_attr, dtype_of, index_type, ints_attr,
    vector_parts, vector_type,
};

/// Replaces strided loads.
pub fn load(group: &Group) {
    let first = group.accesses[0];
    let Some(place) = earliest(&group.accesses) else { return };
    let build = Build::before(place);
    let buffer = first.operand_values()[0];
    let column = first.result_values()[0].r#type();
    let rectangle = Rectangle::of(group, column, build, buffer, base(&build, group, place, 1));
    let rows: Vec<Option<Value>> = (0..group.lanes).map(|row| Some(rectangle.load_row(row))).collect();
    let columns = rectangle.transpose(rows);
    for (access, value) in group.accesses.iter().zip(columns) {
        if let Some(value) = value {
            access.replace_all_uses(&[rectangle.narrow(value, group.lanes)]);
        }
    }
    // Only now: one of them is the place that is built at.
    for access in &group.accesses {
        access.erase();
    }
}

/// The longest vector that columns are interleaved to, in bytes.
const MOST_INTERLEAVED: u64 = 64;

/// Replaces strided stores.
pub fn store(group: &Group) {
    let first = group.accesses[0];
    let Some(place) = latest(&group.accesses) else { return };
    let build = Build::before(place);
    let operands = first.operand_values();
    if is_interleaved(group, operands[0].r#type()) {
        let columns: Vec<Value> = group.accesses.iter().map(|a| a.operand_values()[0]).collect();
        let whole = interleaved(&build, &columns);
        build.op(Loop::Store.name(), &[whole, operands[1], base(&build, group, place, 2)], &[], &[]);
    } else {
        let rectangle =
            Rectangle::of(group, operands[0].r#type(), build, operands[1], base(&build, group, place, 2));
        let columns = group.accesses.iter().map(|a| Some(rectangle.widen(a.operand_values()[0]))).collect();
        for (row, value) in rectangle.transpose(columns).into_iter().take(group.lanes as usize).enumerate() {
            if let Some(value) = value {
                rectangle.store_row(row as u64, value);
            }
        }
    }
    for access in &group.accesses {
        access.erase();
    }
}

/// Whether rows are as long as they are apart, and all of them together no longer than a vector.
fn is_interleaved(group: &Group, column: Type) -> bool {
    let (width, element) = (group.accesses.len() as u64, vector_parts(column).map(|(element, _)| element));
    let bytes = element.and_then(dtype_of).map_or(u64::MAX, |dtype| dtype.size() as u64);
    let whole = bytes.saturating_mul(width * group.lanes);
    group.stride == width as i64 && width.is_power_of_two() && whole <= MOST_INTERLEAVED
}

/// The first elements of all columns, then the second ones: columns half of all apart are interleaved first.
fn interleaved<'c>(build: &Build<'c>, columns: &[Value<'c>]) -> Value<'c> {
    let &[one] = columns else {
        let parts: Vec<Value> = [0, 1]
            .map(|odd| columns.iter().skip(odd).step_by(2).copied().collect::<Vec<_>>())
            .iter()
            .map(|columns| interleaved(build, columns))
            .collect();
        let (element, lanes) = vector_parts(parts[0].r#type()).unwrap_or((parts[0].r#type(), 1));
        let places: Vec<i64> = (0..lanes as i64).flat_map(|lane| [lane, lane + lanes as i64]).collect();
        let mask = [("mask", ints_attr(build.context(), &places))];
        return build.value("vector.shuffle", &parts, vector_type(element, 2 * lanes), &mask);
    };
    one
}

/// The access that comes first in the block.
fn earliest<'c>(accesses: &[Op<'c>]) -> Option<Op<'c>> {
    accesses.iter().copied().min_by_key(|a| position(*a))
}

fn latest<'c>(accesses: &[Op<'c>]) -> Option<Op<'c>> {
    accesses.iter().copied().max_by_key(|a| position(*a))
}

fn position(op: Op) -> usize {
    let block = fusion_dialects::OperationLike::block(&op);
    let ops = block.map(fusion_dialects::ops_in).unwrap_or_default();
    ops.iter().position(|o| fusion_dialects::op_key(*o) == fusion_dialects::op_key(op)).unwrap_or(0)
}

/// The index of the first row, in terms of one that is known at the place.
fn base<'c>(build: &Build<'c>, group: &Group<'c>, place: Op<'c>, index_at: usize) -> Value<'c> {
    let is_place = |a: &Op| fusion_dialects::op_key(*a) == fusion_dialects::op_key(place);
    let behind = group.accesses.iter().position(is_place).unwrap_or(0) as i64;
    shifted(build, place.operand_values()[index_at], -behind)
}

fn shifted<'c>(build: &Build<'c>, index: Value<'c>, by: i64) -> Value<'c> {
    if by == 0 {
        return index;
    }
    let sum = Affine::Add(Box::new(Affine::Input(0)), Box::new(Affine::Constant(by)));
    let map = affine_map_attr(build.context(), 1, &sum);
    build.value("affine.apply", &[index], index_type(build.context()), &[("map", map)])
}

/// A rectangle of a buffer: `lanes` rows of as many elements as there are accesses.
struct Rectangle<'c> {
    build: Build<'c>,
    element: Type<'c>,
    buffer: Value<'c>,
    base: Value<'c>,
    stride: i64,
    /// Elements of a row in memory.
    width: u64,
    /// Lanes of the registers that are transposed: a power of two.
    lanes: u64,
}

impl<'c> Rectangle<'c> {
    fn of(group: &Group<'c>, vector: Type<'c>, build: Build<'c>, buffer: Value<'c>, base: Value<'c>) -> Self {
        let element = vector_parts(vector).map_or(vector, |(element, _)| element);
        let width = group.accesses.len() as u64;
        let lanes = width.max(group.lanes).next_power_of_two();
        Rectangle { build, element, buffer, base, stride: group.stride, width, lanes }
    }

    /// The pieces a row is accessed in: lengths that are powers of two, the last overlapping the one before.
    fn pieces(&self) -> Vec<(u64, u64)> {
        let piece =
            if self.width.is_power_of_two() { self.width } else { self.width.next_power_of_two() / 2 };
        if piece == self.width { vec![(0, piece)] } else { vec![(0, piece), (self.width - piece, piece)] }
    }

    fn load_row(&self, row: u64) -> Value<'c> {
        let at = shifted(&self.build, self.base, row as i64 * self.stride);
        let pieces = self.pieces().into_iter().map(|(from, length)| {
            let ty = vector_type(self.element, length);
            let index = shifted(&self.build, at, from as i64);
            (from, self.build.value(Loop::Load.name(), &[self.buffer, index], ty, &[]))
        });
        let pieces: Vec<(u64, Value)> = pieces.collect();
        let (first, second) = (pieces[0], pieces.last().copied().unwrap_or(pieces[0]));
        let length = vector_parts(first.1.r#type()).map_or(0, |(_, n)| n);
        let lane = |l: u64| match l {
            l if l < length => l as i64,
            l if l < self.width => (length + l - second.0) as i64,
            _ => -1,
        };
        self.shuffle(first.1, second.1, &(0..self.lanes).map(lane).collect::<Vec<_>>())
    }

    fn store_row(&self, row: u64, value: Value<'c>) {
        let at = shifted(&self.build, self.base, row as i64 * self.stride);
        for (from, length) in self.pieces() {
            let piece: Vec<i64> = (from..from + length).map(|l| l as i64).collect();
            let part = self.shuffle(value, value, &piece);
            let index = shifted(&self.build, at, from as i64);
            self.build.op(Loop::Store.name(), &[part, self.buffer, index], &[], &[]);
        }
    }

    /// A register with the lanes of a value, the rest unspecified.
    fn widen(&self, value: Value<'c>) -> Value<'c> {
        let have = vector_parts(value.r#type()).map_or(0, |(_, n)| n);
        let lane = |l: u64| if l < have { l as i64 } else { -1 };
        self.shuffle(value, value, &(0..self.lanes).map(lane).collect::<Vec<_>>())
    }

    /// The first lanes.
    fn narrow(&self, value: Value<'c>, lanes: u64) -> Value<'c> {
        self.shuffle(value, value, &(0..lanes).map(|l| l as i64).collect::<Vec<_>>())
    }

    /// Rows to columns, or columns to rows; `None` is unspecified.
    fn transpose(&self, given: Vec<Option<Value<'c>>>) -> Vec<Option<Value<'c>>> {
        let n = self.lanes as usize;
        let mut rows = given;
        rows.resize(n, None);
        let mut bit = 1;
        while bit < n {
            for i in (0..n).filter(|i| i & bit == 0) {
                let (a, b) = (rows[i], rows[i | bit]);
                let low = |l: usize| if l & bit == 0 { l } else { n + (l ^ bit) };
                let high = |l: usize| if l & bit == 0 { l | bit } else { n + l };
                rows[i] = self.exchange(a, b, low);
                rows[i | bit] = self.exchange(a, b, high);
            }
            bit *= 2;
        }
        rows
    }

    /// Lanes of two rows, either of which may be unspecified.
    fn exchange(
        &self,
        a: Option<Value<'c>>,
        b: Option<Value<'c>>,
        lane: impl Fn(usize) -> usize,
    ) -> Option<Value<'c>> {
        let n = self.lanes as usize;
        let (have_a, have_b) = (a.is_some(), b.is_some());
        let (a, b) = match (a, b) {
            (None, None) => return None,
            (a, b) => (a.or(b)?, b.or(a)?),
        };
        let known = |l: usize| {
            let from = lane(l);
            if (from < n && have_a) || (from >= n && have_b) { from as i64 } else { -1 }
        };
        Some(self.shuffle(a, b, &(0..n).map(known).collect::<Vec<_>>()))
    }

    fn shuffle(&self, a: Value<'c>, b: Value<'c>, lanes: &[i64]) -> Value<'c> {
        let have = vector_parts(a.r#type()).map_or(0, |(_, n)| n);
        if lanes.len() as u64 == have && lanes.iter().enumerate().all(|(i, &l)| l == i as i64) {
            return a;
        }
        let mask = [("mask", ints_attr(self.build.context(), lanes))];
        let ty = vector_type(self.element, lanes.len() as u64);
        self.build.value("vector.shuffle", &[a, b], ty, &mask)
    }
}
