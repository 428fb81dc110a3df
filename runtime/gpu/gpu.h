/* What compiled code and the run time of GPUs share.
 *
 *     fusion_run ----> run.c: memory, copies, errors ----> program->main: stubs of kernels, compiled for the host
 *                        |                                      | fusion_gpu_launch
 *                        v                                      v
 *                      one of three kinds of device (device.h): CUDA and HIP (driver.c), or the emulator (emulate.c),
 *                                                               whose kernels call fusion_emulated_*
 *
 * The compiler (conversion) writes the structs as globals of its objects and calls the functions; the two change together.
 * Pointers of the device are never read or written on the host, except by the emulator. */

#ifndef FUSION_GPU_H
#define FUSION_GPU_H

#include <stddef.h>
#include <stdint.h>

enum fusion_gpu_kind { FUSION_CUDA = 1, FUSION_HIP = 2, FUSION_EMULATED = 3 };

/* A tensor of the device's memory of which a kernel copies boxes (cp.async.bulk.tensor), innermost axis first. A kernel of CUDA gets a tensor
 * map of each, 128 bytes, behind its pointers. */
enum { FUSION_MAP_AXES = 5 };
struct fusion_gpu_map {
  uint64_t argument;                          /* which of the kernel's the tensor is */
  uint64_t element_bytes;                     /* 1, 2, 4 or 8 */
  uint64_t rank;
  uint64_t swizzled;                          /* whether lines of 128 bytes have their groups of 16 exchanged in shared memory */
  uint64_t extents[FUSION_MAP_AXES];
  uint64_t strides[FUSION_MAP_AXES];          /* bytes from one to the next along each axis */
  uint64_t box[FUSION_MAP_AXES];              /* elements that are copied at a time */
};

/* One launch; a global of the object that its stub is in, and writable. */
struct fusion_gpu_kernel {
  const char *name;                           /* the entry in the image */
  const void *image;                          /* PTX, cubin or hsaco, which kernels may share; null where it is emulated */
  uint64_t image_bytes;
  void (*host)(void *const *arguments);       /* the emulated body of one thread; else null */
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;                      /* of shared memory that the image declares for a block */
  uint32_t arguments;                         /* how many; each is a pointer of the device */
  uint32_t warp;                              /* threads that run in step: 32, or the 64 of a wave; 0 stands for 32 */
  uint32_t dynamic_bytes;                     /* of shared memory the launch asks for besides */
  const struct fusion_gpu_map *map;
  uint32_t maps;                              /* how many of these */
  void *state;                                /* the run time's own; starts null */
};

/* The whole program; the global `fusion_gpu_program` of the program's object, and writable. */
struct fusion_gpu_program {
  uint32_t kind;                              /* enum fusion_gpu_kind */
  uint32_t inputs, outputs;
  const uint64_t *input_bytes, *output_bytes;
  const void *constants;                      /* on the host */
  uint64_t constants_bytes, workspace_bytes;
  void (*main)(void *const *pointers);        /* of the device: inputs, outputs, constants, workspace */
  void *state;                                /* the run time's own; starts null */
};

/* Called by compiled code; gives 0, or something else when the run has failed. After a failure nothing is launched. */
int32_t fusion_gpu_launch(struct fusion_gpu_kernel *kernel, void *const *arguments);

/* Called by compiled code between launches, in their order. Copies on the device. */
void fusion_gpu_copy(void *to, const void *from, uint64_t bytes);
/* Waits for all launches before and copies to the host, for what the host decides: which branch, whether once more. Zeros when
 * the run has failed, so that loops end. */
void fusion_gpu_read(void *host, const void *device, uint64_t bytes);

/* A tensor of a run, on the host or on the device. */
struct fusion_gpu_tensor {
  void *memory;
  _Bool on_device;
};

/* A run on tensors: inputs, then outputs; on a stream of the caller's where one is given. One with all of them on the host, one with
 * all on the device, and one of these on a stream. They give 0, or fusion_last_error says why not. */
int32_t fusion_gpu_run_on(struct fusion_gpu_program *program, const struct fusion_gpu_tensor *tensors, void *const *stream);
int32_t fusion_gpu_run(struct fusion_gpu_program *program, const void *const *inputs, void *const *outputs);
int32_t fusion_gpu_run_device(struct fusion_gpu_program *program, const void *const *inputs, void *const *outputs);
int32_t fusion_gpu_run_stream(struct fusion_gpu_program *program, const void *const *inputs, void *const *outputs, void *stream);
const char *fusion_last_error(void);
/* The number of the device that runs are on from now on; without a call that of FUSION_DEVICE, else 0. */
void fusion_set_device(int32_t number);
/* The same number; -1, and an error, if FUSION_DEVICE is none. */
int32_t fusion_device(void);

/* What a run did on the device, and when. */
struct fusion_gpu_event {
  uint32_t what;                              /* enum fusion_gpu_work */
  uint32_t grid[3], block[3];                 /* of a launch */
  uint32_t shared_bytes;                      /* of a launch: a block's, declared and asked for */
  const char *kernel;                         /* of a launch: the entry in the image; else null */
  uint64_t bytes;                             /* of a copy */
  double begin_s, seconds;                    /* since the run began; on the device, by its own clock */
};
enum fusion_gpu_work { FUSION_LAUNCH, FUSION_UPLOAD, FUSION_DOWNLOAD, FUSION_COPY };
/* Whether runs from now on note what they do; they launch each kernel by itself then. */
void fusion_set_profiling(int32_t on);
/* What the last run did, in order, until the next run: how much, and in `*events` what. What timing itself takes, a pair of marks
 * with nothing between, is in `*empty_s`. */
