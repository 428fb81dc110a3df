/* Mbarriers (mbarrier) of the emulator, and TMA copies of tensors that they tell of.
 *
 *   phase 0                                      phase 1
 *   copying thread: expect 4096, copy 4096       others: done, done, done, ...
 *   others: wait 0 ------------- goes on         copying thread: wait 0 of the other mbarrier, expect 4096, ...
 *
 * A copy happens as late as it may: when all have come to the phase that its bytes belong to, and somebody waits for it. Until then its bytes
 * are NaNs that nobody may touch.
 *
 * Races. Mbarriers order what some threads did before what others do after, which barriers of the block do for all. So threads have
 * clocks (Lamport, "Time, clocks, and the ordering of events", 1978; Mattern, "Virtual time and global states", 1989): each knows
 * how far it has come itself, and of each other thread up to which time all that it did has happened. Who comes to a mbarrier leaves
 * what it knows there; who has waited for a phase knows what those knew that came to it. What an actor did at a time that the
 * thread knows of is before what it does now. Copies of a mbarrier are an actor of their own. At barriers all of it begins anew. */

#include "emulate.h"

enum { MOST_BOX = 256, LINE = 128, UNIT = 16 };

/* Clocks. */

static void join(const struct worker *worker, uint32_t to, uint32_t from) {
  uint32_t *a = worker->clocks[to];
  const uint32_t *b = worker->clocks[from];
  for (uint32_t i = 0; i < worker->count; i++)
    a[i] = a[i] > b[i] ? a[i] : b[i];
  for (uint32_t i = MOST_THREADS; i < MOST_THREADS + worker->mbarrier_count; i++)
    a[i] = a[i] > b[i] ? a[i] : b[i];
}

static uint32_t came(uint32_t mbarrier) { return MOST_THREADS + mbarrier; }
static uint32_t over(uint32_t mbarrier) { return MBARRIERS_OVER + mbarrier; }

/* A block that failed has left copies. */
void fusion_begin_mbarriers(struct worker *worker) {
  for (uint32_t i = 0; i < worker->mbarrier_count; i++)
    for (struct copy *copy = worker->mbarriers[i].copies, *next; copy; copy = next) {
      next = copy->next;
      fusion_set_copier(worker, copy, 0);
      copy->next = worker->spare_copies;
      worker->spare_copies = copy;
    }
  worker->mbarrier_count = 0;
}

void fusion_clocks_at_barrier(struct worker *worker) {
  if (!worker->mbarrier_count)
    return;
  for (uint32_t i = 0; i < worker->count; i++) {
    memset(worker->clocks[i], 0, sizeof *worker->clocks);
    worker->clocks[i][i] = 1;
  }
  for (uint32_t i = 0; i < worker->mbarrier_count; i++) {
    memset(worker->clocks[came(i)], 0, sizeof *worker->clocks);
    memset(worker->clocks[over(i)], 0, sizeof *worker->clocks);
  }
}

void fusion_read_together(struct worker *worker, const struct warp *warp) {
  uint32_t first = warp->threads[0].number;
  if (!worker->mbarrier_count)
    return;
  for (uint32_t i = 1; i < warp->count; i++)
    join(worker, first, first + i);
  for (uint32_t i = 1; i < warp->count; i++)
    join(worker, first + i, first);
}

_Bool fusion_is_before(const struct worker *worker, uint16_t actor, uint32_t when, const struct thread *thread) {
  return actor == thread->number || (worker->mbarrier_count && worker->clocks[thread->number][actor] >= when);
}

/* Mbarriers. */

static uint32_t mbarrier_at(struct worker *worker, const struct thread *thread, const void *place, const char *does) {
  uint64_t byte = fusion_place_of(worker, thread, place, 8, does);
  for (uint32_t i = 0; i < worker->mbarrier_count; i++)
    if (worker->mbarriers[i].place == byte) {
      fusion_note_access(worker, thread, place, 8, 0);
      return i;
    }
  fusion_emulated_fail(worker, thread, "it %s a mbarrier at byte %llu of shared memory, where none was made", does,
                       (unsigned long long)byte);
}

