/* The emulator: kernels on the host, to see that they compute what they should, and that their threads do not race.
 *
 *   a block      warp 0: |thread|thread|thread|...   warp 1: |thread|...      one after another, each until it
 *                            |                                                waits or ends
 *     barrier -------------- all of the block ---------------------
 *     collective ------- all of the warp                                      shuffles, matrix instructions
 *
 * A thread that waits keeps its stack, a fiber, and the next thread goes on, or begins on another fiber; one that ends leaves
 * its fiber to the next, so that a kernel without barriers needs one. Blocks are independent: they run on the library's
 * threads, each of which has a worker. What a run says depends on no order: the error of the first block is the one told.
 *
 * Shared memory begins as NaNs, and so does what a run allocates. Before and after each piece of the device's memory lie bytes
 * that nobody may write; they are looked at after each launch. */

#include "emulate.h"
#include <stdarg.h>
#include <stdatomic.h>

enum {
  STACK = 128 << 10,       /* of a thread */
  GUARD = 64 << 10,        /* below each; a multiple of all sizes of pages */
  MARGIN = 4096,           /* bytes around memory of the device that stay as they are */
  ALIGNMENT = 256,
  UNWRITTEN = 0xff,        /* every byte of memory that was not written; floats of any size are NaN then */
  MARGIN_BYTE = 0xfd,      /* the same around memory of the device */
};

/* threads.c, which is in every library. */
extern void fusion_parallel(int64_t count, void (*body)(int64_t begin, int64_t end, void *context), void *context);

/* A stack; this lies at its upper end. */
struct fiber {
  struct fiber *next;      /* of the free ones */
  void *stack_pointer;     /* where it begins */
};

/* Saves where this thread of the host is in `*from` and goes on at `to`, until it is gone back to. */
void fusion_switch(void **from, void *to);

#if defined(__x86_64__)
enum { SAVED = 8 }; /* words below the upper end of a new stack; the place to go to is the seventh */
__asm__(".text\n"
        ".globl fusion_switch\n.hidden fusion_switch\n.type fusion_switch,@function\n"
        "fusion_switch:\n"
        "  endbr64\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  retq\n");
enum { PLACE_OF_ENTRY = 6 };
#elif defined(__aarch64__)
enum { SAVED = 20 }; /* the place to go to is in x30, the second */
__asm__(".text\n.balign 4\n"
        ".globl fusion_switch\n.hidden fusion_switch\n.type fusion_switch,@function\n"
        "fusion_switch:\n"
        "  hint #34\n" /* where branches may go, on processors that check it */
        "  stp x29, x30, [sp, #-160]!\n"
        "  stp x19, x20, [sp, #16]\n  stp x21, x22, [sp, #32]\n  stp x23, x24, [sp, #48]\n"
        "  stp x25, x26, [sp, #64]\n  stp x27, x28, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n"
        "  str x9, [x0]\n"
        "  mov sp, x1\n"
        "  ldp x19, x20, [sp, #16]\n  ldp x21, x22, [sp, #32]\n  ldp x23, x24, [sp, #48]\n"
        "  ldp x25, x26, [sp, #64]\n  ldp x27, x28, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  ldp x29, x30, [sp], #160\n"
        "  ret\n");
enum { PLACE_OF_ENTRY = 1 };
#else
#error "give this machine's way from one stack to another"
#endif

static _Thread_local struct worker *self;

struct worker *fusion_worker(void) { return self; }

/* Errors. */

_Noreturn static void leave_block(struct worker *worker) {
  void *nobody;
  worker->failed = 1;
  fusion_switch(&nobody, worker->outside);
  __builtin_unreachable();
}

static void describe(struct worker *worker, const struct thread *thread, const char *format, va_list values) {
  const uint32_t *block = worker->block, *place = thread->place;
  int used = snprintf(worker->message, sizeof worker->message, "kernel \"%.200s\", block (%u, %u, %u), thread (%u, %u, %u): ",
                      worker->kernel->name, block[0], block[1], block[2], place[0], place[1], place[2]);
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
  vsnprintf(worker->message + used, sizeof worker->message - (size_t)used, format, values);
#pragma clang diagnostic pop
}

_Noreturn void fusion_emulated_fail(struct worker *worker, const struct thread *thread, const char *format, ...) {
  va_list values;
  va_start(values, format);
  describe(worker, thread, format, values);
  va_end(values);
  leave_block(worker);
}

