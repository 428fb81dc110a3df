//! A product with a weight of few bits gives what the product with the numbers gives.

use fusion_operators::ops::contraction::DENSE;
use fusion_operators::ops::few_bits::{DENSE_FEW_BITS, PACK_BITS};
use fusion_operators::random::Random;
use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Operator, Tensor, TensorType};

fn bits(bits: i64) -> Attrs {
    Attrs::new().with("bits", bits)
}

/// Numbers of a type that fit so many bits.
fn numbers(random: &mut Random, dtype: DType, shape: &[usize], bits: u32) -> Tensor {
    let n = shape.iter().product::<usize>();
    let below = if dtype == DType::I8 { 1 << (bits - 1) } else { 0 };
    let all: Vec<i128> = (0..n).map(|_| (random.next_u64() % (1 << bits)) as i128 - below).collect();
    Tensor::from_ints(dtype, shape, &all).unwrap()
}

/// The constraint that a call on those types violates.
fn violated(operator: &'static Operator, attrs: &Attrs, types: &[(DType, &[u64])]) -> u32 {
    let types: Vec<TensorType> =
        types.iter().map(|(dtype, shape)| TensorType::fixed(shape, *dtype)).collect();
    operator.infer(&types, attrs).unwrap_err().number
}

#[test]
fn the_first_number_is_in_the_lowest_bits() {
    let pack = |dtype, width: i64, numbers: &[i128]| {
        let numbers = Tensor::from_ints(dtype, &[numbers.len()], numbers).unwrap();
        evaluate(&PACK_BITS, &bits(width), &[numbers]).unwrap()[0].to_vec::<u32>().unwrap()
    };
    assert_eq!(pack(DType::U8, 4, &[1, 2, 3, 4, 5, 6, 7, 15]), [0xf765_4321]);
    assert_eq!(pack(DType::I8, 4, &[-8, -7, -1, 0, 1, 5, 6, 7]), [0xfed9_8710]);
    assert_eq!(pack(DType::I8, 8, &[-128, -1, 0, 127]), [0xff80_7f00]);
    assert_eq!(pack(DType::U8, 2, &[0, 1, 2, 3, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 2]), [0x8003_00e4]);
}

#[test]
fn it_is_the_product_with_what_the_numbers_stand_for() {
    let mut random = Random::new(5);
    for (width, dtype, block) in
        [(4, DType::U8, 8), (4, DType::I8, 16), (2, DType::U8, 16), (8, DType::I8, 4), (8, DType::U8, 32)]
    {
        let (rows, blocks) = (3, 2);
        let depth = block * blocks;
        let x = random.tensor(DType::F32, &[2, depth]).unwrap();
        let q = numbers(&mut random, dtype, &[rows, depth], width as u32);
        let scale = random.tensor(DType::F32, &[rows, blocks]).unwrap();
        let zero = random.tensor(DType::F32, &[1, blocks]).unwrap();
        let offset = if dtype == DType::I8 { f64::from(1 << (width - 1)) } else { 0.0 };
        let weight: Vec<f64> = (0..rows * depth)
            .map(|at| {
                let b = at % depth / block;
                (q.f64_at(at) + offset - zero.f64_at(b)) * scale.f64_at(at / depth * blocks + b)
            })
            .collect();
        let weight = Tensor::from_f64s(DType::F64, &[rows, depth], &weight).unwrap();
        let wide = Tensor::from_f64s(DType::F64, &[2, depth], &x.to_f64s()).unwrap();
        let expected = evaluate(&DENSE, &Attrs::new(), &[wide, weight]).unwrap();
        let words = evaluate(&PACK_BITS, &bits(width), &[q]).unwrap().swap_remove(0);
        let found = evaluate(&DENSE_FEW_BITS, &bits(width), &[x, words, scale, zero]).unwrap();
        for (a, b) in found[0].to_f64s().iter().zip(expected[0].to_f64s()) {
            assert!((a - b).abs() <= 1e-6 * (1.0 + b.abs()), "{a} is not {b}");
        }
    }
}

#[test]
fn numbers_that_are_not_packed_so_violate_constraints() {
    let pack = |attrs: &Attrs, dtype, shape: &[u64]| violated(&PACK_BITS, attrs, &[(dtype, shape)]);
    assert_eq!(pack(&bits(4), DType::F32, &[8]), 1);
    assert_eq!(pack(&bits(4), DType::U8, &[]), 2);
    assert_eq!(pack(&bits(3), DType::U8, &[8]), 3);
    assert_eq!(pack(&bits(4), DType::U8, &[7]), 4);
}

#[test]
fn operands_that_do_not_belong_together_violate_constraints() {
    use DType::{F32, F64, I32, U32};
    let dense = |attrs: &Attrs, types: [(DType, &[u64]); 4]| violated(&DENSE_FEW_BITS, attrs, &types);
    let scales: (DType, &[u64]) = (F32, &[3, 2]);
    let words: (DType, &[u64]) = (U32, &[3, 4]);
    assert_eq!(dense(&bits(4), [(F64, &[1, 32]), words, scales, scales]), 1);
    assert_eq!(dense(&bits(4), [(F32, &[1, 32]), (I32, &[3, 4]), scales, scales]), 1);
    assert_eq!(dense(&bits(4), [(F32, &[1, 32]), (U32, &[12]), scales, scales]), 2);
    assert_eq!(dense(&bits(5), [(F32, &[1, 32]), words, scales, scales]), 3);
    assert_eq!(dense(&bits(4), [(F32, &[1, 31]), words, scales, scales]), 4);
    assert_eq!(dense(&bits(4), [(F32, &[1, 32]), words, (F32, &[2, 2]), scales]), 5);
    assert_eq!(dense(&bits(4), [(F32, &[1, 32]), words, (F32, &[3, 3]), scales]), 5);
    assert_eq!(dense(&bits(4), [(F32, &[1, 32]), words, (F32, &[3, 0]), (F32, &[1, 1])]), 5);
    assert_eq!(dense(&bits(4), [(F32, &[1, 32]), words, scales, (F32, &[4, 1])]), 6);
    assert_eq!(dense(&bits(4), [(F32, &[1, 32]), words, scales, (F32, &[2])]), 6);
}
