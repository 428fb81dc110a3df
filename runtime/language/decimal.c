/* Numbers as strings, and strings as numbers: relay.string_of and relay.string_to_number.
 *
 *   0.1f   "%.0e" 1e-01  --back--> 0.1f: the fewest digits that give the number back  -->  0.1
 *
 * Of so many digits the nearest may lie outside of what is rounded to a power of two, whose neighbour below is nearer than that above, and
 * the next one inside. Of two that are equally near the one further from zero is taken, as in the reference semantics.
 *
 * The C library writes and reads in the language of the process: what stands between a number and its fraction is asked for. */

#include "language.h"

enum { MOST_DIGITS = 17, LONGEST = 400, DIGITS = 60 };

/* What stands between the digits of a fraction and those before. */
static uint64_t point(char *text, size_t size) {
  int all = snprintf(text, size, "%.1f", 0.5);
  uint64_t bytes = all > 2 ? (uint64_t)all - 2 : 1;
  for (uint64_t i = 0; i < bytes; i++)
    text[i] = text[i + 1];
  return bytes;
}

static char *put(char *to, char c, int64_t times) {
  for (; times > 0; times--)
    *to++ = c;
  return to;
}

static _Bool gives(const char *text, double x, _Bool single) {
  return single ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x;
}

/* The last of so many digits behind the first, of a number that lies in the middle of two of so many: its own go on with a 5 and
 * nothing else. 0 of others. */
static char halfway(double x, int more) {
  char all[DIGITS + 32];
  char digit = 0;
  int place = -1;
  snprintf(all, sizeof all, "%.*e", DIGITS, x);
  for (const char *c = all; *c && *c != 'e'; c++) {
    if (*c < '0' || *c > '9')
      continue;
    if (++place == more)
      digit = *c;
    else if (place > more && *c != (place == more + 1 ? '5' : '0'))
      return 0;
  }
  return digit;
}

/* Writes a float without an exponent, of the fewest digits that give it back; how many bytes. */
static uint64_t write_float(char *text, double x, _Bool single) {
  if (x != x)
    return memcpy(text, "NaN", 3), 3;
  if (x - x != 0)
    return x > 0 ? (memcpy(text, "INF", 3), 3) : (memcpy(text, "-INF", 4), 4);
  char e[64], digits[MOST_DIGITS + 1], *to = text;
  int64_t count = 0, exponent = 0;
  for (int more = 0; more < MOST_DIGITS; more++) {
    snprintf(e, sizeof e, "%.*e", more, x);
    _Bool found = gives(e, x, single);
    char digit = found ? halfway(x, more) : 0;
    if (found && !digit)
      break;
    char *last = e;
    for (char *c = e; *c != 'e'; c++)
      if (*c >= '0' && *c <= '9')
        last = c;
    /* One more than 9 is a number of fewer digits; halfway, another digit than the number's own was rounded away from zero. */
    if (*last != '9' && (!found || *last == digit)) {
      ++*last;
      if (gives(e, x, single))
        break;
      --*last;
    }
    if (found)
      break;
  }
  const char *at = e;
  if (*at == '-')
    to = put(to, *at++, 1);
  for (; *at && *at != 'e'; at++)
    if (*at >= '0' && *at <= '9' && count < MOST_DIGITS)
      digits[count++] = *at;
  if (*at == 'e')
    at++;
  _Bool down = *at == '-';
  for (at++; *at >= '0' && *at <= '9'; at++)
    exponent = 10 * exponent + (*at - '0');
  int64_t before = (down ? -exponent : exponent) + 1; /* digits before the point */
  if (before <= 0) {
    to = put(to, '0', 1);
    to = put(to, '.', 1);
    to = put(to, '0', -before);
  }
  for (int64_t i = 0; i < count; i++) {
    if (i == before && before > 0)
      to = put(to, '.', 1);
    to = put(to, digits[i], 1);
  }
  to = put(to, '0', before - count);
  return (uint64_t)(to - text);
}

/* No facts. */
void fusion_string_of_number(struct context *run, const char *where, const int64_t *facts, struct value *const *inputs,
                             struct value **outputs) {
  (void)where;
  (void)facts;
  const struct value *x = inputs[0];
  uint32_t dtype = x->which & 0xff;
  struct value *made = outputs[0] = fusion_new_tensor(run, DTYPE_STRING, 8, x->parts, x->extents);
  for (uint64_t i = 0, count = fusion_tensor_bytes(x) / x->tag; i < count; i++) {
    char text[LONGEST];
    uint64_t bytes;
    if (dtype == DTYPE_F64)
      bytes = write_float(text, ((const double *)x->data)[i], 0);
    else if (dtype == DTYPE_F32)
      bytes = write_float(text, (double)((const float *)x->data)[i], 1);
    else if (dtype == DTYPE_I64)
      bytes = (uint64_t)snprintf(text, sizeof text, "%lld", ((const long long *)x->data)[i]);
    else
      bytes = (uint64_t)snprintf(text, sizeof text, "%llu", ((const unsigned long long *)x->data)[i]);
    ((uint64_t *)made->data)[i] = fusion_string_number(run, text, bytes);
  }
}

