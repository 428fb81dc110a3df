/* The strings of a run.
 *
 *   element of a tensor       3                 a number, of 64 bits
 *                             |
 *   list      | "a" | "b" | "" | "xy" | ...     each string once: those of the program's constants, then those that the run met
 *               ^                 |
 *   table     | 1 | 0 | 4 | 0 | ...             numbers and one, by the hash of their string; 0 is empty
 *
 * So strings are equal where their numbers are, and kernels move and compare numbers. What a run adds is forgotten when it ends; the
 * strings of constants have the same numbers in all runs. */

#include "language.h"

enum {
  FIRST_TABLE = 64,
  BLOCK = 64 << 10,
  MOST_KEPT = 1 << 16, /* a larger table is made anew for the next run */
};

#define MOST_BYTES ((uint64_t)16 << 30) /* of all strings of a run */

struct entry {
  struct fusion_string string;
  uint64_t hash;
};

struct block {
  struct block *next;
};

struct strings {
  struct entry *list;
  uint64_t count, room;
  uint32_t *table;
  uint64_t slots; /* a power of two */
  struct block *blocks;
  char *free;     /* of the first block */
  uint64_t left;
  uint64_t bytes;
  uint64_t constants;
};

/* Mixes eight bytes at a time (after Wang Yi's wyhash); the address keeps who hands strings in from knowing the places. */
static uint64_t hash_of(const char *data, uint64_t bytes) {
  static const char here;
  uint64_t hash = (uint64_t)(uintptr_t)&here ^ bytes * 0x9e3779b97f4a7c15u;
  while (bytes) {
    uint64_t word = 0, step = bytes < 8 ? bytes : 8;
    memcpy(&word, data, step);
    __uint128_t product = (__uint128_t)(hash ^ word) * 0xa0761d6478bd642fu;
    hash = (uint64_t)product ^ (uint64_t)(product >> 64) ^ 0xe7037ed1a0b428dbu;
    data += step;
    bytes -= step;
  }
  return hash ^ hash >> 32;
}

static void put(struct strings *all, uint64_t number) {
  uint64_t slot = all->list[number].hash & (all->slots - 1);
  while (all->table[slot])
    slot = (slot + 1) & (all->slots - 1);
  all->table[slot] = (uint32_t)number + 1;
}

static void *fresh(struct context *run, uint64_t bytes) {
  void *memory = malloc(bytes);
  if (!memory)
    fusion_fail_memory(run, bytes);
  return memory;
}

/* Room for another string. */
static void grow(struct context *run, struct strings *all) {
  if (all->count == all->room) {
    uint64_t room = all->room ? 2 * all->room : FIRST_TABLE / 2;
    if (room > UINT32_MAX / 2)
      fusion_fail(run, "The run has more strings than can be numbered.");
    struct entry *list = fresh(run, room * sizeof *list);
    if (all->list)
      memcpy(list, all->list, all->count * sizeof *list);
    free(all->list);
    all->list = list;
    all->room = room;
  }
  if (2 * (all->count + 1) > all->slots) {
    uint64_t slots = all->slots ? 2 * all->slots : FIRST_TABLE;
    uint32_t *table = fresh(run, slots * sizeof *table);
    memset(table, 0, slots * sizeof *table);
    free(all->table);
    all->table = table;
    all->slots = slots;
    for (uint64_t i = 0; i < all->count; i++)
      put(all, i);
  }
}

static uint64_t add(struct context *run, struct strings *all, struct fusion_string string, uint64_t hash) {
  grow(run, all);
  all->list[all->count] = (struct entry){string, hash};
  put(all, all->count);
  return all->count++;
}

/* A copy of a string that lives as long as the run. */
static struct fusion_string copy_of(struct context *run, struct strings *all, const char *data, uint64_t bytes) {
  if (bytes > MOST_BYTES - all->bytes) {
    snprintf(run->message, sizeof run->message, "The strings of the run have more than %llu bytes.", (unsigned long long)MOST_BYTES);
    fusion_leave(run, 1);
  }
  if (bytes > all->left) {
    uint64_t room = bytes > BLOCK ? bytes : BLOCK;
    struct block *block = fresh(run, sizeof *block + room);
    block->next = all->blocks;
    all->blocks = block;
    all->free = (char *)(block + 1);
    all->left = room;
  }
  char *copy = all->free;
  memcpy(copy, data, bytes);
  all->free += bytes;
  all->left -= bytes;
  all->bytes += bytes;
  return (struct fusion_string){copy, bytes};
}

