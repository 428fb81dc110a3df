/* The C interface of every model that fusion compiles for a processor, version 1: docs/reference/abi.md.
 *
 * The header that `fusion compile` writes beside a library says the same of that model, with what it takes and gives, and what
 * libraries of programs and for devices have besides. A program may include both.
 */
#ifndef FUSION_H
#define FUSION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version that a library must have for this header. */
#define FUSION_ABI_VERSION 1

extern const uint32_t fusion_abi_version;
/* Bytes of the workspace of a run, which is aligned to 64 bytes. */
extern const uint64_t fusion_workspace_bytes;
/* What the model takes and gives, as JSON. */
extern const char fusion_model_json[];
extern const unsigned char fusion_constants[];

/* Runs the model once and returns 0. inputs[i] and outputs[i] are dense row-major tensors, in the order and of the types that the
 * JSON names, aligned to at least their element. Thread-safe for distinct workspaces and outputs. */
int32_t fusion_run(const void *const *inputs, void *const *outputs, void *workspace);

/* How many threads runs may use from now on, the caller's among them; 0 for one a processor. */
void fusion_set_threads(int32_t threads);

#ifdef __cplusplus
}
#endif

#endif
