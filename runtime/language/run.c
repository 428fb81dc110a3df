/* Runs of a program: each has a context and a stack.
 *
 *   caller's stack         the program's stack, FUSION_STACK_MB in size
 *   +-------------+        +------------------------------------------------+-----------+-------+
 *   | fusion_call |  -->   | begin | @main | ... calls as deep as they go   | for       | guard |
 *   |             |  <--   |       |       |                                | kernels   | page  |
 *   +-------------+        +------------------------------------------------+-----------+-------+
 *                                                                           ^ context->limit
 *
 * A function that calls others compares the stack pointer with the limit first, so that a recursion that does not end is an
 * error of the program and not the end of the process. Errors do not go back through the functions that were called: the stack
 * pointer of the caller is put back and nothing else has to be done, since all memory hangs on the context.
 *
 * Contexts that are done wait for the next run in a list of the library. */

#include "language.h"
#include <stdatomic.h>

enum {
  MEBIBYTE = 1 << 20,
  STACK_BY_DEFAULT = 256,
  SMALLEST_STACK = 8,
  FOR_KERNELS = 4 * MEBIBYTE, /* and for the functions of this library */
  GUARD = 64 << 10,           /* a multiple of all sizes of pages */
  KEPT_STACK = MEBIBYTE,
};

/* Calls `body(run)` on another stack, and gives 0, or what `fusion_leave` says. */
int32_t fusion_enter(struct context *run, void (*body)(struct context *), void *stack);

_Static_assert(offsetof(struct context, outside) == 24, "the code below and the compiler know the places");
_Static_assert(offsetof(struct context, free) == 32, "the compiler knows the places");
_Static_assert(offsetof(struct value, fields) == 16 && offsetof(struct value, captured) == 24, "the compiler knows the places");

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl fusion_enter\n.hidden fusion_enter\n.type fusion_enter,@function\n"
        "fusion_enter:\n"
        "  endbr64\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, 24(%rdi)\n"
        "  movq %rdx, %rsp\n"
        "  movq %rdi, %rbx\n"
        "  xorl %ebp, %ebp\n"
        "  callq *%rsi\n"
        "  movq %rbx, %rdi\n"
        "  xorl %esi, %esi\n"
        ".globl fusion_leave\n.hidden fusion_leave\n.type fusion_leave,@function\n"
        "fusion_leave:\n"
        "  movl %esi, %eax\n"
        "  movq 24(%rdi), %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  retq\n");
#elif defined(__aarch64__)
__asm__(".text\n.balign 4\n"
        ".globl fusion_enter\n.hidden fusion_enter\n.type fusion_enter,@function\n"
        "fusion_enter:\n"
        "  hint #34\n" /* where branches may go, on processors that check it */
        "  stp x29, x30, [sp, #-160]!\n"
        "  stp x19, x20, [sp, #16]\n  stp x21, x22, [sp, #32]\n  stp x23, x24, [sp, #48]\n"
        "  stp x25, x26, [sp, #64]\n  stp x27, x28, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n"
        "  str x9, [x0, #24]\n"
        "  mov sp, x2\n"
        "  mov x19, x0\n"
        "  mov x29, xzr\n"
        "  blr x1\n"
        "  mov x0, x19\n"
        "  mov w1, wzr\n"
        ".globl fusion_leave\n.hidden fusion_leave\n.type fusion_leave,@function\n"
        "fusion_leave:\n"
        "  ldr x9, [x0, #24]\n"
        "  mov sp, x9\n"
        "  mov w0, w1\n"
        "  ldp x19, x20, [sp, #16]\n  ldp x21, x22, [sp, #32]\n  ldp x23, x24, [sp, #48]\n"
        "  ldp x25, x26, [sp, #64]\n  ldp x27, x28, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  ldp x29, x30, [sp], #160\n"
        "  ret\n");
#else
#error "give this machine's way to another stack and back"
#endif

static _Thread_local char last_error[sizeof((struct context *)0)->message];

static struct context *idle;  /* wait for a run */
static struct context *held;  /* belong to a caller that has not released their value */
static _Atomic _Bool lists_taken;
static _Atomic int64_t live;  /* values of runs that have ended */

static void take_lists(void) {
  while (atomic_exchange_explicit(&lists_taken, 1, memory_order_acquire))
    sched_yield();
}

static void leave_lists(void) { atomic_store_explicit(&lists_taken, 0, memory_order_release); }

/* Errors of the program. */

_Noreturn void fusion_fail(struct context *run, const char *message) {
  snprintf(run->message, sizeof run->message, "%s", message);
  fusion_leave(run, 1);
}

_Noreturn void fusion_fail_memory(struct context *run, uint64_t bytes) {
  if (bytes == UINT64_MAX)
    fusion_fail(run, "A tensor has more elements than a machine can count.");
  snprintf(run->message, sizeof run->message, "There is no memory for a value of %llu bytes.", (unsigned long long)bytes);
  fusion_leave(run, 1);
}

