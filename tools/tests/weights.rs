//! `fusion compile --weights`: libraries whose weights lie in a file beside them.

use crate::common::{command, complained, succeed};
use std::fs;
use std::path::Path;

const MODEL: &str = r#"func.func @main(%x: tensor<3x4xf32> {relay.name = "x"}) -> (tensor<3x4xf32> {relay.name = "y"}) {
  %w = relay.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 1.5, 2.5, 3.5], [4.5, 5.5, 6.5, 7.5]]> : tensor<4x4xf32>
  %0 = relay.matmul %x, %w : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
"#;
const X: &str = "x=tensor<3x4xf32> [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 2]]";

/// A folder with the model and, for these options, its library and weights.
fn compiled(options: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("m.mlir"), MODEL).unwrap();
    succeed(directory.path(), &[&["compile", "m.mlir", "--weights", "w.safetensors"], options].concat());
    directory
}

fn refused(here: &Path, environment: Option<&str>) -> String {
    let args = ["run", "m.so", "--input", X];
    let mut run = command(here, &args);
    if let Some(file) = environment {
        run.env("FUSION_WEIGHTS", file);
    }
    complained(&args, run.output().unwrap())
}

#[test]
fn models_run_on_mapped_weights() {
    for options in [&[][..], &["--target", "nvidia:sm_90a", "--emulate"]] {
        let directory = compiled(options);
        let said = succeed(directory.path(), &["run", "m.so", "--input", X]);
        let whole = succeed(directory.path(), &["run", "m.mlir", "--input", X]);
        assert_eq!(said, whole, "{options:?}");
        assert!(said.contains("[1.0, 2.0, 3.0, 4.0, 5.0"), "{said}");
    }
}

#[test]
fn another_file_may_be_named() {
    let directory = compiled(&[]);
    let here = directory.path();
    fs::rename(here.join("w.safetensors"), here.join("other")).unwrap();
    let missing = refused(here, None);
    assert!(
        missing.contains("w.safetensors: No such file") && missing.contains("FUSION_WEIGHTS"),
        "{missing}"
    );
    let run = command(here, &["run", "m.so", "--input", X]).env("FUSION_WEIGHTS", "other").output().unwrap();
    assert!(run.status.success(), "{run:?}");
}

#[test]
fn a_file_that_does_not_fit_is_refused() {
    let directory = compiled(&[]);
    let here = directory.path();
    let path = here.join("w.safetensors");
    let bytes = fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        refused(here, None)
    };
    let sizes = format!("the file has {} bytes, expected {}", bytes.len() - 1, bytes.len());
    assert!(refused(&bytes[..bytes.len() - 1]).contains(&sizes));
    assert!(refused(&bytes[..5]).contains("is no file of weights"));
    assert!(refused(&[0xff; 200]).contains("is no file of weights"));
    let mut other = bytes.clone();
    let at = bytes.windows(10).position(|w| w == b"\"fusion\":\"").unwrap() + 12;
    other[at] = if other[at] == b'0' { b'1' } else { b'0' };
    assert!(refused(&other).contains("are not those this model was compiled with"));
}

#[test]
fn the_file_is_the_same_bytes_each_time() {
    let [a, b] = [0; 2].map(|_| fs::read(compiled(&[]).path().join("w.safetensors")).unwrap());
    assert_eq!(a, b);
}

#[test]
fn bytecode_keeps_its_constants() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("m.mlir"), MODEL).unwrap();
    let args = ["compile", "m.mlir", "--weights", "w.safetensors", "--emit", "bytecode"];
    let said = complained(&args, command(directory.path(), &args).output().unwrap());
    assert!(said.contains("--weights is for models of operators alone"), "{said}");
}