void fusion_emulated_mbarrier_init(void *mbarrier, int64_t mbarriers, int64_t count) {
  struct worker *worker = fusion_worker();
  struct thread *thread = worker->current;
  if (mbarriers < 1 || worker->mbarrier_count + mbarriers > MOST_MBARRIERS || count < 1 || count >= 1 << 20 || (uintptr_t)mbarrier % 8)
    fusion_emulated_fail(worker, thread,
                         "it makes %lld mbarriers of %lld threads; a block has up to %d, of 1 to 1048575, at multiples of 8 bytes",
                         (long long)mbarriers, (long long)count, MOST_MBARRIERS);
  if (!worker->clocks && !(worker->clocks = calloc(MBARRIERS_OVER + MOST_MBARRIERS, sizeof *worker->clocks)))
    fusion_emulated_fail(worker, thread, "there is no memory for mbarriers");
  _Bool first = !worker->mbarrier_count;
  for (int64_t i = 0; i < mbarriers; i++) {
    char *place = (char *)mbarrier + 8 * i;
    fusion_note_access(worker, thread, place, 8, 1);
    uint32_t number = worker->mbarrier_count++;
    worker->mbarriers[number] =
        (struct mbarrier){.place = (uint64_t)(place - (char *)worker->shared), .count = (uint32_t)count, .missing = (uint32_t)count};
    memset(worker->clocks[came(number)], 0, sizeof *worker->clocks);
    memset(worker->clocks[over(number)], 0, sizeof *worker->clocks);
  }
  if (first)
    fusion_clocks_at_barrier(worker);
}

/* Bytes of a box: lines along the first axis, one behind the other. */
static void copy_box(struct worker *worker, const struct copy *copy) {
  const struct fusion_gpu_map *map = copy->map;
  int64_t begin = copy->at[0] > 0 ? copy->at[0] : 0, end = copy->at[0] + (int64_t)map->box[0];
  end = end < (int64_t)map->extents[0] ? end : (int64_t)map->extents[0];
  uint64_t size = map->element_bytes, line = map->box[0] * size, first = (uint64_t)(copy->to - worker->shared);
  for (uint64_t number = 0; number < copy->bytes / line; number++) {
    const unsigned char *from = copy->from;
    uint64_t rest = number;
    _Bool inside = 1;
    for (uint64_t axis = 1; axis < map->rank; axis++) {
      int64_t index = copy->at[axis] + (int64_t)(rest % map->box[axis]);
      rest /= map->box[axis];
      if (index < 0 || (uint64_t)index >= map->extents[axis])
        inside = 0;
      else
        from += (uint64_t)index * map->strides[axis];
    }
    if (inside && begin < end)
      fusion_note_global(worker, (uint32_t)map->argument, (uint64_t)(from - copy->from) + (uint64_t)begin * size,
                         (uint64_t)(end - begin) * size, size, 0);
    for (uint64_t i = 0; i < map->box[0]; i++) {
      uint64_t byte = first + number * line + i * size;
      if (map->swizzled)
        byte ^= byte >> 3 & 0x70;
      int64_t index = copy->at[0] + (int64_t)i;
      if (inside && index >= 0 && (uint64_t)index < map->extents[0])
        memcpy(worker->shared + byte, from + (uint64_t)index * size, size);
      else
        memset(worker->shared + byte, 0, size);
    }
  }
}

