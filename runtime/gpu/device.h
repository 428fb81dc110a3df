/* The three kinds of device behind one table of functions, and what the files here share. */

#ifndef FUSION_DEVICE_H
#define FUSION_DEVICE_H

#include "gpu.h"

/* A device that is open. What gives a bool gives 0 after it noted an error. */
struct device {
  const struct device_kind *kind;
  _Bool lost;  /* nothing runs on it any more */
};

struct device_kind {
  const void *facts;
  struct device *(*open)(const struct device_kind *kind, int32_t number);
  void (*close)(struct device *device);
  _Bool (*enter)(struct device *device);  /* before all below, on each thread */
  void (*leave)(struct device *device);
  void *(*allocate)(struct device *device, uint64_t bytes, const char *what);
  void (*release)(struct device *device, void *memory);
  _Bool (*upload)(struct device *device, void *to, const void *from, uint64_t bytes);
  _Bool (*download)(struct device *device, void *to, const void *from, uint64_t bytes);
  _Bool (*copy)(struct device *device, void *to, const void *from, uint64_t bytes);  /* both on the device */
  _Bool (*launch)(struct device *device, struct fusion_gpu_kernel *kernel, void *const *arguments);
  _Bool (*wait)(struct device *device);   /* until all of the above has happened */
  /* All of the above goes to a stream of the caller's from now on, or to the device's own again (own). Null where there are no streams. */
  void (*turn_to)(struct device *device, void *stream, _Bool own);
  /* The launches from begin_recording on are not done but kept, and done again and again by `replay`. What a driver cannot
   * record is launched as usual: end_recording is false then, without an error. Null where there is no use in it. */
  _Bool (*begin_recording)(struct device *device);
  _Bool (*end_recording)(struct device *device);
  _Bool (*replay)(struct device *device);
  /* Puts a mark with this number where the device is when it has done all of the above; numbers of a run go up from 0. When the
   * run is over, the seconds from one mark to another. */
  _Bool (*mark)(struct device *device, uint32_t number);
  _Bool (*between)(struct device *device, uint32_t from, uint32_t to, double *seconds);
  void (*spoil)(struct device *device, void *memory, uint64_t bytes);  /* nobody may rely on what was there; or null */
};

extern const struct device_kind fusion_cuda, fusion_hip, fusion_emulated;

/* run.c: notes why a run failed. */
_Bool fusion_gpu_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* profile.c: what a run does, timed. Nothing happens unless it was asked for. */
struct fusion_gpu_event;
_Bool fusion_profiles(void);
void fusion_profile_want(_Bool on);
int64_t fusion_profile_list(const struct fusion_gpu_event **list, double *empty_s);
_Bool fusion_profile_start(struct device *device);
_Bool fusion_event_begins(struct device *device, const struct fusion_gpu_event *event);
_Bool fusion_event_ends(struct device *device);
_Bool fusion_profile_read(struct device *device);
void fusion_profile_drop(void);

/* weights/weights.c: maps the weights to where the library has them, where they lie in a file; else null. */
extern _Bool fusion_weights_map(char *why, size_t room) __attribute__((weak));

/* What is used of the C library. Its own headers would be those of the machine this is compiled on. */
extern void *aligned_alloc(size_t alignment, size_t size);
extern void *calloc(size_t count, size_t size);
extern int clock_gettime(int clock, long *seconds_and_nanoseconds);
extern int dlclose(void *library);
extern char *dlerror(void);
extern void *dlopen(const char *name, int flags);
extern void *dlsym(void *library, const char *name);
extern void free(void *memory);
extern char *getenv(const char *name);
extern void *malloc(size_t size);
extern int memcmp(const void *a, const void *b, size_t size);
extern void *memcpy(void *to, const void *from, size_t size);
extern void *memset(void *to, int byte, size_t size);
extern void *mmap(void *address, size_t size, int protection, int flags, int file, long offset);
extern int mprotect(void *address, size_t size, int protection);
extern int munmap(void *address, size_t size);
extern int pthread_mutex_lock(void *mutex);
extern int pthread_mutex_trylock(void *mutex);
extern int pthread_mutex_unlock(void *mutex);
extern void *realloc(void *memory, size_t size);
extern int snprintf(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
extern long strtol(const char *text, char **end, int base);
extern int vsnprintf(char *text, size_t size, const char *format, __builtin_va_list values);

#endif
