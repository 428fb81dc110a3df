/* Values from outside, and for outside.
 *
 * An input comes as items, each before its parts; they are put together from the last to the first, so that depth needs no
 * stack. What a program gives stays in its context and is looked at in place. */

#include "language.h"

/* The number of fields of a constructor; -1 when there is none. */
static int64_t fields_of(uint32_t data_type, uint32_t tag) {
  const int64_t *at = fusion_program_facts + FIRST_DATA_TYPE;
  if (data_type >= (uint64_t)fusion_program_facts[DATA_TYPES])
    return -1;
  for (; data_type; data_type--)
    at += 1 + *at;
  return tag < (uint64_t)*at ? at[1 + tag] : -1;
}

static const int64_t *first_input(void) {
  const int64_t *at = fusion_program_facts + FIRST_DATA_TYPE;
  for (int64_t i = 0; i < fusion_program_facts[DATA_TYPES]; i++)
    at += 1 + *at;
  return at;
}

static const int64_t *next_input(const int64_t *at) { return *at == TENSOR ? at + 4 + at[3] : at + 1; }

/* The element types of docs/reference/abi.md. */
static const struct {
  const char name[14];
  uint8_t bytes;
} dtypes[] = {{"f64", 8},  {"f32", 4},  {"f16", 2},  {"bf16", 2}, {"i64", 8}, {"i32", 4}, {"i16", 2},
              {"i8", 1},   {"ui64", 8}, {"ui32", 4}, {"ui16", 2}, {"ui8", 1}, {"i1", 1},
              {"!relay.string", 8}};

/* The bytes of an element of the caller's. */
static uint64_t outside(uint32_t dtype) { return dtype == DTYPE_STRING ? sizeof(struct fusion_string) : dtypes[dtype].bytes; }

/* Whether a value is a tensor of a type: element type, its bytes, rank, extents. Those below DYNAMIC_EXTENT have names, the same
 * name is the same number; `bound` has the numbers that names stand for, or DYNAMIC_EXTENT where that is not known yet. */
static _Bool has_type(const struct value *value, const int64_t *type, int64_t *bound) {
  if (value->kind != TENSOR || (value->which & 0xff) != type[0] || value->parts != type[2])
    return 0;
  for (uint32_t i = 0; i < value->parts; i++) {
    int64_t wanted = type[3 + i], found = value->extents[i];
    if (wanted < DYNAMIC_EXTENT) {
      int64_t *name = &bound[DYNAMIC_EXTENT - 1 - wanted];
      wanted = *name == DYNAMIC_EXTENT ? (*name = found) : *name;
    }
    if (wanted != DYNAMIC_EXTENT && wanted != found)
      return 0;
  }
  return 1;
}

/* What is no tensor, by its kind. */
static const char *const others[] = {"", "a value of a data type", "a tuple", "a function", "a reference"};

static void describe(const struct value *value, char *text, size_t size) {
  if (value->kind != TENSOR) {
    snprintf(text, size, "%s", others[value->kind]);
    return;
  }
  int at = snprintf(text, size, "a tensor<");
  for (uint32_t i = 0; i < value->parts && (size_t)at + 32 < size; i++)
    at += snprintf(text + at, size - (size_t)at, "%lldx", (long long)value->extents[i]);
  snprintf(text + at, size - (size_t)at, "%s>", dtypes[value->which & 0xff].name);
}

/* Ends the run when a value is of another type; `expected` is the first half of the sentence. */
void fusion_check_type(struct context *run, const struct value *value, const int64_t *type, int64_t *bound, const char *expected) {
  char found[256];
  if (has_type(value, type, bound))
    return;
  describe(value, found, sizeof found);
  snprintf(run->message, sizeof run->message, "%s, but it is %s", expected, found);
  fusion_leave(run, 1);
}

static struct value *tensor_of(struct context *run, const struct fusion_item *item, uint64_t number) {
  if (item->dtype >= sizeof dtypes / sizeof *dtypes)
    return NULL;
  struct value *tensor = fusion_new_tensor(run, item->dtype, dtypes[item->dtype].bytes, item->parts, item->extents);
  if (item->dtype == DTYPE_STRING)
    fusion_take_strings(run, tensor, item->data, number);
  else
    memcpy(tensor->data, item->data, fusion_tensor_bytes(tensor));
  return tensor;
}

