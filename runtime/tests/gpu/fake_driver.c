/* A driver without a device: memory is the host's, and the one kernel there is, "twice", is done by hand; "mapped" does the same with what
 * its tensor map says where it is.
 *
 *   FAKE_CALLS=1        names each call on standard error
 *   FAKE_FAIL=n:code    call number n gives this error instead of doing anything
 *   FAKE_DEVICES=n      how many there are; 2 by default
 *
 * When the process ends it says what was not given back. Compiled with -DHIP it is that of AMD, with -DOLD it has no graphs. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HIP
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif

typedef struct function { void *module; } function;
typedef struct launch { unsigned blocks, threads, dynamic; void *in, *out; } launch;
typedef struct graph { int count; launch launches[8]; } graph;

static int calls, memories, modules, streams, contexts, graphs, recordings, events, entered;
static graph *recording;

static int failing(const char *name) {
  const char *fail = getenv("FAKE_FAIL"), *code = fail ? strchr(fail, ':') : NULL;
  if (getenv("FAKE_CALLS"))
    fprintf(stderr, "%s\n", name);
  return ++calls == (fail ? atoi(fail) : -1) ? atoi(code + 1) : 0;
}
#define CALLED(name) do { int code = failing(name); if (code) return code; } while (0)

__attribute__((destructor)) static void end(void) {
  if (memories || modules || streams || contexts || graphs || recordings || events || entered)
    fprintf(stderr, "LEFT: %d memories, %d modules, %d streams, %d contexts, %d graphs, %d recordings, %d events, entered %d times\n",
            memories, modules, streams, contexts, graphs, recordings, events, entered);
}

static int devices(void) { return getenv("FAKE_DEVICES") ? atoi(getenv("FAKE_DEVICES")) : 2; }

#define INIT NAME(cuInit, hipInit)
int INIT(unsigned flags) { CALLED("initialize"); return flags; }
#define COUNT NAME(cuDeviceGetCount, hipGetDeviceCount)
int COUNT(int *count) { CALLED("count"); *count = devices(); return 0; }
#define GET NAME(cuDeviceGet, hipDeviceGet)
int GET(int *device, int number) { CALLED("get device"); *device = 100 + number; return 0; }
#define GET_NAME NAME(cuDeviceGetName, hipDeviceGetName)
int GET_NAME(char *name, int size, int device) { CALLED("name"); snprintf(name, size, "Fake %d", device - 100); return 0; }

#ifdef HIP
static int current;
int hipGetDevice(int *device) { CALLED("current"); *device = current; return 0; }
int hipSetDevice(int device) { CALLED("set current"); current = device; return 0; }
const char *hipGetErrorName(int code) { return code == 2 ? "hipErrorOutOfMemory" : "hipErrorOfTest"; }
const char *hipGetErrorString(int code) { return code == 2 ? "out of memory" : "an error of the test"; }
#else
int cuDevicePrimaryCtxRetain(void **context, int device) { CALLED("retain"); *context = (void *)(intptr_t)device; contexts++; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { CALLED("release"); contexts--; return device < 100; }
int cuCtxPushCurrent_v2(void *context) { CALLED("push"); entered++; return !context; }
int cuCtxPopCurrent_v2(void **context) { CALLED("pop"); *context = NULL; entered--; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) { CALLED("attribute"); *value = attribute == 75 ? 9 : 0; return device < 100; }
int cuFuncSetAttribute(function *f, int attribute, int value) { CALLED("set function"); return !f || attribute != 8 || value <= 0; }
int cuGetErrorName(int code, const char **text) { *text = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_TEST"; return 0; }
int cuGetErrorString(int code, const char **text) { *text = code == 2 ? "out of memory" : "an error of the test"; return code == 0; }
#endif

#define ALLOCATE NAME(cuMemAlloc_v2, hipMalloc)
int ALLOCATE(void **memory, size_t bytes) { CALLED("allocate"); memories++; *memory = malloc(bytes); return 0; }
#define FREE NAME(cuMemFree_v2, hipFree)
int FREE(void *memory) { CALLED("free"); memories--; free(memory); return 0; }
#define UPLOAD NAME(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync)
int UPLOAD(void *to, const void *from, size_t bytes, void *stream) { CALLED("upload"); memcpy(to, from, bytes); return !stream; }
#define DOWNLOAD NAME(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync)
int DOWNLOAD(void *to, const void *from, size_t bytes, void *stream) { CALLED("download"); memcpy(to, from, bytes); return !stream; }
#define COPY NAME(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync)
int COPY(void *to, const void *from, size_t bytes, void *stream) { CALLED("copy"); memcpy(to, from, bytes); return !stream; }

static void *own;
#define CREATE NAME(cuStreamCreate, hipStreamCreateWithFlags)
int CREATE(void **stream, unsigned flags) { CALLED("create stream"); streams++; *stream = own = malloc(1); return flags; }
#define DESTROY NAME(cuStreamDestroy_v2, hipStreamDestroy)
int DESTROY(void *stream) { CALLED("destroy stream"); streams--; free(stream); return 0; }
#define WAIT NAME(cuStreamSynchronize, hipStreamSynchronize)
int WAIT(void *stream) { CALLED("wait"); return !stream; }

static int load(function **module, const char *image) {
  if (strcmp(image, "twice"))
    return 218;
  modules++;
  *module = malloc(sizeof **module);
  return 0;
}
#ifdef HIP
int hipModuleLoadData(function **module, const char *image) { CALLED("load"); return load(module, image); }
#else
int cuModuleLoadDataEx(function **module, const char *image, unsigned count, const int *options, void **values) {
  CALLED("load");
  int code = load(module, image);
  if (code && count == 2 && options[0] == 5 && options[1] == 6)
    snprintf(values[0], (uintptr_t)values[1], "ptxas: not the\nright image");
  return code;
}
#endif
#define UNLOAD NAME(cuModuleUnload, hipModuleUnload)
int UNLOAD(function *module) { CALLED("unload"); modules--; free(module); return 0; }
#define FIND NAME(cuModuleGetFunction, hipModuleGetFunction)
static function mapped;
int FIND(function **f, function *module, const char *name) {
  CALLED("find");
  *f = strcmp(name, "mapped") ? module : &mapped;
  return *f == module && strcmp(name, "twice") ? 500 : 0;
}

#if !defined(HIP) && !defined(OLD)
/* Of a tensor of 4 x 2 floats, boxes of as many, as they lie. */
int cuTensorMapEncodeTiled(void **map, int type, unsigned rank, void *tensor, const uint64_t *extents, const uint64_t *strides,
                           const unsigned *box, const unsigned *steps, int interleave, int swizzle, int promotion, int beyond) {
  CALLED("encode");
  map[1] = tensor;
  return (uintptr_t)map % 64 || type != 2 || rank != 2 || extents[0] != 4 || extents[1] != 2 || strides[0] != 16 || box[0] != 4 ||
         box[1] != 2 || steps[0] != 1 || steps[1] != 1 || interleave || swizzle || promotion < 0 || beyond;
}
#endif

