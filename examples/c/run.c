/* Runs the model it is linked with: two rows of four ones become probabilities of three classes each. */
#include <fusion.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  float x[2 * 4] = {1, 1, 1, 1, 1, 1, 1, 1}, y[2 * 3];
  void *workspace = aligned_alloc(64, (fusion_workspace_bytes / 64 + 1) * 64);
  if (!workspace || fusion_run((const void *const[]){x}, (void *const[]){y}, workspace) != 0) return 1;
  for (int row = 0; row < 2; row++) printf("%f %f %f\n", y[3 * row], y[3 * row + 1], y[3 * row + 2]);
  free(workspace);
  return 0;
}