/* The items' values, last first in `made`; how many there are. */
static uint64_t put_together(struct context *run, const struct request *request, struct value **made) {
  uint64_t count = 0;
  for (uint64_t i = request->count; i-- > 0;) {
    const struct fusion_item *item = &request->items[i];
    struct value *value = NULL;
    if (item->kind == TENSOR) {
      value = tensor_of(run, item, i);
    } else if (item->parts <= count && (item->kind == TUPLE || (item->kind == CELL && item->parts == 1) ||
                                        (item->kind == DATA && fields_of(item->data_type, item->tag) == item->parts))) {
      value = fusion_new(run, 16 + 8 * (uint64_t)item->parts);
      value->kind = (uint8_t)item->kind;
      value->tag = item->kind == DATA ? item->tag : 0;
      value->which = item->kind == DATA ? (uint16_t)item->data_type : 0;
      value->parts = item->parts;
      for (uint32_t part = 0; part < item->parts; part++)
        value->fields[part] = made[--count];
    }
    if (!value)
      fusion_fail_input(run, i,
                        "Item %llu of the program's inputs is no value: its kind, constructor or element type is unknown, or "
                        "parts of it are missing.");
    made[count++] = value;
  }
  return count;
}

static void borrow(struct context *run, const void *const *inputs, struct value **arguments) {
  const int64_t *fact = first_input();
  for (int64_t i = 0; i < fusion_program_facts[INPUTS]; i++, fact = next_input(fact)) {
    uint32_t rank = (uint32_t)fact[3];
    struct value *tensor = fusion_new(run, 24 + 8 * (uint64_t)rank);
    tensor->kind = TENSOR;
    tensor->which = (uint16_t)(fact[1] | BORROWED);
    tensor->tag = (uint32_t)fact[2];
    tensor->parts = rank;
    tensor->data = (unsigned char *)(uintptr_t)inputs[i];
    memcpy(tensor->extents, fact + 4, rank * sizeof *tensor->extents);
    arguments[i] = tensor;
  }
}

/* Whether elements lie as the shape has them. */
static _Bool is_dense(const struct fusion_tensor *given) {
  int64_t step = 1;
  for (uint32_t i = given->ndim; given->strides && i-- > 0; step *= given->shape[i])
    if (given->shape[i] > 1 && given->strides[i] != step)
      return 0;
  return 1;
}

/* Copies elements that lie apart, line after line. */
static void gather(const struct fusion_tensor *given, uint64_t element, unsigned char *to) {
  int64_t place[given->ndim + 1];
  memset(place, 0, sizeof place);
  for (uint32_t i = 0; i < given->ndim; i++)
    if (given->shape[i] == 0)
      return;
  for (;;) {
    int64_t from = 0;
    for (uint32_t i = 0; i < given->ndim; i++)
      from += place[i] * given->strides[i];
    memcpy(to, (const unsigned char *)given->data + from * (int64_t)element, element);
    to += element;
    uint32_t axis = given->ndim;
    while (axis > 0 && ++place[axis - 1] == given->shape[axis - 1])
      place[--axis] = 0;
    if (axis == 0)
      return;
  }
}

/* The caller's tensor: in place where it is dense, or where only its shape is looked at. */
static struct value *tensor_in_place(struct context *run, const struct fusion_tensor *given, uint64_t number, _Bool only_shape) {
  if (given->dtype >= sizeof dtypes / sizeof *dtypes || given->ndim > MOST_AXES)
    return NULL;
  uint64_t element = outside(given->dtype), bytes = element;
  for (uint32_t i = 0; i < given->ndim; i++)
    if (given->shape[i] < 0 || __builtin_mul_overflow(bytes, (uint64_t)given->shape[i], &bytes))
      return NULL;
  if (given->dtype == DTYPE_STRING && !only_shape) {
    struct value *tensor = fusion_new_tensor(run, given->dtype, dtypes[given->dtype].bytes, given->ndim, given->shape);
    void *dense = is_dense(given) ? NULL : fusion_new_large(run, bytes ? bytes : 1);
    if (dense)
      gather(given, element, dense);
    fusion_take_strings(run, tensor, dense ? dense : given->data, number);
    if (dense)
      fusion_free_large(run, dense);
    return tensor;
  }
  if (!only_shape && !is_dense(given)) {
    struct value *copy = fusion_new_tensor(run, given->dtype, (uint32_t)element, given->ndim, given->shape);
    gather(given, element, copy->data);
    return copy;
  }
  struct value *tensor = fusion_new(run, 24 + 8 * (uint64_t)given->ndim);
  tensor->kind = TENSOR;
  tensor->which = (uint16_t)(given->dtype | BORROWED);
  tensor->tag = dtypes[given->dtype].bytes;
  tensor->parts = given->ndim;
  tensor->data = given->data;
  memcpy(tensor->extents, given->shape, given->ndim * sizeof *tensor->extents);
  return tensor;
}

