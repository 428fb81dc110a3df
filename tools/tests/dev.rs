//! `fusion dev` writes skeletons into a checkout, all files of one or none.

use crate::common::{complaint, succeed};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The lists that skeletons are added to.
const LISTS: [&str; 8] = [
    "operators/src/ops/mod.rs",
    "conversion/relay_to_te/src/definitions/mod.rs",
    "importers/src/onnx/ops/arithmetic/mod.rs",
    "transforms/relay/src/lib.rs",
    "transforms/src/lib.rs",
    "dialects/td/te/Schedule.td",
    "dialects/src/te/mod.rs",
    "transforms/schedule/src/schedule/primitives/mod.rs",
];

/// A checkout of the lists alone.
fn checkout() -> TempDir {
    let (directory, real) = (tempfile::tempdir().unwrap(), Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    for list in LISTS {
        let copy = directory.path().join(list);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(real.join(list), copy).unwrap();
    }
    directory
}

fn text(here: &Path, file: &str) -> String {
    fs::read_to_string(here.join(file)).unwrap()
}

#[test]
fn an_operator_is_a_row_a_definition_a_name_and_a_test() {
    let here = checkout();
    let here = here.path();
    let listed = succeed(here, &["dev", "new-operator", "cosine_distance", "--onnx", "CosineDistance"]);
    assert_eq!(listed.lines().count(), 7, "{listed}");
    assert!(
        text(here, "operators/src/ops/cosine_distance.rs")
            .contains("COSINE_DISTANCE = Operator::new(\"cosine_distance\"")
    );
    let families = text(here, "operators/src/ops/mod.rs");
    assert!(
        families.contains("pub mod convolution;\npub mod cosine_distance;\npub mod creation;"),
        "{families}"
    );
    assert!(families.contains("    (\"cosine_distance\", cosine_distance::ALL),\n];"), "{families}");
    let definitions = text(here, "conversion/relay_to_te/src/definitions/mod.rs");
    assert!(definitions.contains("    winograd::TABLE,\n    cosine_distance::TABLE,"), "{definitions}");
    assert!(text(here, "importers/src/onnx/ops/arithmetic/mod.rs").contains("    cosine_distance::ROWS,"));
    assert!(text(here, "test/Conversion/RelayToTe/cosine_distance.mlir").contains("CHECK:         write me"));
}

#[test]
fn passes_and_primitives_are_registered() {
    let here = checkout();
    let here = here.path();
    succeed(here, &["dev", "new-pass", "relay-count-calls"]);
    assert!(text(here, "transforms/relay/src/count_calls.rs").contains("pub struct RelayCountCalls;"));
    assert!(
        text(here, "transforms/src/lib.rs").contains("register::<relay::count_calls::RelayCountCalls>();")
    );
    succeed(here, &["dev", "new-primitive", "skew"]);
    assert!(text(here, "dialects/src/te/mod.rs").contains("        Skew = \"te.skew\","));
    assert!(text(here, "dialects/td/te/Schedule.td").contains("def Te_SkewOp"));
    assert!(
        text(here, "transforms/schedule/src/schedule/primitives/mod.rs")
            .contains("    (Te::Skew, skew::apply),")
    );
}

#[test]
fn what_is_there_or_is_no_name_is_refused_and_nothing_is_written() {
    let here = checkout();
    let here = here.path();
    let before = text(here, "operators/src/ops/mod.rs");
    let cases: [(&[&str], &str); 6] = [
        (&["new-operator", "softmax"], "one that no operator has"),
        (&["new-operator", "../x"], "small letters and digits"),
        (&["new-operator", "fresh", "--onnx", "lower"], "begin with a capital"),
        (&["new-pass", "count-calls"], "relay-, te- or loop-"),
        (&["new-primitive", "split"], "one that no operation of te has"),
        (&["new-operator", "fresh", "--root", "/"], "is in no checkout of fusion"),
    ];
    for (options, wanted) in cases {
        let said = complaint(here, &[&["dev"], options].concat());
        assert!(said.contains(wanted), "{said}");
    }
    assert_eq!(text(here, "operators/src/ops/mod.rs"), before);
    fs::write(here.join("conversion/relay_to_te/src/definitions/fresh.rs"), "mine").unwrap();
    let said = complaint(here, &["dev", "new-operator", "fresh"]);
    assert!(said.contains("fresh.rs already"), "{said}");
    assert!(!here.join("operators/src/ops/fresh.rs").exists());
}
