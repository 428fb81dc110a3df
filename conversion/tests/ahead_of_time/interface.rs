//! The C interface of a compiled program.

use super::common::*;
use fusion_bytecode::{Instruction as I, ValueType};
use fusion_runtime::NativeProgram;

#[test]
fn a_program_of_tensors_is_a_model() {
    let code = vec![
        I::Kernel { kernel: DIVIDE, inputs: vec![0, 1], outputs: vec![2, 3] },
        I::Drop { value: 1 },
        I::Tuple { to: 4, elements: vec![2, 3] },
        I::Tuple { to: 5, elements: vec![4, 0] },
        I::Return { value: 5 },
    ];
    let output = ValueType::Tuple(vec![ValueType::Tuple(vec![tensor(); 2]), tensor()]);
    let inputs = [("x", tensor()), ("y", tensor())];
    let program = native(&program(&inputs, output, vec![function("main", 2, code)]));
    let module = program.module();
    let shapes: Vec<_> =
        module.description().outputs.iter().map(|o| (o.name.as_str(), o.shape.len())).collect();
    assert_eq!(shapes, [("output_0", 0), ("output_1", 0), ("output_2", 0)]);
    let outputs = module.run(&[number(23), number(5)]).unwrap();
    assert_eq!(outputs, [number(4), number(3), number(23)]);
    assert_eq!(program.live_values(), 0);
}

#[test]
fn other_programs_are_no_models() {
    let code = vec![I::Construct { to: 1, data: 0, tag: 0, fields: vec![] }, I::Return { value: 1 }];
    let list = ValueType::Data(0, vec![tensor()]);
    let program = native(&program(&[], list, vec![function("main", 0, code)]));
    let error = program.module().run::<fusion_operators::Tensor>(&[]).unwrap_err().to_string();
    assert!(error.contains("run it with fusion_call"), "{error}");
    let described = program.description().program.as_ref().unwrap();
    assert_eq!(described.output, "List[tensor<i32>]");
    assert_eq!(described.data[0].constructors, [("Nil".to_owned(), 0), ("Cons".to_owned(), 2)]);
}

#[test]
fn c_calls_a_program_and_reads_its_value() {
    // @main(list): the list with a number before it.
    let list = ValueType::Data(0, vec![tensor()]);
    let code = vec![
        I::Constant { to: 1, constant: 8 },
        I::Construct { to: 2, data: 0, tag: 1, fields: vec![1, 0] },
        I::Return { value: 2 },
    ];
    let program = program(&[("list", list.clone())], list, vec![function("main", 1, code)]);
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("list.so");
    write(&program, &library);
    assert!(NativeProgram::load(&library).unwrap().is_some());
    let source = r#"
        #include "list.h"
        #include <string.h>
        int main(void) {
          int32_t five = 5;
          struct fusion_item items[] = {
            {.kind = FUSION_DATA, .data_type = 0, .tag = 1, .parts = 2},
            {.kind = FUSION_TENSOR, .dtype = FUSION_I32, .data = &five},
            {.kind = FUSION_DATA, .data_type = 0, .tag = 0},
          };
          const fusion_value *list, *first, *rest;
          if (fusion_call(items, 3, &list)) return 1;
          if (fusion_value_kind(list) != FUSION_DATA || fusion_value_tag(list) != 1 || fusion_value_count(list) != 2) return 2;
          first = fusion_value_field(list, 0), rest = fusion_value_field(list, 1);
          if (fusion_value_kind(first) != FUSION_TENSOR || fusion_value_dtype(first) != FUSION_I32) return 3;
          if (fusion_value_rank(first) != 0 || *(const int32_t *)fusion_value_data(first) != 8) return 4;
          if (*(const int32_t *)fusion_value_data(fusion_value_field(rest, 0)) != 5) return 5;
          if (fusion_value_field(rest, 2) || fusion_live_values() != 4) return 6;
          fusion_value_release(list);
          if (fusion_live_values() != 0) return 7;
          if (!fusion_call(items, 2, &list) || !strstr(fusion_last_error(), "no value")) return 8;
          items[0].tag = 2;
          if (!fusion_call(items, 3, &list) || !strstr(fusion_last_error(), "constructor")) return 9;
          return fusion_abi_version != 1;
        }"#;
    run_c(directory.path(), source, &library);
}
