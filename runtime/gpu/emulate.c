/* The emulator: kernels on the host, to see that they compute what they should, and that their threads do not race.
 *
 * Blocks (block.c) are independent: they run on the library's threads, each of which has a worker. What a run says depends on no
 * order: the error of the first block is the one told.
 *
 * Shared memory begins as NaNs, and so does what a run allocates. Before and after each piece of the device's memory lie bytes
 * that nobody may write; they are looked at after each launch. */

#include "emulate.h"
#include <stdatomic.h>

enum {
  MARGIN = 4096,           /* bytes around memory of the device that stay as they are */
  ALIGNMENT = 256,
  MARGIN_BYTE = 0xfd,      /* of these */
};

/* threads.c, which is in every library. */
extern void fusion_parallel(int64_t count, void (*body)(int64_t begin, int64_t end, void *context), void *context);

/* Workers. */

struct emulator {
  struct device device;
  struct memory *memory;           /* all that is allocated */
  _Atomic _Bool workers_taken;
  struct worker *idle;
  double *marks;                   /* when, by the host's clock: what is asked for has happened when it was asked for */
  uint32_t marks_count;
};

static void free_worker(struct worker *worker) {
  while (worker->spare_copies) {
    struct copy *next = worker->spare_copies->next;
    free(worker->spare_copies);
    worker->spare_copies = next;
  }
  fusion_free_stacks(worker);
  free(worker->threads);
  free(worker->warps);
  free(worker->shared);
  free(worker->shadow);
  free(worker->clocks);
  free(worker);
}

static struct worker *new_worker(void) {
  struct worker *worker = calloc(1, sizeof *worker);
  if (!worker)
    return NULL;
  worker->threads = calloc(MOST_THREADS, sizeof *worker->threads);
  worker->warps = calloc(MOST_THREADS, sizeof *worker->warps);
  worker->shared = aligned_alloc(1024, MOST_SHARED + MARGIN);
  worker->shadow = calloc(MOST_SHARED, sizeof *worker->shadow);
  if (worker->threads && worker->warps && worker->shared && worker->shadow)
    return worker;
  free_worker(worker);
  return NULL;
}

static void take_workers(struct emulator *emulator) {
  while (atomic_exchange_explicit(&emulator->workers_taken, 1, memory_order_acquire))
    ;
}

static void leave_workers(struct emulator *emulator) {
  atomic_store_explicit(&emulator->workers_taken, 0, memory_order_release);
}

/* A worker with its threads and warps laid out for the kernel. */
static struct worker *begin_work(struct emulator *emulator, const struct fusion_gpu_kernel *kernel, void *const *arguments) {
  take_workers(emulator);
  struct worker *worker = emulator->idle;
  if (worker)
    emulator->idle = worker->next;
  leave_workers(emulator);
  if (!worker && !(worker = new_worker()))
    return NULL;
  const uint32_t *block = kernel->block;
  worker->kernel = kernel;
  worker->arguments = arguments;
  worker->count = block[0] * block[1] * block[2];
  worker->warp_size = kernel->warp ? kernel->warp : 32;
  worker->warp_count = (worker->count + worker->warp_size - 1) / worker->warp_size;
  worker->shared_bytes = (uint64_t)kernel->shared_bytes + kernel->dynamic_bytes;
  memset(worker->shared + worker->shared_bytes, MARGIN_BYTE, MARGIN);
  worker->failed = 0;
  for (uint32_t i = 0; i < worker->count; i++) {
    struct thread *thread = &worker->threads[i];
    *thread = (struct thread){.number = (uint16_t)i, .place = {i % block[0], i / block[0] % block[1], i / block[0] / block[1]}};
    thread->last_copy = &thread->copies;
  }
  for (uint32_t i = 0; i < worker->warp_count; i++) {
    uint32_t first = i * worker->warp_size, left = worker->count - first;
    worker->warps[i] =
        (struct warp){.threads = &worker->threads[first], .count = left < worker->warp_size ? left : worker->warp_size};
  }
  return worker;
}

static void end_work(struct emulator *emulator, struct worker *worker) {
  if (worker->failed) { /* fibers are in the middle of something */
    for (uint32_t i = 0; i < worker->count; i++)
      fusion_drop_copies(worker, &worker->threads[i]);
    worker->spare_fibers = NULL;
    worker->fibers = 0;
  }
  take_workers(emulator);
  worker->next = emulator->idle;
  emulator->idle = worker;
  leave_workers(emulator);
}

/* A launch. */

