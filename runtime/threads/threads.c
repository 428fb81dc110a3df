/* The threads of a compiled model. This file becomes an object for every machine code can be packaged for, and is linked into
 * every library, so that a library needs nothing but the C library.
 *
 * A loop is open while indices are left. Each thread has a share of them, the same in every loop of that length, so that it
 * finds in its caches what it wrote in the loop before. It takes pieces off its share, each a part of what is left, so the
 * last ones are single indices and threads end together; then it helps with the other shares. A worker that does not run holds up
 * no more than the piece it has, and nobody waits for workers that did not join.
 * Workers look for the next loop for some microseconds, then sleep; with one thread there are none. A loop inside of a loop,
 * or of a second caller at the same time, runs on its own thread: the pool is taken.
 *
 * Which thread runs an index has no influence on what it computes, so neither has the number of threads. */

#include "../unload.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* What is used of the C library. Its own headers would be those of the machine this is compiled on. */
extern int pthread_create(uintptr_t *thread, const void *attributes, void *(*start)(void *), void *argument);
extern int pthread_join(uintptr_t thread, void **result);
extern int pthread_sigmask(int how, const void *set, void *old);
extern int sched_getaffinity(int process, size_t size, void *mask);
extern int sched_yield(void);
extern char *getenv(const char *name);
extern long strtol(const char *text, char **end, int base);
extern long syscall(long number, ...);

typedef void body_function(int64_t begin, int64_t end, void *context);

enum {
  MOST_THREADS = 256,
  PART_OF_REST = 4,      /* a piece is that part of what is left of a share: evens out what takes longer, at an atomic operation each */
  SPINS = 64,            /* looks before another thread is let run in between, ... */
  YIELDS = 24,           /* and how often that is done before sleeping */
  PAUSES = 16,           /* hints to the processor between two looks */
};
#define OPEN 0x80000000u   /* in `inside`: workers may join */
#define WAITING 0x40000000u /* in `inside`: the owner sleeps until all have left */
#define WORKERS 0x3fffffffu

static struct {
  body_function *body;
  void *context;
  int32_t shares;
  uint64_t rounding;
} loop; /* written while no worker is inside */
static struct {
  _Alignas(64) _Atomic int64_t next; /* the first index that nobody has taken */
  int64_t end;
} shares[MOST_THREADS];
static _Alignas(64) _Atomic uint32_t inside;  /* OPEN, WAITING and how many workers are in the loop */
static _Alignas(64) _Atomic uint32_t opened;  /* counts loops; workers sleep on it */
static _Atomic uint32_t sleepers;
static _Alignas(64) _Atomic uint32_t taken;   /* whether a thread owns the pool */
static _Atomic int32_t wanted = -1;           /* threads, -1: nobody said */
/* Only of the owner: */
static uintptr_t workers[MOST_THREADS];
static int32_t started;
static _Bool watches_forks;
static _Atomic uint32_t began; /* what `opened` was when the workers were made */
static _Atomic _Bool stopping;

#if defined(__x86_64__)
#define FUTEX 202
static void pause(void) { __builtin_ia32_pause(); }
static uint64_t rounding(void) { return __builtin_ia32_stmxcsr() & ~0x3fu; }
static void set_rounding(uint64_t mode) { __builtin_ia32_ldmxcsr((uint32_t)mode); }
#elif defined(__aarch64__)
#define FUTEX 98
static void pause(void) { __asm__ volatile("isb"); }
static uint64_t rounding(void) { return __builtin_arm_rsr64("fpcr"); }
static void set_rounding(uint64_t mode) { __builtin_arm_wsr64("fpcr", mode); }
#else
#error "give this machine's system call, its pause and its floating-point mode"
#endif

static void sleep_while(_Atomic uint32_t *word, uint32_t value) { syscall(FUTEX, word, 128 /* private wait */, value, NULL); }
static void wake(_Atomic uint32_t *word, int count) { syscall(FUTEX, word, 129 /* private wake */, count); }

/* Looks until `*word & mask` differs from `value` if `differs`, else equals it; false when it took too long. */
static _Bool look(_Atomic uint32_t *word, uint32_t mask, uint32_t value, _Bool differs) {
  for (int i = 0; i < SPINS + YIELDS; i++) {
    if (((atomic_load_explicit(word, memory_order_acquire) & mask) != value) == differs)
      return 1;
    for (int p = 0; p < PAUSES; p++)
      pause();
    if (i >= SPINS)
      sched_yield();
  }
  return 0;
}

/* Takes a piece of a share; false when nothing is left of it. */
static _Bool take(int32_t share, int64_t *begin, int64_t *end) {
  int64_t last = shares[share].end, first = atomic_load_explicit(&shares[share].next, memory_order_relaxed);
  do {
    if (first >= last)
      return 0;
    *begin = first;
    *end = first + (last - first - 1) / PART_OF_REST + 1;
  } while (!atomic_compare_exchange_weak_explicit(&shares[share].next, &first, *end, memory_order_relaxed, memory_order_relaxed));
  return 1;
}

/* What is left of a thread's own share, then of the others. */
static void work(int32_t thread) {
  int64_t begin, end;
  for (int32_t i = 0, share = thread % loop.shares; i < loop.shares; i++, share = share + 1 < loop.shares ? share + 1 : 0)
    while (take(share, &begin, &end))
      loop.body(begin, end, loop.context);
}