static void do_copies(struct worker *worker, uint32_t number) {
  struct mbarrier *mbarrier = &worker->mbarriers[number];
  if (mbarrier->copies)
    worker->clocks[over(number)][MOST_THREADS + number] = ++mbarrier->done;
  for (struct copy *copy = mbarrier->copies; copy;) {
    struct copy *next = copy->next;
    fusion_set_copier(worker, copy, 0);
    copy_box(worker, copy);
    for (uint64_t byte = (uint64_t)(copy->to - worker->shared), end = byte + copy->bytes; byte < end; byte++)
      worker->shadow[byte] = (struct shadow){.interval = worker->interval,
                                             .written = mbarrier->done,
                                             .writer = (uint16_t)(MOST_THREADS + number),
                                             .reader = NOBODY,
                                             .other_reader = NOBODY};
    copy->next = worker->spare_copies;
    worker->spare_copies = copy;
    copy = next;
  }
  mbarrier->copies = NULL;
}

static _Bool is_waited_for(const struct worker *worker, uint32_t number) {
  for (uint32_t i = 0; i < worker->count; i++)
    if (worker->threads[i].state == AT_MBARRIER && worker->threads[i].mbarrier == number)
      return 1;
  return 0;
}

/* Ends the phase where all have come and all bytes are there, or can be. */
static void go_on(struct worker *worker, uint32_t number) {
  struct mbarrier *mbarrier = &worker->mbarriers[number];
  if (mbarrier->missing || mbarrier->expected != mbarrier->asked || (mbarrier->copies && !is_waited_for(worker, number)))
    return;
  do_copies(worker, number);
  join(worker, over(number), came(number));
  mbarrier->phase++;
  mbarrier->missing = mbarrier->count;
  mbarrier->expected = mbarrier->asked = 0;
  for (uint32_t i = 0; i < worker->count; i++) {
    struct thread *thread = &worker->threads[i];
    if (thread->state == AT_MBARRIER && thread->mbarrier == number) {
      join(worker, i, over(number));
      thread->state = RUNS;
    }
  }
}

static void come(struct worker *worker, struct thread *thread, uint32_t number) {
  struct mbarrier *mbarrier = &worker->mbarriers[number];
  if (!mbarrier->missing)
    fusion_emulated_fail(worker, thread, "it comes to the mbarrier at byte %llu in phase %lld, to which all %u threads have come",
                         (unsigned long long)mbarrier->place, (long long)mbarrier->phase, mbarrier->count);
  mbarrier->missing--;
  join(worker, came(number), thread->number);
  worker->clocks[thread->number][thread->number]++;
  go_on(worker, number);
}

void fusion_emulated_mbarrier_expect(void *mbarrier, int64_t bytes) {
  struct worker *worker = fusion_worker();
  struct thread *thread = worker->current;
  uint32_t number = mbarrier_at(worker, thread, mbarrier, "comes to");
  if (bytes < 1 || bytes >= 1 << 20)
    fusion_emulated_fail(worker, thread, "it has a mbarrier expect %lld bytes; a phase has 1 to 1048575", (long long)bytes);
  worker->mbarriers[number].expected += bytes;
  come(worker, thread, number);
}

void fusion_emulated_mbarrier_arrive(void *mbarrier) {
  struct worker *worker = fusion_worker();
  come(worker, worker->current, mbarrier_at(worker, worker->current, mbarrier, "comes to"));
}

void fusion_emulated_mbarrier_wait(void *place, int64_t phase) {
  struct worker *worker = fusion_worker();
  struct thread *thread = worker->current;
  uint32_t number = mbarrier_at(worker, thread, place, "waits for");
  struct mbarrier *mbarrier = &worker->mbarriers[number];
  if (phase != mbarrier->phase && phase != mbarrier->phase - 1)
    fusion_emulated_fail(worker, thread,
                         "it waits for phase %lld of the mbarrier at byte %llu, which is in phase %lld; what runs knows phases by whether they are "
                         "even, and takes it for another",
                         (long long)phase, (unsigned long long)mbarrier->place, (long long)mbarrier->phase);
  if (phase < mbarrier->phase) {
    join(worker, thread->number, over(number));
    return;
  }
  thread->state = AT_MBARRIER;
  thread->mbarrier = number;
  thread->phase = phase;
  go_on(worker, number);
  if (thread->state == AT_MBARRIER)
    fusion_stop_here(worker);
}

