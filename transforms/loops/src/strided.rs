//! How elements a few places apart come out of vectors that are loaded whole.
//!
//!     x[0], x[2], ..., x[30]      =>      a = x[0 .. 16],  b = x[15 .. 31]      a and b end where the elements do
//!                                         a0 a2 ... a14 b1 b3 ... b15           one shuffle of two registers
//!
//! A gather takes a cycle or two an element, a load half of one for all of them. With `s` places between elements it takes `s` loads
//! and `s - 1` shuffles, so that this is for small strides.

/// The longest stride: beyond it shuffles cost what they save.
pub const MOST: i64 = 4;

/// Where a part begins, so that the last one ends with the last element.
pub fn begin(part: i64, stride: i64, lanes: i64) -> i64 {
    (part * lanes).min(stride * (lanes - 1) + 1 - lanes)
}

/// Where the elements stand in what the parts before gave and, behind it, in a part that is not the first.
pub fn places(part: i64, stride: i64, lanes: i64) -> Vec<i64> {
    // Elements of the first part stand where they were loaded, those that were put in place since stay there.
    let place = |l: i64| match l * stride < begin(part - 1, stride, lanes) + lanes {
        true if part == 1 => l * stride,
        true => l,
        false => (lanes + l * stride - begin(part, stride, lanes)).min(2 * lanes - 1),
    };
    (0..lanes).map(place).collect()
}
