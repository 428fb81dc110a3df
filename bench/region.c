/* What a parallel loop costs: cc -O2 bench/region.c THREADS.o -pthread -o region && ./region THREADS [MICROSECONDS]
 *
 * THREADS.o is target/debug/build/fusion-runtime-*\/out/threads-x86_64.o. Prints the median and the 99th percentile of 20000 loops
 * of 16 indices that do nothing, or work for that long in all, one right after another; then of loops with pauses between. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern void fusion_set_threads(int32_t threads);
extern void fusion_parallel(int64_t count, void (*body)(int64_t, int64_t, void *), void *context);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void work(double microseconds) {
  for (double end = now() + microseconds; microseconds > 0 && now() < end;)
    ;
}

static void body(int64_t begin, int64_t end, void *context) { work(*(double *)context * (end - begin)); }

static int ascending(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }

static void measure(const char *name, double each, double pause, int loops) {
  static double took[20000];
  for (int i = 0; i < loops; i++) {
    work(pause);
    double start = now();
    fusion_parallel(16, body, &each);
    took[i] = now() - start;
  }
  qsort(took, loops, sizeof *took, ascending);
  printf("%-24s median %8.2f us   p99 %8.2f us\n", name, took[loops / 2], took[loops * 99 / 100]);
}

int main(int argc, char **argv) {
  double total = argc > 2 ? atof(argv[2]) : 0;
  fusion_set_threads(argc > 1 ? atoi(argv[1]) : 1);
  measure("one after another", total / 16, 0, 20000);
  measure("20 us between", total / 16, 20, 5000);
  measure("1 ms between", total / 16, 1000, 1000);
}
