/* What the files of the emulator share: a worker runs one block at a time, each of whose threads has a stack while it waits. */

#ifndef FUSION_EMULATE_H
#define FUSION_EMULATE_H

#include "device.h"

enum {
  MOST_THREADS = 1024,           /* of a block, as on all devices there are */
  MOST_SHARED = 256 << 10,       /* bytes of shared memory of a block */
  MOST_MBARRIERS = 64,             /* of a block */
  ACTORS = MOST_THREADS + MOST_MBARRIERS,  /* who writes shared memory: threads, and the copies that a mbarrier tells of */
  NOBODY = 0xffff,               /* none of them */
  UNWRITTEN = 0xff,              /* every byte of memory that was not written; floats of any size are NaN then */
  MARGIN = 4096,                 /* bytes around memory that stay as they are */
  MARGIN_BYTE = 0xfd,            /* of these */
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
  /* Of a box of a tensor. */
  const struct fusion_gpu_map *map;
  int64_t at[FUSION_MAP_AXES];
};

/* What threads come to and wait for (mbarriers.c). */
struct mbarrier {
  uint64_t place;                /* in shared memory */
  uint32_t count, missing;       /* threads of a phase, and those that have not come in this one */
  int64_t phase;                 /* the one that is under way */
  int64_t expected, asked;       /* bytes of this phase, and those that copies were begun for */
  struct copy *copies;           /* of this phase */
  uint32_t done;                 /* phases that copied something */
};

struct thread {
  void *stack_pointer;           /* where it goes on */
  struct fiber *fiber;           /* its stack while it waits */
  uint32_t place[3];
  uint16_t number;
  enum { NOT_STARTED, RUNS, AT_BARRIER, AT_COLLECTIVE, AT_MBARRIER, ENDED } state;
  uint32_t mbarrier;               /* the one that it waits for, ... */
  int64_t phase;                 /* ... and until which phase is over */
  struct request request;
  struct copy *copies, **last_copy;
  uint64_t groups;               /* that it closed */
};

/* The threads that do shuffles and matrix instructions together. */
struct warp {
  struct thread *threads;
  uint32_t count, live, arrived;
};

/* Who did what with a byte of shared memory since the barrier number `interval`, and when by the own clock of each. */
struct shadow {
  uint32_t interval;
  uint32_t written, read, read_otherwise;
  uint16_t writer, reader, other_reader;
  uint16_t copier;               /* whose copy to it has not happened; of any interval */
};

/* Memory of the device. */
struct memory {
  struct memory *next, **before;
  const char *what;
  uint64_t bytes;
  unsigned char *data;
  uint32_t *written, *read;      /* of each byte, the stamps of the block that did last; null where kernels only read */
  _Bool told;                    /* whether kernels tell what they write */
};

/* An argument of a launch, as far as it lies in memory of the device that is known. */
struct tensor {
  struct memory *memory;
  uint64_t from;
};

struct worker {
  struct worker *next;           /* of those that wait for a launch */
  const struct fusion_gpu_kernel *kernel;
  void *const *arguments;
  uint32_t block[3];
  uint64_t block_number;
  const struct tensor *tensors;  /* the arguments */
  uint32_t stamp, stamps, stamps_end;  /* of the block, of the first one of the launch, and behind the last one: of several; 0 for none */
  uint64_t seed;                 /* of the order of warps, 0 for that of their numbers */
  struct thread *threads, *current;
  uint32_t count, ended, at_barrier;
  struct warp *warps, *warp;
  uint32_t warp_size, warp_count;
  unsigned char *shared;
  uint64_t shared_bytes;
  struct shadow *shadow;
  uint32_t interval;
  struct mbarrier mbarriers[MOST_MBARRIERS];
  uint32_t mbarrier_count;
  uint32_t (*clocks)[ACTORS];    /* what each thread knows of the others' clocks since the last barrier, then each mbarrier; or null */
  struct copy *spare_copies;
  struct fiber *spare_fibers;
  char *stacks;                  /* of fibers; made when first needed */
  uint32_t fibers;
  void *outside;                 /* the stack pointer of who runs the block */
  _Bool failed;
  char message[1024];
};

