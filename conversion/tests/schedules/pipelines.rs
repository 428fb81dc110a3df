//! Rows that are stored while the next one is computed, with blocks and vectors that rows divide into and that they do not.

use super::*;

/// A softmax by blocks of rows, whose loops over a row take `widths` elements at a time, with so many lanes.
fn schedule(random: &mut Random) -> String {
    let block = random.of(&[2, 3, 4, 8]);
    let lanes = random.of(&[2, 4]);
    let wide = random.of(&[4, 8]);
    // Loops of other lengths stay apart.
    let other = if random.below(4) == 0 { 2 * wide } else { wide };
    let stream = if random.flag() { "  te.stream %y\n" } else { "" };
    let ahead = if random.flag() { "  %x = te.input 0\n  te.prefetch %x, %eo ahead 1\n" } else { "" };
    format!(
        "  %y = te.stage \"div\"
  %s = te.stage \"sum\"
  %e = te.stage \"exp\"
  %m = te.stage \"max\"
  %yi, %yj = te.axes %y : !te.axis, !te.axis
  %o, %i = te.split %yi by {block}
  te.compute_at %s, %i
  te.compute_at %e, %i
  te.compute_at %m, %i
  %si, %sj = te.axes %s : !te.axis, !te.axis
  %so, %sr = te.split %sj by {wide}
  %su, %sv = te.split %sr by {lanes}
  te.unroll %su
  te.vectorize %sv
  %ei, %ej = te.axes %e : !te.axis, !te.axis
  %eo, %er = te.split %ej by {wide}
  %eu, %ev = te.split %er by {lanes}
  te.unroll %eu
  te.vectorize %ev
  %jo, %jr = te.split %yj by {other}
  %ju, %jv = te.split %jr by {lanes}
  te.unroll %ju
  te.vectorize %jv
{ahead}  te.pipeline %i
{stream}  te.parallel %o
"
    )
}

#[test]
fn rows_beside_the_next_are_as_one_by_one() {
    let context = context();
    let mut overlapped = 0;
    for seed in 0..40 {
        let random = &mut Random::new(seed);
        let (_, make) = kernels::ALL[2];
        let kernel = make(random);
        let data = data(random, &kernel);
        let schedule = schedule(random);
        let (module, wanted) = lower_and_check(&context, &kernel, &schedule, &data, seed);
        let until = LOOP.iter().position(|stage| stage.name == "loop-overlap").unwrap();
        Runner::default().run(&module, &LOOP[..=until]).unwrap();
        let slots =
            nested_ops(module_op(&module)).into_iter().filter(|op| op.full_name() == "memref.view").count();
        overlapped += usize::from(slots > 0);
        assert_eq!(differ(&compiled(&module, &kernel, &data), &wanted), None, "{seed} compiled:\n{schedule}");
    }
    assert!(overlapped > 5, "{overlapped} of 40 overlap");
}