/* The same, where no thread runs. */
__attribute__((format(printf, 3, 4)))
static void fail_outside(struct worker *worker, const struct thread *thread, const char *format, ...) {
  va_list values;
  va_start(values, format);
  describe(worker, thread, format, values);
  va_end(values);
  worker->failed = 1;
}

/* Threads of a block. */

static void do_collective(struct worker *worker, struct warp *warp);

static void thread_ended(struct worker *worker) {
  struct thread *thread = worker->current;
  struct warp *warp = worker->warp;
  thread->state = ENDED;
  fusion_drop_copies(worker, thread);
  worker->ended++;
  if (--warp->live > 0 && warp->arrived == warp->live)
    do_collective(worker, warp);
}

/* The threads of the warp that have not started, until one waits and another fiber takes over. */
static void fiber_main(void) {
  struct worker *worker = self;
  struct warp *warp = worker->warp;
  struct fiber *fiber = worker->current->fiber;
  void *nobody;
  for (struct thread *thread = worker->current; thread < warp->threads + warp->count && thread->state == NOT_STARTED; thread++) {
    worker->current = thread;
    thread->fiber = fiber;
    thread->state = RUNS;
    worker->kernel->host(worker->arguments);
    /* It may have waited, and others have started since. */
    warp = worker->warp;
    thread = worker->current;
    thread_ended(worker);
  }
  fiber->next = worker->spare_fibers;
  worker->spare_fibers = fiber;
  fusion_switch(&nobody, worker->outside);
}

void fusion_stop_here(struct worker *worker) {
  fusion_switch(&worker->current->stack_pointer, worker->outside);
}

/* Stacks begin at different lines of their pages, which would else all fall onto the same few lines of the cache. */
static struct fiber *new_fiber(struct worker *worker) {
  uint64_t all = (uint64_t)MOST_THREADS * (STACK + GUARD);
  if (!worker->stacks) {
    /* Readable and writable; private, of no file, not counted before it is used. */
    char *memory = mmap(NULL, all, 3, 0x2 | 0x20 | 0x4000, -1, 0);
    if (memory == (char *)-1)
      return NULL;
    worker->stacks = memory;
  }
  uint32_t number = worker->fibers++;
  char *lowest = worker->stacks + (uint64_t)number * (STACK + GUARD);
  mprotect(lowest, GUARD, 0);
  char *highest = lowest + GUARD + STACK - (number * 5 % 32) * 128 - 256;
  struct fiber *fiber = (struct fiber *)(((uintptr_t)highest) & ~(uintptr_t)63);
  fiber->stack_pointer = (void **)fiber - SAVED;
  return fiber;
}

static _Bool start_thread(struct worker *worker, struct thread *thread) {
  struct fiber *fiber = worker->spare_fibers;
  if (fiber)
    worker->spare_fibers = fiber->next;
  else if (!(fiber = new_fiber(worker))) {
    fail_outside(worker, thread, "there is no memory for its stack");
    return 0;
  }
  void **words = fiber->stack_pointer;
  for (int i = 0; i < SAVED; i++)
    words[i] = NULL;
  words[PLACE_OF_ENTRY] = (void *)(uintptr_t)fiber_main;
  thread->fiber = fiber;
  worker->current = thread;
  fusion_switch(&worker->outside, words);
  return 1;
}

/* Runs threads of the warp until each waits or has ended; whether any ran. */
static _Bool run_warp(struct worker *worker, struct warp *warp) {
  _Bool any = 0, ran;
  worker->warp = warp;
  do {
    ran = 0;
    for (struct thread *thread = warp->threads; thread < warp->threads + warp->count && !worker->failed; thread++) {
      if (thread->state == NOT_STARTED) {
        ran |= start_thread(worker, thread);
      } else if (thread->state == RUNS) {
        worker->current = thread;
        fusion_switch(&worker->outside, thread->stack_pointer);
        ran = 1;
      }
    }
    any |= ran;
  } while (ran && !worker->failed);
  return any;
}

static const struct thread *first_with(const struct worker *worker, int state) {
  for (uint32_t i = 0; i < worker->count; i++)
    if ((int)worker->threads[i].state == state)
      return &worker->threads[i];
  return NULL;
}

