//! Slices whose elements lie together in memory.

use super::shape::slices;
use crate::Call;

/// Where in memory a slice begins, in elements, when it lies together there: but for axes of which one element is kept, only the
/// first axis is cut.
pub fn contiguous_slice(call: &Call) -> Option<u64> {
    let shape = call.operands.first()?.shape()?;
    let mut kept: Vec<(u64, u64)> = shape.iter().map(|&extent| (0, extent)).collect();
    for slice in slices(call).ok()? {
        let (begin, count) = slice.of(shape[slice.axis]);
        if slice.stride != 1 && count > 1 {
            return None;
        }
        kept[slice.axis] = (u64::try_from(begin).ok()?, count);
    }
    let several = kept.iter().position(|(_, count)| *count != 1).unwrap_or(kept.len());
    let whole = |axis: usize| kept[axis] == (0, shape[axis]);
    if kept.iter().any(|(_, count)| *count == 0) || !(several + 1..kept.len()).all(whole) {
        return None;
    }
    kept.iter()
        .zip(&shape)
        .try_fold(0u64, |at, ((begin, _), extent)| at.checked_mul(*extent)?.checked_add(*begin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::shape::SLICE;
    use crate::{Attrs, DType, TensorType};

    #[test]
    fn slices_that_lie_together() {
        let begin_of = |shape: &[u64], begin: &[i64], end: &[i64], strides: &[i64]| {
            let attrs = Attrs::new()
                .with("begin", begin.to_vec())
                .with("end", end.to_vec())
                .with("strides", strides.to_vec());
            let operands = [TensorType::fixed(shape, DType::F32)];
            contiguous_slice(&Call { op: &SLICE, operands: &operands, attrs: &attrs })
        };
        assert_eq!(begin_of(&[7, 5], &[2], &[4], &[1]), Some(10));
        assert_eq!(begin_of(&[7, 5], &[-1], &[7], &[1]), Some(30));
        assert_eq!(begin_of(&[7, 5], &[2, 1], &[3, 4], &[1, 1]), Some(11));
        assert_eq!(begin_of(&[7, 5], &[2], &[3], &[-1]), None);
        assert_eq!(begin_of(&[7, 5], &[2, 1], &[4, 4], &[1, 1]), None);
        assert_eq!(begin_of(&[7, 5], &[0], &[6], &[2]), None);
        assert_eq!(begin_of(&[7, 5], &[4], &[3], &[-1]), Some(20));
        assert_eq!(begin_of(&[7, 5], &[4], &[4], &[1]), None);
        assert_eq!(begin_of(&[1, 7, 1, 5], &[0, 3], &[1, 5], &[1, 1]), Some(15));
    }
}
