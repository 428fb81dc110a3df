/* Runs of a program on a device.
 *
 *   host      inputs --+                                            +--> outputs
 *                      | upload      launches, in order, of main    | download, then wait
 *   device             +--> inputs | constants | workspace | outputs
 *                                    \_ filled once _/
 *
 * The device is opened by the first run. Its memory, the weights on it, loaded kernels and one stream stay until the library
 * leaves memory, another device is asked for, or the device is lost. Runs of one library take turns.
 *
 * A model launches the same kernels in every run. When two runs are on the same memory, the second one's launches are recorded
 * as a graph of the driver, which the third one and all later ones on this memory launch as one. */

#include "../unload.h"
#include "device.h"
#include <stdarg.h>

struct state {
  struct device *device;
  struct fusion_gpu_program *program;
  struct state *next;     /* of the programs that are open */
  _Bool failed;           /* the run that goes on */
  _Bool records;          /* it may */
  _Bool elsewhere;        /* it is on a stream of the caller's, who may record it */
  enum { NOTHING, SAME_MEMORY, RECORDED } past;  /* whether `before` holds, and what was made of it */
  void *constants, *workspace;
  void **passed;          /* what main gets: inputs, outputs, constants, workspace */
  void **before;          /* what it got in the last run */
  void *tensors[];        /* inputs, outputs, made when a run has them on the host; then places for `passed` and `before` */
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

/* Not when the process ends in the middle of a run, which may be without end. */
static void at_exit(void *nothing) {
  (void)nothing;
  if (pthread_mutex_trylock(&turns))
    return;
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
  const char *graphs = getenv("FUSION_GPU_GRAPH");
  uint64_t places = (uint64_t)tensors(program) + 2;
  struct state *state = calloc(1, sizeof *state + 3 * places * sizeof(void *));
  if (!state) {
    fusion_gpu_fail("There is no memory for a run.");
    return NULL;
  }
  state->passed = state->tensors + places;
  state->before = state->passed + places;
  state->program = program;
  state->records = kind->begin_recording && !(graphs && *graphs == '0');
  state->device = kind->open(kind, number);
  if (!state->device) {
    free(state);
    return NULL;
  }
  return state;
}

/* Memory and weights of a program that has just been entered. */
static _Bool fill(struct state *state) {
  if (fusion_weights_map && !fusion_weights_map(last_error, sizeof last_error))
    return 0;
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
    closes_at_exit = __cxa_atexit(at_exit, NULL, &this_library) == 0;
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
  struct device *device = state->device;
  struct fusion_gpu_event event = {.what = FUSION_LAUNCH,
                                   .grid = {kernel->grid[0], kernel->grid[1], kernel->grid[2]},
                                   .block = {kernel->block[0], kernel->block[1], kernel->block[2]},
                                   .shared_bytes = kernel->shared_bytes + kernel->dynamic_bytes,
                                   .kernel = kernel->name};
  state->failed = !fusion_event_begins(device, &event) || !device->kind->launch(device, kernel, arguments) ||
                  !fusion_event_ends(device);
  return state->failed;
}

static _Bool upload(struct device *device, void *to, const void *from, uint64_t bytes) {
  struct fusion_gpu_event event = {.what = FUSION_UPLOAD, .bytes = bytes};
  return fusion_event_begins(device, &event) && device->kind->upload(device, to, from, bytes) && fusion_event_ends(device);
}

static _Bool download(struct device *device, void *to, const void *from, uint64_t bytes) {
  struct fusion_gpu_event event = {.what = FUSION_DOWNLOAD, .bytes = bytes};
  return fusion_event_begins(device, &event) && device->kind->download(device, to, from, bytes) && fusion_event_ends(device);
}

void fusion_gpu_copy(void *to, const void *from, uint64_t bytes) {
  struct state *state = current;
  if (!state || state->failed)
    return;
  struct device *device = state->device;
  struct fusion_gpu_event event = {.what = FUSION_COPY, .bytes = bytes};
  state->failed = !fusion_event_begins(device, &event) || !device->kind->copy(device, to, from, bytes) ||
                  !fusion_event_ends(device);
}

void fusion_gpu_read(void *host, const void *device, uint64_t bytes) {
  struct state *state = current;
  memset(host, 0, bytes);
  if (!state || state->failed)
    return;
  state->records = 0;  /* what is launched depends on what is read; the first run, which is not recorded, comes here */
  state->failed = !download(state->device, host, device, bytes) || !state->device->kind->wait(state->device);
  if (state->failed)
    memset(host, 0, bytes);
}

/* Launches what main does, on the tensors in `passed`. */
static _Bool launch_all(struct state *state) {
  state->failed = 0;
  current = state;
  state->program->main(state->passed);
  current = NULL;
  return !state->failed;
}

/* The same, recorded: it has not been done when this is true. */
static _Bool record_all(struct state *state) {
  struct device *device = state->device;
  if (!device->kind->begin_recording(device))
    return 0;
  _Bool fine = launch_all(state);
  return device->kind->end_recording(device) && fine;
}

static _Bool launch_or_replay(struct state *state) {
  struct device *device = state->device;
  uint64_t bytes = (tensors(state->program) + 2) * sizeof(void *);
  if (!state->records || state->elsewhere || fusion_profiles())
    return launch_all(state);
  if (state->past == NOTHING || memcmp(state->passed, state->before, bytes)) {
    memcpy(state->before, state->passed, bytes);
    state->past = SAME_MEMORY;
    return launch_all(state);
  }
  if (state->past == SAME_MEMORY) {
    if (!record_all(state)) {
      state->records = 0;
      return device->lost ? 0 : launch_all(state);
    }
    state->past = RECORDED;
  }
  return device->kind->replay(device);
}

/* Memory on the device for what is on the host. */
static void *place_for(struct state *state, uint32_t i) {
  const char *what = i < state->program->inputs ? "input" : "output";
  if (!state->tensors[i])
    state->tensors[i] = state->device->kind->allocate(state->device, tensor_bytes(state->program, i), what);
  return state->tensors[i];
}

/* Kernels access 16 bytes at once. What the drivers and this file allocate has more than that. */
static _Bool aligned(const struct fusion_gpu_program *program, const struct fusion_gpu_tensor *given) {
  for (uint32_t i = 0; i < tensors(program); i++)
    if (given[i].on_device && (uintptr_t)given[i].memory % 16)
      return fusion_gpu_fail("%s %u of the model begins at %p, which is no multiple of 16 bytes; copy it to memory that does.",
                             i < program->inputs ? "Input" : "Output", i < program->inputs ? i : i - program->inputs,
                             given[i].memory);
  return 1;
}

static _Bool run_entered(struct state *state, const struct fusion_gpu_tensor *given) {
  const struct fusion_gpu_program *program = state->program;
  if (!aligned(program, given))
    return 0;
  struct device *device = state->device;
  const struct device_kind *kind = device->kind;
  uint32_t count = tensors(program);
  for (uint32_t i = 0; i < count; i++)
    if (!(state->passed[i] = given[i].on_device ? given[i].memory : place_for(state, i)))
      return 0;
  if (!fusion_profile_start(device))
    return 0;
  state->passed[count] = state->constants;
  state->passed[count + 1] = state->workspace;
  for (uint32_t i = 0; i < program->inputs; i++)
    if (!given[i].on_device && !upload(device, state->passed[i], given[i].memory, tensor_bytes(program, i)))
      return 0;
  for (uint32_t i = program->inputs; kind->spoil && i < count; i++)
    if (!given[i].on_device)
      kind->spoil(device, state->passed[i], tensor_bytes(program, i));
  if (kind->spoil && state->workspace)
    kind->spoil(device, state->workspace, program->workspace_bytes);
  if (!launch_or_replay(state))
    return 0;
  for (uint32_t i = program->inputs; i < count; i++)
    if (!given[i].on_device && !download(device, given[i].memory, state->passed[i], tensor_bytes(program, i)))
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

/* On a stream of the caller's a run has been put there when it returns, and happens when the stream comes to it. */
static _Bool run_elsewhere(struct state *state, const struct fusion_gpu_tensor *given, void *stream, _Bool opened_now) {
  struct device *device = state->device;
  if (opened_now && !device->kind->wait(device))  /* for the weights */
    return 0;
  device->kind->turn_to(device, stream, 0);
  state->elsewhere = 1;
  _Bool fine = run_entered(state, given);
  if (!fine || fusion_profiles())
    fine = end(state, fine) && fusion_profile_read(device);
  state->elsewhere = 0;
  device->kind->turn_to(device, NULL, 1);
  return fine;
}

int32_t fusion_gpu_run_on(struct fusion_gpu_program *program, const struct fusion_gpu_tensor *given, void *const *stream) {
  pthread_mutex_lock(&turns);
  _Bool opened_now = !program->state;
  struct state *state = enter(program);
  _Bool fine = 0;
  if (state) {
    if (stream && state->device->kind->turn_to)
      fine = run_elsewhere(state, given, *stream, opened_now);
    else
      fine = end(state, run_entered(state, given)) && fusion_profile_read(state->device);
    if (!fine)
      fusion_profile_drop();
    leave(state);
  }
  pthread_mutex_unlock(&turns);
  return !fine;
}

static int32_t run_where(struct fusion_gpu_program *program, const void *const *inputs, void *const *outputs, _Bool on_device,
                         void *const *stream) {
  uint32_t count = tensors(program);
  struct fusion_gpu_tensor few[16], *given = count <= 16 ? few : malloc(count * sizeof *given);
  if (!given)
    return !fusion_gpu_fail("There is no memory for a run.");
  for (uint32_t i = 0; i < count; i++) {
    void *memory = i < program->inputs ? (void *)(uintptr_t)inputs[i] : outputs[i - program->inputs];
    given[i] = (struct fusion_gpu_tensor){.memory = memory, .on_device = on_device};
  }
  int32_t result = fusion_gpu_run_on(program, given, stream);
  if (given != few)
    free(given);
  return result;
}

int32_t fusion_gpu_run(struct fusion_gpu_program *program, const void *const *inputs, void *const *outputs) {
  return run_where(program, inputs, outputs, 0, NULL);
}

int32_t fusion_gpu_run_device(struct fusion_gpu_program *program, const void *const *inputs, void *const *outputs) {
  return run_where(program, inputs, outputs, 1, NULL);
}

int32_t fusion_gpu_run_stream(struct fusion_gpu_program *program, const void *const *inputs, void *const *outputs, void *stream) {
  return run_where(program, inputs, outputs, 1, &stream);
}

void fusion_set_profiling(int32_t on) {
  pthread_mutex_lock(&turns);
  fusion_profile_want(on != 0);
  pthread_mutex_unlock(&turns);
}

int64_t fusion_profile(const struct fusion_gpu_event **events, double *empty_s) {
  pthread_mutex_lock(&turns);
  int64_t count = fusion_profile_list(events, empty_s);
  pthread_mutex_unlock(&turns);
  return count;
}

int32_t fusion_device(void) {
  int32_t number;
  pthread_mutex_lock(&turns);
  _Bool fine = device_number(&number);
  pthread_mutex_unlock(&turns);
  return fine ? number : -1;
}

void fusion_set_device(int32_t number) {
  pthread_mutex_lock(&turns);
  if (number != wanted)
    close_all();
  wanted = number;
  pthread_mutex_unlock(&turns);
}