static _Bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Whether the rest is that word, in any case. */
static _Bool is_word(const char *at, const char *end, const char *word) {
  for (; at < end && *word; at++, word++)
    if ((*at | 0x20) != *word)
      return 0;
  return at == end && !*word;
}

/* A number in decimal notation; false where the text is none. */
static _Bool read_float(struct context *run, const char *at, const char *end, double *x) {
  const char *start = at;
  _Bool negative = at < end && *at == '-';
  if (at < end && (*at == '+' || *at == '-'))
    at++;
  if (is_word(at, end, "inf") || is_word(at, end, "infinity")) {
    *x = negative ? -__builtin_inf() : __builtin_inf();
    return 1;
  }
  if (is_word(at, end, "nan")) {
    *x = __builtin_nan("");
    return 1;
  }
  const char *dot = NULL;
  uint64_t digits = 0;
  for (; at < end && (is_digit(*at) || (*at == '.' && !dot)); at++)
    if (*at == '.')
      dot = at;
    else
      digits++;
  if (!digits)
    return 0;
  if (at < end && (*at | 0x20) == 'e') {
    at++;
    if (at < end && (*at == '+' || *at == '-'))
      at++;
    if (at == end)
      return 0;
    while (at < end && is_digit(*at))
      at++;
  }
  if (at < end)
    return 0;
  char sign[16];
  uint64_t width = point(sign, sizeof sign), head = (uint64_t)((dot ? dot : end) - start);
  char *text = fusion_new_large(run, (uint64_t)(end - start) + width + 1), *to = text + head;
  memcpy(text, start, head);
  if (dot) {
    memcpy(to, sign, width);
    to += width;
    memcpy(to, dot + 1, (uint64_t)(end - dot) - 1);
    to += end - dot - 1;
  }
  *to = 0;
  *x = strtod(text, NULL);
  fusion_free_large(run, text);
  return 1;
}

static uint64_t from_float(double x, _Bool is_signed) {
  if (x != x)
    return 0;
  if (is_signed)
    return (uint64_t)(x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x);
  return x >= 0x1p64 ? UINT64_MAX : x <= 0 ? 0 : (uint64_t)x;
}

/* An integer that is written as one, saturated; false where the text is none. */
static _Bool read_whole(const char *at, const char *end, _Bool is_signed, uint64_t *x) {
  _Bool negative = at < end && *at == '-';
  if (at < end && (*at == '+' || *at == '-'))
    at++;
  if (at == end)
    return 0;
  uint64_t size = 0;
  _Bool over = 0;
  for (; at < end; at++) {
    if (!is_digit(*at))
      return 0;
    if (__builtin_mul_overflow(size, 10u, &size))
      over = 1;
    if (__builtin_add_overflow(size, (uint64_t)(*at - '0'), &size))
      over = 1;
  }
  if (over)
    size = UINT64_MAX;
  if (!is_signed)
    *x = negative ? 0 : size;
  else if (negative)
    *x = size > (uint64_t)INT64_MAX ? (uint64_t)INT64_MIN : (uint64_t)-(int64_t)size;
  else
    *x = size > (uint64_t)INT64_MAX ? (uint64_t)INT64_MAX : size;
  return 1;
}

static _Bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Facts: the element type of the result. */
void fusion_string_to_number(struct context *run, const char *where, const int64_t *facts, struct value *const *inputs,
                             struct value **outputs) {
  const struct value *x = inputs[0];
  uint32_t dtype = (uint32_t)facts[0];
  struct value *made = outputs[0] = fusion_new_tensor(run, dtype, 8, x->parts, x->extents);
  for (uint64_t i = 0, count = fusion_tensor_bytes(x) / 8; i < count; i++) {
    struct fusion_string string = fusion_string_of(run, ((const uint64_t *)x->data)[i]);
    const char *at = string.data, *end = at + string.bytes;
    while (at < end && is_blank(*at))
      at++;
    while (at < end && is_blank(end[-1]))
      end--;
    double number;
    uint64_t *to = (uint64_t *)made->data + i;
    if (dtype != DTYPE_F64 && read_whole(at, end, dtype == DTYPE_I64, to))
      continue;
    if (!read_float(run, at, end, &number)) {
      int shown = string.bytes < 40 ? (int)string.bytes : 40;
      snprintf(run->message, sizeof run->message, "%s takes numbers in decimal notation, such as 12 or -1.5e3, found \"%.*s\"", where,
               shown, string.data);
      fusion_leave(run, 1);
    }
    if (dtype == DTYPE_F64)
      *(double *)to = number;
    else
      *to = from_float(number, dtype == DTYPE_I64);
  }
}
