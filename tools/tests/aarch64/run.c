/* Runs a compiled model once: run LIBRARY iBYTES... oBYTES..., inputs on the standard input, outputs on the standard output. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *memory(uint64_t bytes) {
  void *at = aligned_alloc(64, (bytes / 64 + 1) * 64);
  return at ? at : (perror("memory"), exit(1), NULL);
}

int main(int count, char **arguments) {
  void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
  int32_t (*run)(const void *const *, void *const *, void *);
  *(void **)&run = dlsym(library, "fusion_run");
  const uint64_t *workspace = dlsym(library, "fusion_workspace_bytes");
  if (!run || !workspace) return fprintf(stderr, "%s\n", dlerror()), 1;
  const void *inputs[64];
  void *outputs[64];
  size_t taken = 0, given = 0, sizes[64];
  for (int i = 2; i < count && taken < 64 && given < 64; i++) {
    size_t bytes = strtoull(arguments[i] + 1, NULL, 10);
    void *at = memory(bytes);
    if (arguments[i][0] == 'i') {
      if (fread(at, 1, bytes, stdin) != bytes) return fprintf(stderr, "an input ends early\n"), 1;
      inputs[taken++] = at;
    } else {
      sizes[given] = bytes;
      outputs[given++] = at;
    }
  }
  if (run(inputs, outputs, memory(*workspace)) != 0) return fprintf(stderr, "fusion_run failed\n"), 1;
  for (size_t i = 0; i < given; i++) fwrite(outputs[i], 1, sizes[i], stdout);
  return 0;
}