struct launch {
  struct emulator *emulator;
  const struct fusion_gpu_kernel *kernel;
  void *const *arguments;
  _Atomic uint64_t failed;         /* the first block that failed, or all ones */
  _Atomic _Bool message_taken;
  char message[sizeof((struct worker *)0)->message];
};

static void note_failure(struct launch *launch, uint64_t block, const char *message) {
  while (atomic_exchange_explicit(&launch->message_taken, 1, memory_order_acquire))
    ;
  if (block < launch->failed) {
    launch->failed = block;
    memcpy(launch->message, message, sizeof launch->message);
  }
  atomic_store_explicit(&launch->message_taken, 0, memory_order_release);
}

static _Bool is_all(const unsigned char *memory, uint64_t bytes, unsigned char byte) {
  return bytes == 0 || (memory[0] == byte && !memcmp(memory, memory + 1, bytes - 1));
}

static void run_blocks(int64_t begin, int64_t end, void *context) {
  struct launch *launch = context;
  struct worker *worker = begin_work(launch->emulator, launch->kernel, launch->arguments);
  if (!worker) {
    char message[sizeof launch->message] = "There is no memory to emulate a block of threads.";
    note_failure(launch, (uint64_t)begin, message);
    return;
  }
  for (uint64_t block = (uint64_t)begin; block < (uint64_t)end && block < launch->failed; block++) {
    _Bool fine = fusion_run_block(worker, block);
    if (fine && !is_all(worker->shared + worker->shared_bytes, MARGIN, MARGIN_BYTE)) {
      fusion_fail_outside(worker, worker->threads, "the block wrote behind its %llu bytes of shared memory",
                   (unsigned long long)worker->shared_bytes);
      fine = 0;
    }
    if (!fine) {
      note_failure(launch, block, worker->message);
      break;
    }
  }
  end_work(launch->emulator, worker);
}

/* Memory of the device: it lies between two margins. */
struct memory {
  struct memory *next, **before;
  const char *what;
  uint64_t bytes;
  unsigned char *lower;            /* margin, MARGIN bytes, then the memory, then the other margin */
};

static const struct memory *spoilt(const struct emulator *emulator, const char **where) {
  for (const struct memory *memory = emulator->memory; memory; memory = memory->next) {
    _Bool before = !is_all(memory->lower, MARGIN, MARGIN_BYTE);
    if (before || !is_all(memory->lower + MARGIN + memory->bytes, MARGIN, MARGIN_BYTE)) {
      *where = before ? "before" : "behind";
      return memory;
    }
  }
  return NULL;
}

static _Bool can_run(const struct fusion_gpu_kernel *kernel) {
  const uint32_t *grid = kernel->grid, *block = kernel->block;
  uint64_t threads = (uint64_t)block[0] * block[1], shared = (uint64_t)kernel->shared_bytes + kernel->dynamic_bytes;
  threads = threads > MOST_THREADS ? threads : threads * block[2];
  if (!kernel->host)
    return fusion_gpu_fail("kernel \"%.200s\" was not compiled to be emulated; compile the model again with --emulate",
                           kernel->name);
  if (threads < 1 || threads > MOST_THREADS)
    return fusion_gpu_fail("kernel \"%.200s\" has blocks of %u x %u x %u threads, but a block may have 1 to %d of them; choose "
                           "smaller tiles in its schedule",
                           kernel->name, block[0], block[1], block[2], MOST_THREADS);
  if (grid[0] < 1 || grid[1] < 1 || grid[2] < 1 || (uint64_t)grid[0] * grid[1] > INT64_MAX / grid[2])
    return fusion_gpu_fail("kernel \"%.200s\" has a grid of %u x %u x %u blocks, which cannot be run", kernel->name, grid[0],
                           grid[1], grid[2]);
  if (shared > MOST_SHARED)
    return fusion_gpu_fail("kernel \"%.200s\" wants %llu bytes of shared memory a block, but there are %d; choose smaller tiles "
                           "in its schedule",
                           kernel->name, (unsigned long long)shared, MOST_SHARED);
  if (kernel->warp > 64 || (kernel->warp & (kernel->warp - 1)))
    return fusion_gpu_fail("kernel \"%.200s\" has warps of %u threads, but they have a power of two up to 64", kernel->name,
                           kernel->warp);
  return 1;
}

