//! Memory and calls of kernels, as TVM's passes for its virtual machine write them, read as values.
//!
//! ```text
//!   let %s = memory.alloc_storage(40i64, 64i64);              nothing
//!   let %t = memory.alloc_tensor(%s, 0i64, shape);            memory without a value
//!   let %u = vm.invoke_tvm_op(fn (%x, Primitive=1) { .. }, (%a,), (%t,));      from here on %t is the function's result
//! ```
//! What is computed from memory without a value has none either: sizes that `vm.shape_func` is asked for end in `alloc_storage`.
//! Functions of TIR, which TVM's later versions call here, are not in the text.

use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::{TypeParts, ValueLike, type_parts};

const STORAGE: &[&str] = &["dtype", "device_type", "device_id", "virtual_device"];
const TENSOR: &[&str] = &["dtype", "const_shape", "assert_shape"];

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    Built { name: "memory.alloc_storage", operands: (2, 2), attributes: &[], ignored: STORAGE, build: |_| Ok(Made::unit()) },
    Built { name: "memory.alloc_tensor", operands: (2, 3), attributes: &[], ignored: TENSOR, build: |call| Ok(call.emitter.memory()) },
    Built { name: "memory.kill", operands: (1, 1), attributes: &[], ignored: &[], build: |_| Ok(Made::unit()) },
    built("vm.invoke_tvm_op", 3, &[], invoke),
    built("memory.invoke_tvm_op", 3, &[], invoke),
    Built { name: "vm.shape_func", operands: (3, 3), attributes: &[], ignored: &["is_input"], build: |_| Ok(Made::unit()) },
    Built { name: "memory.shape_func", operands: (3, 3), attributes: &[], ignored: &["is_input"], build: |_| Ok(Made::unit()) },
];

/// Whether an operator is about memory itself and not about what is in it.
pub fn takes_memory(name: &str) -> bool {
    ["memory.", "vm.", "on_device", "device_copy"].iter().any(|start| name.starts_with(start))
}

fn invoke<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (callee, inputs, outputs) =
        (call.arguments[0].clone(), call.arguments[1].clone(), call.arguments[2].clone());
    let (Made::Several(inputs), Made::Several(outputs)) = (inputs, outputs) else {
        return call.fault("takes a function, the tuple of its arguments and the tuple of its results");
    };
    let span = call.span;
    let result = call.emitter.called(callee, inputs.to_vec(), span)?;
    let is_tuple =
        matches!(&result, Made::Value(value) if matches!(type_parts(value.r#type()), TypeParts::Tuple(_)));
    for (index, output) in outputs.iter().enumerate() {
        let part = match outputs.len() {
            1 if !is_tuple => result.clone(),
            _ => call.emitter.project(&result, index as u64, span)?,
        };
        if !call.emitter.write(output, part) {
            return call.fault(format!(
                "result {index} is written to what is no memory.alloc_tensor of the same block"
            ));
        }
    }
    Ok(Made::unit())
}
