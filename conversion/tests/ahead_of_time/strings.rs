//! Strings through the C interface.

use super::common::*;
use fusion_bytecode::{Function, Instruction as I, Program, ValueType};
use fusion_operators::{Attrs, DType, Dim, Tensor, TensorType, ValueTree};
use fusion_runtime::NativeProgram;

fn strings() -> ValueType {
    ValueType::Tensor(TensorType::new(vec![Dim::Any], DType::String))
}

fn operator(name: &str, inputs: &[u32], output: u32) -> I {
    let (operator, attributes) = (name.to_owned(), Attrs::new());
    I::Operator { operator, attributes, inputs: inputs.to_vec(), outputs: vec![output] }
}

/// Gives x with "!" behind, and a constant of three strings.
fn exclaimed() -> Program {
    let code = vec![
        I::Constant { to: 1, constant: 0 },
        operator("string_concat", &[0, 1], 2),
        I::Drop { value: 0 },
        I::Drop { value: 1 },
        I::Constant { to: 3, constant: 1 },
        I::Tuple { to: 4, elements: vec![2, 3] },
        I::Return { value: 4 },
    ];
    let main = Function { name: "main".into(), parameters: 1, registers: 5, code, places: vec![] };
    Program {
        strings: ["a", "!", ""].map(str::to_owned).to_vec(),
        constants: vec![
            Tensor::from_strings(&[], &["!"]).unwrap(),
            Tensor::from_strings(&[3], &["", "a", "!"]).unwrap(),
        ],
        functions: vec![main],
        inputs: vec![("x".to_owned(), strings())],
        output: ValueType::Tuple(vec![strings(), strings()]),
        ..Program::default()
    }
}

#[test]
fn strings_go_in_and_come_out() {
    let program = native(&exclaimed());
    let x: Vec<String> = (0..3000).map(|i| "é".repeat(i % 7) + &(i % 50).to_string()).collect();
    for x in [&x[..], &x[..0], &x[..1]] {
        let given = ValueTree::tensor(Tensor::from_strings(&[x.len()], x).unwrap());
        let exclaimed: Vec<String> = x.iter().map(|string| format!("{string}!")).collect();
        let expected = ValueTree::tuple(vec![
            ValueTree::tensor(Tensor::from_strings(&[x.len()], &exclaimed).unwrap()),
            ValueTree::tensor(Tensor::from_strings(&[3], &["", "a", "!"]).unwrap()),
        ]);
        assert_eq!(program.call(&[given]).unwrap(), expected);
    }
    assert_eq!(program.live_values(), 0);
}

#[test]
fn c_gives_and_gets_strings() {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("exclaimed.so");
    write(&exclaimed(), &library);
    assert!(NativeProgram::load(&library).unwrap().is_some());
    let source = r#"
        #include "exclaimed.h"
        #include <stdlib.h>
        #include <string.h>
        static void *memory[4];
        static int64_t sizes[4];
        static int calls;
        static void *allocate(void *user, uint32_t output, const struct fusion_tensor *tensor) {
          (void)user;
          if (output != (uint32_t)calls / 2 || tensor->ndim != 1) return NULL;
          if (tensor->dtype != (calls % 2 ? FUSION_STRING : FUSION_UI8)) return NULL;
          sizes[calls] = tensor->shape[0];
          return memory[calls++] = malloc(16 * (size_t)tensor->shape[0] + 1);
        }
        static int is(struct fusion_string found, const char *expected) {
          return found.bytes == strlen(expected) && !memcmp(found.data, expected, found.bytes);
        }
        int main(void) {
          int64_t three = 3, steps = 2;
          struct fusion_string x[] = {{"b", 1}, {"\xc3\xa9", 2}, {"", 0}, {"\xff", 1}, {"b", 1}}, found[3];
          struct fusion_item item = {.kind = FUSION_TENSOR, .dtype = FUSION_STRING, .parts = 1, .extents = &three, .data = x};
          const fusion_value *value;
          if (fusion_call(&item, 1, &value)) return 1;
          if (fusion_value_strings(value, fusion_value_field(value, 0), found)) return 2;
          if (!is(found[0], "b!") || !is(found[1], "\xc3\xa9!") || !is(found[2], "!")) return 3;
          if (fusion_value_strings(value, fusion_value_field(value, 1), found)) return 4;
          if (!is(found[0], "") || !is(found[1], "a") || !is(found[2], "!")) return 5;
          if (!fusion_value_strings(value, value, found) || !strstr(fusion_last_error(), "no tensor of strings")) return 6;
          fusion_value_release(value);
          /* Every other one: the first, the third, the last. */
          struct fusion_tensor tensor = {.data = x, .dtype = FUSION_STRING, .ndim = 1, .shape = &three, .strides = &steps};
          if (fusion_run_tensors(&tensor, 1, allocate, NULL) || calls != 4) return 7;
          const struct fusion_string *first = memory[1], *second = memory[3];
          if (sizes[0] != 5 || !is(first[0], "b!") || !is(first[1], "!") || !is(first[2], "b!")) return 8;
          if (sizes[2] != 2 || !is(second[1], "a")) return 9;
          item.data = x + 1;
          if (!fusion_call(&item, 1, &value) || !strstr(fusion_last_error(), "no text in UTF-8")) return 10;
          if (!fusion_run(NULL, NULL, NULL) || !strstr(fusion_last_error(), "run it with fusion_call")) return 11;
          return fusion_live_values() != 0;
        }"#;
    run_c(directory.path(), source, &library);
}
