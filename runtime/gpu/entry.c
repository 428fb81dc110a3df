/* What a library for a GPU shows: runs of its one program, which is in the program's object. */

#include "gpu.h"

extern struct fusion_gpu_program fusion_gpu_program;

/* The workspace is the device's, so that of the caller is not used. */
int32_t fusion_run(const void *const *inputs, void *const *outputs, void *workspace) {
  (void)workspace;
  return fusion_gpu_run(&fusion_gpu_program, inputs, outputs);
}

int32_t fusion_run_device(const void *const *inputs, void *const *outputs) {
  return fusion_gpu_run_device(&fusion_gpu_program, inputs, outputs);
}

int32_t fusion_run_stream(const void *const *inputs, void *const *outputs, void *stream) {
  return fusion_gpu_run_stream(&fusion_gpu_program, inputs, outputs, stream);
}
