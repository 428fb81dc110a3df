/* Runs on tensors as other frameworks hand them over: DLPack, whose structs these are.
 *
 * Inputs and outputs are the caller's, and stay so; each may be on the host or on the device. Of what a tensor says its size,
 * place and order are compared with the program; the types are in the library's description. */

#include "device.h"

extern struct fusion_gpu_program fusion_gpu_program;

struct tensor {
  void *data;
  struct {
    int32_t kind, number;
  } device;
  int32_t rank;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } element;
  int64_t *extents, *strides;  /* strides in elements; null for a dense tensor */
  uint64_t offset;             /* bytes */
};

struct managed_tensor {
  struct tensor tensor;
  void *owner;
  void (*release)(struct managed_tensor *self);
};

enum { ON_HOST = 1, ON_CUDA = 2, ON_PINNED_HOST = 3, ON_ROCM = 10, ON_PINNED_ROCM_HOST = 11 };

/* What the model's own device is called. */
static int32_t own_kind(void) {
  switch (fusion_gpu_program.kind) {
  case FUSION_CUDA:
    return ON_CUDA;
  case FUSION_HIP:
    return ON_ROCM;
  default:
    return ON_HOST;
  }
}

/* The bytes of a dense tensor, or all ones where it is not dense. */
static uint64_t dense_bytes(const struct tensor *tensor) {
  uint64_t elements = 1, bits = (uint64_t)tensor->element.bits * tensor->element.lanes;
  for (int32_t i = 0; i < tensor->rank; i++)
    if (tensor->extents[i] == 0)
      return 0;
  for (int32_t i = tensor->rank - 1; i >= 0; i--) {
    if (tensor->strides && tensor->extents[i] != 1 && (uint64_t)tensor->strides[i] != elements)
      return UINT64_MAX;
    if (tensor->extents[i] < 0 || __builtin_mul_overflow(elements, (uint64_t)tensor->extents[i], &elements))
      return UINT64_MAX;
  }
  return __builtin_mul_overflow(elements, (bits + 7) / 8, &elements) ? UINT64_MAX : elements;
}

static _Bool take(const struct managed_tensor *managed, uint64_t bytes, const char *what, uint32_t i,
                  struct fusion_gpu_tensor *given) {
  const struct tensor *tensor = &managed->tensor;
  uint64_t found = dense_bytes(tensor);
  int32_t kind = tensor->device.kind;
  if (found == UINT64_MAX)
    return fusion_gpu_fail("The model's %s %u is not dense and row-major; copy it into that order.", what, i);
  if (found != bytes)
    return fusion_gpu_fail("The model's %s %u has %llu bytes, but a tensor of %llu bytes was given.", what, i,
                           (unsigned long long)bytes, (unsigned long long)found);
  *given = (struct fusion_gpu_tensor){.memory = (char *)tensor->data + tensor->offset};
  if (kind == ON_HOST || kind == ON_PINNED_HOST || kind == ON_PINNED_ROCM_HOST)
    return 1;
  if (kind != own_kind())
    return fusion_gpu_fail("The model's %s %u lies on a device of another kind (%d of DLPack) than the model runs on; copy it to "
                           "the host.",
                           what, i, kind);
  int32_t number = fusion_device();
  if (number < 0)
    return 0;
  if (tensor->device.number != number)
    return fusion_gpu_fail("The model's %s %u lies on device %d, but the model runs on device %d; move one to the other.", what,
                           i, tensor->device.number, number);
  given->on_device = 1;
  return 1;
}

int32_t fusion_run_dlpack(struct managed_tensor *const *inputs, struct managed_tensor *const *outputs) {
  struct fusion_gpu_program *program = &fusion_gpu_program;
  uint64_t count = (uint64_t)program->inputs + program->outputs;
  struct fusion_gpu_tensor *given = calloc(count + 1, sizeof *given);
  if (!given)
    return !fusion_gpu_fail("There is no memory for a run.");
  _Bool fine = 1;
  for (uint32_t i = 0; fine && i < program->inputs; i++)
    fine = take(inputs[i], program->input_bytes[i], "input", i, &given[i]);
  for (uint32_t i = 0; fine && i < program->outputs; i++)
    fine = take(outputs[i], program->output_bytes[i], "output", i, &given[program->inputs + i]);
  int32_t result = fine ? fusion_gpu_run_on(program, given, NULL) : 1;
  free(given);
  return result;
}
