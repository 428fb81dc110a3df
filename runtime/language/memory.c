/* The memory of a run.
 *
 *   slab:  | blocks of 32 bytes ... | blocks of 128 bytes ... |      |      free[class] -> block -> block -> ...
 *
 * Values are small and live shortly, so they come from lists of free blocks, one for each class of sizes, which the compiled
 * code takes from and gives back to by itself. An empty list is filled with blocks cut off a slab. Tensors above a megabyte
 * have memory of their own; what is free is kept for the next, up to what this run or the one before had at a time: a run of
 * the same sizes asks the system for nothing. All memory hangs on the context, so a run that ends early frees it without
 * looking at values.
 *
 * Freeing a value may free those it owns: they wait in a list that goes through their own headers, so a list of any length
 * needs no stack. */

#include "language.h"

struct slab {
  struct slab *next;
  uint64_t bytes, used;
};

struct large {
  struct large *next, **before;
  uint64_t bytes;
};

enum {
  LINE = 64,                  /* where slabs, large tensors, and data of at least as many bytes begin */
  FIRST_SLAB = 64 << 10,
  LARGEST_SLAB = 4 << 20,
  RUN_OF_BLOCKS = 4 << 10,    /* bytes that are cut into blocks at once */
  KEPT_SLABS = 8 << 20,       /* more than this is kept for the next run only if two runs had as much */
  KEPT_LARGE = 64 << 20,      /* at least so much free memory of large tensors is kept */
};