static void join_loop(int32_t thread) {
  uint32_t seen = atomic_load_explicit(&inside, memory_order_relaxed);
  do {
    if (!(seen & OPEN))
      return;
  } while (!atomic_compare_exchange_weak_explicit(&inside, &seen, seen + 1, memory_order_acquire, memory_order_relaxed));
  set_rounding(loop.rounding);
  work(thread);
  if (atomic_fetch_sub_explicit(&inside, 1, memory_order_acq_rel) == (WAITING | 1))
    wake(&inside, 1);
}

static void *worker(void *argument) {
  int32_t thread = (int32_t)(uintptr_t)argument;
  uint32_t seen = atomic_load(&began);
  for (;;) {
    while (!look(&opened, ~0u, seen, 1)) {
      atomic_fetch_add(&sleepers, 1);
      sleep_while(&opened, seen);
      atomic_fetch_sub(&sleepers, 1);
    }
    seen = atomic_load(&opened);
    if (stopping)
      return NULL;
    join_loop(thread);
  }
}

/* The child of a fork has the thread that forked and no other. */
static void forked(void) {
  started = 0;
  inside = sleepers = taken = 0;
}

static void start(int32_t threads) {
  uint64_t all[16], old[16];
  for (int i = 0; i < 16; i++)
    all[i] = ~0ull;
  if (!watches_forks)
    watches_forks = __register_atfork(NULL, NULL, forked, &this_library) == 0;
  if (!started)
    began = opened; /* none is running that could miss what opens from here on */
  pthread_sigmask(2 /* set */, all, old); /* signals are for the threads of the program */
  for (; started < threads - 1; started++)
    if (pthread_create(&workers[started], NULL, worker, (void *)(uintptr_t)(started + 1))) {
      wanted = started + 1; /* the system gives no more */
      break;
    }
  pthread_sigmask(2, old, NULL);
}

static void stop(void) {
  stopping = 1;
  atomic_fetch_add(&opened, 1);
  wake(&opened, MOST_THREADS);
  while (started > 0)
    pthread_join(workers[--started], NULL);
  stopping = 0;
}

static int32_t processors(void) {
  uint64_t mask[16] = {0};
  int32_t found = 0;
  if (sched_getaffinity(0, sizeof mask, mask) < 0)
    return 1;
  for (int i = 0; i < 16; i++)
    found += __builtin_popcountll(mask[i]);
  return found;
}

static int32_t bounded(long threads) {
  if (threads == 0)
    threads = processors();
  return threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : (int32_t)threads;
}

static int32_t from_environment(void) {
  const char *text = getenv("FUSION_THREADS");
  char *end;
  if (!text || !*text)
    return 1;
  long threads = strtol(text, &end, 10);
  return *end || threads < 0 ? 1 : bounded(threads);
}

/* How many threads the model's loops may use from now on; 0 for one a processor. */
void fusion_set_threads(int32_t threads) {
  while (atomic_exchange_explicit(&taken, 1, memory_order_acquire))
    sched_yield();
  threads = bounded(threads);
  if (threads - 1 < started)
    stop();
  wanted = threads;
  atomic_store_explicit(&taken, 0, memory_order_release);
}

/* Runs body on all indices below count, in any order. */
void fusion_parallel(int64_t count, body_function *body, void *context) {
  int32_t threads = atomic_load_explicit(&wanted, memory_order_relaxed);
  if (threads < 0)
    wanted = threads = from_environment();
  if (threads == 1 || count < 2 || atomic_exchange_explicit(&taken, 1, memory_order_acquire)) {
    body(0, count, context);
    return;
  }
  if (started < threads - 1)
    start(threads);
  loop.body = body;
  loop.context = context;
  loop.shares = count < threads ? (int32_t)count : threads;
  loop.rounding = rounding();
  int64_t each = count / loop.shares, more = count % loop.shares, first = 0;
  for (int32_t share = 0; share < loop.shares; share++) {
    atomic_store_explicit(&shares[share].next, first, memory_order_relaxed);
    shares[share].end = first += each + (share < more);
  }
  atomic_store_explicit(&inside, OPEN, memory_order_release);
  atomic_fetch_add(&opened, 1);
  if (atomic_load(&sleepers))
    wake(&opened, (int)(count < threads ? count : threads) - 1);
  work(0);
  uint32_t left = atomic_fetch_and_explicit(&inside, ~OPEN, memory_order_acq_rel) & WORKERS;
  if (left && !look(&inside, WORKERS, 0, 0)) {
    left = atomic_fetch_or_explicit(&inside, WAITING, memory_order_acq_rel) | WAITING;
    for (; left & WORKERS; left = atomic_load_explicit(&inside, memory_order_acquire))
      sleep_while(&inside, left);
  }
  atomic_store_explicit(&taken, 0, memory_order_release);
}

/* Before the library leaves memory; not when the program ends in the middle of a run, where the system ends the workers. */
__attribute__((destructor)) static void unload(void) {
  if (started && !atomic_exchange_explicit(&taken, 1, memory_order_acquire))
    stop();
}