/* No thread can go on: all have ended, or something they wait for never comes. */
static void look_why(struct worker *worker) {
  const struct thread *waiting = first_with(worker, AT_COLLECTIVE), *at_barrier = first_with(worker, AT_BARRIER);
  const struct thread *at_signal = first_with(worker, AT_SIGNAL);
  const struct signal *left = fusion_left_signal(worker);
  if (at_signal) {
    char why[200];
    fusion_describe_wait(worker, at_signal, why, sizeof why);
    fail_outside(worker, at_signal, "%s", why);
  } else if (waiting) {
    static const char *const names[] = {"a shuffle", "a matrix instruction", "ldmatrix", "wgmma"};
    fail_outside(worker, waiting,
                 "%s in divergent control flow: other threads of its warp wait at a barrier instead; let all threads of a "
                 "warp come to it",
                 names[waiting->request.kind]);
  } else if (at_barrier) {
    const uint32_t *place = first_with(worker, ENDED)->place;
    fail_outside(worker, at_barrier,
                 "barrier in divergent control flow: thread (%u, %u, %u) ended without coming to it; let all threads of a "
                 "block come to it",
                 place[0], place[1], place[2]);
  } else if (left) {
    fail_outside(worker, worker->threads,
                 "the block ended while copies of a tensor were under way, of the signal at byte %llu; wait for each phase of it",
                 (unsigned long long)left->place);
  }
}

static void begin_block(struct worker *worker, uint64_t number) {
  const struct fusion_gpu_kernel *kernel = worker->kernel;
  worker->block_number = number;
  worker->block[0] = (uint32_t)(number % kernel->grid[0]);
  worker->block[1] = (uint32_t)(number / kernel->grid[0] % kernel->grid[1]);
  worker->block[2] = (uint32_t)(number / kernel->grid[0] / kernel->grid[1]);
  worker->ended = worker->at_barrier = 0;
  for (uint32_t i = 0; i < worker->warp_count; i++) {
    worker->warps[i].live = worker->warps[i].count;
    worker->warps[i].arrived = 0;
  }
  for (uint32_t i = 0; i < worker->count; i++) {
    struct thread *thread = &worker->threads[i];
    thread->state = NOT_STARTED;
    thread->groups = 0;
  }
  fusion_begin_signals(worker);
  fusion_next_interval(worker);
  memset(worker->shared, UNWRITTEN, worker->shared_bytes);
}

static _Bool run_block(struct worker *worker, uint64_t number) {
  begin_block(worker, number);
  for (_Bool any = 1; any && !worker->failed;) {
    any = 0;
    for (uint32_t i = 0; i < worker->warp_count && !worker->failed; i++)
      any |= run_warp(worker, &worker->warps[i]);
  }
  if (!worker->failed)
    look_why(worker);
  return !worker->failed;
}

/* What kernels call. */

int64_t fusion_emulated_id(int32_t which) {
  const struct worker *worker = self;
  return which < 3 ? worker->block[which] : worker->current->place[which - 3];
}

void fusion_emulated_barrier(void) {
  struct worker *worker = self;
  if (++worker->at_barrier < worker->count) {
    worker->current->state = AT_BARRIER;
    fusion_stop_here(worker);
    return;
  }
  for (uint32_t i = 0; i < worker->count; i++)
    worker->threads[i].state = RUNS;
  worker->at_barrier = 0;
  fusion_next_interval(worker);
}

void *fusion_emulated_shared(int64_t offset) {
  struct worker *worker = self;
  if (offset < 0 || (uint64_t)offset > worker->shared_bytes)
    fusion_emulated_fail(worker, worker->current, "byte %lld of shared memory is asked for, of which a block has %llu",
                         (long long)offset, (unsigned long long)worker->shared_bytes);
  return worker->shared + offset;
}

/* The warp's threads that have not ended have come to something they do together. */