/* Milliseconds: one for each mark, and one for each thread of a launch. */
static int now;

static void run(const launch *l) {
  for (unsigned i = 0; i < l->blocks * l->threads; i++)
    ((float *)l->out)[i] = 2 * ((const float *)l->in)[i];
}

#define LAUNCH NAME(cuLaunchKernel, hipModuleLaunchKernel)
int LAUNCH(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned dynamic, void *stream,
           void **places, void **extra) {
  if (stream == own)
    CALLED("launch");
  else
    CALLED("launch elsewhere");
  if (!f || extra || bx * by * bz > 1024)
    return 1;
  now += gx * gy * gz * bx * by * bz;
  launch l = {gx * gy * gz, bx * by * bz, dynamic, *(void **)places[0], *(void **)places[1]};
  if (f == &mapped)
    l.in = ((void **)places[2])[1];
  if (recording)
    recording->launches[recording->count++] = l;
  else
    run(&l);
  return 0;
}

#ifndef OLD
#define BEGIN NAME(cuStreamBeginCapture_v2, hipStreamBeginCapture)
int BEGIN(void *stream, int mode) { CALLED("begin"); recording = calloc(1, sizeof *recording); recordings++; return !stream || mode != 1; }
#define END NAME(cuStreamEndCapture, hipStreamEndCapture)
int END(void *stream, graph **made) {
  int code = failing("end"); /* the recording ends in any case */
  *made = code ? NULL : recording;
  if (code)
    free(recording), recordings--;
  recording = NULL;
  return code ? code : !stream;
}
#define MAKE NAME(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags)
int MAKE(graph **made, graph *recorded, unsigned long long flags) {
  CALLED("make graph");
  graphs++;
  *made = malloc(sizeof **made);
  **made = *recorded;
  return (int)flags;
}
#define DROP NAME(cuGraphDestroy, hipGraphDestroy)
int DROP(graph *recorded) { CALLED("drop"); recordings--; free(recorded); return 0; }
#define REPLAY NAME(cuGraphLaunch, hipGraphLaunch)
int REPLAY(graph *made, void *stream) {
  CALLED("replay");
  for (int i = 0; i < made->count; i++)
    run(&made->launches[i]);
  return !stream;
}
#define UNMAKE NAME(cuGraphExecDestroy, hipGraphExecDestroy)
int UNMAKE(graph *made) { CALLED("unmake graph"); graphs--; free(made); return 0; }
#endif

#ifndef UNTIMED
#define CREATE_EVENT NAME(cuEventCreate, hipEventCreateWithFlags)
int CREATE_EVENT(int **event, unsigned flags) { CALLED("create event"); events++; *event = calloc(1, sizeof **event); return flags; }
#define RECORD_EVENT NAME(cuEventRecord, hipEventRecord)
int RECORD_EVENT(int *event, void *stream) { CALLED("record event"); *event = now++; return !stream; }
#define ELAPSED NAME(cuEventElapsedTime, hipEventElapsedTime)
int ELAPSED(float *milliseconds, int *from, int *to) { CALLED("elapsed"); *milliseconds = *to - *from; return 0; }
#define DESTROY_EVENT NAME(cuEventDestroy_v2, hipEventDestroy)
int DESTROY_EVENT(int *event) { CALLED("destroy event"); events--; free(event); return 0; }
#endif
