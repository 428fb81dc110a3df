//! Tensors of other frameworks.

use crate::kernel::Kernel;
use std::process::Command;

/// Adds one to each of six floats.
const KERNEL: &str =
    "static void kernel(void *const *a) { ((float *)a[1])[thread()] = ((float *)a[0])[thread()] + 1; }";

const MAIN: &str = r#"
#include "kernel.h"
#include <stdio.h>
#include <string.h>
/* As dlpack.h declares them. */
typedef struct { int32_t device_type, device_id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct { void *data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t *shape, *strides; uint64_t byte_offset; } DLTensor;
typedef struct DLManagedTensor { DLTensor dl_tensor; void *manager_ctx; void (*deleter)(struct DLManagedTensor *); } DLManagedTensor;

int main(void) {
  float x[8] = {9, 9, 1, 2, 3, 4, 5, 6}, y[6];
  int64_t shape[] = {2, 3}, dense[] = {3, 1}, turned[] = {1, 2}, few[] = {2, 2};
  DLManagedTensor in = {{x, {1, 0}, 2, {2, 32, 1}, shape, NULL, 8}, NULL, NULL}, out = {{y, {1, 0}, 2, {2, 32, 1}, shape, dense, 0}, NULL, NULL};
  DLManagedTensor *inputs[] = {&in}, *outputs[] = {&out};
  if (fusion_run_dlpack(inputs, outputs)) { puts(fusion_last_error()); return 1; }
  for (int i = 0; i < 6; i++) printf("%g ", y[i]);
  puts("");
  DLManagedTensor wrong = in;
  inputs[0] = &wrong;
#define SAYS(change) wrong = in; change; if (!fusion_run_dlpack(inputs, outputs)) return 1; puts(fusion_last_error())
  SAYS(wrong.dl_tensor.strides = turned);
  SAYS(wrong.dl_tensor.shape = few);
  SAYS(wrong.dl_tensor.dtype.bits = 64);
  SAYS(wrong.dl_tensor.device.device_type = 2);
  const void *from[] = {x}; void *to[] = {y};
  return fusion_run_device(from, to) || y[0] != 10;
}
"#;

#[test]
fn tensors_of_dlpack_are_taken_and_filled() {
    let directory = tempfile::tempdir().unwrap();
    let library = Kernel::new(KERNEL, 6, 6).library(directory.path(), &[24]);
    let (source, main) = (directory.path().join("main.c"), directory.path().join("main"));
    std::fs::write(&source, MAIN).unwrap();
    let compiled =
        Command::new("cc").args(["-Wall", "-Werror", "-o"]).args([&main, &source, &library]).status();
    assert!(compiled.unwrap().success());
    let output = Command::new(&main).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "2 3 4 5 6 7 \n\
         The model's input 0 is not dense and row-major; copy it into that order.\n\
         The model's input 0 has 24 bytes, but a tensor of 16 bytes was given.\n\
         The model's input 0 has 24 bytes, but a tensor of 48 bytes was given.\n\
         The model's input 0 lies on a device of another kind (2 of DLPack) than the model runs on; copy it to the host.\n"
    );
    assert!(output.status.success());
}
