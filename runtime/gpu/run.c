/* Runs of a program on a device.
 *
 *   host      inputs --+                                            +--> outputs
 *                      | upload      launches, in order, of main    | download, then wait
 *   device             +--> inputs | constants | workspace | outputs
 *                                    \_ filled once _/
 *
 * The device is opened by the first run. Its memory, the weights on it, loaded kernels and one stream stay until the library
 * leaves memory, another device is asked for, or the device is lost. Runs of one library take turns. */

#include "device.h"
#include <stdarg.h>

struct state {
  struct device *device;
  struct fusion_gpu_program *program;
  struct state *next;     /* of the programs that are open */
  _Bool failed;           /* the run that goes on */
  _Bool has_tensors;      /* memory for inputs and outputs */
  void *constants, *workspace;
  void **passed;          /* what main gets: inputs, outputs, constants, workspace */
  void *tensors[];        /* inputs, outputs; then as many places for `passed` */
};

/* The C library's mutex is of zeros and is not larger than this on any machine. */
static union {
  _Alignas(16) unsigned char bytes[64];
} turns;
static struct state *opened;
static int32_t wanted = -1;  /* the number of the device; -1: nobody said */
static _Bool closes_at_exit;
static _Thread_local struct state *current;  /* the run of this thread */
static _Thread_local char last_error[2048];

_Bool fusion_gpu_fail(const char *format, ...) {
  va_list values;
  va_start(values, format);
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
  vsnprintf(last_error, sizeof last_error, format, values);
#pragma clang diagnostic pop
  va_end(values);
  return 0;
}

const char *fusion_last_error(void) { return last_error; }

/* Opening and closing. */

static _Bool device_number(int32_t *number) {
  *number = wanted;
  if (wanted >= 0)
    return 1;
  const char *text = getenv("FUSION_DEVICE");
  char *end = NULL;
  long given = text && *text ? strtol(text, &end, 10) : 0;
  if ((end && *end) || given < 0 || given > 1 << 20)
    return fusion_gpu_fail("FUSION_DEVICE is \"%.64s\", which is not the number of a device; the first one is 0.", text);
  *number = (int32_t)given;
  return 1;
}

static uint32_t tensors(const struct fusion_gpu_program *program) { return program->inputs + program->outputs; }

static uint64_t tensor_bytes(const struct fusion_gpu_program *program, uint32_t i) {
  return i < program->inputs ? program->input_bytes[i] : program->output_bytes[i - program->inputs];
}

/* The caller has entered the device. */
static void close_entered(struct state *state) {
  struct device *device = state->device;
  const struct device_kind *kind = device->kind;
  for (uint32_t i = 0; i < tensors(state->program); i++)
    if (state->tensors[i])
      kind->release(device, state->tensors[i]);
  if (state->constants)
    kind->release(device, state->constants);
  if (state->workspace)
    kind->release(device, state->workspace);
  struct state **place = &opened;
  while (*place && *place != state)
    place = &(*place)->next;
  if (*place)
    *place = state->next;
  state->program->state = NULL;
  kind->leave(device);
  kind->close(device);
  free(state);
}

static void close_all(void) {
  while (opened) {
    struct state *state = opened;
    if (state->device->kind->enter(state->device)) {
      close_entered(state);
      continue;
    }
    opened = state->next;  /* the driver is gone, and its memory with it */
    state->program->state = NULL;
    state->device->kind->close(state->device);
    free(state);
  }
}

static void at_exit(void) {
  pthread_mutex_lock(&turns);
  close_all();
  pthread_mutex_unlock(&turns);
}

static const struct device_kind *kind_of(uint32_t kind) {
  switch (kind) {
  case FUSION_CUDA:
    return &fusion_cuda;
  case FUSION_HIP:
    return &fusion_hip;
  case FUSION_EMULATED:
    return &fusion_emulated;
  default:
    fusion_gpu_fail("The library is for a kind of device (%u) that it does not know; compile the model again.", kind);
    return NULL;
  }
}

static struct state *make(struct fusion_gpu_program *program) {
  int32_t number;
  const struct device_kind *kind = kind_of(program->kind);
  if (!kind || !device_number(&number))
    return NULL;
  uint64_t places = 2 * (uint64_t)tensors(program) + 2;
  struct state *state = calloc(1, sizeof *state + places * sizeof(void *));
  if (!state) {
    fusion_gpu_fail("There is no memory for a run.");
    return NULL;
  }
  state->passed = state->tensors + tensors(program);
  state->program = program;
  state->device = kind->open(kind, number);
  if (!state->device) {
    free(state);
    return NULL;
  }
  return state;
}

/* Memory and weights of a program that has just been entered. */
static _Bool fill(struct state *state) {
  const struct fusion_gpu_program *program = state->program;
  struct device *device = state->device;
  const struct device_kind *kind = device->kind;
  if (program->constants_bytes) {
    state->constants = kind->allocate(device, program->constants_bytes, "constants");
    if (!state->constants || !kind->upload(device, state->constants, program->constants, program->constants_bytes))
      return 0;
  }
  if (program->workspace_bytes)
    state->workspace = kind->allocate(device, program->workspace_bytes, "workspace");
  return !program->workspace_bytes || state->workspace;
}

