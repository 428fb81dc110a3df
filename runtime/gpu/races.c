/* Who reads and writes what of shared memory between two barriers, and asynchronous copies to it.
 *
 *   interval 0           barrier           interval 1
 *   thread 3 writes byte 8                 thread 5 reads byte 8          in order
 *   thread 3 writes byte 8                                                a race: there is no order between the two
 *   thread 5 reads  byte 8
 *
 * Two accesses of one byte by different threads in one interval race unless both are reads. Each byte has a shadow that says
 * who did what in which interval; an older interval counts as nothing. Within an interval, mbarriers order accesses (mbarriers.c); of those
 * that read a byte at the same time, two are remembered. An asynchronous copy writes from where it is asked for until it is waited
 * for: nobody may touch its bytes in between. */

#include "emulate.h"

static void race(struct worker *worker, const struct thread *thread, const char *does, uint64_t byte, uint16_t other,
                 const char *did) {
  if (other >= MOST_THREADS)
    fusion_emulated_fail(worker, thread,
                         "a race: it %s byte %llu of shared memory, which a copy of a tensor %s; it has not waited for the mbarrier of the copy",
                         does, (unsigned long long)byte, did);
  const uint32_t *place = worker->threads[other].place;
  fusion_emulated_fail(worker, thread,
                       "a race: it %s byte %llu of shared memory, which thread (%u, %u, %u) %s since the last barrier; a barrier "
                       "is missing between the two",
                       does, (unsigned long long)byte, place[0], place[1], place[2], did);
}

/* Whether an access is before what the thread does now; one that nobody made is. */
static _Bool happened(const struct worker *worker, uint16_t actor, uint32_t when, const struct thread *thread) {
  return actor == NOBODY || fusion_is_before(worker, actor, when, thread);
}

static void touch(struct worker *worker, const struct thread *thread, uint64_t byte, _Bool is_write) {
  struct shadow *shadow = &worker->shadow[byte];
  uint16_t number = thread->number;
  if (shadow->interval != worker->interval) {
    shadow->interval = worker->interval;
    shadow->writer = shadow->reader = shadow->other_reader = NOBODY;
  }
  uint32_t now = worker->mbarrier_count ? worker->clocks[number][number] : 1;
  if (!happened(worker, shadow->writer, shadow->written, thread))
    race(worker, thread, is_write ? "writes" : "reads", byte, shadow->writer, "wrote");
  if (is_write) {
    if (!happened(worker, shadow->reader, shadow->read, thread))
      race(worker, thread, "writes", byte, shadow->reader, "read");
    if (!happened(worker, shadow->other_reader, shadow->read_otherwise, thread))
      race(worker, thread, "writes", byte, shadow->other_reader, "read");
    shadow->writer = number;
    shadow->written = now;
  } else if (happened(worker, shadow->reader, shadow->read, thread)) {
    shadow->reader = number;
    shadow->read = now;
  } else {
    shadow->other_reader = number;
    shadow->read_otherwise = now;
  }
}

/* The place in shared memory, of which there must be so much. */
uint64_t fusion_place_of(struct worker *worker, const struct thread *thread, const void *address, uint64_t bytes,
                         const char *does) {
  uint64_t byte = (uint64_t)((uintptr_t)address - (uintptr_t)worker->shared);
  if (byte > worker->shared_bytes || bytes > worker->shared_bytes - byte)
    fusion_emulated_fail(worker, thread, "it %s %llu bytes from byte %lld of shared memory on, of which a block has %llu", does,
                         (unsigned long long)bytes, (long long)byte, (unsigned long long)worker->shared_bytes);
  return byte;
}

void fusion_note_access(struct worker *worker, const struct thread *thread, const void *address, uint64_t bytes, _Bool is_write) {
  const char *does = is_write ? "writes" : "reads";
  uint64_t first = fusion_place_of(worker, thread, address, bytes, does);
  for (uint64_t byte = first; byte < first + bytes; byte++) {
    uint16_t copier = worker->shadow[byte].copier;
    if (copier) {
      const uint32_t *place = worker->threads[copier - 1].place;
      fusion_emulated_fail(worker, thread,
                           "it %s byte %llu of shared memory while an asynchronous copy of thread (%u, %u, %u) to it is under "
                           "way; wait for the copy first",
                           does, (unsigned long long)byte, place[0], place[1], place[2]);
    }
    touch(worker, thread, byte, is_write);
  }
}

