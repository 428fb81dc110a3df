/* The device's memory of the emulator, and who reads and writes it.
 *
 *   | the struct's address | margin | data | margin |       a margin: bytes that nobody may write, looked at after each launch
 *
 *   launch 7, block 0 writes bytes 0..64        launch 7, block 3 reads byte 8        a race: blocks are in no order
 *   launch 7, block 0 writes bytes 0..64        launch 8, block 3 reads byte 8        in order
 *   nobody writes byte 100                      launch 8, block 3 reads byte 100      not written
 *
 * Kernels tell of each access of an argument: which elements of how many. So what is outside of a tensor is found before it happens, also
 * where another tensor lies there. Each block of each launch has a stamp, and stamps of later launches are greater; each byte of outputs and
 * of the workspace has the stamps of who wrote and who read it last. Inputs and constants are read only, and have none. Library threads that run
 * blocks look at stamps without locks: where two of them touch a byte at the very same time the race may stay unseen in that run. */

#include "emulate.h"
#include <stdarg.h>

enum {
  ALIGNMENT = 256,
  NOT_WRITTEN = 0,         /* stamps: of no launch, ... */
  WRITTEN_BEFORE = 1,      /* ... and of what was there before the launches that are counted */
};

static struct memory *of(void *data) { return *(struct memory **)((unsigned char *)data - MARGIN - ALIGNMENT); }

static void drop(struct memory *memory) {
  if (memory) {
    free(memory->written);
    free(memory->read);
    free(memory);
  }
}