/* What input `number` must be, as a type. */
static void describe_type(const int64_t *type, const int64_t *bound, char *text, size_t size) {
  int at = snprintf(text, size, "tensor<");
  for (int64_t i = 0; i < type[2] && (size_t)at + 32 < size; i++) {
    int64_t extent = type[3 + i];
    if (extent < DYNAMIC_EXTENT)
      extent = bound[DYNAMIC_EXTENT - 1 - extent];
    at += extent == DYNAMIC_EXTENT ? snprintf(text + at, size - (size_t)at, "?x")
                                   : snprintf(text + at, size - (size_t)at, "%lldx", (long long)extent);
  }
  snprintf(text + at, size - (size_t)at, "%s>", dtypes[type[0]].name);
}

/* Ends the run: an input is of another type than the program takes. Names have the numbers that inputs before it gave them. */
_Noreturn static void fail_type(struct context *run, uint64_t number, const struct value *value, const int64_t *fact, int64_t *bound) {
  char found[256], expected[256];
  describe(value, found, sizeof found);
  if (fact[0] == TENSOR) {
    describe_type(fact + 1, bound, expected, sizeof expected);
    snprintf(run->message, sizeof run->message, "Input %llu of the program is %s, and must be a %s.", (unsigned long long)number, found,
             expected);
  } else {
    snprintf(run->message, sizeof run->message, "Input %llu of the program is %s, and must be %s.", (unsigned long long)number, found,
             others[fact[0]]);
  }
  fusion_leave(run, 1);
}

/* Ends the run where an extent of an input is none of its range; what stands behind the ranges. */
static const int64_t *check_ranges(struct context *run, const int64_t *fact, struct value *const *arguments) {
  for (int64_t left = *fact++; left > 0; left--) {
    int64_t input = fact[0], axis = fact[1], least = fact[2], most = fact[3], multiple = fact[4], bytes = fact[5];
    const char *name = (const char *)(fact + 6);
    fact += 6 + (bytes + 7) / 8;
    int64_t size = arguments[input]->extents[axis];
    if (size >= least && size <= most && size % multiple == 0)
      continue;
    char must[128];
    int at = most == INT64_MAX ? snprintf(must, sizeof must, "at least %lld", (long long)least)
             : most == least   ? snprintf(must, sizeof must, "%lld", (long long)least)
                               : snprintf(must, sizeof must, "from %lld to %lld", (long long)least, (long long)most);
    if (multiple > 1 && most > least)
      snprintf(must + at, sizeof must - (size_t)at, " and a multiple of %lld", (long long)multiple);
    snprintf(run->message, sizeof run->message, "Input %lld of the program (\"%.*s\") has %lld along axis %lld, which must be %s.",
             (long long)input, (int)(bytes > 256 ? 256 : bytes), name, (long long)size, (long long)axis, must);
    fusion_leave(run, 1);
  }  return fact;
}

const int64_t *fusion_arguments(struct context *run, const struct request *request, struct value **arguments) {
  _Bool only_shape = request->shape || request->bytes;
  if (request->inputs || request->outputs) {
    borrow(run, request->inputs, arguments);
    return NULL;
  }
  uint64_t inputs = (uint64_t)fusion_program_facts[INPUTS], room = 8 * request->count;
  struct value **made = fusion_new_large(run, room ? room : 8);
  uint64_t count = 0;
  if (request->items || !request->tensors) {
    count = put_together(run, request, made);
  } else {
    for (uint64_t i = request->count; i-- > 0;)
      if (!(made[count++] = tensor_in_place(run, &request->tensors[i], i, only_shape)))
        fusion_fail_input(run, i, "Input %llu of the program is no tensor: its element type, an extent or its rank cannot be.");
  }
  if (count != inputs) {
    fusion_fail_input(run, count, "The program takes another number of inputs than the %llu that were given.");
  }
  int64_t bound[fusion_program_facts[NAMES] + 1];
  for (int64_t i = 0; i <= fusion_program_facts[NAMES]; i++)
    bound[i] = DYNAMIC_EXTENT;
  const int64_t *fact = first_input();
  for (uint64_t i = 0; i < inputs; i++, fact = next_input(fact)) {
    arguments[i] = made[inputs - 1 - i];
    int64_t before[fusion_program_facts[NAMES] + 1];
    memcpy(before, bound, sizeof before);
    if (fact[0] == TENSOR ? !has_type(arguments[i], fact + 1, bound) : arguments[i]->kind != fact[0])
      fail_type(run, i, arguments[i], fact, before);
  }
  fact = check_ranges(run, fact, arguments);
  fusion_free_large(run, made);
  return fact;
}