static uint64_t up(uint64_t n, uint64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

/* Multiples of 16 up to 128, then four sizes to each doubling. Above 128 bytes only multiples of 64 are asked for, so that
 * what begins at a multiple of 64 goes on with one. */
uint32_t fusion_class_of(uint64_t bytes) {
  if (bytes <= 128)
    return bytes < 16 ? 0 : (uint32_t)((bytes + 15) / 16 - 1);
  uint64_t last = up(bytes, LINE) - 1;
  uint32_t doubling = 63 - (uint32_t)__builtin_clzll(last);
  return 8 + (doubling - 7) * 4 + ((last >> (doubling - 2)) & 3);
}

uint64_t fusion_bytes_of_class(uint32_t class) {
  if (class < 8)
    return (class + 1) * 16;
  uint32_t doubling = 7 + (class - 8) / 4;
  return (uint64_t)(5 + (class - 8) % 4) << (doubling - 2);
}

/* Puts blocks into an empty list and gives its first, which stays in the list. */
struct value *fusion_refill(struct context *run, uint32_t class) {
  uint64_t size = fusion_bytes_of_class(class);
  uint64_t count = size >= RUN_OF_BLOCKS ? 1 : RUN_OF_BLOCKS / size;
  uint64_t bytes = up(size * count, LINE);
  struct slab *slab = run->slabs;
  if (!slab || slab->bytes - slab->used < bytes) {
    uint64_t wanted = slab ? slab->bytes * 2 : FIRST_SLAB;
    wanted = wanted > LARGEST_SLAB ? LARGEST_SLAB : wanted;
    wanted = wanted < bytes + LINE ? bytes + LINE : wanted;
    slab = aligned_alloc(LINE, wanted);
    if (!slab)
      fusion_fail_memory(run, wanted);
    *slab = (struct slab){.next = run->slabs, .bytes = wanted, .used = LINE};
    run->slabs = slab;
    run->slab_bytes += wanted;
  }
  char *block = (char *)slab + slab->used;
  slab->used += bytes;
  struct value *first = (struct value *)block;
  for (; count > 1; count--, block += size)
    ((struct value *)block)->next = (struct value *)(block + size);
  ((struct value *)block)->next = NULL;
  return run->free[class] = first;
}

/* A value of that many bytes, with its class and without anything else. */
struct value *fusion_new(struct context *run, uint64_t bytes) {
  if (bytes > LARGEST) /* a tuple or closure of over a hundred thousand parts */
    fusion_fail_memory(run, bytes);
  uint32_t class = fusion_class_of(bytes);
  struct value *value = run->free[class];
  if (!value)
    value = fusion_refill(run, class);
  run->free[class] = value->next;
  run->live++;
  value->count = 1;
  value->tag = 0;
  value->class = (uint8_t)class;
  return value;
}

void *fusion_new_large(struct context *run, uint64_t bytes) {
  struct large *found = run->spare;
  while (found && (found->bytes < bytes || found->bytes - bytes > bytes / 4))
    found = found->next;
  if (found) {
    if ((*found->before = found->next))
      found->next->before = found->before;
    run->spare_bytes -= found->bytes;
  } else {
    uint64_t all = up(bytes, LINE) + LINE;
    found = all < bytes ? NULL : aligned_alloc(LINE, all);
    if (!found)
      fusion_fail_memory(run, bytes);
    found->bytes = bytes;
  }
  if ((found->next = run->large))
    run->large->before = &found->next;
  found->before = &run->large;
  run->large = found;
  run->large_bytes += found->bytes;
  if (run->large_bytes > run->most_large)
    run->most_large = run->large_bytes;
  return (char *)found + LINE;
}

void fusion_free_large(struct context *run, void *data) {
  struct large *large = (struct large *)((char *)data - LINE);
  if ((*large->before = large->next))
    large->next->before = large->before;
  run->large_bytes -= large->bytes;
  uint64_t most = run->most_large > run->most_before ? run->most_large : run->most_before;
  if (run->spare_bytes + large->bytes > (most > KEPT_LARGE ? most : KEPT_LARGE)) {
    free(large);
    return;
  }
  if ((large->next = run->spare))
    run->spare->before = &large->next;
  large->before = &run->spare;
  run->spare = large;
  run->spare_bytes += large->bytes;
}

/* A tensor whose elements are not written. */
struct value *fusion_new_tensor(struct context *run, uint32_t dtype, uint32_t element, uint32_t rank, const int64_t *extents) {
  uint64_t bytes = element, header = 24 + 8 * (uint64_t)rank;
  for (uint32_t i = 0; i < rank; i++)
    if (extents[i] < 0 || __builtin_mul_overflow(bytes, (uint64_t)extents[i], &bytes))
      fusion_fail_memory(run, UINT64_MAX);
  uint64_t at = rank == 0 ? header : up(header, bytes < LINE ? 16 : LINE);
  _Bool large = bytes > LARGEST || at + bytes > LARGEST;
  /* Elements that lie in the tensor begin before its end, also when there are none: free_data goes by that. */
  struct value *tensor = fusion_new(run, large ? header : at + (bytes ? bytes : 1));
  tensor->kind = TENSOR;
  tensor->tag = element;
  tensor->which = (uint16_t)dtype;
  tensor->parts = rank;
  tensor->data = large ? fusion_new_large(run, bytes) : (unsigned char *)tensor + at;
  for (uint32_t i = 0; i < rank; i++)
    tensor->extents[i] = extents[i];
  return tensor;
}

uint64_t fusion_tensor_bytes(const struct value *tensor) {
  uint64_t bytes = tensor->tag;
  for (uint32_t i = 0; i < tensor->parts; i++)
    bytes *= (uint64_t)tensor->extents[i];
  return bytes;
}

/* A tensor's data lies in the tensor, in memory of its own, or with the caller of fusion_run (then it is borrowed). */
static void free_data(struct context *run, struct value *tensor) {
  uint64_t away = (uint64_t)(tensor->data - (unsigned char *)tensor);
  if (away >= fusion_bytes_of_class(tensor->class) && !(tensor->which & BORROWED))
    fusion_free_large(run, tensor->data);
}

static void give_back(struct context *run, struct value *value) {
  value->next = run->free[value->class];
  run->free[value->class] = value;
  run->live--;
}

/* Frees a value that has no owner any more, and those that have none then. */
void fusion_free(struct context *run, struct value *value) {
  struct value *waiting = NULL;
  for (;;) {
    if (value->kind == TENSOR) {
      free_data(run, value);
    } else {
      struct value **part = value->kind == CLOSURE ? value->captured : value->fields;
      for (struct value **end = part + value->parts; part < end; part++) {
        struct value *owned = *part;
        if (owned->count < 0 || --owned->count > 0)
          continue;
        if (owned->kind == TENSOR) {
          free_data(run, owned);
          give_back(run, owned);
        } else {
          owned->next = waiting;
          waiting = owned;
        }
      }
    }
    give_back(run, value);
    if (!waiting)
      return;
    value = waiting;
    waiting = value->next;
  }
}

static void free_list(struct large *list) {
  while (list) {
    struct large *next = list->next;
    free(list);
    list = next;
  }
}

/* Frees everything, or keeps what the next run may want when nothing lives. */
void fusion_free_all(struct context *run, _Bool keep) {
  run->most_before = run->most_large;
  run->most_large = 0;
  uint64_t before = run->slabs_before;
  run->slabs_before = run->slab_bytes;
  if (keep && run->live == 0 && run->slab_bytes <= (before > KEPT_SLABS ? before : KEPT_SLABS))
    return;
  free_list(run->large);
  free_list(run->spare);
  run->large = run->spare = NULL;
  run->spare_bytes = run->large_bytes = 0;
  run->live = 0;
  for (int i = 0; i < CLASSES; i++)
    run->free[i] = NULL;
  /* The last slab is the first that was made, and small. */
  while (run->slabs && (run->slabs->next || !keep)) {
    struct slab *next = run->slabs->next;
    free(run->slabs);
    run->slabs = next;
  }
  if (run->slabs)
    run->slabs->used = LINE;
  run->slab_bytes = run->slabs ? run->slabs->bytes : 0;
}
