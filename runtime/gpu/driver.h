/* What is different between the drivers of CUDA and HIP: names and a few numbers. */

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
_Bool fusion_driver_begin_recording(struct device *device);
_Bool fusion_driver_end_recording(struct device *device);
_Bool fusion_driver_replay(struct device *device);

#define KIND_OF_DRIVER(vendor)                                                                                        \
  {                                                                                                                   \
    .facts = &(vendor), .open = fusion_driver_open, .close = fusion_driver_close, .enter = fusion_driver_enter,       \
    .leave = fusion_driver_leave, .allocate = fusion_driver_allocate, .release = fusion_driver_release,               \
    .upload = fusion_driver_upload, .download = fusion_driver_download, .copy = fusion_driver_copy,                   \
    .launch = fusion_driver_launch, .wait = fusion_driver_wait, .begin_recording = fusion_driver_begin_recording,     \
    .end_recording = fusion_driver_end_recording, .replay = fusion_driver_replay                                      \
  }

#endif
