/* When a run did what on the device.
 *
 *   marks   0 1   2 kernel 3   4 kernel 5   6 copy 7 ...      put where the device is, read when the run is over
 *           empty  event 0       event 1      event 2
 *
 * The first two marks have nothing between them: what is between others takes that much less than they say. One run of a
 * library is under way at a time, so that one list is enough. */

#include "device.h"

static _Bool wanted;
static struct fusion_gpu_event *events;
static uint32_t count, room;
static double empty_s;

enum { MARKS_BEFORE = 2, MOST_EVENTS = 1 << 24 };

static uint32_t mark_of(uint32_t event) { return MARKS_BEFORE + 2 * event; }

_Bool fusion_profiles(void) { return wanted; }

void fusion_profile_want(_Bool on) { wanted = on; }

void fusion_profile_drop(void) {
  count = 0;
  empty_s = 0;
}

_Bool fusion_profile_start(struct device *device) {
  fusion_profile_drop();
  return !wanted || (device->kind->mark(device, 0) && device->kind->mark(device, 1));
}

_Bool fusion_event_begins(struct device *device, const struct fusion_gpu_event *event) {
  if (!wanted)
    return 1;
  if (count == room) {
    uint32_t more = room ? 2 * room : 64;
    struct fusion_gpu_event *larger = more <= MOST_EVENTS ? realloc(events, more * sizeof *events) : NULL;
    if (!larger)
      return fusion_gpu_fail("There is no memory for the times of what the run does; profile a shorter run.");
    events = larger;
    room = more;
  }
  events[count] = *event;
  return device->kind->mark(device, mark_of(count));
}

_Bool fusion_event_ends(struct device *device) {
  return !wanted || device->kind->mark(device, mark_of(count++) + 1);
}

/* All marks have been passed. */
_Bool fusion_profile_read(struct device *device) {
  if (!wanted)
    return 1;
  if (!device->kind->between(device, 0, 1, &empty_s))
    return 0;
  for (uint32_t i = 0; i < count; i++)
    if (!device->kind->between(device, 0, mark_of(i), &events[i].begin_s) ||
        !device->kind->between(device, mark_of(i), mark_of(i) + 1, &events[i].seconds))
      return 0;
  return 1;
}

int64_t fusion_profile_list(const struct fusion_gpu_event **list, double *empty) {
  *list = events;
  *empty = empty_s;
  return count;
}