void fusion_describe_wait(const struct worker *worker, const struct thread *thread, char *text, size_t bytes) {
  const struct mbarrier *mbarrier = &worker->mbarriers[thread->mbarrier];
  snprintf(text, bytes, "it waits for phase %lld of the mbarrier at byte %llu, to which %u threads and %lld bytes never come",
           (long long)thread->phase, (unsigned long long)mbarrier->place, mbarrier->missing,
           (long long)(mbarrier->expected - mbarrier->asked));
}

const struct mbarrier *fusion_left_mbarrier(const struct worker *worker) {
  for (uint32_t i = 0; i < worker->mbarrier_count; i++)
    if (worker->mbarriers[i].copies)
      return &worker->mbarriers[i];
  return NULL;
}

/* Copies. */

/* What the driver would refuse, or the device do otherwise (CUDA driver API, cuTensorMapEncodeTiled). */
static const char *what_is_wrong(const struct fusion_gpu_map *map, const unsigned char *tensor) {
  uint64_t size = map->element_bytes;
  if (map->rank < 1 || map->rank > FUSION_MAP_AXES || (size != 1 && size != 2 && size != 4 && size != 8))
    return "has no such number of axes, or size of elements";
  if ((uintptr_t)tensor % UNIT)
    return "does not begin at a multiple of 16 bytes";
  for (uint64_t axis = 0; axis < map->rank; axis++) {
    if (map->extents[axis] < 1 || map->extents[axis] > (uint64_t)1 << 32 || map->box[axis] < 1 || map->box[axis] > MOST_BOX)
      return "has an extent, or its box has one, that no map can have";
    if (axis && (map->strides[axis] % UNIT || map->strides[axis] >= (uint64_t)1 << 40))
      return "has lines that do not lie a multiple of 16 bytes apart";
  }
  if (map->box[0] * size % UNIT || (map->swizzled && map->box[0] * size > LINE))
    return "is copied in lines that are no multiples of 16 bytes, or longer than 128 where they are swizzled";
  return NULL;
}

void fusion_emulated_copy_tensor(int32_t which, void *shared, void *place, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
  struct worker *worker = fusion_worker();
  struct thread *thread = worker->current;
  const struct fusion_gpu_kernel *kernel = worker->kernel;
  if (which < 0 || (uint32_t)which >= kernel->maps || kernel->map[which].argument >= kernel->arguments)
    fusion_emulated_fail(worker, thread, "it copies of tensor map %d, of which the kernel has %u", which, kernel->maps);
  const struct fusion_gpu_map *map = &kernel->map[which];
  const unsigned char *tensor = worker->arguments[map->argument];
  const char *wrong = what_is_wrong(map, tensor);
  if (wrong)
    fusion_emulated_fail(worker, thread, "the tensor of map %d %s", which, wrong);
  uint32_t number = mbarrier_at(worker, thread, place, "copies for");
  struct mbarrier *mbarrier = &worker->mbarriers[number];
  uint64_t bytes = map->element_bytes;
  for (uint64_t axis = 0; axis < map->rank; axis++)
    bytes *= map->box[axis];
  if ((uintptr_t)shared % LINE)
    fusion_emulated_fail(worker, thread, "it copies a box of a tensor to an address that is not a multiple of %d bytes", LINE);
  fusion_note_access(worker, thread, shared, bytes, 1);
  struct copy *copy = fusion_new_copy(worker, thread);
  *copy = (struct copy){
      .next = mbarrier->copies, .to = shared, .from = tensor, .bytes = (uint32_t)bytes, .map = map, .at = {a, b, c, d, e}};
  mbarrier->copies = copy;
  mbarrier->asked += (int64_t)bytes;
  memset(shared, 0xff, bytes); /* who reads it too early sees NaNs */
  fusion_set_copier(worker, copy, (uint16_t)(thread->number + 1));
  go_on(worker, number);
}