static _Bool launch(struct device *device, struct fusion_gpu_kernel *kernel, void *const *arguments) {
  struct emulator *emulator = (struct emulator *)device;
  if (!can_run(kernel))
    return 0;
  struct launch launch = {.emulator = emulator, .kernel = kernel, .arguments = arguments, .failed = UINT64_MAX};
  int64_t blocks = (int64_t)((uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2]);
  fusion_parallel(blocks, run_blocks, &launch);
  if (launch.failed != UINT64_MAX)
    return fusion_gpu_fail("%s", launch.message);
  const char *where;
  const struct memory *memory = spoilt(emulator, &where);
  if (memory)
    return fusion_gpu_fail("kernel \"%.200s\" wrote %s the %llu bytes of the model's %s", kernel->name, where,
                           (unsigned long long)memory->bytes, memory->what);
  return 1;
}

/* The device. */

/* There is one, whatever its number. */
static struct device *open(const struct device_kind *kind, int32_t number) {
  (void)number;
  struct emulator *emulator = calloc(1, sizeof *emulator);
  if (!emulator) {
    fusion_gpu_fail("There is no memory for the emulator.");
    return NULL;
  }
  emulator->device.kind = kind;
  return &emulator->device;
}

static void close(struct device *device) {
  struct emulator *emulator = (struct emulator *)device;
  while (emulator->idle) {
    struct worker *next = emulator->idle->next;
    free_worker(emulator->idle);
    emulator->idle = next;
  }
  free(emulator->marks);
  free(emulator);
}

static _Bool enter(struct device *device) {
  (void)device;
  return 1;
}

static void leave(struct device *device) { (void)device; }

static struct memory *of(void *data) { return *(struct memory **)((unsigned char *)data - MARGIN - ALIGNMENT); }

/* | the struct's address, ALIGNMENT bytes | margin | data | margin | */
static void *allocate(struct device *device, uint64_t bytes, const char *what) {
  struct emulator *emulator = (struct emulator *)device;
  uint64_t all = bytes + ALIGNMENT + 2 * MARGIN;
  struct memory *memory = malloc(sizeof *memory);
  unsigned char *lower = NULL;
  if (memory && bytes < UINT64_MAX / 2)
    lower = aligned_alloc(ALIGNMENT, (all + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  if (!lower) {
    free(memory);
    fusion_gpu_fail("There is no memory for the %llu bytes of the model's %s.", (unsigned long long)bytes, what);
    return NULL;
  }
  *(struct memory **)lower = memory;
  lower += ALIGNMENT;
  *memory = (struct memory){.next = emulator->memory, .before = &emulator->memory, .what = what, .bytes = bytes, .lower = lower};
  if (memory->next)
    memory->next->before = &memory->next;
  emulator->memory = memory;
  memset(lower, MARGIN_BYTE, MARGIN);
  memset(lower + MARGIN, UNWRITTEN, bytes);
  memset(lower + MARGIN + bytes, MARGIN_BYTE, MARGIN);
  return lower + MARGIN;
}

static void release(struct device *device, void *data) {
  (void)device;
  struct memory *memory = of(data);
  if ((*memory->before = memory->next))
    memory->next->before = memory->before;
  free(memory->lower - ALIGNMENT);
  free(memory);
}

static _Bool copy(struct device *device, void *to, const void *from, uint64_t bytes) {
  (void)device;
  memcpy(to, from, bytes);
  return 1;
}

static _Bool mark(struct device *device, uint32_t number) {
  struct emulator *emulator = (struct emulator *)device;
  if (number >= emulator->marks_count) {
    uint32_t count = 2 * (number + 1);
    double *more = realloc(emulator->marks, count * sizeof *more);
    if (!more)
      return fusion_gpu_fail("There is no memory for the times of what the run does; profile a shorter run.");
    emulator->marks = more;
    emulator->marks_count = count;
  }
  long now[2];
  if (clock_gettime(1 /* it never goes back */, now))
    return fusion_gpu_fail("The system's clock cannot be read.");
  emulator->marks[number] = (double)now[0] + (double)now[1] / 1e9;
  return 1;
}

static _Bool between(struct device *device, uint32_t from, uint32_t to, double *seconds) {
  const struct emulator *emulator = (struct emulator *)device;
  *seconds = emulator->marks[to] - emulator->marks[from];
  return 1;
}

static _Bool wait(struct device *device) {
  (void)device;
  return 1;
}

static void spoil(struct device *device, void *memory, uint64_t bytes) {
  (void)device;
  memset(memory, UNWRITTEN, bytes);
}

const struct device_kind fusion_emulated = {.open = open,
                                            .close = close,
                                            .enter = enter,
                                            .leave = leave,
                                            .allocate = allocate,
                                            .release = release,
                                            .upload = copy,
                                            .download = copy,
                                            .copy = copy,
                                            .launch = launch,
                                            .wait = wait,
                                            .mark = mark,
                                            .between = between,
                                            .spoil = spoil};
