/* Runs a model of any batch, with which it is linked, on one row and on three. */
#include <stdio.h>
#include <stdlib.h>

/* Memory for the only output; *user is what to free. */
static void *allocate(void *user, uint32_t output, const struct fusion_tensor *tensor) {
  (void)output;
  return *(float **)user = malloc((size_t)(tensor->shape[0] * tensor->shape[1]) * sizeof(float));
}

int main(void) {
  float x[3 * 4] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, *y;
  for (int64_t rows = 1; rows <= 3; rows += 2) {
    struct fusion_tensor input = {.data = x, .dtype = FUSION_F32, .ndim = 2, .shape = (int64_t[]){rows, 4}};
    int64_t shape[2];
    uint64_t bytes;
    if (fusion_output_shape(&input, 1, 0, shape, 2) != 2 || fusion_run_bytes(&input, 1, &bytes) != 0)
      return fprintf(stderr, "%s\n", fusion_last_error()), 1;
    printf("%ld x %ld\n", (long)shape[0], (long)shape[1]);
    if (fusion_run_tensors(&input, 1, allocate, &y) != 0) return fprintf(stderr, "%s\n", fusion_last_error()), 1;
    for (int64_t row = 0; row < rows; row++) printf("%f %f\n", y[2 * row], y[2 * row + 1]);
    free(y);
  }
  return 0;
}