void fusion_emulated_access(const void *address, int64_t bytes, int32_t is_write) {
  struct worker *worker = fusion_worker();
  if (bytes > 0)
    fusion_note_access(worker, worker->current, address, (uint64_t)bytes, is_write != 0);
}

void fusion_next_interval(struct worker *worker) {
  fusion_clocks_at_barrier(worker);
  if (++worker->interval != 0)
    return;
  for (uint64_t byte = 0; byte < MOST_SHARED; byte++)
    worker->shadow[byte].interval = 0;
  worker->interval = 1;
}

/* Asynchronous copies. */

void fusion_set_copier(struct worker *worker, const struct copy *copy, uint16_t copier) {
  uint64_t first = (uint64_t)(copy->to - worker->shared);
  for (uint64_t byte = first; byte < first + copy->bytes; byte++)
    worker->shadow[byte].copier = copier;
}

struct copy *fusion_new_copy(struct worker *worker, const struct thread *thread) {
  struct copy *copy = worker->spare_copies;
  if (copy)
    worker->spare_copies = copy->next;
  else if (!(copy = malloc(sizeof *copy)))
    fusion_emulated_fail(worker, thread, "there is no memory for an asynchronous copy");
  return copy;
}

/* Takes the thread's first copy out of its list. */
static void finish(struct worker *worker, struct thread *thread) {
  struct copy *copy = thread->copies;
  fusion_set_copier(worker, copy, 0);
  if (!(thread->copies = copy->next))
    thread->last_copy = &thread->copies;
  copy->next = worker->spare_copies;
  worker->spare_copies = copy;
}

void fusion_drop_copies(struct worker *worker, struct thread *thread) {
  while (thread->copies)
    finish(worker, thread);
}

void fusion_emulated_copy_async(void *shared, const void *global, int64_t bytes, int64_t copied) {
  struct worker *worker = fusion_worker();
  struct thread *thread = worker->current;
  if ((bytes != 4 && bytes != 8 && bytes != 16) || copied < 0 || copied > bytes)
    fusion_emulated_fail(worker, thread, "an asynchronous copy of %lld of %lld bytes; it copies 4, 8 or 16 bytes or fewer of them",
                         (long long)copied, (long long)bytes);
  if (((uintptr_t)shared | (copied ? (uintptr_t)global : 0)) & (uintptr_t)(bytes - 1))
    fusion_emulated_fail(worker, thread, "an asynchronous copy of %lld bytes from or to an address that is not a multiple of it",
                         (long long)bytes);
  fusion_note_access(worker, thread, shared, (uint64_t)bytes, 1);
  struct copy *copy = fusion_new_copy(worker, thread);
  *copy = (struct copy){
      .to = shared, .from = global, .bytes = (uint32_t)bytes, .copied = (uint32_t)copied, .group = thread->groups};
  *thread->last_copy = copy;
  thread->last_copy = &copy->next;
  memset(shared, 0xff, (size_t)bytes); /* who reads it too early sees NaNs */
  fusion_set_copier(worker, copy, (uint16_t)(thread->number + 1));
}

void fusion_emulated_commit(void) { fusion_worker()->current->groups++; }

void fusion_emulated_wait(int64_t groups_left) {
  struct worker *worker = fusion_worker();
  struct thread *thread = worker->current;
  while (thread->copies && (int64_t)thread->copies->group < (int64_t)thread->groups - groups_left) {
    struct copy copy = *thread->copies;
    finish(worker, thread);
    fusion_note_access(worker, thread, copy.to, copy.bytes, 1);
    memcpy(copy.to, copy.from, copy.copied);
    memset(copy.to + copy.copied, 0, copy.bytes - copy.copied);
  }
}
