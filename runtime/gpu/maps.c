/* Tensor maps: what CUDA's kernels are given of tensors whose boxes they copy (cp.async.bulk.tensor).
 *
 *     a pointer, extents, distances, a box     cuTensorMapEncodeTiled =>     128 bytes, passed by value behind the pointers
 *
 * The bytes say where the tensor is, so that they are made anew when a launch has it elsewhere than the one before. Making them asks the
 * driver's library alone, not the device. */

#include "driver.h"

enum {
  /* Numbers of CUDA's enumerations. */
  NO_INTERLEAVE = 0,
  NO_SWIZZLE = 0,
  SWIZZLE_128_BYTES = 3,
  PROMOTE_256_BYTES = 3,  /* what the second cache reads at a time */
  ZEROS = 0,              /* beyond the tensor */
};

/* Unsigned elements of so many bytes: copies do not look at them. */
static int type_of(uint64_t bytes) {
  static const int types[] = {[1] = 0, [2] = 1, [4] = 2, [8] = 4};
  return bytes <= 8 ? types[bytes] : 0;
}

static _Bool encode(struct driver *driver, const struct fusion_gpu_kernel *kernel, const struct fusion_gpu_map *map, void *tensor,
                    struct tensor_map *to) {
  uint64_t extents[FUSION_MAP_AXES], strides[FUSION_MAP_AXES];
  unsigned box[FUSION_MAP_AXES], steps[FUSION_MAP_AXES];
  for (uint64_t axis = 0; axis < FUSION_MAP_AXES; axis++) {
    extents[axis] = map->extents[axis];
    strides[axis] = axis + 1 < FUSION_MAP_AXES ? map->strides[axis + 1] : 0; /* those of the first are its elements' size */
    box[axis] = (unsigned)map->box[axis];
    steps[axis] = 1;
  }
  int code = CALL(driver, ENCODE_MAP, of_encode_map)(to, type_of(map->element_bytes), (unsigned)map->rank, tensor, extents, strides,
                                                     box, steps, NO_INTERLEAVE, map->swizzled ? SWIZZLE_128_BYTES : NO_SWIZZLE,
                                                     PROMOTE_256_BYTES, ZEROS);
  if (!code)
    return 1;
  char what[300];
  snprintf(what, sizeof what, "Describing argument %llu of kernel \"%.200s\"", (unsigned long long)map->argument, kernel->name);
  return fusion_driver_fail(driver, code, what);
}

_Bool fusion_driver_maps(struct driver *driver, struct loaded *loaded, void *const *arguments) {
  const struct fusion_gpu_kernel *kernel = loaded->kernel;
  if (kernel->maps && !driver->functions[ENCODE_MAP])
    return fusion_gpu_fail("Kernel \"%.200s\" copies boxes of tensors (TMA), which the %s driver %.300s cannot describe; install a newer driver, "
                           "or use --emulate.",
                           kernel->name, driver->vendor->who, driver->library);
  for (uint32_t i = 0; i < kernel->maps; i++) {
    void *tensor = arguments[kernel->map[i].argument];
    struct tensor_map *map = &loaded->maps[i];
    if (loaded->tensors[i] != tensor && !encode(driver, kernel, &kernel->map[i], tensor, map))
      return 0;
    loaded->tensors[i] = tensor;
    loaded->places[kernel->arguments + i] = map;
  }
  return 1;
}

struct loaded *fusion_driver_new_loaded(struct fusion_gpu_kernel *kernel) {
  uint64_t places = sizeof(struct loaded) + (kernel->arguments + kernel->maps) * sizeof(void *);
  struct loaded *loaded = calloc(1, places);
  if (!loaded || !kernel->maps)
    return loaded;
  loaded->maps = aligned_alloc(sizeof *loaded->maps, kernel->maps * sizeof *loaded->maps);
  loaded->tensors = calloc(kernel->maps, sizeof *loaded->tensors);
  if (loaded->maps && loaded->tensors)
    return loaded;
  fusion_driver_free_loaded(loaded);
  return NULL;
}

void fusion_driver_free_loaded(struct loaded *loaded) {
  free(loaded->maps);
  free(loaded->tensors);
  free(loaded);
}
