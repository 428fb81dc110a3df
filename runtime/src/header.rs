//! The C header that goes beside a compiled model.

use crate::description::{ArgumentDescription, ModelDescription, ProgramDescription};
use fusion_operators::DType;
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
    let program = description.program.as_ref().map_or(String::new(), program);
    let device = if description.device.is_some() { DEVICE } else { "" };
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
{program}{device}
#ifdef __cplusplus
}}
#endif

#endif
"
    )
}

/// What a program of the whole language has besides.
fn program(program: &ProgramDescription) -> String {
    let mut about = String::new();
    for (i, (name, ty)) in program.inputs.iter().enumerate() {
        let _ = writeln!(about, " *   input {i}  {}: {}", comment(name), comment(ty));
    }
    let _ = writeln!(about, " *   gives {}", comment(&program.output));
    for (i, data) in program.data.iter().enumerate() {
        let constructors = data.constructors.iter().enumerate();
        let constructors: Vec<String> = constructors
            .map(|(tag, (name, fields))| format!("{tag} {} of {fields}", comment(name)))
            .collect();
        let _ = writeln!(about, " *   data type {i}  {}: {}", comment(&data.name), constructors.join(", "));
    }
    let dtypes = DType::ALL.iter().enumerate();
    let name = |dtype: &DType| dtype.mlir_name().trim_start_matches("!relay.").to_uppercase();
    let dtypes: Vec<String> = dtypes.map(|(i, dtype)| format!("FUSION_{} = {i}", name(dtype))).collect();
    PROGRAM.replace("@ABOUT@", &about).replace("@DTYPES@", &dtypes.join(", "))
}

/// What a library for a GPU has besides.
const DEVICE: &str = "
/* The model runs on a device, and has its workspace there: that of fusion_run may be NULL. Runs may fail; then they return
 * something else than 0. They take turns. */

/* The same with tensors that lie on the device. */
int32_t fusion_run_device(const void *const *inputs, void *const *outputs);
/* The same on a stream of the caller's (CUstream, hipStream_t), where it happens after what was put there before: it has not been done
 * when this returns. Runs of one library share its workspace, so let one end before another begins on another stream. A stream that is
 * captured as a graph takes a run that has run once before. An emulated library has no streams, and is done when this returns. */
int32_t fusion_run_stream(const void *const *inputs, void *const *outputs, void *stream);
/* The same with tensors of DLPack, each on the host or on the device. They stay the caller's. */
struct DLManagedTensor;
int32_t fusion_run_dlpack(struct DLManagedTensor *const *inputs, struct DLManagedTensor *const *outputs);
/* The number of the device that runs are on from now on. Without a call it is FUSION_DEVICE of the environment, else 0. */
void fusion_set_device(int32_t number);
/* Why the last run on this thread that returned something else than 0 did. */
const char *fusion_last_error(void);
/* Whether runs from now on note what they do on the device, each kernel launched by itself; then what the last run did, in order:
 * how much, and in *events what, until the next run. */
#ifndef FUSION_GPU_EVENT
#define FUSION_GPU_EVENT
struct fusion_gpu_event {
  uint32_t what;                              /* 0 a launch, 1 a copy to the device, 2 from it, 3 on it */
  uint32_t grid[3], block[3], shared_bytes;   /* of a launch */
  const char *kernel;                         /* of a launch */
  uint64_t bytes;                             /* of a copy */
  double begin_s, seconds;                    /* since the run began */
};
#endif
void fusion_set_profiling(int32_t on);
int64_t fusion_profile(const struct fusion_gpu_event **events, double *empty_s);
";

const PROGRAM: &str = "
/* The program as it is in its language:
@ABOUT@ */
#ifndef FUSION_VALUES
#define FUSION_VALUES

enum { FUSION_TENSOR, FUSION_DATA, FUSION_TUPLE, FUSION_FUNCTION, FUSION_CELL };
enum { @DTYPES@ };

/* A part of an input, before its own parts. */
struct fusion_item {
  uint32_t kind;           /* FUSION_TENSOR, FUSION_DATA, FUSION_TUPLE or FUSION_CELL */
  uint32_t data_type, tag; /* of data: the data type and which of its constructors */
  uint32_t dtype;          /* of a tensor */
  uint32_t parts;          /* fields, elements; 1 for a cell; the rank of a tensor */
  const int64_t *extents;  /* of a tensor */
  const void *data;        /* of a tensor: dense and row-major */
};

typedef struct fusion_value fusion_value;

/* An element of a tensor of strings: a text in UTF-8, without an end. */
struct fusion_string {
  const char *data;
  uint64_t bytes;
};

/* A tensor, with DLPack's shape and strides. */
struct fusion_tensor {
  void *data;             /* aligned to its element */
  uint32_t dtype;
  uint32_t ndim;
  const int64_t *shape;
  const int64_t *strides; /* in elements; NULL for dense and row-major */
};

/* Memory for an output whose element type and shape are known now, dense and row-major; NULL when there is none. For an output of strings it is
 * called twice: for the bytes of all of them, as a tensor of FUSION_UI8, then for the strings, which point there. */
typedef void *fusion_allocate(void *user, uint32_t output, const struct fusion_tensor *tensor);

#endif

/* Runs the program once on tensors of any shapes that it takes, and returns 0. Dense inputs are read in place; the outputs are put where
 * `allocate` says, which is called for one after another on this thread. Thread-safe. */
int32_t fusion_run_tensors(const struct fusion_tensor *inputs, uint32_t count, fusion_allocate *allocate, void *user);

/* The rank of a result for inputs of these shapes, whose data is not looked at, or -1; of its extents the first `axes` are written. Nothing is
 * run: where an extent follows from more than the shapes of inputs, that is an error. */
int32_t fusion_output_shape(const struct fusion_tensor *inputs, uint32_t count, uint32_t output, int64_t *shape, uint32_t axes);
/* Writes how many bytes of tensors a run on inputs of these shapes holds at a time, besides inputs, constants and what `allocate` gives, and
 * returns 0. */
int32_t fusion_run_bytes(const struct fusion_tensor *inputs, uint32_t count, uint64_t *bytes);

/* Runs the program once on inputs as items, one input behind another, and returns 0. They are copied. Thread-safe. */
int32_t fusion_call(const struct fusion_item *items, uint64_t count, const fusion_value **value);
/* Frees a value that fusion_call gave, and its parts. */
void fusion_value_release(const fusion_value *value);
/* Why the last run on this thread that returned something else than 0 did. */
const char *fusion_last_error(void);
/* How many values there are of runs that have ended: those that are not released, and those that own themselves. */
int64_t fusion_live_values(void);

/* What a value is, and its parts, which live as long as it does. What a value is not has 0 or NULL, an extent -1. */
uint32_t fusion_value_kind(const fusion_value *value);
uint32_t fusion_value_data_type(const fusion_value *value);
uint32_t fusion_value_tag(const fusion_value *value);
uint32_t fusion_value_count(const fusion_value *value);
const fusion_value *fusion_value_field(const fusion_value *value, uint32_t index);
uint32_t fusion_value_dtype(const fusion_value *value);
uint32_t fusion_value_rank(const fusion_value *value);
int64_t fusion_value_extent(const fusion_value *value, uint32_t axis);
const void *fusion_value_data(const fusion_value *value);
/* The strings of a tensor that is `value`, which fusion_call gave, or a part of it. They live as long as it does. fusion_value_data of such a
 * tensor is of no use. Returns 0, or 1 where it is no tensor of strings. */
int32_t fusion_value_strings(const fusion_value *value, const fusion_value *tensor, struct fusion_string *strings);
";

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
