/* What all threads of a warp that have not ended do together: the last of them that comes does it for all. */

#include "emulate.h"

static void do_shuffle(struct worker *worker, struct warp *warp) {
  static const char *const names[] = {"xor", "up", "down", "index"};
  int64_t given[64];
  for (uint32_t i = 0; i < warp->count; i++) {
    struct thread *thread = &warp->threads[i];
    const struct request *r = &thread->request;
    if (thread->state == ENDED)
      continue;
    if (r->what < FUSION_XOR || r->what > FUSION_INDEX || r->width < 1 || r->width > (int32_t)worker->warp_size ||
        (r->width & (r->width - 1)))
      fusion_emulated_fail(worker, thread, "a shuffle of mode %d and width %d: modes are 0 to 3, widths powers of two up to %u",
                           r->what, r->width, worker->warp_size);
    int64_t lane = i, first = lane & -(int64_t)r->width, end = first + r->width, from;
    switch (r->what) {
    case FUSION_XOR:
      from = lane ^ r->offset;
      break;
    case FUSION_UP:
      from = lane - r->offset;
      break;
    case FUSION_DOWN:
      from = lane + r->offset;
      break;
    default:
      from = first + (r->offset & (r->width - 1));
    }
    /* Of `xor`, the parts before its own are in reach as well. */
    if (from >= end || from < (r->what == FUSION_XOR ? 0 : first))
      from = lane;
    if (from >= warp->count)
      fusion_emulated_fail(worker, thread, "a shuffle (%s %d) asks for thread %d of its warp, which has %u in this block",
                           names[r->what], r->offset, (int)from, warp->count);
    const struct thread *partner = &warp->threads[from];
    if (partner->state == ENDED)
      fusion_emulated_fail(worker, thread, "a shuffle (%s %d) asks for what thread (%u, %u, %u) has, which has ended",
                           names[r->what], r->offset, partner->place[0], partner->place[1], partner->place[2]);
    if (partner->request.what != r->what || partner->request.width != r->width)
      fusion_emulated_fail(worker, thread, "a shuffle (%s, width %d) meets another (%s, width %d) of thread (%u, %u, %u)",
                           names[r->what], r->width, names[partner->request.what & 3], partner->request.width,
                           partner->place[0], partner->place[1], partner->place[2]);
    given[i] = partner->request.bits;
  }
  for (uint32_t i = 0; i < warp->count; i++)
    warp->threads[i].request.bits = given[i];
}

void fusion_do_collective(struct worker *worker, struct warp *warp) {
  static const char *const names[] = {"a shuffle", "a matrix instruction", "ldmatrix", "wgmma"};
  const struct thread *first = NULL;
  for (uint32_t i = 0; i < warp->count; i++) {
    const struct thread *thread = &warp->threads[i];
    if (thread->state == ENDED)
      continue;
    if (!first)
      first = thread;
    else if (thread->request.kind != first->request.kind)
      fusion_emulated_fail(worker, thread, "it came to %s while thread (%u, %u, %u) of its warp came to %s",
                           names[thread->request.kind], first->place[0], first->place[1], first->place[2],
                           names[first->request.kind]);
  }
  for (uint32_t i = 0; i < warp->count && first->request.kind != SHUFFLE; i++)
    if (warp->threads[i].state == ENDED)
      fusion_emulated_fail(worker, &warp->threads[i], "it ended without coming to %s with the other threads of its warp",
                           names[first->request.kind]);
  switch (first->request.kind) {
  case SHUFFLE:
    do_shuffle(worker, warp);
    break;
  case MATRIX:
    fusion_do_matrix(worker, warp);
    break;
  case LOAD_MATRIX:
    fusion_do_load_matrix(worker, warp);
    break;
  case MULTIPLY_SHARED:
    fusion_do_multiply_shared(worker, warp);
    break;
  }
  for (uint32_t i = 0; i < warp->count; i++)
    if (warp->threads[i].state == AT_COLLECTIVE)
      warp->threads[i].state = RUNS;
  warp->arrived = 0;
}

void fusion_collective(struct worker *worker, const struct request *request) {
  struct thread *thread = worker->current;
  struct warp *warp = worker->warp;
  thread->request = *request;
  if (++warp->arrived < warp->live) {
    thread->state = AT_COLLECTIVE;
    fusion_stop_here(worker);
    return;
  }
  fusion_do_collective(worker, warp);
}

int64_t fusion_emulated_shuffle(int32_t mode, int64_t bits, int32_t offset, int32_t width) {
  struct worker *worker = fusion_worker();
  struct thread *thread = worker->current;
  fusion_collective(worker, &(struct request){.kind = SHUFFLE, .what = mode, .offset = offset, .width = width, .bits = bits});
  return thread->request.bits;
}
