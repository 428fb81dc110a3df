/* What is known of a run by the shapes of its inputs alone: the shapes of its results, and what it holds in memory.
 *
 *   2 * n + 1    constant 2, extent (input 0, axis 0), times, constant 1, plus       numbers, the last on top
 *
 * The compiler (conversion/programs/src/bytecode_to_llvm/extents.rs) writes such code; the two change together. */

#include "language.h"

enum { CONSTANT, EXTENT, PLUS, TIMES, OVER, LEAST, GREATEST };
enum { MOST_WAITING = 64 };

/* A number by its code; false where it has more than 63 bits. */
static _Bool number_of(const int64_t *code, int64_t words, struct value *const *arguments, int64_t *number) {
  int64_t stack[MOST_WAITING];
  int32_t top = 0;
  for (int64_t at = 0; at < words;) {
    int64_t what = code[at++];
    if (what == CONSTANT) {
      stack[top++] = code[at++];
    } else if (what == EXTENT) {
      stack[top++] = arguments[code[at]]->extents[code[at + 1]];
      at += 2;
    } else {
      int64_t b = stack[--top], a = stack[top - 1], *to = &stack[top - 1];
      switch (what) {
      case PLUS:
        if (__builtin_add_overflow(a, b, to))
          return 0;
        break;
      case TIMES:
        if (__builtin_mul_overflow(a, b, to))
          return 0;
        break;
      case OVER: /* rounded down; 0 of nothing */
        *to = b <= 0 ? 0 : a / b - (a % b < 0);
        break;
      case LEAST:
        *to = a < b ? a : b;
        break;
      default:
        *to = a > b ? a : b;
      }
    }
  }
  *number = stack[0];
  return 1;
}

/* Behind one code, which may be none. */
static const int64_t *next_code(const int64_t *code) { return code + 1 + (*code > 0 ? *code : 0); }

/* Writes the shape of a result that is asked for. */
static void shape_of(struct context *run, const struct request *request, const int64_t *fact, struct value *const *arguments) {
  if (request->output >= (uint64_t)(*fact < 0 ? 0 : *fact))
    fusion_fail_input(run, request->output, *fact < 0 ? "Output %llu has no shape: the program gives something else than tensors."
                                                      : "There is no output %llu.");
  fact++;
  for (uint32_t output = 0; output < request->output; output++) {
    int64_t rank = fact[0];
    for (fact++; rank > 0; rank--)
      fact = next_code(fact);
  }
  int64_t rank = *fact++;
  for (int64_t axis = 0; axis < rank; axis++, fact = next_code(fact)) {
    int64_t extent = 0;
    if (*fact < 0) {
      snprintf(run->message, sizeof run->message,
               "The extent of output %u along axis %lld does not follow from those of the inputs; only a run shows it.", request->output,
               (long long)axis);
      fusion_leave(run, 1);
    }
    if (!number_of(fact + 1, *fact, arguments, &extent)) {
      snprintf(run->message, sizeof run->message, "The extent of output %u along axis %lld is a number of more than 63 bits.",
               request->output, (long long)axis);
      fusion_leave(run, 1);
    }
    if ((uint64_t)axis < request->axes)
      request->shape[axis] = extent < 0 ? 0 : extent;
  }
  *request->rank = (int32_t)rank;
}

/* Writes how many bytes a run holds at a time. */
static void bytes_of(struct context *run, const struct request *request, const int64_t *fact, struct value *const *arguments) {
  for (int64_t outputs = *fact++; outputs > 0; outputs--) {
    int64_t rank = *fact++;
    for (; rank > 0; rank--)
      fact = next_code(fact);
  }
  if (*fact < 0)
    fusion_fail(run, "What a run holds in memory does not follow from the extents of the inputs; only a run shows it.");
  int64_t most = 0;
  for (int64_t left = *fact++; left > 0; left--, fact = next_code(fact)) {
    int64_t bytes = 0;
    if (!number_of(fact + 1, *fact, arguments, &bytes))
      fusion_fail(run, "A run on these shapes holds more bytes than a number of 63 bits can count.");
    most = bytes > most ? bytes : most;
  }
  *request->bytes = (uint64_t)most;
}

void fusion_tell(struct context *run, const struct request *request, const int64_t *fact, struct value *const *arguments) {
  if (request->shape)
    shape_of(run, request, fact, arguments);
  else
    bytes_of(run, request, fact, arguments);
}
