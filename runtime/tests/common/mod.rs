//! A model written in C, compiled as a compiler's object code would be.
#![allow(dead_code)]

use fusion_operators::DType;
use fusion_runtime::object_file::Constants;
use fusion_runtime::package::{CodeObject, Package};
use fusion_runtime::{ArgumentDescription, KernelDescription, ModelDescription};
use std::path::{Path, PathBuf};
use std::process::Command;

/// y = x * scale + noise-free workspace use, z = sum(x); scale comes from the constants.
pub const CODE: &str = r#"
#include <stdint.h>
extern const unsigned char fusion_constants[];
int32_t fusion_run(const void *const *inputs, void *const *outputs, void *workspace) {
  const float *x = inputs[0]; const int64_t *n = inputs[1];
  float *y = outputs[0]; double *z = outputs[1]; float *w = workspace;
  const float *scale = (const float *)(fusion_constants + 64);
  if (((uintptr_t)workspace | (uintptr_t)fusion_constants) % 64) return 2;
  if (*n < 0) return 3;
  *z = 0;
  for (int i = 0; i < 6; i++) w[i] = x[i] * scale[i % 3];
  for (int i = 0; i < 6; i++) { y[i] = w[i]; *z += x[i] * (double)*n; }
  return 0;
}
"#;

pub fn object(directory: &Path, code: &str) -> PathBuf {
    let (source, object) = (directory.join("code.c"), directory.join("code.o"));
    std::fs::write(&source, code).unwrap();
    let status =
        Command::new("cc").args(["-O1", "-fPIC", "-c", "-o"]).args([&object, &source]).status().unwrap();
    assert!(status.success());
    object
}

pub fn description() -> ModelDescription {
    let argument = |name: &str, dtype, shape: &[usize]| ArgumentDescription {
        name: name.to_owned(),
        dtype,
        shape: shape.to_vec(),
        value: None,
    };
    ModelDescription {
        name: "scale */ \"quoted\"".to_owned(),
        target: "cpu".to_owned(),
        inputs: vec![argument("x", DType::F32, &[2, 3]), argument("n", DType::I64, &[])],
        outputs: vec![argument("y", DType::F32, &[2, 3]), argument("z", DType::F64, &[])],
        kernels: vec![KernelDescription {
            name: "scale_sum".to_owned(),
            function: None,
            operators: vec!["relay.multiply".to_owned(), "relay.sum".to_owned()],
            flops: Some(18),
            bytes: Some(64),
        }],
        program: None,
        device: None,
        workspace_bytes: 24,
    }
}

/// Builds the model and gives the library's path.
pub fn library(directory: &Path) -> PathBuf {
    library_of(directory, &description())
}

/// As [`library`], with another description.
pub fn library_of(directory: &Path, description: &ModelDescription) -> PathBuf {
    let object = object(directory, CODE);
    let scale: Vec<u8> = [1.0f32, 2.0, 3.0].iter().flat_map(|v| v.to_ne_bytes()).collect();
    let mut constants = Constants::default();
    constants.push(&[0xff; 5], 64);
    assert_eq!(constants.push(&scale, 64), 64);
    let path = directory.join("model.so");
    let package = Package {
        description,
        code: vec![CodeObject::File(&object)],
        constants,
        outside: None,
        libraries: vec![],
        linker: None,
        own_linker: None,
    };
    let header = package.write(&path).unwrap();
    assert_eq!(header, directory.join("model.h"));
    path
}
