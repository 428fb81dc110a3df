//! The orders in which an image is to be had: in which what computes a class stores it, so that nothing moves it.
//!
//! ```text
//!     y  = layout_conv2d x w {out_layout = "NHWC"}      y lies as its own axes say: plain
//!     y' = y^q,  q = NHWC -> NCHW                       y' is y with other axes: it lies as NHWC
//!     z  = relu y'                                      what is elementwise lies as what it reads does
//! ```
//!
//! The orders are those of a class's own axes, called N, C, H, W one after the other, whatever they stand for: of the image y' above NHWC is to
//! be had, of y NCHW, and of y'^p, which is y, NCHW again. Whatever computes a tensor stores it plainly; a change of order stores nothing where it is a part of
//! what it changes, so that it has the orders of that, changed. A class is as many ways to compute it as it has nodes: of two that are
//! equal it has the orders of both. Sets only grow, as saturation does, and rules ask whether an order costs a change on one side
//! or on both (`rules/layout.rs`).

use super::rules::conditions::permutation;
use crate::layouts::{BLOCKS, LAST};
use fusion_operators::ops::layout::{IMAGES, LAYOUT_TRANSFORM};
use fusion_operators::ops::shape::TRANSPOSE;
use fusion_operators::{Call, FusionKind, TensorType};

/// A set of orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orders(u8);

/// As the axes are.
pub const PLAIN: Orders = Orders(1);
/// NHWC: channels last.
pub const CHANNELS_LAST: Orders = Orders(2);
/// The other way round: of an image whose last axis are its channels, as a plain one.
pub const CHANNELS_FIRST: Orders = Orders(4);
/// Channels in blocks, NCHW32c.
pub const IN_BLOCKS: Orders = Orders(8);
/// The other way round: of an image in blocks, as a plain one.
pub const WHOLE: Orders = Orders(16);
/// Whichever is wanted: constants are laid out when compiling.
pub const ANY: Orders = Orders(31);

/// A change of order: what is to be had of its operand in the first order is to be had of its result in the second.
type Change = &'static [(Orders, Orders)];

const TO_LAST: Change = &[(PLAIN, CHANNELS_FIRST), (CHANNELS_LAST, PLAIN)];
const FROM_LAST: Change = &[(PLAIN, CHANNELS_LAST), (CHANNELS_FIRST, PLAIN)];
const TO_BLOCKS: Change = &[(PLAIN, WHOLE), (IN_BLOCKS, PLAIN)];
const FROM_BLOCKS: Change = &[(PLAIN, IN_BLOCKS), (WHOLE, PLAIN)];

/// The axes of transposes that change orders, and pairs of layouts that do.
const TRANSPOSES: [([usize; 4], Change); 2] = [([0, 2, 3, 1], TO_LAST), ([0, 3, 1, 2], FROM_LAST)];
const TRANSFORMS: [((&str, &str), Change); 4] = [
    ((IMAGES, LAST), TO_LAST),
    ((LAST, IMAGES), FROM_LAST),
    ((IMAGES, BLOCKS), TO_BLOCKS),
    ((BLOCKS, IMAGES), FROM_BLOCKS),
];

impl Orders {
    /// What is stored as its own axes say; only images have orders.
    pub fn of_stored(types: &[TensorType]) -> Orders {
        match types {
            [ty] if is_image(ty) => PLAIN,
            _ => Orders::default(),
        }
    }

    /// Of a call of one result, whose operands have those orders, or are constants.
    pub fn of_call(call: &Call, result: &TensorType, operands: &[Orders], constant: &[bool]) -> Orders {
        let stored = Orders::of_stored(std::slice::from_ref(result));
        if stored == Orders::default() {
            return stored;
        }
        if let (Some(change), [of]) = (change(call), operands) {
            return of.changed(change);
        }
        if !matches!(call.op.fusion, FusionKind::Elementwise | FusionKind::Broadcast) {
            return stored;
        }
        // What is smaller than the image is read in any order.
        let images = call.operands.iter().zip(operands).zip(constant);
        let images = images.filter(|((ty, _), constant)| !**constant && ty.dims == result.dims);
        match images.map(|((_, orders), _)| *orders).reduce(|a, b| Orders(a.0 & b.0)) {
            Some(shared) => shared,
            None => stored,
        }
    }

    /// Whether an order is among them.
    pub fn has(self, order: Orders) -> bool {
        self.0 & order.0 == order.0 && order.0 != 0
    }

    /// The order of that name.
    pub fn named(name: &str) -> Option<Orders> {
        [(IMAGES, PLAIN), (LAST, CHANNELS_LAST), (BLOCKS, IN_BLOCKS)]
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, order)| order)
    }

    /// What two forms of one value say together; true when the first learns from the second, and the other way round.
    pub fn join(&mut self, other: Orders) -> (bool, bool) {
        let own = *self;
        self.0 |= other.0;
        (*self != own, *self != other)
    }

    fn changed(self, change: Change) -> Orders {
        let kept = change.iter().filter(|(from, _)| self.has(*from)).map(|(_, to)| to.0);
        Orders(kept.fold(0, |all, order| all | order))
    }
}

