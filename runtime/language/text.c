/* The operators on strings that kernels cannot compute: what makes strings, or looks into them.
 *
 * Each has what it takes and gives as lists of tensors, and facts that the compiler wrote (conversion/programs/src/bytecode_to_llvm/function/
 * strings.rs). `operators/src/ops/strings.rs` says what they mean, and operators/src/reference/strings.rs is their oracle. `where` names
 * the place in the source, for messages. */

#include "language.h"

#define MOST_BYTES ((uint64_t)1 << 30)  /* of the strings that one operator makes */
#define MOST_PIECES ((uint64_t)1 << 27)

static uint64_t count_of(const struct value *tensor) { return fusion_tensor_bytes(tensor) / tensor->tag; }

static struct fusion_string string_at(struct context *run, const struct value *tensor, uint64_t i) {
  return fusion_string_of(run, ((const uint64_t *)tensor->data)[i]);
}

static struct value *like(struct context *run, const struct value *tensor, uint32_t dtype, uint32_t element) {
  return fusion_new_tensor(run, dtype, element, tensor->parts, tensor->extents);
}

#pragma clang diagnostic ignored "-Wformat-nonliteral"
_Noreturn static void fail_with(struct context *run, const char *where, const char *format, uint64_t number) {
  char why[256];
  snprintf(why, sizeof why, format, (unsigned long long)number);
  snprintf(run->message, sizeof run->message, "%s %s", where, why);
  fusion_leave(run, 1);
}

/* Counts the bytes of strings that are made. */
static void spend(struct context *run, const char *where, uint64_t *spent, uint64_t bytes) {
  if (bytes > MOST_BYTES - *spent)
    fail_with(run, where, "makes strings of more than %llu bytes", MOST_BYTES);
  *spent += bytes;
}

/* Strings one behind the other, with broadcasting. */
void fusion_string_concat(struct context *run, const char *where, const int64_t *facts, struct value *const *inputs,
                          struct value **outputs) {
  (void)facts;
  uint32_t rank = inputs[0]->parts > inputs[1]->parts ? inputs[0]->parts : inputs[1]->parts;
  int64_t extents[rank + 1], steps[2][rank + 1], place[rank + 1];
  for (uint32_t axis = 0; axis < rank; axis++)
    extents[axis] = 1;
  for (int side = 0; side < 2; side++) {
    int64_t step = 1;
    for (uint32_t axis = rank; axis-- > 0;) {
      const struct value *own = inputs[side];
      int64_t extent = axis + own->parts >= rank ? own->extents[axis + own->parts - rank] : 1;
      steps[side][axis] = extent == 1 ? 0 : step;
      step *= extent;
      if (extent != 1 && extents[axis] != 1 && extents[axis] != extent)
        fail_with(run, where, "violates constraint C2: the shapes do not broadcast at axis %llu", axis);
      extents[axis] = extent == 1 ? extents[axis] : extent;
    }
  }
  struct value *made = outputs[0] = fusion_new_tensor(run, inputs[0]->which & 0xff, 8, rank, extents);
  uint64_t count = count_of(made), spent = 0, room = 0;
  char *text = NULL;
  memset(place, 0, sizeof place);
  for (uint64_t i = 0, at[2] = {0, 0}; i < count; i++) {
    struct fusion_string a = string_at(run, inputs[0], at[0]), b = string_at(run, inputs[1], at[1]);
    uint64_t bytes = a.bytes + b.bytes;
    spend(run, where, &spent, bytes);
    if (bytes > room || !text) {
      if (text)
        fusion_free_large(run, text);
      room = 2 * bytes + 64;
      text = fusion_new_large(run, room);
    }
    memcpy(text, a.data, a.bytes);
    memcpy(text + a.bytes, b.data, b.bytes);
    ((uint64_t *)made->data)[i] = fusion_string_number(run, text, bytes);
    for (uint32_t axis = rank; axis-- > 0;) {
      at[0] += (uint64_t)steps[0][axis];
      at[1] += (uint64_t)steps[1][axis];
      if (++place[axis] < extents[axis])
        break;
      at[0] -= (uint64_t)(steps[0][axis] * extents[axis]);
      at[1] -= (uint64_t)(steps[1][axis] * extents[axis]);
      place[axis] = 0;
    }
  }
  if (text)
    fusion_free_large(run, text);
}

