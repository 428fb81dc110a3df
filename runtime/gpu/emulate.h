/* What the files of the emulator share: a worker runs one block at a time, each of whose threads has a stack while it waits. */

#ifndef FUSION_EMULATE_H
#define FUSION_EMULATE_H

#include "device.h"

enum {
  MOST_THREADS = 1024,           /* of a block, as on all devices there are */
  MOST_SHARED = 256 << 10,       /* bytes of shared memory of a block */
  NOBODY = 0xffff,               /* no thread of the block */
};

/* What a thread came with to something that all of its warp do together. */
struct request {
  enum { SHUFFLE, MATRIX, LOAD_MATRIX, MULTIPLY_SHARED } kind;
  int32_t what;                  /* the mode, the instruction, or how many matrices */
  int32_t offset, width;         /* of a shuffle; `width` also says whether to transpose */
  int64_t bits;                  /* of a product of shared memory, how far panels are apart */
  const void *a, *b, *c;
  void *d;
};

/* An asynchronous copy that has not happened. */
struct copy {
  struct copy *next;
  unsigned char *to;
  const unsigned char *from;
  uint32_t bytes, copied;
  uint64_t group;
};

struct thread {
  void *stack_pointer;           /* where it goes on */
  struct fiber *fiber;           /* its stack while it waits */
  uint32_t place[3];
  uint16_t number;
  enum { NOT_STARTED, RUNS, AT_BARRIER, AT_COLLECTIVE, ENDED } state;
  struct request request;
  struct copy *copies, **last_copy;
  uint64_t groups;               /* that it closed */
};

/* The threads that do shuffles and matrix instructions together. */
struct warp {
  struct thread *threads;
  uint32_t count, live, arrived;
};

/* Who did what with a byte of shared memory since the barrier number `interval`. */
struct shadow {
  uint32_t interval;
  uint16_t writer, reader, other_reader;
  uint16_t copier;               /* whose copy to it has not happened; of any interval */
};

struct worker {
  struct worker *next;           /* of those that wait for a launch */
  const struct fusion_gpu_kernel *kernel;
  void *const *arguments;
  uint32_t block[3];
  uint64_t block_number;
  struct thread *threads, *current;
  uint32_t count, ended, at_barrier;
  struct warp *warps, *warp;
  uint32_t warp_size, warp_count;
  unsigned char *shared;
  uint64_t shared_bytes;
  struct shadow *shadow;
  uint32_t interval;
  struct copy *spare_copies;
  struct fiber *spare_fibers;
  char *stacks;                  /* of fibers; made when first needed */
  uint32_t fibers;
  void *outside;                 /* the stack pointer of who runs the block */
  _Bool failed;
  char message[1024];
};

/* emulate.c */
struct worker *fusion_worker(void);
/* Ends the block with an error of this thread, and the same for one that another thread causes. */
_Noreturn void fusion_emulated_fail(struct worker *worker, const struct thread *thread, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Waits until all threads of the warp have come, and what they came for is done. */
void fusion_collective(struct worker *worker, const struct request *request);

/* races.c */
void fusion_note_access(struct worker *worker, const struct thread *thread, const void *address, uint64_t bytes, _Bool is_write);
void fusion_next_interval(struct worker *worker);
void fusion_drop_copies(struct worker *worker, struct thread *thread);

/* matrix.c: on behalf of all threads of the warp, which have come. */
void fusion_do_matrix(struct worker *worker, struct warp *warp);
void fusion_do_load_matrix(struct worker *worker, struct warp *warp);
void fusion_do_multiply_shared(struct worker *worker, struct warp *warp);

#endif
