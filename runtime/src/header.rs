//! The C header that goes beside a compiled model.

use crate::description::{ArgumentDescription, ModelDescription};
use std::fmt::Write;

/// The text of the header `stem.h` of a model.
pub fn header(description: &ModelDescription, stem: &str) -> String {
    let guard: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let mut inputs = String::new();
    let mut outputs = String::new();
    list(&mut inputs, "inputs", &description.inputs);
    list(&mut outputs, "outputs", &description.outputs);
    let (name, target) = (comment(&description.name), comment(&description.target));
    let workspace = description.workspace_bytes;
    format!(
        "/* The model {name}, compiled for {target}.
 *
{inputs}{outputs} *
 * Tensors are dense and row-major, aligned to at least their element. The workspace is aligned to 64 bytes
 * and has fusion_workspace_bytes ({workspace}) bytes.
 */
#ifndef FUSION_{guard}_H
#define FUSION_{guard}_H

#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {{
#endif

extern const uint32_t fusion_abi_version;
extern const uint64_t fusion_workspace_bytes;
extern const char fusion_model_json[];
extern const unsigned char fusion_constants[];

/* Runs the model once and returns 0. Thread-safe for distinct workspaces and outputs. */
int32_t fusion_run(const void *const *inputs, void *const *outputs, void *workspace);

/* How many threads runs may use from now on, the caller's among them; 0 for one a processor. Without a call it is
 * FUSION_THREADS of the environment, else 1. What a run computes does not depend on it. */
void fusion_set_threads(int32_t threads);

#ifdef __cplusplus
}}
#endif

#endif
"
    )
}

fn list(text: &mut String, group: &str, arguments: &[ArgumentDescription]) {
    for (i, argument) in arguments.iter().enumerate() {
        let (name, ty) = (comment(&argument.name), argument.tensor_type());
        let only = match argument.value {
            Some(_) => ", which must have the value it was compiled for",
            None => "",
        };
        let _ = writeln!(text, " *   {group}[{i}]  {name}: {ty}{only}");
    }
}

/// Text that cannot end a comment or its line.
fn comment(text: &str) -> String {
    text.chars().map(|c| if c == '/' || c == '\\' || c.is_control() { '_' } else { c }).collect()
}
