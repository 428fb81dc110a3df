//! Operators that make strings, or look into them.

use fusion_operators::ops::strings::*;
use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Operator, Tensor};

fn of(strings: &[&str]) -> Tensor {
    Tensor::from_strings(&[strings.len()], strings).unwrap()
}

fn run(op: &'static Operator, attrs: Attrs, operands: &[Tensor]) -> Result<Vec<Tensor>, String> {
    evaluate(op, &attrs, operands).map_err(|error| error.to_string())
}

fn strings(tensor: &Tensor) -> Vec<&str> {
    tensor.strings().collect()
}

#[test]
fn concatenation_broadcasts() {
    let column = Tensor::from_strings(&[2, 1], &["a", ""]).unwrap();
    let joined = run(&STRING_CONCAT, Attrs::new(), &[column, of(&["é", "b"])]).unwrap();
    assert_eq!(joined, [Tensor::from_strings(&[2, 2], &["aé", "ab", "é", "b"]).unwrap()]);
}

#[test]
fn pieces_stand_between_delimiters() {
    let split = |attrs: Attrs, x: &[&str]| run(&STRING_SPLIT, attrs, &[of(x)]).unwrap();
    let found = split(Attrs::new().with("delimiter", "--"), &["a--b----c", "", "--"]);
    assert_eq!(found[0].shape(), [3, 4]);
    assert_eq!(strings(&found[0]), ["a", "b", "", "c", "", "", "", "", "", "", "", ""]);
    assert_eq!(found[1].to_ints(), [4, 1, 2]);
    let found = split(Attrs::new().with("maxsplit", 1i64), &["  a\u{3000}b c ", " "]);
    assert_eq!(strings(&found[0]), ["a", "b c ", "", ""]);
    assert_eq!(found[1].to_ints(), [2, 0]);
    assert_eq!(split(Attrs::new(), &[])[0].shape(), [0, 0]);
}

#[test]
fn letters_change_one_by_one() {
    let upper = run(&STRING_CASE, Attrs::new().with("to", "upper"), &[of(&["aß é", "ŉ"])]).unwrap();
    assert_eq!(strings(&upper[0]), ["Aß É", "ŉ"]);
    let lower = run(&STRING_CASE, Attrs::new().with("to", "lower"), &[of(&["AİÉ"])]).unwrap();
    assert_eq!(strings(&lower[0]), ["aİé"]);
}

#[test]
fn ranks_have_the_order_of_strings() {
    let ranks = run(&STRING_RANK, Attrs::new(), &[of(&["b", "", "é", "ab", "b", "B"])]).unwrap();
    assert_eq!(ranks[0].to_ints(), [3, 0, 5, 2, 3, 1]);
}

#[test]
fn a_pattern_matches_the_whole_string() {
    let matches = |pattern: &str, x: &[&str]| {
        let found = run(&STRING_MATCH, Attrs::new().with("pattern", pattern), &[of(x)]).unwrap();
        found[0].to_ints()
    };
    assert_eq!(matches("a|ab", &["a", "ab", "abb", ""]), [1, 1, 0, 0]);
    assert_eq!(matches("(?x) a # a comment", &["a", "a "]), [1, 0]);
    assert_eq!(matches("", &["", "\n"]), [1, 0]);
    assert_eq!(matches(".é+$", &["xéé", "x\u{e9}\n"]), [1, 0]);
    // Letters and blanks are those of ASCII, as in RE2; letters of Unicode are asked for by name.
    assert_eq!(matches(r"\w[\w\-]\W", &["a-é", "é--", "ab_"]), [1, 0, 0]);
    assert_eq!(matches(r"(?x) \pL \s \d", &["é\t1", "é\u{a0}1", "e ١"]), [1, 0, 0]);
    assert_eq!(matches(r"é\bcom\b(.|\B)*", &["écom", "écom!", "écoms"]), [1, 1, 0]);
    let refused = run(&STRING_MATCH, Attrs::new().with("pattern", "(a"), &[of(&[])]).unwrap_err();
    assert!(refused.contains("constraint C2") && refused.contains("unclosed group"), "{refused}");
    let huge = run(&STRING_MATCH, Attrs::new().with("pattern", "(?:a{1000}){1000}"), &[of(&[])]).unwrap_err();
    assert!(huge.contains("write shorter repetitions"), "{huge}");
}

#[test]
fn numbers_are_written_in_decimal_notation_and_read_back() {
    let floats =
        Tensor::from_slice(&[7], &[0.1f32, 1.0, -0.0, 1e-10, 1e20, f32::NAN, f32::NEG_INFINITY]).unwrap();
    let written = run(&STRING_OF, Attrs::new(), std::slice::from_ref(&floats)).unwrap();
    assert_eq!(
        strings(&written[0]),
        ["0.1", "1", "-0", "0.0000000001", "100000000000000000000", "NaN", "-INF"]
    );
    let read = run(&STRING_TO_NUMBER, Attrs::new().with("dtype", DType::F64), &written).unwrap();
    let read: Vec<f64> = read[0].to_f64s().into_iter().map(|x| f64::from(x as f32)).collect();
    assert_eq!(format!("{read:?}"), format!("{:?}", floats.to_f64s()));
    let texts = of(&[" 12\n", "-1.9e0", "18446744073709551615", "-inf", "nan"]);
    let read =
        |dtype| run(&STRING_TO_NUMBER, Attrs::new().with("dtype", dtype), std::slice::from_ref(&texts));
    let (least, most) = (i64::MIN.into(), i64::MAX.into());
    assert_eq!(read(DType::I64).unwrap()[0].to_ints(), [12, -1, most, least, 0]);
    assert_eq!(read(DType::U64).unwrap()[0].to_ints(), [12, 0, u64::MAX.into(), 0, 0]);
    assert!(read(DType::F32).unwrap_err().contains("write relay.cast behind"));
    for wrong in ["", "0x10", "1 2", "infinite", "1e", "é"] {
        let refused = run(&STRING_TO_NUMBER, Attrs::new().with("dtype", DType::F64), &[of(&[wrong])]);
        assert!(refused.as_ref().is_err_and(|why| why.contains("such as 12")), "{wrong}: {refused:?}");
    }
}

#[test]
fn strings_do_not_grow_without_end() {
    let long = of(&[&"x".repeat(1 << 20)]);
    let many = Tensor::from_strings(&[2048, 1], &vec![""; 2048]).unwrap();
    let refused = run(&STRING_CONCAT, Attrs::new(), &[long, many]).unwrap_err();
    assert!(refused.contains("makes strings of more than"), "{refused}");
}
