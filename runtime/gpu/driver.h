/* What is different between the drivers of CUDA and HIP, names and a few numbers, and a driver that was loaded. */

#ifndef FUSION_DRIVER_H
#define FUSION_DRIVER_H

#include "device.h"

/* Functions of a driver. Most have the same signature in both. */
enum function {
  INITIALIZE, COUNT_DEVICES, GET_DEVICE, NAME_OF_DEVICE,
  RETAIN_CONTEXT, RELEASE_CONTEXT, PUSH_CONTEXT, POP_CONTEXT,  /* a driver has these ... */
  CURRENT_DEVICE, SET_DEVICE,                                  /* ... or these */
  ATTRIBUTE,
  ALLOCATE, FREE, UPLOAD, DOWNLOAD, COPY,
  CREATE_STREAM, DESTROY_STREAM, WAIT_FOR_STREAM,
  LOAD, LOAD_WITH_LOG, UNLOAD, FIND_FUNCTION, SET_FUNCTION, LAUNCH,
  ERROR_NAME, ERROR_TEXT,
  /* A driver may be too old for these. */
  BEGIN_CAPTURE, END_CAPTURE, MAKE_GRAPH, LAUNCH_GRAPH, DESTROY_GRAPH, DESTROY_RECORDING,
  /* These are asked for when a run is timed. */
  CREATE_EVENT, RECORD_EVENT, TIME_BETWEEN, DESTROY_EVENT,
  /* This one by kernels that copy boxes of tensors (TMA). */
  ENCODE_MAP,
  FUNCTIONS
};

struct vendor {
  const char *who;                /* "NVIDIA" */
  const char *libraries[4];       /* the first that is there is loaded, ... */
  const char *variable;           /* ... unless this variable of the environment names another */
  const char *symbols[FUNCTIONS]; /* null where the driver has none */
  _Bool gives_texts;              /* ERROR_NAME and ERROR_TEXT give the text instead of writing it */
  int major, minor;               /* attributes that say which architecture a device has; 0 where there are none */
  int most_dynamic;               /* attribute of a function: bytes of dynamic shared memory it may be launched with */
};

enum { LOG_BYTES = 4096 };

/* An image on the device. */
struct module {
  struct module *next;
  const void *image;
  void *handle;
};

/* CUtensorMap. */
struct tensor_map {
  _Alignas(128) unsigned char bytes[128];
};

/* A kernel that was launched before. */
struct loaded {
  struct loaded *next;
  struct fusion_gpu_kernel *kernel;
  void *function;
  struct tensor_map *maps;
  void **tensors;  /* where those were that the maps are of */
  void *places[];  /* of the arguments, then of the maps; filled for each launch */
};

struct driver {
  struct device device;
  const struct vendor *vendor;
  void *functions[FUNCTIONS];
  char library[256];
  int32_t number;
  int handle;
  int before;              /* the device that was current */
  void *context;
  void *stream;            /* what launches and copies go to ... */
  void *own_stream;        /* ... unless a run is on a stream of the caller's */
  _Bool has_stream, waits_for_each;
  struct module *modules;
  struct loaded *loaded;
  void *graph;             /* what was recorded */
  void **marks;            /* events, by their numbers */
  uint32_t marks_count;
  char name[128];
  char log[LOG_BYTES];
};

/* Calls a function of the driver as one of these types. */
typedef int of_number(unsigned);
typedef int of_place(int *);
typedef int of_places(int *, int);
typedef int of_attribute(int *, int, int);
typedef int of_name(char *, int, int);
typedef int of_retain(void **, int);
typedef int of_handle(void *);
typedef int of_handle_place(void **);
typedef int of_allocate(void **, size_t);
typedef int of_copy(void *, const void *, size_t, void *);
typedef int of_stream(void **, unsigned);
typedef int of_load(void **, const void *);
typedef int of_load_with_log(void **, const void *, unsigned, const int *, void **);
typedef int of_find(void **, void *, const char *);
typedef int of_function_attribute(void *, int, int);
typedef int of_launch(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
typedef int of_capture(void *, int);
typedef int of_end_capture(void *, void **);
typedef int of_make_graph(void **, void *, unsigned long long);
typedef int of_launch_graph(void *, void *);
typedef int of_elapsed(float *, void *, void *);
typedef int of_encode_map(void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *, const unsigned *, int, int,
                          int, int);
typedef int writes_text(int, const char **);
typedef const char *gives_text(int);
#define CALL(driver, which, type) ((type *)(uintptr_t)(driver)->functions[which])

/* driver.c */
struct device *fusion_driver_open(const struct device_kind *kind, int32_t number);
void fusion_driver_close(struct device *device);
_Bool fusion_driver_enter(struct device *device);
void fusion_driver_leave(struct device *device);
void *fusion_driver_allocate(struct device *device, uint64_t bytes, const char *what);
void fusion_driver_release(struct device *device, void *memory);
_Bool fusion_driver_upload(struct device *device, void *to, const void *from, uint64_t bytes);
_Bool fusion_driver_download(struct device *device, void *to, const void *from, uint64_t bytes);
_Bool fusion_driver_copy(struct device *device, void *to, const void *from, uint64_t bytes);
_Bool fusion_driver_launch(struct device *device, struct fusion_gpu_kernel *kernel, void *const *arguments);
_Bool fusion_driver_wait(struct device *device);
void fusion_driver_turn_to(struct device *device, void *stream, _Bool own);
/* Says what went wrong, what the driver says of it, and what to do; gives 0. */
_Bool fusion_driver_fail(struct driver *driver, int code, const char *what);

/* maps.c */
struct loaded *fusion_driver_new_loaded(struct fusion_gpu_kernel *kernel);
void fusion_driver_free_loaded(struct loaded *loaded);
/* Describes the tensors that a launch copies boxes of. */
_Bool fusion_driver_maps(struct driver *driver, struct loaded *loaded, void *const *arguments);

/* stream.c */
_Bool fusion_driver_begin_recording(struct device *device);
_Bool fusion_driver_end_recording(struct device *device);
_Bool fusion_driver_replay(struct device *device);
_Bool fusion_driver_mark(struct device *device, uint32_t number);
_Bool fusion_driver_between(struct device *device, uint32_t from, uint32_t to, double *seconds);
void fusion_driver_forget(struct driver *driver);  /* what was recorded, and marks */

#define KIND_OF_DRIVER(vendor)                                                                                        \
  {                                                                                                                   \
    .facts = &(vendor), .open = fusion_driver_open, .close = fusion_driver_close, .enter = fusion_driver_enter,       \
    .leave = fusion_driver_leave, .allocate = fusion_driver_allocate, .release = fusion_driver_release,               \
    .upload = fusion_driver_upload, .download = fusion_driver_download, .copy = fusion_driver_copy,                   \
    .launch = fusion_driver_launch, .wait = fusion_driver_wait, .turn_to = fusion_driver_turn_to,                     \
    .begin_recording = fusion_driver_begin_recording, .end_recording = fusion_driver_end_recording,                   \
    .replay = fusion_driver_replay, .mark = fusion_driver_mark,                                                       \
    .between = fusion_driver_between                                                                                  \
  }

#endif
