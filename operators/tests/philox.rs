//! Words of Philox4x32-10: the known answers of its authors, and where a place reads.

use fusion_operators::ops::philox::{PHILOX, block};
use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Tensor, TensorType};

fn words(key: u64, counter: [u64; 2], places: &[u64]) -> Vec<i128> {
    let operands = [
        Tensor::from_slice(&[], &[key]).unwrap(),
        Tensor::from_slice(&[2], &counter).unwrap(),
        Tensor::from_slice(&[places.len()], places).unwrap(),
    ];
    evaluate(&PHILOX, &Attrs::new(), &operands).unwrap()[0].to_ints()
}

#[test]
fn known_answers() {
    assert_eq!(block(0, 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    assert_eq!(block(u64::MAX, u128::MAX), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    let counter = 0x0370_7344_1319_8a2e_85a3_08d3_243f_6a88;
    assert_eq!(block(0x299f_31d0_a409_3822, counter), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
}

#[test]
fn a_place_is_a_word_of_a_block() {
    let of = |counter: u128, word: usize| i128::from(block(7, counter)[word]);
    assert_eq!(words(7, [5, 0], &[0, 3, 4, 9]), [of(5, 0), of(5, 3), of(6, 0), of(7, 1)]);
}

#[test]
fn the_lower_half_of_the_counter_carries() {
    let of = |counter: u128| i128::from(block(1, counter)[0]);
    assert_eq!(words(1, [u64::MAX, 2], &[0, 4]), [of((2 << 64) + u128::from(u64::MAX)), of(3 << 64)]);
}

#[test]
fn constraints_are_named() {
    let (key, counter) = (TensorType::fixed(&[], DType::U64), TensorType::fixed(&[2], DType::U64));
    let places = TensorType::fixed(&[4, 3], DType::U64);
    let related = |types: [&TensorType; 3]| PHILOX.infer(&types.map(Clone::clone), &Attrs::new());
    assert_eq!(related([&key, &counter, &places]).unwrap(), [TensorType::fixed(&[4, 3], DType::U32)]);
    let wrong = |types| related(types).unwrap_err().to_string();
    assert!(wrong([&counter, &counter, &places]).contains("C1"));
    assert!(wrong([&key, &key, &places]).contains("C2"));
    assert!(wrong([&key, &counter, &TensorType::fixed(&[4], DType::I64)]).contains("C3"));
}
