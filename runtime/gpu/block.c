/* A block of threads on one thread of the host.
 *
 *   a block      warp 0: |thread|thread|thread|...   warp 1: |thread|...      one after another, each until it
 *                            |                                                waits or ends
 *     barrier -------------- all of the block ---------------------
 *     collective ------- all of the warp                                      shuffles, matrix instructions (collective.c)
 *
 * A thread that waits keeps its stack, a fiber, and the next thread goes on, or begins on another fiber; one that ends leaves
 * its fiber to the next, so that a kernel without barriers needs one. */

#include "emulate.h"
#include <stdarg.h>

enum {
  STACK = 128 << 10,       /* of a thread */
  GUARD = 64 << 10,        /* below each; a multiple of all sizes of pages */
};

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

void fusion_fail_outside(struct worker *worker, const struct thread *thread, const char *format, ...) {
  va_list values;
  va_start(values, format);
  describe(worker, thread, format, values);
  va_end(values);
  worker->failed = 1;
}

/* Threads of a block. */

static void thread_ended(struct worker *worker) {
  struct thread *thread = worker->current;
  struct warp *warp = worker->warp;
  thread->state = ENDED;
  fusion_drop_copies(worker, thread);
  worker->ended++;
  if (--warp->live > 0 && warp->arrived == warp->live)
    fusion_do_collective(worker, warp);
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

void fusion_free_stacks(struct worker *worker) {
  if (worker->stacks)
    munmap(worker->stacks, (uint64_t)MOST_THREADS * (STACK + GUARD));
}

static _Bool start_thread(struct worker *worker, struct thread *thread) {
  struct fiber *fiber = worker->spare_fibers;
  if (fiber)
    worker->spare_fibers = fiber->next;
  else if (!(fiber = new_fiber(worker))) {
    fusion_fail_outside(worker, thread, "there is no memory for its stack");
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
  const struct thread *at_mbarrier = first_with(worker, AT_MBARRIER);
  const struct mbarrier *left = fusion_left_mbarrier(worker);
  if (at_mbarrier) {
    char why[200];
    fusion_describe_wait(worker, at_mbarrier, why, sizeof why);
    fusion_fail_outside(worker, at_mbarrier, "%s", why);
  } else if (waiting) {
    static const char *const names[] = {"a shuffle", "a matrix instruction", "ldmatrix", "wgmma"};
    fusion_fail_outside(worker, waiting,
                 "%s in divergent control flow: other threads of its warp wait at a barrier instead; let all threads of a "
                 "warp come to it",
                 names[waiting->request.kind]);
  } else if (at_barrier) {
    const uint32_t *place = first_with(worker, ENDED)->place;
    fusion_fail_outside(worker, at_barrier,
                 "barrier in divergent control flow: thread (%u, %u, %u) ended without coming to it; let all threads of a "
                 "block come to it",
                 place[0], place[1], place[2]);
  } else if (left) {
    fusion_fail_outside(worker, worker->threads,
                 "the block ended while copies of a tensor were under way, of the mbarrier at byte %llu; wait for each phase of it",
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
  fusion_begin_mbarriers(worker);
  fusion_next_interval(worker);
  memset(worker->shared, UNWRITTEN, worker->shared_bytes);
}

_Bool fusion_run_block(struct worker *worker, uint64_t number) {
  struct worker *before = self;
  self = worker;
  begin_block(worker, number);
  uint64_t round = 0;
  for (_Bool any = 1; any && !worker->failed;) {
    any = 0;
    /* Warps come in another order each time, unless no seed was given. */
    uint32_t first = worker->seed ? (uint32_t)(fusion_mixed(worker->seed + number + ++round) % worker->warp_count) : 0;
    for (uint32_t i = 0; i < worker->warp_count && !worker->failed; i++) {
      uint32_t place = worker->seed && round % 2 ? worker->warp_count - 1 - i : i;
      any |= run_warp(worker, &worker->warps[(first + place) % worker->warp_count]);
    }
  }
  if (!worker->failed)
    look_why(worker);
  self = before;
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
