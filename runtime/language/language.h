/* What programs of the whole language share: values, the memory of a run, and its errors.
 *
 *      0      4     8     9      10     12      16
 *      | count | tag | kind | class | which | parts | ...
 *
 *   tensor    which: element type; parts: rank; tag: bytes an element     | data pointer | extents ... | data, if small
 *   data      which: data type;    parts: fields; tag: constructor        | fields ...
 *   tuple     parts: elements                                             | elements ...
 *   closure   parts: captured;     tag: how many arguments it still takes | code pointer | captured ...
 *   cell      parts: 1                                                    | what it holds
 *
 * `count` is how many owners a value has; a value with a negative one lies in the library and is never freed. `class` says
 * which list of free memory it goes back to. The compiler (conversion/programs/src/bytecode_to_llvm/layout.rs) writes code that reads
 * and fills values by these places; the two change together. */

#ifndef FUSION_LANGUAGE_H
#define FUSION_LANGUAGE_H

#include <stddef.h>
#include <stdint.h>

enum kind { TENSOR, DATA, TUPLE, CLOSURE, CELL };

struct value {
  union {
    struct {
      int32_t count;
      uint32_t tag;
    };
    struct value *next; /* of a value that is free, or waits to be */
  };
  uint8_t kind, class;
  uint16_t which;
  uint32_t parts;
  union {
    struct value *fields[0];
    struct {
      unsigned char *data;
      int64_t extents[0];
    };
    struct {
      void *code;
      struct value *captured[0];
    };
  };
};

enum {
  CLASSES = 60,               /* sizes of values that lie in slabs, up to ... */
  LARGEST = 1 << 20,          /* ... this one; larger tensors have memory of their own */
  NO_CLASS = 255,
  MOST_AXES = 64,              /* of a tensor from outside */
  DYNAMIC_EXTENT = -1,
  BORROWED = 0x100,           /* in `which` of a tensor: the data is the caller's */
};

/* A run: it belongs to one thread. The compiler knows the first five. */
struct context {
  char *limit;                  /* the stack must not grow below it */
  int64_t live;                 /* values that are not freed */
  void *workspace;              /* of kernels */
  void *outside;                /* the stack pointer of who called in, while the program runs */
  struct value *free[CLASSES];  /* free memory by class */

  struct slab *slabs;           /* all of them; the first one is being used up */
  uint64_t slab_bytes;
  uint64_t slabs_before;        /* what the run before had of them in the end */
  struct large *large;          /* memory of large tensors */
  struct large *spare;          /* the same, free */
  uint64_t spare_bytes;
  uint64_t large_bytes;         /* of `large`, now ... */
  uint64_t most_large;          /* ... and at most in this run */
  uint64_t most_before;         /* ... and in the run before */
  char *stack;                  /* lowest address */
  uint64_t stack_bytes;
  void *workspace_of_its_own;
  struct value *result;         /* what the caller holds after the run */
  struct context *next;         /* in a list of contexts */
  struct strings *strings;      /* what elements of tensors of strings are numbers of */
  const void *request;          /* what `begin` is to do */
  char message[1024];           /* why the run ended early */
};

/* memory.c */
uint32_t fusion_class_of(uint64_t bytes);
uint64_t fusion_bytes_of_class(uint32_t class);
struct value *fusion_refill(struct context *run, uint32_t class);
struct value *fusion_new(struct context *run, uint64_t bytes);
struct value *fusion_new_tensor(struct context *run, uint32_t dtype, uint32_t element, uint32_t rank, const int64_t *extents);
void *fusion_new_large(struct context *run, uint64_t bytes);
void fusion_free_large(struct context *run, void *data);
void fusion_free(struct context *run, struct value *value);
void fusion_free_all(struct context *run, _Bool keep);
uint64_t fusion_tensor_bytes(const struct value *tensor);

/* strings.c */
struct fusion_string;
uint64_t fusion_string_number(struct context *run, const char *data, uint64_t bytes);
struct fusion_string fusion_string_of(struct context *run, uint64_t number);
void fusion_forget_strings(struct context *run, _Bool everything);
int32_t fusion_letter(const unsigned char **place, const unsigned char *end);
void fusion_take_strings(struct context *run, struct value *tensor, const struct fusion_string *strings, uint64_t input);
void fusion_show_strings(struct context *run, const struct value *tensor, struct fusion_string *strings);

