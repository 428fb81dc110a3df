//! Sums that pass over padding: rows and columns of windows, where tiles have one row, several, or go across the end.

use super::*;
use fusion_dialects::loops::Op as Loop;

/// The loops of a convolution in tiles, and what is passed over.
fn schedule(random: &mut Random) -> String {
    let (rows, columns) = (random.of(&[1, 2, 3]), random.of(&[1, 2, 4, 8]));
    let tail = random.of(&["", " tail guard", " tail peel"]);
    let reorder = if random.flag() { "te.reorder %ky, %c, %kx" } else { "te.reorder %c, %kx, %ky" };
    let inline = if random.flag() { "  %p = te.stage \"pad\"\n  te.compute_inline %p\n" } else { "" };
    let epilogue = if random.flag() { "  te.compute_at %s, %ji\n" } else { "" };
    let of_epilogue = "  %r = te.stage \"relu\"\n  %f, %i, %j = te.axes %r : !te.axis, !te.axis, !te.axis\n";
    let own =
        "%f, %i, %j, %c, %ky, %kx = te.axes %s : !te.axis, !te.axis, !te.axis, !te.axis, !te.axis, !te.axis";
    let below =
        "%a, %b, %d, %c, %ky, %kx = te.axes %s : !te.axis, !te.axis, !te.axis, !te.axis, !te.axis, !te.axis";
    let (above, loops) = if epilogue.is_empty() { ("", own) } else { (of_epilogue, below) };
    format!(
        "{above}  %s = te.stage \"conv\"
  {loops}
  %io, %ii = te.split %i by {rows}{tail}
  %jo, %ji = te.split %j by {columns}{tail}
  te.reorder %f, %io, %jo, %ii, %ji
  te.unroll %ii
  te.vectorize %ji
{epilogue}{inline}  {reorder}
  te.skip_padding %ky
  te.skip_padding %kx
"
    )
}

#[test]
fn sums_that_pass_over_padding_are_as_whole_ones() {
    let context = context();
    let mut shortened = 0;
    for seed in 0..60 {
        let random = &mut Random::new(seed);
        let by = random.of(&[1, 2, 3]);
        let kernel = kernels::dilated(random, by);
        let data = data(random, &kernel);
        let schedule = schedule(random);
        let (module, wanted) = lower_and_check(&context, &kernel, &schedule, &data, seed);
        let shorter = nested_ops(module_op(&module))
            .into_iter()
            .any(|op| matches!(op.kind(), Some(Kind::Loop(Loop::Upto))));
        shortened += usize::from(shorter);
        assert_eq!(differ(&compiled(&module, &kernel, &data), &wanted), None, "{seed} compiled:\n{schedule}");
    }
    assert!(shortened > 30, "{shortened} of 60 pass over something");
}