/* Two extents do not fit; `why` is the sentence up to them. */
_Noreturn void fusion_fail_extents(struct context *run, const char *why, int64_t left, int64_t right) {
  snprintf(run->message, sizeof run->message, "%s, found %lld and %lld", why, (long long)left, (long long)right);
  fusion_leave(run, 1);
}

_Noreturn void fusion_fail_stack(struct context *run, const char *where) {
  snprintf(run->message, sizeof run->message,
           "%s: functions call each other too deeply, the stack of %llu MiB is used up; write the recursion so that the last thing "
           "a function does is the call, or set FUSION_STACK_MB to more",
           where, (unsigned long long)(run->stack_bytes / MEBIBYTE));
  fusion_leave(run, 1);
}

/* An input that cannot be; the number goes into the message. */
#pragma clang diagnostic ignored "-Wformat-nonliteral"
_Noreturn void fusion_fail_input(struct context *run, uint64_t number, const char *format) {
  snprintf(run->message, sizeof run->message, format, (unsigned long long)number);
  fusion_leave(run, 1);
}

_Noreturn void fusion_fail_arguments(struct context *run, const char *where) {
  snprintf(run->message, sizeof run->message, "%s: a function is applied to another number of arguments than it takes", where);
  fusion_leave(run, 1);
}

/* Contexts. */

static uint64_t stack_size(void) {
  const char *text = getenv("FUSION_STACK_MB");
  char *end;
  unsigned long size = text && *text ? strtoul(text, &end, 10) : STACK_BY_DEFAULT;
  if (text && *text && *end)
    size = STACK_BY_DEFAULT;
  if (size < SMALLEST_STACK)
    size = SMALLEST_STACK;
  return (size > (1u << 20) ? 1u << 20 : size) * MEBIBYTE;
}

static _Bool make_stack(struct context *run) {
  for (uint64_t bytes = stack_size(); bytes >= SMALLEST_STACK * MEBIBYTE; bytes /= 2) {
    /* Readable and writable; private, of no file, not counted before it is used, a stack. */
    char *stack = mmap(NULL, bytes, 3, 0x2 | 0x20 | 0x4000 | 0x20000, -1, 0);
    if (stack == (char *)-1)
      continue;
    mprotect(stack, GUARD, 0);
    run->stack = stack;
    run->stack_bytes = bytes;
    run->limit = stack + GUARD + FOR_KERNELS;
    return 1;
  }
  return 0;
}

static void unmake(struct context *run) {
  fusion_forget_strings(run, 1);
  fusion_free_all(run, 0);
  if (run->stack)
    munmap(run->stack, run->stack_bytes);
  free(run->workspace_of_its_own);
  free(run);
}

static struct context *context(void) {
  take_lists();
  struct context *run = idle;
  if (run)
    idle = run->next;
  leave_lists();
  if (run)
    return run;
  run = malloc(sizeof *run);
  if (run) {
    memset(run, 0, sizeof *run);
    if (make_stack(run))
      return run;
    free(run);
  }
  snprintf(last_error, sizeof last_error, "There is no memory for the stack of a run.");
  return NULL;
}

/* Without values a caller holds, the context may serve the next run. */
static void done(struct context *run) {
  fusion_forget_strings(run, 0);
  fusion_free_all(run, 1);
  madvise(run->stack + GUARD, run->stack_bytes - GUARD - KEPT_STACK, 4 /* not needed */);
  take_lists();
  run->next = idle;
  idle = run;
  leave_lists();
}

/* Runs. */

/* On the program's stack. */
static void begin(struct context *run) {
  const struct request *request = run->request;
  struct value *arguments[fusion_program_facts[INPUTS] + 1];
  const int64_t *fact = fusion_arguments(run, request, arguments);
  if (request->shape || request->bytes) {
    fusion_tell(run, request, fact, arguments);
    return;
  }
  struct value *result = fusion_program_enter(run, arguments);
  if (request->outputs) {
    fusion_results(run, result, request->outputs);
    if (result->count > 0 && --result->count == 0)
      fusion_free(run, result);
  } else {
    run->result = result;
  }
}

static int32_t run_on_its_stack(struct context *run, const struct request *request) {
  run->request = request;
  run->result = NULL;
  if (!fusion_enter(run, begin, run->stack + run->stack_bytes))
    return 0;
  memcpy(last_error, run->message, sizeof last_error);
  run->live = -1; /* some values are left, nobody knows how many */
  done(run);
  return 1;
}

/* Runs the program once, where it takes and gives tensors of known shapes. */
int32_t fusion_run(const void *const *inputs, void *const *outputs, void *workspace) {
  static void *const none[1];
  if (fusion_program_facts[OUTPUTS] < 0) {
    snprintf(last_error, sizeof last_error,
             "This program takes or gives other values than tensors of numbers of known shapes; run it with fusion_call.");
    return 1;
  }
  struct context *run = context();
  if (!run)
    return 1;
  run->workspace = workspace;
  struct request request = {.inputs = inputs, .outputs = outputs ? outputs : none};
  if (run_on_its_stack(run, &request))
    return 1;
  atomic_fetch_add(&live, run->live);
  done(run);
  return 0;
}