/* Unicode's White_Space. */
static _Bool is_blank(int32_t letter) {
  return (letter >= 9 && letter <= 13) || letter == 0x20 || letter == 0x85 || letter == 0xa0 || letter == 0x1680 ||
         (letter >= 0x2000 && letter <= 0x200a) || letter == 0x2028 || letter == 0x2029 || letter == 0x202f || letter == 0x205f ||
         letter == 0x3000;
}

/* A string that is cut into pieces. */
struct cut {
  const unsigned char *at, *end;
  struct fusion_string delimiter; /* empty for blanks */
  uint64_t left;                  /* cuts that may still be made */
  _Bool ended;
};

/* From a place on, up to the first letter that is blank, or is not. */
static const unsigned char *up_to(const unsigned char *at, const unsigned char *end, _Bool blank) {
  while (at < end) {
    const unsigned char *next = at;
    if (is_blank(fusion_letter(&next, end)) == blank)
      break;
    at = next > at ? next : at + 1;
  }
  return at;
}

/* The next piece; false where there is none. */
static _Bool next_piece(struct cut *cut, struct fusion_string *piece) {
  const unsigned char *start = cut->at, *stop = cut->end;
  uint64_t bytes = cut->delimiter.bytes;
  if (bytes == 0) {
    start = up_to(start, cut->end, 0);
    if (start == cut->end)
      return 0;
    if (cut->left) {
      stop = up_to(start, cut->end, 1);
      cut->left--;
    }
    cut->at = stop;
  } else {
    if (cut->ended)
      return 0;
    cut->ended = 1;
    for (const unsigned char *found = start; cut->left && (uint64_t)(cut->end - found) >= bytes; found++)
      if (*found == *(const unsigned char *)cut->delimiter.data && !memcmp(found, cut->delimiter.data, bytes)) {
        stop = found;
        cut->at = found + bytes;
        cut->ended = 0;
        cut->left--;
        break;
      }
  }
  *piece = (struct fusion_string){(const char *)start, (uint64_t)(stop - start)};
  return 1;
}

/* Facts: the most cuts, or -1; the bytes of the delimiter, and these. */
void fusion_string_split(struct context *run, const char *where, const int64_t *facts, struct value *const *inputs,
                         struct value **outputs) {
  const struct value *x = inputs[0];
  struct fusion_string delimiter = {(const char *)(facts + 2), (uint64_t)facts[1]};
  struct value *counts = outputs[1] = like(run, x, DTYPE_I64, 8);
  uint64_t count = count_of(x), longest = 0;
  for (int round = 0; round < 2; round++) {
    uint64_t *to = NULL;
    if (round == 1) {
      if (count && longest > MOST_PIECES / count)
        fail_with(run, where, "gives more pieces than %llu", MOST_PIECES);
      int64_t extents[x->parts + 1];
      for (uint32_t i = 0; i < x->parts; i++)
        extents[i] = x->extents[i];
      extents[x->parts] = (int64_t)longest;
      outputs[0] = fusion_new_tensor(run, x->which & 0xff, 8, x->parts + 1, extents);
      to = (uint64_t *)outputs[0]->data;
    }
    for (uint64_t i = 0; i < count; i++) {
      struct fusion_string string = string_at(run, x, i), piece;
      const unsigned char *start = (const unsigned char *)string.data;
      struct cut cut = {start, start + string.bytes, delimiter, (uint64_t)facts[0], 0};
      uint64_t pieces = 0;
      for (; next_piece(&cut, &piece); pieces++)
        if (to)
          *to++ = fusion_string_number(run, piece.data, piece.bytes);
      longest = pieces > longest ? pieces : longest;
      ((int64_t *)counts->data)[i] = (int64_t)pieces;
      for (; to && pieces < longest; pieces++)
        *to++ = fusion_string_number(run, "", 0);
    }
  }
}

