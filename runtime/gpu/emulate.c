/* The emulator: kernels on the host, to see that they compute what they should, and that their threads do not race.
 *
 * Blocks (block.c) are independent: they run on the library's threads, each of which has a worker. What a run says depends on no
 * order: the error of the first block is the one told.
 *
 * Shared memory begins as NaNs, and so does what a run allocates. Who accesses the device's memory is in memory.c.
 *
 * FUSION_EMULATE_SEED is a number from which the order of blocks, and of the warps in each, follows; 0 is the order of their numbers. */

#include "emulate.h"
#include <stdatomic.h>

/* threads.c, which is in every library. */
extern void fusion_parallel(int64_t count, void (*body)(int64_t begin, int64_t end, void *context), void *context);

/* Workers. */

struct emulator {
  struct device device;
  struct memory *memory;           /* all that is allocated */
  _Atomic _Bool workers_taken;
  struct worker *idle;
  struct tensor *tensors;          /* the arguments of a launch */
  uint32_t tensors_room, next_stamp;
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
  uint32_t stamps;                 /* the first one of its blocks */
  uint64_t blocks;
  uint64_t seed, step, begin;      /* the block of a place in the order is begin + place * step */
  _Atomic uint64_t failed;         /* the place of the first block that failed, or all ones */
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

static uint64_t seed(void) {
  const char *text = getenv("FUSION_EMULATE_SEED");
  return text ? (uint64_t)strtol(text, NULL, 10) : 0;
}

/* A number that looks random (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014). */
uint64_t fusion_mixed(uint64_t x) {
  x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) { return b ? common_divisor(b, a % b) : a; }

/* An order of the blocks, which goes on by a step that has no divisor in common with how many there are. */
static void shuffle_blocks(struct launch *launch) {
  _Bool other = launch->seed && launch->blocks <= UINT32_MAX;
  launch->begin = other ? fusion_mixed(launch->seed) % launch->blocks : 0;
  launch->step = other ? fusion_mixed(launch->seed + 1) % launch->blocks : 1;
  while (launch->blocks > 1 && common_divisor(launch->step, launch->blocks) != 1)
    launch->step = (launch->step + 1) % launch->blocks;
}

static uint64_t block_at(const struct launch *launch, uint64_t place) {
  return (launch->begin + place * launch->step) % launch->blocks;
}

static void run_blocks(int64_t begin, int64_t end, void *context) {
  struct launch *launch = context;
  struct worker *worker = begin_work(launch->emulator, launch->kernel, launch->arguments);
  if (!worker) {
    char message[sizeof launch->message] = "There is no memory to emulate a block of threads.";
    note_failure(launch, (uint64_t)begin, message);
    return;
  }
  worker->seed = launch->seed;
  worker->tensors = launch->emulator->tensors;
  worker->stamps = launch->stamps;
  worker->stamps_end = launch->stamps + (uint32_t)launch->blocks;
  for (uint64_t place = (uint64_t)begin; place < (uint64_t)end && place < launch->failed; place++) {
    uint64_t block = block_at(launch, place);
    worker->stamp = launch->stamps + (uint32_t)block;
    _Bool fine = fusion_run_block(worker, block);
    if (fine && !fusion_is_all(worker->shared + worker->shared_bytes, MARGIN, MARGIN_BYTE)) {
      fusion_fail_outside(worker, worker->threads, "the block wrote behind its %llu bytes of shared memory",
                   (unsigned long long)worker->shared_bytes);
      fine = 0;
    }
    if (!fine) {
      note_failure(launch, place, worker->message);
      break;
    }
  }
  end_work(launch->emulator, worker);
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
  if (kernel->arguments > emulator->tensors_room) {
    free(emulator->tensors);
    emulator->tensors_room = 0;
    emulator->tensors = calloc(kernel->arguments, sizeof *emulator->tensors);
    if (!emulator->tensors)
      return fusion_gpu_fail("There is no memory for the arguments of kernel \"%.200s\".", kernel->name);
    emulator->tensors_room = kernel->arguments;
  }
  fusion_find_tensors(emulator->memory, emulator->tensors, arguments, kernel->arguments);
  struct launch launch = {.emulator = emulator, .kernel = kernel, .arguments = arguments, .failed = UINT64_MAX, .seed = seed()};
  launch.blocks = (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
  launch.stamps = fusion_take_stamps(emulator->memory, &emulator->next_stamp, launch.blocks);
  shuffle_blocks(&launch);
  fusion_parallel((int64_t)launch.blocks, run_blocks, &launch);
  if (launch.failed != UINT64_MAX)
    return fusion_gpu_fail("%s", launch.message);
  const char *where;
  const struct memory *memory = fusion_spoilt(emulator->memory, &where);
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
  free(emulator->tensors);
  free(emulator->marks);
  free(emulator);
}

static _Bool enter(struct device *device) {
  (void)device;
  return 1;
}

static void leave(struct device *device) { (void)device; }

static void *allocate(struct device *device, uint64_t bytes, const char *what) {
  struct memory *memory = fusion_new_memory(&((struct emulator *)device)->memory, bytes, what);
  return memory ? memory->data : NULL;
}

static void release(struct device *device, void *data) {
  (void)device;
  fusion_release_memory(data);
}

static _Bool copy(struct device *device, void *to, const void *from, uint64_t bytes) {
  fusion_copy_stamps(((struct emulator *)device)->memory, to, from, bytes);
  memcpy(to, from, bytes);
  return 1;
}

static _Bool download(struct device *device, void *to, const void *from, uint64_t bytes) {
  memcpy(to, from, bytes);
  return fusion_all_written(((struct emulator *)device)->memory, from, bytes);
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
  fusion_forget_written(((struct emulator *)device)->memory, memory, bytes);
}

const struct device_kind fusion_emulated = {.open = open,
                                            .close = close,
                                            .enter = enter,
                                            .leave = leave,
                                            .allocate = allocate,
                                            .release = release,
                                            .upload = copy,
                                            .download = download,
                                            .copy = copy,
                                            .launch = launch,
                                            .wait = wait,
                                            .mark = mark,
                                            .between = between,
                                            .spoil = spoil};
