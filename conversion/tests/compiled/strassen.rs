//! Strassen's algorithm: of constants and not, of extents that tiles and panels do and do not divide, and with something behind.

use super::text::Text;
use super::whole::compare_all;
use super::*;
use fusion_operators::ops::strassen::{MATMUL_STRASSEN, STRASSEN_SUMS};

#[test]
fn products_by_strassen() {
    let (mut random, mut checker) = (Random::new(71), Checker::default());
    for [rows, depth, columns] in
        [[2, 2, 2], [12, 32, 32], [64, 64, 128], [62, 128, 96], [96, 32, 224], [130, 20, 46], [26, 160, 320]]
    {
        let x = random.tensor(DType::F32, &[rows, depth]);
        let sums = random.tensor(DType::F32, &[7, depth / 2, columns / 2]);
        checker.call(&MATMUL_STRASSEN, Attrs::new(), &[x.clone(), sums.clone()]);
        checker.call_on_constants(&MATMUL_STRASSEN, Attrs::new(), &[x, sums]);
        let right = random.tensor(DType::F32, &[depth, columns]);
        checker.call(&STRASSEN_SUMS, Attrs::new(), &[right]);
    }
    checker.finish();
}

/// `by_halves(x, u) + b`, with more behind it.
#[test]
fn what_follows_is_computed_from_the_sums() {
    let mut random = Random::new(72);
    compare_all((0..8).map(|_| {
        let [rows, depth, columns] = random.of(&[[64, 64, 128], [50, 96, 64], [24, 128, 192]]);
        let mut text = Text::new(true);
        let y = [rows, columns];
        let sums = [7, depth / 2, columns / 2];
        let (x_of, b_of) = ([rows, depth], [columns]);
        let x = text.given(&mut random, &x_of, false);
        let is_constant = random.flag();
        let u = text.given(&mut random, &sums, is_constant);
        let mut at = text.call(&format!("relay.matmul_strassen {x}, {u}"), Some((&[&x_of, &sums], &y)));
        let b = text.given(&mut random, &b_of, true);
        at = text.call(&format!("relay.add {at}, {b}"), Some((&[&y, &b_of], &y)));
        if random.flag() {
            at = text.call(&format!("relay.sigmoid {at}"), Some((&[&y], &y)));
        }
        if random.flag() {
            let other = text.given(&mut random, &y, false);
            at = text.call(&format!("relay.mul {at}, {other}"), Some((&[&y, &y], &y)));
        }
        text.done(&[(&at, &y)])
    }));
}