struct memory *fusion_new_memory(struct memory **all, uint64_t bytes, const char *what) {
  _Bool is_written = *what == 'o' || *what == 'w';
  struct memory *memory = calloc(1, sizeof *memory);
  unsigned char *lower = NULL;
  if (memory && bytes < UINT64_MAX / 16) {
    uint64_t room = bytes + ALIGNMENT + 2 * MARGIN;
    lower = aligned_alloc(ALIGNMENT, (room + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (is_written) {
      memory->written = calloc(bytes + 1, sizeof *memory->written);
      memory->read = calloc(bytes + 1, sizeof *memory->read);
    }
  }
  if (!lower || (is_written && !(memory->written && memory->read))) {
    free(lower);
    drop(memory);
    fusion_gpu_fail("There is no memory for the %llu bytes of the model's %s.", (unsigned long long)bytes, what);
    return NULL;
  }
  *(struct memory **)lower = memory;
  lower += ALIGNMENT;
  memory->next = *all;
  memory->before = all;
  memory->what = what;
  memory->bytes = bytes;
  memory->data = lower + MARGIN;
  if (memory->next)
    memory->next->before = &memory->next;
  *all = memory;
  memset(lower, MARGIN_BYTE, MARGIN);
  memset(memory->data, UNWRITTEN, bytes);
  memset(memory->data + bytes, MARGIN_BYTE, MARGIN);
  return memory;
}

void fusion_release_memory(void *data) {
  struct memory *memory = of(data);
  if ((*memory->before = memory->next))
    memory->next->before = memory->before;
  free(memory->data - MARGIN - ALIGNMENT);
  drop(memory);
}

_Bool fusion_is_all(const unsigned char *memory, uint64_t bytes, unsigned char byte) {
  return bytes == 0 || (memory[0] == byte && !memcmp(memory, memory + 1, bytes - 1));
}

const struct memory *fusion_spoilt(const struct memory *all, const char **where) {
  for (const struct memory *memory = all; memory; memory = memory->next) {
    _Bool before = !fusion_is_all(memory->data - MARGIN, MARGIN, MARGIN_BYTE);
    if (before || !fusion_is_all(memory->data + memory->bytes, MARGIN, MARGIN_BYTE)) {
      *where = before ? "before" : "behind";
      return memory;
    }
  }
  return NULL;
}

/* The memory that an address lies in or just behind; null for what the caller keeps on the device. */
static struct memory *around(struct memory *all, const void *address) {
  for (struct memory *memory = all; memory; memory = memory->next)
    if ((uintptr_t)address >= (uintptr_t)memory->data && (uintptr_t)address <= (uintptr_t)memory->data + memory->bytes)
      return memory;
  return NULL;
}

void fusion_find_tensors(struct memory *all, struct tensor *tensors, void *const *arguments, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    struct memory *memory = around(all, arguments[i]);
    tensors[i] = (struct tensor){.memory = memory, .from = memory ? (uint64_t)((unsigned char *)arguments[i] - memory->data) : 0};
  }
}

/* Stamps. */

uint32_t fusion_take_stamps(struct memory *all, uint32_t *next, uint64_t blocks) {
  if (blocks >= UINT32_MAX - 4)
    return 0;
  if (*next < 2 || *next >= UINT32_MAX - blocks - 2) {
    for (struct memory *memory = all; memory; memory = memory->next)
      for (uint64_t i = 0; memory->written && i < memory->bytes; i++) {
        memory->written[i] = memory->written[i] == NOT_WRITTEN ? NOT_WRITTEN : WRITTEN_BEFORE;
        memory->read[i] = NOT_WRITTEN;
      }
    *next = 2;
  }
  uint32_t first = *next;
  *next += (uint32_t)blocks + 1; /* the last one is of several blocks */
  return first;
}

void fusion_forget_written(struct memory *all, void *data, uint64_t bytes) {
  struct memory *memory = around(all, data);
  memset(data, UNWRITTEN, bytes);
  if (memory && memory->written)
    memset(memory->written + ((unsigned char *)data - memory->data), 0, bytes * sizeof *memory->written);
}

/* A copy brings what was not written along. */
void fusion_copy_stamps(struct memory *all, const void *to, const void *from, uint64_t bytes) {
  const struct memory *target = around(all, to), *source = around(all, from);
  if (!target || !target->written)
    return;
  uint32_t *written = target->written + ((const unsigned char *)to - target->data);
  for (uint64_t i = 0; i < bytes; i++) {
    const uint32_t *known = source ? source->written : NULL;
    written[i] = known && known[(const unsigned char *)from - source->data + i] == NOT_WRITTEN ? NOT_WRITTEN : WRITTEN_BEFORE;
  }
}

_Bool fusion_all_written(struct memory *all, const void *from, uint64_t bytes) {
  const struct memory *memory = around(all, from);
  if (!memory || !memory->written || !memory->told)
    return 1;
  uint64_t first = (uint64_t)((const unsigned char *)from - memory->data);
  for (uint64_t i = 0; i < bytes; i++)
    if (memory->written[first + i] == NOT_WRITTEN)
      return fusion_gpu_fail("no kernel wrote byte %llu of the model's %s, of which the run gives %llu", (unsigned long long)(first + i),
                             memory->what, (unsigned long long)bytes);
  return 1;
}

/* Accesses. */

/* An access that is being looked at. */
struct access {
  struct worker *worker;
  uint32_t argument;
  uint64_t first, size;    /* the byte of the argument that it begins at, and of how many an element is */
  _Bool is_write;
};

_Noreturn __attribute__((format(printf, 3, 4))) static void fail(const struct access *a, uint64_t byte, const char *format, ...) {
  struct worker *worker = a->worker;
  const struct tensor *tensor = &worker->tensors[a->argument];
  char where[160] = "", why[200];
  if (tensor->memory)
    snprintf(where, sizeof where, " (the model's %s from byte %llu on)", tensor->memory->what, (unsigned long long)tensor->from);
  va_list values;
  va_start(values, format);
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
  vsnprintf(why, sizeof why, format, values);
#pragma clang diagnostic pop
  va_end(values);
  fusion_emulated_fail(worker, worker->current, "it %s element %lld of argument %u%s, %s", a->is_write ? "writes" : "reads",
                       (long long)(int64_t)(a->first + byte) / (long long)a->size, a->argument, where, why);
}

/* Two blocks of one launch have to do with a byte. */
_Noreturn static void race(const struct access *a, uint64_t byte, uint32_t stamp, const char *did) {
  const struct worker *worker = a->worker;
  const uint32_t *grid = worker->kernel->grid;
  uint64_t number = stamp - worker->stamps;
  if (number >= (uint64_t)grid[0] * grid[1] * grid[2])
    fail(a, byte, "a race: other blocks of the same launch %s it; a block must not use what others write", did);
  fail(a, byte, "a race: block (%u, %u, %u) of the same launch %s it; a block must not use what others write",
       (uint32_t)(number % grid[0]), (uint32_t)(number / grid[0] % grid[1]), (uint32_t)(number / grid[0] / grid[1]), did);
}

/* Which byte of a range is wrong is looked for when one is. */
_Noreturn static void explain(const struct access *a, const uint32_t *written, const uint32_t *read, uint64_t bytes, uint32_t own) {
  uint32_t first = a->worker->stamps;
  for (uint64_t i = 0; i < bytes; i++) {
    if (!a->is_write && written[i] == NOT_WRITTEN)
      fail(a, i, "which nobody wrote; a kernel before has to, or the index is wrong");
    if (written[i] >= first && written[i] != own)
      race(a, i, written[i], "wrote");
    if (a->is_write && read[i] >= first && read[i] != own)
      race(a, i, read[i], "read");
  }
  fail(a, 0, "which changed while it was looked at; set FUSION_THREADS=1 to see how");
}

/* Where the stamps of a byte of an argument lie. */
struct stamps {
  uint32_t *written, *read;
};

/* Whether something is wrong with an access, which is noted. */
static inline __attribute__((always_inline)) uint32_t note(const struct worker *worker, struct stamps at, uint64_t bytes,
                                                           _Bool is_write) {
  uint32_t *restrict written = at.written, *restrict read = at.read;
  uint32_t first = worker->stamps, own = worker->stamp, several = worker->stamps_end, wrong = 0;
  for (uint64_t i = 0; i < bytes; i++) {
    wrong |= (uint32_t)(written[i] >= first) & (uint32_t)(written[i] != own);
    wrong |= is_write ? (uint32_t)(read[i] >= first) & (uint32_t)(read[i] != own) : (uint32_t)(written[i] == NOT_WRITTEN);
  }
  for (uint64_t i = 0; i < bytes && !wrong; i++) {
    if (is_write)
      written[i] = own;
    else
      read[i] = read[i] < first || read[i] == own ? own : several;
  }
  return wrong;
}

/* The same, fast for the sizes of most accesses. */
static inline __attribute__((always_inline)) uint32_t note_all(const struct worker *worker, struct stamps at, uint64_t bytes,
                                                               _Bool is_write) {
  switch (bytes) {
  case 2:
    return note(worker, at, 2, is_write);
  case 4:
    return note(worker, at, 4, is_write);
  case 8:
    return note(worker, at, 8, is_write);
  case 16:
    return note(worker, at, 16, is_write);
  default:
    return note(worker, at, bytes, is_write);
  }
}

static void touch(struct worker *worker, uint32_t argument, uint64_t first, uint64_t bytes, uint64_t size, _Bool is_write) {
  const struct tensor *tensor = &worker->tensors[argument];
  struct memory *memory = tensor->memory;
  if (!memory)
    return;
  uint64_t byte = tensor->from + first;
  _Bool inside = byte <= memory->bytes && bytes <= memory->bytes - byte;
  if (inside && !memory->written && !is_write)
    return;
  struct access access = {.worker = worker, .argument = argument, .first = first, .size = size, .is_write = is_write};
  if (!inside)
    fail(&access, 0, "which is beyond the %llu bytes there are", (unsigned long long)memory->bytes);
  if (!memory->written)
    fail(&access, 0, "which kernels only read");
  if (!worker->stamps)
    return;
  struct stamps at = {memory->written + byte, memory->read + byte};
  if (is_write ? note_all(worker, at, bytes, 1) : note_all(worker, at, bytes, 0))
    explain(&access, at.written, at.read, bytes, worker->stamp);
  if (is_write)
    memory->told = 1;
}

void fusion_note_global(struct worker *worker, uint32_t argument, uint64_t first, uint64_t bytes, uint64_t size, _Bool is_write) {
  touch(worker, argument, first, bytes, size, is_write);
}

void fusion_emulated_global(int32_t argument, int64_t index, int64_t count, int64_t size, int64_t elements, int32_t is_write) {
  struct worker *worker = fusion_worker();
  if (count < 1)
    return;
  if (index < 0 || index >= elements || count > elements - index) {
    int64_t outside = index < 0 || index >= elements ? index : elements;
    struct access access = {.worker = worker, .argument = (uint32_t)argument, .first = (uint64_t)(outside * size),
                            .size = (uint64_t)size, .is_write = is_write != 0};
    fail(&access, 0, "which has %lld; a condition around the access is missing, or the index is wrong", (long long)elements);
  }
  touch(worker, (uint32_t)argument, (uint64_t)(index * size), (uint64_t)(count * size), (uint64_t)size, is_write != 0);
}
