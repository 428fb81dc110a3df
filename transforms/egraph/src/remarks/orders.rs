//! The order in which each image lies: what its axes stand for.
//!
//! ```text
//!     y = layout_conv2d x w {data_layout = "NHWC", out_layout = "NCHW"}      x is NHWC, w is OIHW, y is NCHW
//!     z = relu y                                                             z is NCHW, as y is
//!     t = z^q, q = [0, 2, 3, 1]                                              t is NHWC: a change of order
//! ```
//!
//! Windows say in which orders they read and store. What is elementwise, or cuts and joins images, has the order of what it reads, and
//! a transpose exchanges letters; both ways round, so that an input is known by those who read it. A class has one order, whichever
//! of its candidates computes it: rules change no type. What nothing says is no image. ([`super::super::orders`] is about the other
//! question, in which orders an image could be had.)

use super::super::extract::space::{Candidate, ClassId, Space};
use super::super::rules::conditions::permutation;
use super::OrderChange;
use crate::layouts::Windows;
use fusion_operators::ops::convolution::CONV2D_TRANSPOSE;
use fusion_operators::ops::layout::{IMAGES, LAYOUT_TRANSFORM, WEIGHTS};
use fusion_operators::ops::pooling::{GLOBAL_AVG_POOL, GLOBAL_MAX_POOL};
use fusion_operators::ops::shape::{CONCAT, PAD, SLICE, TRANSPOSE};
use fusion_operators::ops::winograd::WINOGRAD_CONV2D;
use fusion_operators::{Attrs, FusionKind, Layout, Operator, TensorType};

/// Operators of images that have no other order.
static PLAIN: [&Operator; 4] = [&WINOGRAD_CONV2D, &CONV2D_TRANSPOSE, &GLOBAL_AVG_POOL, &GLOBAL_MAX_POOL];
/// Operators that keep the order of what they read, besides those that go element by element.
static KEEP: [&Operator; 3] = [&CONCAT, &PAD, &SLICE];

/// The orders of all classes of a space that are images or their weights.
pub struct ImageOrders(Vec<Option<Layout>>);

impl ImageOrders {
    /// What candidates say of their operands and results, and what follows from that.
    pub fn of(space: &Space) -> ImageOrders {
        let mut orders = ImageOrders(vec![None; space.classes.len()]);
        let mut new = Vec::new();
        for (class, facts) in space.classes.iter().enumerate() {
            for candidate in &facts.candidates {
                for (of, order) in stated(class, candidate) {
                    orders.learn(space, of, order, &mut new);
                }
            }
        }
        let mut next = 0;
        while let Some(&class) = new.get(next) {
            next += 1;
            let facts = &space.classes[class];
            facts.candidates.iter().for_each(|c| orders.spread(space, class, c, &mut new));
            for &parent in &facts.parents {
                let reads = space.classes[parent].candidates.iter().filter(|c| c.operands.contains(&class));
                reads.for_each(|c| orders.spread(space, parent, c, &mut new));
            }
        }
        orders
    }

    /// The order of a class.
    pub fn get(&self, class: ClassId) -> Option<&Layout> {
        self.0.get(class)?.as_ref()
    }

    /// In which order a candidate of a class reads its first image, and in which it gives its result.
    pub fn change(&self, class: ClassId, candidate: &Candidate) -> Option<OrderChange> {
        let from = candidate.operands.iter().find_map(|&operand| self.get(operand))?;
        Some(OrderChange { from: from.to_string(), to: self.get(class)?.to_string() })
    }

    /// The change of order that a candidate of a class is, where it does nothing else.
    pub fn conversion(&self, class: ClassId, candidate: &Candidate) -> Option<OrderChange> {
        let moves = |o: &Operator| o.is(&TRANSPOSE) || o.is(&LAYOUT_TRANSFORM);
        candidate.operator.filter(|o| moves(o)).and_then(|_| self.change(class, candidate))
    }

    /// Notes an order that fits; the first that is said of a class stays.
    fn learn(&mut self, space: &Space, class: ClassId, order: Layout, new: &mut Vec<ClassId>) {
        let fits = |ty: &TensorType| order.value(ty).is_some();
        if self.0[class].is_none() && space.classes[class].types.first().is_some_and(fits) {
            self.0[class] = Some(order);
            new.push(class);
        }
    }

    /// What a candidate's operands and its class say of each other.
    fn spread(&mut self, space: &Space, class: ClassId, candidate: &Candidate, new: &mut Vec<ClassId>) {
        let Some(operator) = candidate.operator else { return };
        if operator.is(&TRANSPOSE) {
            self.exchange(space, (candidate.operands[0], class), &candidate.attrs.attrs, new);
            return;
        }
        let each = matches!(operator.fusion, FusionKind::Elementwise | FusionKind::Broadcast);
        if !each && !KEEP.iter().any(|keeps| operator.is(keeps)) {
            return;
        }
        // What is smaller than the image is read in any order.
        let shape = |of: ClassId| space.classes[of].types.first().map(|ty| &ty.dims);
        let alike = |of: &ClassId| match each {
            true => shape(*of) == shape(class),
            false => shape(*of).map(Vec::len) == shape(class).map(Vec::len),
        };
        let images: Vec<ClassId> = candidate.operands.iter().copied().filter(alike).chain([class]).collect();
        if let Some(order) = images.iter().find_map(|&image| self.get(image)).cloned() {
            images.into_iter().for_each(|image| self.learn(space, image, order.clone(), new));
        }
    }

    /// The order that a transpose makes of another, or makes another of.
    fn exchange(
        &mut self,
        space: &Space,
        (from, to): (ClassId, ClassId),
        attrs: &Attrs,
        new: &mut Vec<ClassId>,
    ) {
        let rank = space.classes[to].types.first().map_or(0, TensorType::rank);
        let Some(axes) = permutation(attrs, rank) else { return };
        if let Some(order) = self.get(from).map(|order| order.transposed(&axes)) {
            self.learn(space, to, order, new);
        } else if let Some(order) = self.get(to) {
            let mut back = vec![0; rank];
            axes.iter().enumerate().for_each(|(to, &from)| back[from] = to);
            let order = order.transposed(&back);
            self.learn(space, from, order, new);
        }
    }
}

/// An order by its name, of images or of weights.
fn named(name: &str) -> Option<Layout> {
    [IMAGES, WEIGHTS].into_iter().find_map(|axes| Layout::parse(name, axes).ok())
}

/// The orders that a candidate itself names, of its class and of its operands.
fn stated(class: ClassId, candidate: &Candidate) -> Vec<(ClassId, Layout)> {
    let Some(operator) = candidate.operator else { return Vec::new() };
    let (attrs, operands) = (&candidate.attrs.attrs, &candidate.operands);
    if operator.is(&LAYOUT_TRANSFORM) {
        let of = |name: &str| named(attrs.str_or(name, ""));
        return match (of("src_layout"), of("dst_layout")) {
            (Some(from), Some(to)) => vec![(operands[0], from), (class, to)],
            _ => Vec::new(),
        };
    }
    if PLAIN.iter().any(|plain| operator.is(plain)) {
        return [operands[0], class].map(|image| (image, Layout::plain(IMAGES))).to_vec();
    }
    let Some(windows) = Windows::of(operator, attrs) else { return Vec::new() };
    let weight = operands.get(1).copied().zip(windows.weight);
    [(operands[0], windows.data), (class, windows.result)].into_iter().chain(weight).collect()
}