int64_t fusion_profile(const struct fusion_gpu_event **events, double *empty_s);

/* What emulated kernels call. */

int64_t fusion_emulated_id(int32_t which);        /* 0..2: block x y z; 3..5: thread x y z */
void fusion_emulated_barrier(void);               /* of all threads of the block */
void *fusion_emulated_shared(int64_t offset);     /* the block's shared memory from that byte on */
/* The bits that another thread of the warp came with. Where there is no such thread in its part of `width`, its own. */
enum fusion_emulated_shuffle_mode { FUSION_XOR, FUSION_UP, FUSION_DOWN, FUSION_INDEX };
int64_t fusion_emulated_shuffle(int32_t mode, int64_t bits, int32_t offset, int32_t width);
/* That a thread is about to read or write shared memory, for the check of races. */
void fusion_emulated_access(const void *address, int64_t bytes, int32_t is_write);
/* That it is about to access `count` elements from an index on of an argument of the kernel, which has so many elements of that size. */
void fusion_emulated_global(int32_t argument, int64_t index, int64_t count, int64_t size, int64_t elements, int32_t is_write);

/* Copies 4, 8 or 16 bytes from the device's memory to shared memory, of which all but the first `copied` are zero. It happens
 * when the thread waits until at most so many of the groups that it closed are left. */
void fusion_emulated_copy_async(void *shared, const void *global, int64_t bytes, int64_t copied);
void fusion_emulated_commit(void);
void fusion_emulated_wait(int64_t groups_left);

/* Mbarriers (mbarrier) are 8 bytes of shared memory each, of which a phase is over when `count` threads have come and all bytes it was told to
 * expect have been copied. Who waits for a phase, numbered from 0, goes on when it is over; that before the first one is. */
void fusion_emulated_mbarrier_init(void *mbarrier, int64_t mbarriers, int64_t count);
void fusion_emulated_mbarrier_expect(void *mbarrier, int64_t bytes);   /* comes to it as well */
void fusion_emulated_mbarrier_arrive(void *mbarrier);
void fusion_emulated_mbarrier_wait(void *mbarrier, int64_t phase);
/* Copies a box of the kernel's tensor of that number, from these indices on, innermost first; what is beyond the tensor is 0. It happens when
 * somebody waits for the mbarrier. */
void fusion_emulated_copy_tensor(int32_t map, void *shared, void *mbarrier, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e);

/* d = a * b + c by all threads of a warp; each gives and gets its registers in their order. */
enum fusion_emulated_instruction {
  FUSION_MMA_M16N8K16_F16,   /* mma.sync.m16n8k16.row.col.f32.f16.f16.f32 */
  FUSION_MMA_M16N8K16_BF16,
  FUSION_MMA_M16N8K8_TF32,
  FUSION_MFMA_16X16X16_F16,  /* v_mfma_f32_16x16x16_f16 */
  FUSION_MFMA_16X16X16_BF16, /* v_mfma_f32_16x16x16_bf16, or ..._1k */
  FUSION_MFMA_32X32X8_F16,
  FUSION_MFMA_32X32X8_BF16,
  FUSION_MFMA_16X16X4_F32,
  FUSION_MFMA_32X32X2_F32,
  FUSION_WMMA_16X16X16_F16,  /* v_wmma_f32_16x16x16_f16, wave of 32 */
  FUSION_WMMA_16X16X16_BF16,
  FUSION_WGMMA_M64N64K64_F16, /* four wgmma.mma_async.m64n64k16.f32.f16.f16, and waiting for them */
  FUSION_WGMMA_M64N64K64_BF16,
  FUSION_WGMMA_M64N128K64_F16,
  FUSION_WGMMA_M64N128K64_BF16,
  FUSION_WGMMA_M64N256K64_F16,
  FUSION_WGMMA_M64N256K64_BF16,
  FUSION_WGMMA_M64N64K32_TF32, /* four wgmma.mma_async.m64n64k8.f32.tf32.tf32 */
  FUSION_WGMMA_M64N128K32_TF32,
  FUSION_WGMMA_M64N256K32_TF32,
  FUSION_WMMA_16X16X16_HALVES_F16, /* v_wmma_f32_16x16x16_f16 of RDNA 4: each half of a wave has half of the depth */
  FUSION_WMMA_16X16X16_HALVES_BF16,
  FUSION_MFMA_16X16X32_F16,        /* of CDNA 4 */
  FUSION_MFMA_16X16X32_BF16,
  FUSION_MFMA_32X32X16_F16,
  FUSION_MFMA_32X32X16_BF16,
  FUSION_TCGEN05_M128N64K64_F16,   /* four tcgen05.mma.kind::f16 of 128 rows, 16 deep, and waiting for them */
  FUSION_TCGEN05_M128N64K64_BF16,
  FUSION_TCGEN05_M128N128K64_F16,
  FUSION_TCGEN05_M128N128K64_BF16,
  FUSION_INSTRUCTIONS
};
void fusion_emulated_matrix(int32_t instruction, const void *a, const void *b, const void *c, void *d);
/* The same by the threads of four warps, a and b in shared memory, swizzled: rows of a, and columns of b or, transposed, panels of its
 * rows, which are so many bytes apart. */
void fusion_emulated_multiply_shared(int32_t instruction, const void *a, const void *b, int32_t transposed, int64_t apart,
                                     const void *c, void *d);
/* ldmatrix: one, two or four matrices of 8 x 8 elements of 16 bits, by the addresses of their rows of 16 bytes. */
void fusion_emulated_ldmatrix(const void *row, int32_t count, int32_t transposed, uint32_t *out);

#endif