static void do_shuffle(struct worker *worker, struct warp *warp) {
  static const char *const names[] = {"xor", "up", "down", "index"};
  int64_t given[64];
  for (uint32_t i = 0; i < warp->count; i++) {
    struct thread *thread = &warp->threads[i];
    const struct request *r = &thread->request;
    if (thread->state == ENDED)
      continue;
    if (r->what < FUSION_XOR || r->what > FUSION_INDEX || r->width < 1 || r->width > (int32_t)worker->warp_size ||
        (r->width & (r->width - 1)))
      fusion_emulated_fail(worker, thread, "a shuffle of mode %d and width %d: modes are 0 to 3, widths powers of two up to %u",
                           r->what, r->width, worker->warp_size);
    int64_t lane = i, first = lane & -(int64_t)r->width, end = first + r->width, from;
    switch (r->what) {
    case FUSION_XOR:
      from = lane ^ r->offset;
      break;
    case FUSION_UP:
      from = lane - r->offset;
      break;
    case FUSION_DOWN:
      from = lane + r->offset;
      break;
    default:
      from = first + (r->offset & (r->width - 1));
    }
    /* Of `xor`, the parts before its own are in reach as well. */
    if (from >= end || from < (r->what == FUSION_XOR ? 0 : first))
      from = lane;
    if (from >= warp->count)
      fusion_emulated_fail(worker, thread, "a shuffle (%s %d) asks for thread %d of its warp, which has %u in this block",
                           names[r->what], r->offset, (int)from, warp->count);
    const struct thread *partner = &warp->threads[from];
    if (partner->state == ENDED)
      fusion_emulated_fail(worker, thread, "a shuffle (%s %d) asks for what thread (%u, %u, %u) has, which has ended",
                           names[r->what], r->offset, partner->place[0], partner->place[1], partner->place[2]);
    if (partner->request.what != r->what || partner->request.width != r->width)
      fusion_emulated_fail(worker, thread, "a shuffle (%s, width %d) meets another (%s, width %d) of thread (%u, %u, %u)",
                           names[r->what], r->width, names[partner->request.what & 3], partner->request.width,
                           partner->place[0], partner->place[1], partner->place[2]);
    given[i] = partner->request.bits;
  }
  for (uint32_t i = 0; i < warp->count; i++)
    warp->threads[i].request.bits = given[i];
}

static void do_collective(struct worker *worker, struct warp *warp) {
  static const char *const names[] = {"a shuffle", "a matrix instruction", "ldmatrix", "wgmma"};
  const struct thread *first = NULL;
  for (uint32_t i = 0; i < warp->count; i++) {
    const struct thread *thread = &warp->threads[i];
    if (thread->state == ENDED)
      continue;
    if (!first)
      first = thread;
    else if (thread->request.kind != first->request.kind)
      fusion_emulated_fail(worker, thread, "it came to %s while thread (%u, %u, %u) of its warp came to %s",
                           names[thread->request.kind], first->place[0], first->place[1], first->place[2],
                           names[first->request.kind]);
  }
  for (uint32_t i = 0; i < warp->count && first->request.kind != SHUFFLE; i++)
    if (warp->threads[i].state == ENDED)
      fusion_emulated_fail(worker, &warp->threads[i], "it ended without coming to %s with the other threads of its warp",
                           names[first->request.kind]);
  switch (first->request.kind) {
  case SHUFFLE:
    do_shuffle(worker, warp);
    break;
  case MATRIX:
    fusion_do_matrix(worker, warp);
    break;
  case LOAD_MATRIX:
    fusion_do_load_matrix(worker, warp);
    break;
  case MULTIPLY_SHARED:
    fusion_do_multiply_shared(worker, warp);
    break;
  }
  for (uint32_t i = 0; i < warp->count; i++)
    if (warp->threads[i].state == AT_COLLECTIVE)
      warp->threads[i].state = RUNS;
  warp->arrived = 0;
}

void fusion_collective(struct worker *worker, const struct request *request) {
  struct thread *thread = worker->current;
  struct warp *warp = worker->warp;
  thread->request = *request;
  if (++warp->arrived < warp->live) {
    thread->state = AT_COLLECTIVE;
    fusion_stop_here(worker);
    return;
  }
  do_collective(worker, warp);
}

int64_t fusion_emulated_shuffle(int32_t mode, int64_t bits, int32_t offset, int32_t width) {
  struct worker *worker = self;
  struct thread *thread = worker->current;
  fusion_collective(worker, &(struct request){.kind = SHUFFLE, .what = mode, .offset = offset, .width = width, .bits = bits});
  return thread->request.bits;
}

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
  if (worker->stacks)
    munmap(worker->stacks, (uint64_t)MOST_THREADS * (STACK + GUARD));
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
  struct worker *before = self;
  struct worker *worker = begin_work(launch->emulator, launch->kernel, launch->arguments);
  if (!worker) {
    char message[sizeof launch->message] = "There is no memory to emulate a block of threads.";
    note_failure(launch, (uint64_t)begin, message);
    return;
  }
  self = worker;
  for (uint64_t block = (uint64_t)begin; block < (uint64_t)end && block < launch->failed; block++) {
    _Bool fine = run_block(worker, block);
    if (fine && !is_all(worker->shared + worker->shared_bytes, MARGIN, MARGIN_BYTE)) {
      fail_outside(worker, worker->threads, "the block wrote behind its %llu bytes of shared memory",
                   (unsigned long long)worker->shared_bytes);
      fine = 0;
    }
    if (!fine) {
      note_failure(launch, block, worker->message);
      break;
    }
  }
  self = before;
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