/* Opens the program's device if it is not open, and enters it. */
static struct state *enter(struct fusion_gpu_program *program) {
  struct state *state = program->state;
  if (state)
    return state->device->kind->enter(state->device) ? state : NULL;
  state = make(program);
  if (!state)
    return NULL;
  if (!closes_at_exit)  /* after the driver was loaded, so that it is there until then */
    closes_at_exit = atexit(at_exit) == 0;
  if (!state->device->kind->enter(state->device)) {
    state->device->kind->close(state->device);
    free(state);
    return NULL;
  }
  state->next = opened;
  opened = state;
  program->state = state;
  if (fill(state))
    return state;
  state->device->kind->wait(state->device);
  close_entered(state);
  return NULL;
}

static void leave(struct state *state) {
  if (state->device->lost)
    close_entered(state);
  else
    state->device->kind->leave(state->device);
}

/* Runs. */

int32_t fusion_gpu_launch(struct fusion_gpu_kernel *kernel, void *const *arguments) {
  struct state *state = current;
  if (!state || state->failed)
    return 1;
  state->failed = !state->device->kind->launch(state->device, kernel, arguments);
  return state->failed;
}

/* Launches what main does, on the tensors in `passed`. */
static _Bool launch_all(struct state *state) {
  uint32_t count = tensors(state->program);
  const struct device_kind *kind = state->device->kind;
  state->passed[count] = state->constants;
  state->passed[count + 1] = state->workspace;
  if (kind->spoil && state->workspace)
    kind->spoil(state->device, state->workspace, state->program->workspace_bytes);
  state->failed = 0;
  current = state;
  state->program->main(state->passed);
  current = NULL;
  return !state->failed;
}

static _Bool make_tensors(struct state *state) {
  for (uint32_t i = 0; i < tensors(state->program) && !state->has_tensors; i++) {
    uint64_t bytes = tensor_bytes(state->program, i);
    const char *what = i < state->program->inputs ? "input" : "output";
    if (!state->tensors[i] && !(state->tensors[i] = state->device->kind->allocate(state->device, bytes, what)))
      return 0;
  }
  state->has_tensors = 1;
  return 1;
}

static _Bool run_entered(struct state *state, const void *const *inputs, void *const *outputs) {
  const struct fusion_gpu_program *program = state->program;
  struct device *device = state->device;
  const struct device_kind *kind = device->kind;
  uint32_t count = tensors(program);
  if (!make_tensors(state))
    return 0;
  for (uint32_t i = 0; i < count; i++)
    state->passed[i] = state->tensors[i];
  for (uint32_t i = 0; i < program->inputs; i++)
    if (!kind->upload(device, state->tensors[i], inputs[i], tensor_bytes(program, i)))
      return 0;
  for (uint32_t i = program->inputs; kind->spoil && i < count; i++)
    kind->spoil(device, state->tensors[i], tensor_bytes(program, i));
  if (!launch_all(state))
    return 0;
  for (uint32_t i = program->inputs; i < count; i++)
    if (!kind->download(device, outputs[i - program->inputs], state->tensors[i], tensor_bytes(program, i)))
      return 0;
  return 1;
}

/* Nothing may be under way when a run returns, also not when it failed: the host's memory is the caller's again. The first
 * error is the one that is told. */
static _Bool end(struct state *state, _Bool fine) {
  char said[sizeof last_error];
  if (!fine)
    memcpy(said, last_error, sizeof said);
  _Bool waited = state->device->kind->wait(state->device);
  if (!fine)
    memcpy(last_error, said, sizeof said);
  return fine && waited;
}

int32_t fusion_gpu_run(struct fusion_gpu_program *program, const void *const *inputs, void *const *outputs) {
  pthread_mutex_lock(&turns);
  struct state *state = enter(program);
  _Bool fine = 0;
  if (state) {
    fine = end(state, run_entered(state, inputs, outputs));
    leave(state);
  }
  pthread_mutex_unlock(&turns);
  return !fine;
}

int32_t fusion_gpu_run_device(struct fusion_gpu_program *program, const void *const *inputs, void *const *outputs) {
  pthread_mutex_lock(&turns);
  struct state *state = enter(program);
  _Bool fine = 0;
  if (state) {
    for (uint32_t i = 0; i < tensors(program); i++)
      state->passed[i] = i < program->inputs ? (void *)(uintptr_t)inputs[i] : outputs[i - program->inputs];
    fine = end(state, launch_all(state));
    leave(state);
  }
  pthread_mutex_unlock(&turns);
  return !fine;
}

void fusion_set_device(int32_t number) {
  pthread_mutex_lock(&turns);
  if (number != wanted)
    close_all();
  wanted = number;
  pthread_mutex_unlock(&turns);
}
