//! What follows from the shapes of inputs, through the C interface: the shapes of results, what a run holds, and ranges.

use super::common::*;
use fusion_bytecode::{Function, Instruction as I, Program, Range, ValueType};
use fusion_operators::{DType, Dim, TensorType};

fn tensor(dims: &[&str]) -> ValueType {
    ValueType::Tensor(TensorType::new(dims.iter().map(|dim| Dim::of_text(dim)).collect(), DType::F32))
}

/// Gives what it takes, with types that say more than there is to see.
fn program() -> Program {
    let code = vec![I::Tuple { to: 2, elements: vec![0, 1] }, I::Return { value: 2 }];
    let main = Function { name: "main".into(), parameters: 2, registers: 3, code, places: vec![] };
    Program {
        functions: vec![main],
        inputs: vec![("x".to_owned(), tensor(&["n", "m"])), ("y".to_owned(), tensor(&["n"]))],
        ranges: vec![("n".to_owned(), Range { least: 8, most: i64::MAX as u64, multiple: 8 })],
        output: ValueType::Tuple(vec![
            tensor(&["4*n*m+n-3", "(m-9) floordiv 4", "max(n-16, m)", "3"]),
            tensor(&["?"]),
        ]),
        ..Program::default()
    }
}

#[test]
fn c_asks_what_follows_from_shapes() {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("shapes.so");
    write(&program(), &library);
    let source = r#"
        #include "shapes.h"
        #include <string.h>
        static int says(const char *text) { return strstr(fusion_last_error(), text) != NULL; }
        static void *none(void *user, uint32_t output, const struct fusion_tensor *tensor) {
          (void)output; (void)tensor;
          ++*(int *)user;
          return NULL;
        }
        int main(void) {
          int64_t xs[2] = {16, 5}, shape[4] = {-1, -1, -1, -1};
          struct fusion_tensor inputs[2] = {{.dtype = FUSION_F32, .ndim = 2, .shape = xs}, {.dtype = FUSION_F32, .ndim = 1, .shape = xs}};
          if (fusion_output_shape(inputs, 2, 0, shape, 4) != 4) return 1;
          /* -4 / 4 is rounded down, and no extent is below 0. */
          if (shape[0] != 4 * 16 * 5 + 13 || shape[1] != 0 || shape[2] != 5 || shape[3] != 3) return 2;
          shape[1] = -7;
          if (fusion_output_shape(inputs, 2, 0, shape, 1) != 4 || shape[1] != -7) return 3;
          if (fusion_output_shape(inputs, 2, 0, NULL, 0) != 4) return 4;
          if (fusion_output_shape(inputs, 2, 1, shape, 4) != -1 || !says("output 1 along axis 0 does not follow")) return 5;
          if (fusion_output_shape(inputs, 2, 2, shape, 4) != -1 || !says("There is no output 2.")) return 6;
          if (fusion_output_shape(inputs, 1, 0, shape, 4) != -1 || !says("another number of inputs")) return 7;
          xs[0] = 12;
          if (fusion_output_shape(inputs, 2, 0, shape, 4) != -1) return 8;
          if (!says("Input 0 of the program (\"x\") has 12 along axis 0, which must be at least 8 and a multiple of 8.")) return 9;
          int calls = 0;
          if (fusion_run_tensors(inputs, 2, none, &calls) != 1 || calls || !says("has 12 along axis 0")) return 10;
          xs[0] = (int64_t)1 << 31, xs[1] = (int64_t)1 << 30;
          if (fusion_output_shape(inputs, 2, 0, shape, 4) != -1 || !says("output 0 along axis 0 is a number of more than 63 bits")) return 11;
          uint64_t bytes = 7;
          xs[0] = 16, xs[1] = 5;
          return fusion_run_bytes(inputs, 2, &bytes) != 0 || bytes != 0;
        }"#;
    run_c(directory.path(), source, &library);
}
