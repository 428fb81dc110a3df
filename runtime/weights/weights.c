/* Weights that lie in a file of their own (safetensors) beside the library.
 *
 *   model.safetensors   | length | header, spaces up to a multiple of 64 KiB | weights           |
 *                                                                            :  mapped, read-only, private
 *   model.so                                          fusion_constants, zeros that take no room, begins at a page
 *
 * The first run maps the file over the zeros, so that code finds weights where it always does. A file is refused whose size or
 * fingerprint is another than when the library was compiled. The weights themselves are not read before they are used. */

#include <stdint.h>
#include <stddef.h>

/* What is used of the C library. Its own headers would be those of the machine this is compiled on. */
extern int *__errno_location(void);
extern int close(int file);
extern int dladdr(const void *address, void *found);
extern void free(void *memory);
extern char *getenv(const char *name);
extern long lseek(int file, long offset, int whence);
extern void *malloc(size_t size);
extern int memcmp(const void *a, const void *b, size_t size);
extern void *mmap(void *address, size_t size, int protection, int flags, int file, long offset);
extern int open(const char *path, int flags, ...);
extern long pread(int file, void *to, size_t size, long offset);
extern int pthread_mutex_lock(void *mutex);
extern int pthread_mutex_unlock(void *mutex);
extern int snprintf(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
extern char *strerror(int code);
extern char *strrchr(const char *text, int c);

enum { FINGERPRINT = 64, ALIGNMENT = 1 << 16, MOST_HEADER = 1 << 24, MOST_PATH = 4096 };
enum { READ_ONLY = 0, CLOSED_ON_EXEC = 02000000, END = 2, READABLE = 1, PRIVATE = 2, FIXED = 16 };

/* The compiler's, beside the description of the model. */
extern const struct {
  uint64_t bytes;
  char fingerprint[FINGERPRINT];
  char name[];
} fusion_weights_facts;
extern const unsigned char fusion_constants[];

/* The C library's mutex is of zeros and is not larger than this on any machine. */
static union {
  _Alignas(16) unsigned char bytes[64];
} turns;
static _Atomic _Bool mapped;

/* FUSION_WEIGHTS names the file, else it is beside the library. */
static _Bool path_of(char *path, char *why, size_t room) {
  struct {
    const char *file;
    void *base;
    const char *symbol;
    void *address;
  } library = {0};
  const char *given = getenv("FUSION_WEIGHTS");
  if (given && *given)
    return snprintf(path, MOST_PATH, "%s", given) < MOST_PATH || (snprintf(why, room, "FUSION_WEIGHTS is too long a name."), 0);
  const char *slash = dladdr(fusion_constants, &library) && library.file ? strrchr(library.file, '/') : NULL;
  int folder = slash ? (int)(slash + 1 - library.file) : 0;
  if (snprintf(path, MOST_PATH, "%.*s%s", folder, slash ? library.file : "", fusion_weights_facts.name) < MOST_PATH)
    return 1;
  snprintf(why, room, "The folder of the library has too long a name.");
  return 0;
}

static _Bool contains(const char *text, size_t size, const char *wanted, size_t length) {
  for (size_t i = 0; i + length <= size; i++)
    if (!memcmp(text + i, wanted, length))
      return 1;
  return 0;
}

/* Where the weights begin in the file; 0, and why, where it is another model's. */
static long begin_of(int file, const char *path, char *why, size_t room) {
  unsigned char length[8] = {0};
  long size = lseek(file, 0, END);
  uint64_t header = 0;
  if (size >= 0 && pread(file, length, sizeof length, 0) == sizeof length)
    for (int i = 7; i >= 0; i--)
      header = header << 8 | length[i];
  uint64_t expected = 8 + header + fusion_weights_facts.bytes;
  if (header == 0 || header > MOST_HEADER || (8 + header) % ALIGNMENT) {
    snprintf(why, room, "%s is no file of weights that `fusion compile --weights` wrote; name that of this model in FUSION_WEIGHTS.",
             path);
    return 0;
  }
  if ((uint64_t)size != expected) {
    snprintf(why, room, "The weights in %s are not those of this model: the file has %ld bytes, expected %llu; compile the model again.",
             path, size, (unsigned long long)expected);
    return 0;
  }
  char *text = malloc(header);
  _Bool same = text && pread(file, text, header, 8) == (long)header &&
               contains(text, header, fusion_weights_facts.fingerprint, FINGERPRINT);
  free(text);
  if (same)
    return (long)(8 + header);
  snprintf(why, room, "The weights in %s are not those this model was compiled with; name its own file in FUSION_WEIGHTS, or compile it again.",
           path);
  return 0;
}

static _Bool map(char *why, size_t room) {
  char *path = malloc(MOST_PATH);
  if (!path || !path_of(path, why, room)) {
    if (!path)
      snprintf(why, room, "There is no memory for the name of the file of weights.");
    free(path);
    return 0;
  }
  int file = open(path, READ_ONLY | CLOSED_ON_EXEC);
  long begin = file < 0 ? 0 : begin_of(file, path, why, room);
  if (file < 0)
    snprintf(why, room, "The model's weights cannot be read: %s: %s; put the file beside the library, or name it in FUSION_WEIGHTS.",
             path, strerror(*__errno_location()));
  _Bool fine = begin > 0;
  if (fine && mmap((void *)(uintptr_t)fusion_constants, fusion_weights_facts.bytes, READABLE, PRIVATE | FIXED, file, begin) !=
                  (void *)(uintptr_t)fusion_constants) {
    snprintf(why, room, "The weights in %s cannot be mapped: %s.", path, strerror(*__errno_location()));
    fine = 0;
  }
  if (file >= 0)
    close(file);
  free(path);
  return fine;
}

/* Maps the weights unless that was done; else says why not. */
_Bool fusion_weights_map(char *why, size_t room) {
  if (mapped || !fusion_weights_facts.bytes)
    return 1;
  pthread_mutex_lock(&turns);
  if (!mapped)
    mapped = map(why, room);
  pthread_mutex_unlock(&turns);
  return mapped;
}
