/* `fusion_run` of a model for a processor whose weights lie in a file. */

#include <stddef.h>
#include <stdint.h>

extern _Bool fusion_weights_map(char *why, size_t room);
extern int32_t fusion_run_mapped(const void *const *inputs, void *const *outputs, void *workspace);

static _Thread_local char last_error[2048];

const char *fusion_last_error(void) { return last_error; }

int32_t fusion_run(const void *const *inputs, void *const *outputs, void *workspace) {
  return fusion_weights_map(last_error, sizeof last_error) ? fusion_run_mapped(inputs, outputs, workspace) : 1;
}