/// Images have four axes, and in blocks of channels a fifth one.
fn is_image(ty: &TensorType) -> bool {
    matches!(ty.rank(), 4 | 5)
}

/// The change of order that a call is.
fn change(call: &Call) -> Option<Change> {
    if call.op.is(&TRANSPOSE) {
        let axes = permutation(call.attrs, 4).filter(|_| call.operands[0].rank() == 4)?;
        return TRANSPOSES.iter().find(|(known, _)| axes == known).map(|(_, change)| *change);
    }
    if !call.op.is(&LAYOUT_TRANSFORM) {
        return None;
    }
    let by = (call.attrs.str_or("src_layout", ""), call.attrs.str_or("dst_layout", ""));
    TRANSFORMS.iter().find(|(known, _)| by == *known).map(|(_, change)| *change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_operators::ops::convolution::CONV2D;
    use fusion_operators::ops::elementwise::{ADD, RELU};
    use fusion_operators::ops::layout::{LAYOUT_CONV2D, LAYOUT_MAX_POOL2D};
    use fusion_operators::ops::shape::CONCAT;
    use fusion_operators::{Attrs, DType, Operator};

    fn image(shape: &[u64]) -> TensorType {
        TensorType::fixed(shape, DType::F32)
    }

    /// Of a call with operands of one shape, which its result has as well.
    fn of(op: &'static Operator, attrs: Attrs, operands: &[Orders], constant: &[bool]) -> Orders {
        let types = vec![image(&[1, 32, 32, 32]); operands.len()];
        Orders::of_call(&Call { op, operands: &types, attrs: &attrs }, &types[0], operands, constant)
    }

    fn transposed(axes: [i64; 4], from: Orders) -> Orders {
        of(&TRANSPOSE, Attrs::new().with("axes", axes), &[from], &[false])
    }

    #[test]
    fn what_is_computed_lies_as_its_axes_say() {
        for op in [&CONV2D, &LAYOUT_CONV2D, &LAYOUT_MAX_POOL2D, &CONCAT] {
            assert_eq!(of(op, Attrs::new(), &[CHANNELS_LAST, ANY], &[false, true]), PLAIN);
        }
        assert_eq!(Orders::of_stored(&[image(&[2, 3])]), Orders::default(), "no image");
    }

    #[test]
    fn changes_carry_orders_there_and_back() {
        let last = transposed([0, 3, 1, 2], PLAIN);
        assert_eq!(last, CHANNELS_LAST);
        assert_eq!(transposed([0, 2, 3, 1], last), PLAIN);
        assert_eq!(transposed([0, 3, 1, 2], transposed([0, 2, 3, 1], PLAIN)), PLAIN);
        let transform = |from: &str, to: &str, orders| {
            let attrs = Attrs::new().with("src_layout", from).with("dst_layout", to);
            of(&LAYOUT_TRANSFORM, attrs, &[orders], &[false])
        };
        assert_eq!(transform("NCHW32c", "NCHW", PLAIN), IN_BLOCKS);
        assert_eq!(transform("NCHW", "NCHW32c", IN_BLOCKS), PLAIN);
        assert_eq!(transform("NCHW", "NHWC", CHANNELS_LAST), PLAIN);
    }

    #[test]
    fn other_moves_are_computed() {
        assert_eq!(transposed([0, 1, 3, 2], CHANNELS_LAST), PLAIN);
        // Of two orders one is left where the other becomes none that is known.
        let both = Orders(PLAIN.0 | IN_BLOCKS.0);
        assert_eq!(transposed([0, 3, 1, 2], both), CHANNELS_LAST);
    }

    #[test]
    fn what_is_elementwise_has_what_all_images_share() {
        let both = Orders(PLAIN.0 | CHANNELS_LAST.0);
        assert_eq!(of(&RELU, Attrs::new(), &[CHANNELS_LAST], &[false]), CHANNELS_LAST);
        assert_eq!(of(&ADD, Attrs::new(), &[both, CHANNELS_LAST], &[false, false]), CHANNELS_LAST);
        assert_eq!(of(&ADD, Attrs::new(), &[PLAIN, CHANNELS_LAST], &[false, false]), Orders::default());
        assert_eq!(of(&ADD, Attrs::new(), &[CHANNELS_LAST, PLAIN], &[false, true]), CHANNELS_LAST);
        // A bias is no image.
        let types = [image(&[1, 32, 8, 8]), image(&[32, 1, 1])];
        let call = Call { op: &ADD, operands: &types, attrs: &Attrs::new() };
        let orders = Orders::of_call(&call, &types[0], &[IN_BLOCKS, Orders::default()], &[false, false]);
        assert_eq!(orders, IN_BLOCKS);
    }

    #[test]
    fn equal_classes_have_the_orders_of_both() {
        let mut orders = PLAIN;
        assert_eq!(orders.join(CHANNELS_LAST), (true, true));
        assert!(orders.has(PLAIN) && orders.has(CHANNELS_LAST) && !orders.has(IN_BLOCKS));
        assert_eq!(orders.join(PLAIN), (false, true));
        assert_eq!(Orders::named("NCHW32c"), Some(IN_BLOCKS));
        assert!(!orders.has(Orders::default()));
    }
}
