//! Products with weights of few bits: of constants and not, of few rows and many, with zero points of any shape and extents that tiles do not divide.

use super::text::Text;
use super::whole::compare_all;
use super::*;
use fusion_operators::ops::few_bits::{DENSE_FEW_BITS, PACK_BITS};

/// Words of random bits.
fn words(random: &mut Random, shape: &[usize]) -> Tensor {
    let all: Vec<u32> =
        (0..shape.iter().product()).map(|_| random.within(0, u32::MAX.into()) as u32).collect();
    Tensor::from_slice(shape, &all).unwrap()
}

#[test]
fn products_of_few_bits() {
    let (mut random, mut checker) = (Random::new(81), Checker::default());
    for (bits, each) in [(2, 16), (4, 8), (8, 4)] {
        for (lead, columns, blocks, in_block) in [
            (vec![1], 64, 3, 4),
            (vec![], 17, 2, 1),
            (vec![2, 3], 100, 1, 5),
            (vec![16], 37, 4, 2),
            (vec![1, 5], 3, 2, 2),
            (vec![20], 96, 2, 4),
            (vec![2, 33], 70, 3, 2),
        ] {
            let depth = blocks * in_block * each;
            let x = random.tensor(DType::F32, &[&lead[..], &[depth]].concat());
            let weight = words(&mut random, &[columns, blocks * in_block]);
            let scale = random.tensor(DType::F32, &[columns, blocks]);
            let zeros = random.of(&[[1, 1], [columns, blocks], [columns, 1], [1, blocks]]);
            let zero = random.between(DType::F32, &zeros, 0, 7);
            let attrs = Attrs::new().with("bits", bits);
            checker.call(
                &DENSE_FEW_BITS,
                attrs.clone(),
                &[x.clone(), weight.clone(), scale.clone(), zero.clone()],
            );
            checker.call_on_constants(&DENSE_FEW_BITS, attrs, &[x, weight, scale, zero]);
        }
    }
    checker.finish();
}

#[test]
fn numbers_are_packed() {
    let (mut random, mut checker) = (Random::new(82), Checker::default());
    for (bits, each) in [(2, 16), (4, 8), (8, 4)] {
        for dtype in [DType::I8, DType::U8] {
            let least = if dtype == DType::I8 { -128 } else { 0 };
            let numbers = random.between(dtype, &[3, 5 * each], least, least + 255);
            checker.call(&PACK_BITS, Attrs::new().with("bits", bits), &[numbers]);
        }
    }
    checker.finish();
}

/// `f(dense_few_bits(x, w) + b)`, whose sums are computed in the loops of what follows.
#[test]
fn what_follows_is_computed_from_the_sums_of_blocks() {
    let mut random = Random::new(83);
    compare_all((0..6).map(|_| {
        let [rows, columns, blocks] = random.of(&[[1, 64, 4], [3, 100, 2], [40, 64, 2]]);
        let mut text = Text::new(true);
        let (x_of, y) = ([rows, 32 * blocks], [rows, columns]);
        let (words_of, scale_of) = ([columns, 4 * blocks], [columns, blocks]);
        let x = text.given(&mut random, &x_of, false);
        let weight = words(&mut random, &words_of);
        let bytes: String = weight.bytes().iter().map(|b| format!("{b:02X}")).collect();
        let ty = weight.tensor_type();
        let weight = text.call(&format!("relay.constant dense<\"0x{bytes}\"> : {ty}"), None);
        let (scale, zero) =
            (text.given(&mut random, &scale_of, true), text.given(&mut random, &scale_of, true));
        let f32s = |shape: &[usize]| {
            TensorType::fixed(&shape.iter().map(|n| *n as u64).collect::<Vec<_>>(), DType::F32)
        };
        let types =
            format!("({}, {ty}, {}, {}) -> {}", f32s(&x_of), f32s(&scale_of), f32s(&scale_of), f32s(&y));
        let line = format!("relay.dense_few_bits {x}, {weight}, {scale}, {zero} {{bits = 4}} : {types}");
        let mut at = text.call(&line, None);
        let b = text.given(&mut random, &[columns], true);
        at = text.call(&format!("relay.add {at}, {b}"), Some((&[&y, &[columns]], &y)));
        at = text.call(&format!("relay.sigmoid {at}"), Some((&[&y], &y)));
        text.done(&[(&at, &y)])
    }));
}