/* Copies tensors, in the order in which they stand in tuples. */
static uint64_t copy_out(struct value *value, void *const *outputs, uint64_t at) {
  if (value->kind == TENSOR) {
    memcpy(outputs[at], value->data, fusion_tensor_bytes(value));
    return at + 1;
  }
  for (uint32_t i = 0; i < value->parts; i++) /* as deep as the type is */
    at = copy_out(value->fields[i], outputs, at);
  return at;
}

void fusion_results(struct context *run, struct value *result, void *const *outputs) {
  (void)run;
  copy_out(result, outputs, 0);
}

/* Gives the strings of a tensor: first the bytes of all of them, as a tensor of bytes, then the strings that point there. */
static _Bool give_strings(struct context *run, const struct value *value, fusion_allocate *allocate, void *user, uint32_t output) {
  const uint64_t *numbers = (const uint64_t *)value->data;
  uint64_t count = fusion_tensor_bytes(value) / 8;
  int64_t bytes = 0;
  for (uint64_t i = 0; i < count; i++)
    bytes += (int64_t)fusion_string_of(run, numbers[i]).bytes;
  struct fusion_tensor text = {.dtype = DTYPE_UI8, .ndim = 1, .shape = &bytes};
  char *to = allocate(user, output, &text);
  struct fusion_tensor tensor = {.dtype = DTYPE_STRING, .ndim = value->parts, .shape = value->extents};
  struct fusion_string *strings = !to && bytes ? NULL : allocate(user, output, &tensor);
  if (!strings && count)
    return 0;
  for (uint64_t i = 0; i < count; i++) {
    struct fusion_string string = fusion_string_of(run, numbers[i]);
    if (string.bytes)
      memcpy(to, string.data, string.bytes);
    strings[i] = (struct fusion_string){to, string.bytes};
    to += string.bytes;
  }
  return 1;
}

/* Gives tensors, in the order in which they stand in tuples, in memory of the caller's; false with a message where there is none. */
static _Bool give(struct context *run, const struct value *value, fusion_allocate *allocate, void *user, uint32_t *output, char *message, size_t size) {
  if (value->kind == TENSOR) {
    if ((value->which & 0xff) == DTYPE_STRING) {
      if (!give_strings(run, value, allocate, user, *output)) {
        snprintf(message, size, "The caller has no memory for output %u, which has strings.", *output);
        return 0;
      }
      ++*output;
      return 1;
    }
    struct fusion_tensor tensor = {.dtype = value->which & 0xff, .ndim = value->parts, .shape = value->extents};
    void *memory = allocate(user, *output, &tensor);
    uint64_t bytes = fusion_tensor_bytes(value);
    if (!memory && bytes) {
      snprintf(message, size, "The caller has no memory for output %u, which has %llu bytes.", *output, (unsigned long long)bytes);
      return 0;
    }
    if (bytes)
      memcpy(memory, value->data, bytes);
    ++*output;
    return 1;
  }
  if (value->kind != TUPLE) {
    snprintf(message, size, "The program gives something else than tensors; run it with fusion_call.");
    return 0;
  }
  for (uint32_t i = 0; i < value->parts; i++) /* as deep as the type is */
    if (!give(run, value->fields[i], allocate, user, output, message, size))
      return 0;
  return 1;
}

_Bool fusion_give_tensors(struct context *run, const struct value *result, fusion_allocate *allocate, void *user, char *message,
                          size_t size) {
  uint32_t output = 0;
  return give(run, result, allocate, user, &output, message, size);
}

uint32_t fusion_value_kind(const struct value *value) { return value->kind; }
uint32_t fusion_value_data_type(const struct value *value) { return value->kind == DATA ? value->which : 0; }
uint32_t fusion_value_tag(const struct value *value) { return value->kind == DATA ? value->tag : 0; }

uint32_t fusion_value_count(const struct value *value) {
  return value->kind == TENSOR || value->kind == CLOSURE ? 0 : value->parts;
}

const struct value *fusion_value_field(const struct value *value, uint32_t index) {
  return index < fusion_value_count(value) ? value->fields[index] : NULL;
}

uint32_t fusion_value_dtype(const struct value *value) { return value->kind == TENSOR ? value->which & 0xff : 0; }
uint32_t fusion_value_rank(const struct value *value) { return value->kind == TENSOR ? value->parts : 0; }

int64_t fusion_value_extent(const struct value *value, uint32_t axis) {
  return axis < fusion_value_rank(value) ? value->extents[axis] : -1;
}

const void *fusion_value_data(const struct value *value) { return value->kind == TENSOR ? value->data : NULL; }