/* The list of a run, with the strings of the program's constants. */
static struct strings *strings_of(struct context *run) {
  struct strings *all = run->strings;
  if (all)
    return all;
  all = fresh(run, sizeof *all);
  memset(all, 0, sizeof *all);
  run->strings = all;
  const int64_t *sizes = fusion_program_strings + 1;
  const char *text = (const char *)(sizes + fusion_program_strings[0]);
  for (int64_t i = 0; i < fusion_program_strings[0]; i++) {
    struct fusion_string string = {text, (uint64_t)sizes[i]};
    add(run, all, string, hash_of(string.data, string.bytes));
    text += sizes[i];
  }
  all->constants = all->count;
  return all;
}

/* The number of a string, which is copied where it is new. */
uint64_t fusion_string_number(struct context *run, const char *data, uint64_t bytes) {
  struct strings *all = strings_of(run);
  uint64_t hash = hash_of(data, bytes);
  for (uint64_t slot = hash; all->slots; slot++) {
    uint32_t found = all->table[slot & (all->slots - 1)];
    if (!found)
      break;
    const struct entry *entry = &all->list[found - 1];
    if (entry->hash == hash && entry->string.bytes == bytes && !memcmp(entry->string.data, data, bytes))
      return found - 1;
  }
  return add(run, all, copy_of(run, all, data, bytes), hash);
}

/* The string of a number; an empty one where there is none. */
struct fusion_string fusion_string_of(struct context *run, uint64_t number) {
  struct strings *all = strings_of(run);
  return number < all->count ? all->list[number].string : (struct fusion_string){"", 0};
}

/* Forgets what the run added, or all. */
void fusion_forget_strings(struct context *run, _Bool everything) {
  struct strings *all = run->strings;
  if (!all)
    return;
  while (all->blocks) {
    struct block *next = all->blocks->next;
    free(all->blocks);
    all->blocks = next;
  }
  all->left = all->bytes = 0;
  if (everything || all->slots > MOST_KEPT || all->constants == 0) {
    free(all->list);
    free(all->table);
    free(all);
    run->strings = NULL;
  } else if (all->count > all->constants) {
    all->count = all->constants;
    memset(all->table, 0, all->slots * sizeof *all->table);
    for (uint64_t i = 0; i < all->count; i++)
      put(all, i);
  }
}

/* The letter at a place before the end, and the place behind it; -1 where the bytes are no UTF-8 (Unicode 16.0, table 3-7). */
int32_t fusion_letter(const unsigned char **place, const unsigned char *end) {
  const unsigned char *at = *place;
  int32_t first = *at++, letter = first;
  uint32_t more = first < 0x80 ? 0 : first < 0xc2 ? 4 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 4;
  if (more == 4 || (uint64_t)(end - at) < more)
    return -1;
  if (more)
    letter &= 0x3f >> more;
  for (uint32_t i = 0; i < more; i++, at++) {
    if ((*at & 0xc0) != 0x80)
      return -1;
    letter = letter << 6 | (*at & 0x3f);
  }
  if ((more == 2 && letter < 0x800) || (more == 3 && (letter < 0x10000 || letter > 0x10ffff)) || (letter >= 0xd800 && letter < 0xe000))
    return -1;
  *place = at;
  return letter;
}

/* Numbers of the caller's strings as the elements of a tensor. */
void fusion_take_strings(struct context *run, struct value *tensor, const struct fusion_string *strings, uint64_t input) {
  uint64_t *numbers = (uint64_t *)tensor->data;
  for (uint64_t i = 0, count = fusion_tensor_bytes(tensor) / 8; i < count; i++) {
    const unsigned char *at = (const unsigned char *)strings[i].data, *end = at + strings[i].bytes;
    while (at < end)
      if (fusion_letter(&at, end) < 0)
        fusion_fail_input(run, input, "A string of input %llu of the program is no text in UTF-8.");
    numbers[i] = fusion_string_number(run, strings[i].data, strings[i].bytes);
  }
}

/* The strings of a tensor's elements. */
void fusion_show_strings(struct context *run, const struct value *tensor, struct fusion_string *strings) {
  const uint64_t *numbers = (const uint64_t *)tensor->data;
  for (uint64_t i = 0, count = fusion_tensor_bytes(tensor) / 8; i < count; i++)
    strings[i] = fusion_string_of(run, numbers[i]);
}