/* run.c */
/* Ends the run, from any depth; 1 with a message in the context is an error. */
_Noreturn void fusion_leave(struct context *run, int32_t outcome);
_Noreturn void fusion_fail(struct context *run, const char *message);
_Noreturn void fusion_fail_memory(struct context *run, uint64_t bytes);
_Noreturn void fusion_fail_extents(struct context *run, const char *why, int64_t left, int64_t right);
_Noreturn void fusion_fail_stack(struct context *run, const char *where);
_Noreturn void fusion_fail_input(struct context *run, uint64_t number, const char *format);
_Noreturn void fusion_fail_arguments(struct context *run, const char *where);

/* value.c */
struct request;
struct fusion_tensor;
typedef void *fusion_allocate(void *user, uint32_t output, const struct fusion_tensor *tensor);
/* What stands behind the inputs' ranges in the facts of the program. */
const int64_t *fusion_arguments(struct context *run, const struct request *request, struct value **arguments);
void fusion_results(struct context *run, struct value *result, void *const *outputs);
_Bool fusion_give_tensors(struct context *run, const struct value *result, fusion_allocate *allocate, void *user, char *message,
                          size_t size);

/* shapes.c */
/* Writes what a request asks for that follows from the shapes of the inputs. */
void fusion_tell(struct context *run, const struct request *request, const int64_t *fact, struct value *const *arguments);

/* What the compiler writes of a program: how many inputs; how many tensors it gives, or -1 when it gives something else than
 * tensors of known shapes or takes something else; the bytes of workspace; how many extents have names;
 * how many data types; for each of these how many
 * constructors, and the number of fields of each; for each input its kind, and for a tensor the element type, its bytes, the
 * rank and the extents; how many extents have ranges, and for each of these the input, the axis, the smallest, the largest,
 * what they are multiples of, and the bytes of the input's name and these; how many tensors it gives, or -1, and for each the rank and
 * codes of its extents (shapes.c); how many numbers the bytes that a run holds are the greatest of, or -1, and their codes. A code has its
 * length before it, or is -1. */
extern const int64_t fusion_program_facts[];
enum { INPUTS, OUTPUTS, WORKSPACE_BYTES, NAMES, DATA_TYPES, FIRST_DATA_TYPE };
/* What the compiler writes of the program's strings, each once: how many; the bytes of each; these, one string behind the other. */
extern const int64_t fusion_program_strings[];
struct value *fusion_program_enter(struct context *run, struct value *const *arguments);

/* The numbers of some element types, by docs/reference/abi.md. */
enum { DTYPE_F64 = 0, DTYPE_F32 = 1, DTYPE_I64 = 4, DTYPE_UI8 = 11, DTYPE_I1 = 12, DTYPE_STRING = 13 };

/* A string, in UTF-8, without an end. */
struct fusion_string {
  const char *data;
  uint64_t bytes;
};

/* A part of an input, before its own parts. */
struct fusion_item {
  uint32_t kind;          /* tensor, data, tuple or cell */
  uint32_t data_type, tag; /* of data */
  uint32_t dtype;         /* of a tensor */
  uint32_t parts;         /* fields, elements; the rank of a tensor */
  const int64_t *extents; /* of a tensor */
  const void *data;       /* of a tensor */
};

/* A tensor of the caller's, with DLPack's shape and strides. */
struct fusion_tensor {
  void *data;
  uint32_t dtype;
  uint32_t ndim;
  const int64_t *shape;
  const int64_t *strides; /* in elements; NULL for dense and row-major */
};

struct request {
  const void *const *inputs;            /* of fusion_run, ... */
  void *const *outputs;
  const struct fusion_item *items;      /* ... or of fusion_call ... */
  const struct fusion_tensor *tensors;  /* ... or of fusion_run_tensors */
  uint64_t count;
  int64_t *shape;                       /* nothing is run, and the shape of an output is written ... */
  uint32_t output, axes;
  int32_t *rank;
  uint64_t *bytes;                      /* ... or the bytes that a run holds */
};

/* What is used of the C library. Its own headers would be those of the machine this is compiled on. */
extern void *aligned_alloc(size_t alignment, size_t size);
extern void *malloc(size_t size);
extern void free(void *memory);
extern char *getenv(const char *name);
extern void *memcpy(void *to, const void *from, size_t size);
extern void qsort(void *array, size_t count, size_t size, int (*compare)(const void *, const void *));
extern int memcmp(const void *a, const void *b, size_t size);
extern double strtod(const char *text, char **end);
extern float strtof(const char *text, char **end);
extern void *memset(void *to, int byte, size_t size);
extern int snprintf(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
extern unsigned long strtoul(const char *text, char **end, int base);
extern void *mmap(void *address, size_t size, int protection, int flags, int file, long offset);
extern int munmap(void *address, size_t size);
extern int mprotect(void *address, size_t size, int protection);
extern int madvise(void *address, size_t size, int advice);
extern int sched_yield(void);

#endif
