//! The inner-product trick: of constants and not, of extents that tiles, panels and parts do and do not divide, and with something behind.

use super::text::Text;
use super::whole::compare_all;
use super::*;
use fusion_operators::ops::attention::ATTENTION;
use fusion_operators::ops::inner_product_trick::{
    CONV2D_INNER_PRODUCT_TRICK, INNER_PRODUCT_TRICK_RIGHT, MATMUL_INNER_PRODUCT_TRICK, rows,
};
use fusion_operators::reference::evaluate;

/// A right side of random numbers, as products read it.
fn right(random: &mut Random, shape: &[usize]) -> Tensor {
    let matrix = random.tensor(DType::F32, shape);
    evaluate(&INNER_PRODUCT_TRICK_RIGHT, &Attrs::new(), &[matrix]).unwrap().remove(0)
}

#[test]
fn products_by_the_inner_product_trick() {
    let (mut random, mut checker) = (Random::new(81), Checker::default());
    for [height, depth, columns] in
        [[1, 1, 1], [2, 6, 16], [14, 64, 32], [15, 7, 24], [49, 96, 40], [70, 512, 16], [129, 20, 47]]
    {
        let x = random.tensor(DType::F32, &[height, depth]);
        let u = right(&mut random, &[depth, columns]);
        checker.call(&MATMUL_INNER_PRODUCT_TRICK, Attrs::new(), &[x.clone(), u.clone()]);
        checker.call_on_constants(&MATMUL_INNER_PRODUCT_TRICK, Attrs::new(), &[x, u]);
        checker.call(
            &INNER_PRODUCT_TRICK_RIGHT,
            Attrs::new(),
            &[random.tensor(DType::F32, &[depth, columns])],
        );
    }
    checker.finish();
}

#[test]
fn several_at_a_time() {
    let (mut random, mut checker) = (Random::new(82), Checker::default());
    for lead in [&[1][..], &[3], &[2, 3]] {
        let x = random.tensor(DType::F32, &[lead, &[30, 40]].concat());
        let u = right(&mut random, &[lead, &[40, 32]].concat());
        checker.call(&MATMUL_INNER_PRODUCT_TRICK, Attrs::new(), &[x, u]);
        checker.call(
            &INNER_PRODUCT_TRICK_RIGHT,
            Attrs::new(),
            &[random.tensor(DType::F32, &[lead, &[9, 20]].concat())],
        );
    }
    checker.finish();
}

/// Vectors along places, and along filters of images that do not fill them.
#[test]
fn convolutions_by_the_inner_product_trick() {
    let (mut random, mut checker) = (Random::new(84), Checker::default());
    for [images, depth, height, width, filters] in
        [[1, 20, 7, 7, 32], [2, 64, 8, 8, 24], [1, 33, 14, 14, 40], [3, 5, 5, 9, 17], [1, 96, 28, 28, 15]]
    {
        let x = random.tensor(DType::F32, &[images, depth, height, width]);
        let u = right(&mut random, &[depth, filters]);
        checker.call(&CONV2D_INNER_PRODUCT_TRICK, Attrs::new(), &[x.clone(), u.clone()]);
        checker.call_on_constants(&CONV2D_INNER_PRODUCT_TRICK, Attrs::new(), &[x, u]);
    }
    checker.finish();
}

/// Where this processor adds beside its multiply-adds, both products are by the inner-product trick.
#[test]
fn attention_of_many_keys() {
    let (mut random, mut checker) = (Random::new(85), Checker::default());
    for [heads, queries, keys, width, columns] in
        [[2, 64, 96, 32, 32], [1, 50, 130, 24, 40], [3, 33, 67, 20, 16], [1, 112, 200, 64, 64]]
    {
        let mut of = |extents: &[usize]| random.tensor(DType::F32, extents);
        let [q, k, v] = [[queries, width], [keys, width], [keys, columns]].map(|[n, d]| of(&[heads, n, d]));
        let scale = Attrs::new().with("scale", 0.125);
        checker.call(&ATTENTION, scale.clone(), &[q.clone(), k.clone(), v.clone()]);
        let bias = of(&[heads, queries, keys]);
        checker.call(&ATTENTION, scale, &[q, k, v, bias]);
    }
    checker.finish();
}

/// `inner_product_trick(x, inner_product_trick_right(y)) + b`, with more behind it.
#[test]
fn what_follows_is_computed_from_the_sums() {
    let mut random = Random::new(83);
    compare_all((0..8).map(|_| {
        let [height, depth, columns] = random.of(&[[64, 64, 128], [50, 96, 64], [24, 130, 40]]);
        let mut text = Text::new(true);
        let (x_of, y_of, b_of, of) = ([height, depth], [depth, columns], [columns], [height, columns]);
        let u_of = [rows(depth as u64) as usize, columns];
        let x = text.given(&mut random, &x_of, false);
        let is_constant = random.flag();
        let y = text.given(&mut random, &y_of, is_constant);
        let u = text.call(&format!("relay.inner_product_trick_right {y}"), Some((&[&y_of], &u_of)));
        let mut at =
            text.call(&format!("relay.matmul_inner_product_trick {x}, {u}"), Some((&[&x_of, &u_of], &of)));
        let b = text.given(&mut random, &b_of, true);
        at = text.call(&format!("relay.add {at}, {b}"), Some((&[&of, &b_of], &of)));
        if random.flag() {
            at = text.call(&format!("relay.sigmoid {at}"), Some((&[&of], &of)));
        }
        if random.flag() {
            let other = text.given(&mut random, &of, false);
            at = text.call(&format!("relay.mul {at}, {other}"), Some((&[&of, &of], &of)));
        }
        text.done(&[(&at, &of)])
    }));
}