/* block.c */
struct worker *fusion_worker(void);
/* Whether all threads of the block ended as they should; `message` says why not. */
_Bool fusion_run_block(struct worker *worker, uint64_t number);
void fusion_free_stacks(struct worker *worker);
/* Ends the block with an error of this thread, and the same for one that another thread causes. */
_Noreturn void fusion_emulated_fail(struct worker *worker, const struct thread *thread, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, where no thread runs. */
void fusion_fail_outside(struct worker *worker, const struct thread *thread, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The thread goes on when its state is RUNS again. */
void fusion_stop_here(struct worker *worker);

/* collective.c */
/* Waits until all threads of the warp have come, and what they came for is done. */
void fusion_collective(struct worker *worker, const struct request *request);
/* Does what all threads of the warp that have not ended have come to. */
void fusion_do_collective(struct worker *worker, struct warp *warp);

/* races.c */
void fusion_note_access(struct worker *worker, const struct thread *thread, const void *address, uint64_t bytes, _Bool is_write);
void fusion_next_interval(struct worker *worker);
void fusion_drop_copies(struct worker *worker, struct thread *thread);
/* The place in shared memory, of which there must be so much. */
uint64_t fusion_place_of(struct worker *worker, const struct thread *thread, const void *address, uint64_t bytes, const char *does);
struct copy *fusion_new_copy(struct worker *worker, const struct thread *thread);
/* That an asynchronous copy to these bytes is under way, or, where the copier is 0, is not. */
void fusion_set_copier(struct worker *worker, const struct copy *copy, uint16_t copier);

/* memory.c */
/* Memory of the device in a list of all that there is; null, and an error, where there is none. */
struct memory *fusion_new_memory(struct memory **all, uint64_t bytes, const char *what);
void fusion_release_memory(void *data);
/* Memory whose margins were written, and which of them. */
const struct memory *fusion_spoilt(const struct memory *all, const char **where);
_Bool fusion_is_all(const unsigned char *memory, uint64_t bytes, unsigned char byte);
void fusion_find_tensors(struct memory *all, struct tensor *tensors, void *const *arguments, uint32_t count);
/* Stamps for the blocks of a launch, and one for several of them; the first. 0 where there are not so many. */
uint32_t fusion_take_stamps(struct memory *all, uint32_t *next, uint64_t blocks);
/* Nobody has written it any more. */
void fusion_forget_written(struct memory *all, void *data, uint64_t bytes);
void fusion_copy_stamps(struct memory *all, const void *to, const void *from, uint64_t bytes);
/* Whether kernels that tell of what they write wrote all of it, or an error. */
_Bool fusion_all_written(struct memory *all, const void *from, uint64_t bytes);
/* That the current thread accesses bytes of an argument, in elements of that size. */
void fusion_note_global(struct worker *worker, uint32_t argument, uint64_t first, uint64_t bytes, uint64_t size, _Bool is_write);

/* emulate.c: a number that looks random. */
uint64_t fusion_mixed(uint64_t x);

/* mbarriers.c */
enum { MBARRIERS_OVER = MOST_THREADS + MOST_MBARRIERS };  /* rows of clocks: threads, then what came to each mbarrier */
void fusion_begin_mbarriers(struct worker *worker);
void fusion_clocks_at_barrier(struct worker *worker);
/* All threads of the warp have waited for what each of them did. */
void fusion_read_together(struct worker *worker, const struct warp *warp);
/* Whether what an actor did at that time of its clock comes before what the thread does now. */
_Bool fusion_is_before(const struct worker *worker, uint16_t actor, uint32_t when, const struct thread *thread);
/* Why a thread waits for ever, and whether copies are left when all have ended. */
void fusion_describe_wait(const struct worker *worker, const struct thread *thread, char *text, size_t bytes);
const struct mbarrier *fusion_left_mbarrier(const struct worker *worker);

/* matrix.c: on behalf of all threads of the warp, which have come. */
void fusion_do_matrix(struct worker *worker, struct warp *warp);
void fusion_do_load_matrix(struct worker *worker, struct warp *warp);
void fusion_do_multiply_shared(struct worker *worker, struct warp *warp);

#endif