/* The letter that stands for one in a list of pairs in ascending order. */
static int32_t mapped(const int64_t *facts, int32_t letter) {
  uint64_t low = 0, high = (uint64_t)facts[0];
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    int64_t found = facts[1 + 2 * middle];
    if (found == letter)
      return (int32_t)facts[2 + 2 * middle];
    if (found < letter)
      low = middle + 1;
    else
      high = middle;
  }
  return letter;
}

static char *write_letter(char *to, int32_t letter) {
  if (letter < 0x80) {
    *to++ = (char)letter;
    return to;
  }
  int more = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
  *to++ = (char)((0xf00 >> (more + 1) & 0xff) | letter >> 6 * more);
  while (more-- > 0)
    *to++ = (char)(0x80 | (letter >> 6 * more & 0x3f));
  return to;
}

/* Facts: how many letters change, and pairs of one and what it becomes. */
void fusion_string_case(struct context *run, const char *where, const int64_t *facts, struct value *const *inputs,
                        struct value **outputs) {
  const struct value *x = inputs[0];
  struct value *made = outputs[0] = like(run, x, x->which & 0xff, 8);
  for (uint64_t i = 0, count = count_of(x), spent = 0; i < count; i++) {
    struct fusion_string string = string_at(run, x, i);
    spend(run, where, &spent, string.bytes);
    const unsigned char *at = (const unsigned char *)string.data, *end = at + string.bytes;
    char *text = fusion_new_large(run, 4 * string.bytes + 1), *to = text;
    while (at < end) {
      const unsigned char *before = at;
      int32_t letter = fusion_letter(&at, end);
      at = at > before ? at : at + 1;
      to = write_letter(to, mapped(facts, letter));
    }
    ((uint64_t *)made->data)[i] = fusion_string_number(run, text, (uint64_t)(to - text));
    fusion_free_large(run, text);
  }
}

/* A string and where it stands. */
struct placed {
  struct fusion_string string;
  uint64_t place;
};

static int compare(const void *left, const void *right) {
  const struct fusion_string *a = &((const struct placed *)left)->string, *b = &((const struct placed *)right)->string;
  int order = memcmp(a->data, b->data, a->bytes < b->bytes ? a->bytes : b->bytes);
  return order ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* How many strings are less than each. */
void fusion_string_rank(struct context *run, const char *where, const int64_t *facts, struct value *const *inputs,
                        struct value **outputs) {
  (void)where;
  (void)facts;
  const struct value *x = inputs[0];
  struct value *made = outputs[0] = like(run, x, DTYPE_I64, 8);
  uint64_t count = count_of(x);
  struct placed *all = fusion_new_large(run, count * sizeof *all + 1);
  for (uint64_t i = 0; i < count; i++)
    all[i] = (struct placed){string_at(run, x, i), i};
  qsort(all, count, sizeof *all, compare);
  for (uint64_t i = 0, rank = 0; i < count; i++) {
    rank = i && compare(&all[i - 1], &all[i]) ? i : rank;
    ((uint64_t *)made->data)[all[i].place] = rank;
  }
  fusion_free_large(run, all);
}

/* Facts of an automaton: classes of bytes, states, the first state; the class of each byte; whether each state accepts, a byte each;
 * and the next states, of 32 bits, a row a state. */
void fusion_string_match(struct context *run, const char *where, const int64_t *facts, struct value *const *inputs,
                         struct value **outputs) {
  (void)where;
  const struct value *x = inputs[0];
  struct value *made = outputs[0] = like(run, x, DTYPE_I1, 1);
  uint64_t classes = (uint64_t)facts[0], states = (uint64_t)facts[1];
  const unsigned char *class_of = (const unsigned char *)(facts + 3), *accepts = class_of + 256;
  const uint32_t *next = (const uint32_t *)(facts + 3 + 32 + (states + 7) / 8);
  for (uint64_t i = 0, count = count_of(x); i < count; i++) {
    struct fusion_string string = string_at(run, x, i);
    uint64_t state = (uint64_t)facts[2];
    for (uint64_t at = 0; at < string.bytes; at++)
      state = next[state * classes + class_of[(unsigned char)string.data[at]]];
    made->data[i] = accepts[state];
  }
}