/* Runs what is asked for, in a context that is held until its value is released. */
static int32_t call(const struct request *request, const struct value **value) {
  struct context *run = context();
  uint64_t workspace = (uint64_t)fusion_program_facts[WORKSPACE_BYTES];
  if (!run)
    return 1;
  if (workspace && !run->workspace_of_its_own) {
    run->workspace_of_its_own = aligned_alloc(64, (workspace + 63) / 64 * 64);
    if (!run->workspace_of_its_own) {
      snprintf(last_error, sizeof last_error, "There is no memory for the workspace of a run.");
      done(run);
      return 1;
    }
  }
  run->workspace = run->workspace_of_its_own;
  if (run_on_its_stack(run, request))
    return 1;
  atomic_fetch_add(&live, run->live);
  take_lists();
  run->next = held;
  held = run;
  leave_lists();
  *value = run->result;
  return 0;
}

/* Runs the program once and gives its value. */
int32_t fusion_call(const struct fusion_item *items, uint64_t count, const struct value **value) {
  return call(&(struct request){.items = items, .count = count}, value);
}

void fusion_value_release(const struct value *value);

/* The context of a value that a caller holds. */
static struct context *holder(const struct value *value) {
  take_lists();
  struct context *run = held;
  while (run && run->result != value)
    run = run->next;
  leave_lists();
  return run;
}

/* The strings of a tensor that is `value` or a part of it; they live as long as it does. 1 where it is no tensor of strings. */
int32_t fusion_value_strings(const struct value *value, const struct value *tensor, struct fusion_string *strings) {
  struct context *run = holder(value);
  if (!run || tensor->kind != TENSOR || (tensor->which & 0xff) != DTYPE_STRING) {
    snprintf(last_error, sizeof last_error, "This value is no tensor of strings that fusion_call gave.");
    return 1;
  }
  fusion_show_strings(run, tensor, strings);
  return 0;
}

/* Runs the program once on tensors, and gives tensors in memory that the caller provides once it is known how large they are. */
int32_t fusion_run_tensors(const struct fusion_tensor *inputs, uint32_t count, fusion_allocate *allocate, void *user) {
  static const struct fusion_tensor none[1];
  const struct value *value;
  if (call(&(struct request){.tensors = inputs ? inputs : none, .count = count}, &value))
    return 1;
  _Bool given = fusion_give_tensors(holder(value), value, allocate, user, last_error, sizeof last_error);
  fusion_value_release(value);
  return !given;
}

/* Asks for what follows from shapes. */
static int32_t ask(const struct request *request) {
  struct context *run = context();
  if (!run || run_on_its_stack(run, request))
    return 1;
  done(run);
  return 0;
}

/* The rank of a result for inputs of these shapes, or -1; the first of its extents are written. */
int32_t fusion_output_shape(const struct fusion_tensor *inputs, uint32_t count, uint32_t output, int64_t *shape, uint32_t axes) {
  static const struct fusion_tensor none[1];
  int64_t nowhere[1];
  int32_t rank;
  struct request request = {.tensors = inputs ? inputs : none, .count = count, .shape = shape ? shape : nowhere, .output = output,
                            .axes = shape ? axes : 0, .rank = &rank};
  return ask(&request) ? -1 : rank;
}

/* The bytes that a run on inputs of these shapes holds at a time. */
int32_t fusion_run_bytes(const struct fusion_tensor *inputs, uint32_t count, uint64_t *bytes) {
  static const struct fusion_tensor none[1];
  return ask(&(struct request){.tensors = inputs ? inputs : none, .count = count, .bytes = bytes});
}

/* Frees a value that fusion_call gave. */
void fusion_value_release(const struct value *value) {
  take_lists();
  struct context **place = &held;
  while (*place && (*place)->result != value)
    place = &(*place)->next;
  struct context *run = *place;
  if (run)
    *place = run->next;
  leave_lists();
  if (!run)
    return;
  int64_t before = run->live;
  struct value *result = run->result;
  if (result->count > 0 && --result->count == 0)
    fusion_free(run, result);
  atomic_fetch_sub(&live, before - run->live);
  done(run);
}

/* How many values there are of runs that have ended: those callers hold, and those that own themselves through a cell. */
int64_t fusion_live_values(void) { return atomic_load(&live); }

/* Why the last run of this thread that failed did. */
const char *fusion_last_error(void) { return last_error; }

/* Before the library leaves memory. */
__attribute__((destructor)) static void unload(void) {
  while (idle) {
    struct context *next = idle->next;
    unmake(idle);
    idle = next;
  }
}
