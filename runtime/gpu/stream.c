/* What is put onto a driver's stream besides launches and copies: launches that were recorded, and marks.
 *
 *   record   launch launch launch  ->  graph        replay   graph
 *   time     mark 2 | launch | mark 3               an event of the driver, which notes when the stream came to it */

#include "driver.h"

enum {
  OF_THIS_THREAD = 1,      /* other threads may go on using the driver while this one captures */
};

static void drop_graph(struct driver *driver) {
  if (driver->graph)
    CALL(driver, DESTROY_GRAPH, of_handle)(driver->graph);
  driver->graph = NULL;
}

/* Errors are no matter here. The list of marks itself is freed with the driver. */
void fusion_driver_forget(struct driver *driver) {
  drop_graph(driver);
  while (driver->marks_count)
    CALL(driver, DESTROY_EVENT, of_handle)(driver->marks[--driver->marks_count]);
}

/* Graphs. */

_Bool fusion_driver_begin_recording(struct device *device) {
  struct driver *driver = (struct driver *)device;
  for (int i = BEGIN_CAPTURE; i <= DESTROY_RECORDING; i++)
    if (!driver->functions[i])
      return 0;
  drop_graph(driver);
  return !driver->waits_for_each && !CALL(driver, BEGIN_CAPTURE, of_capture)(driver->stream, OF_THIS_THREAD);
}

_Bool fusion_driver_end_recording(struct device *device) {
  struct driver *driver = (struct driver *)device;
  void *recording = NULL, *graph = NULL;
  if (CALL(driver, END_CAPTURE, of_end_capture)(driver->stream, &recording) || !recording)
    return 0;
  _Bool made = !CALL(driver, MAKE_GRAPH, of_make_graph)(&graph, recording, 0);
  CALL(driver, DESTROY_RECORDING, of_handle)(recording);
  driver->graph = made ? graph : NULL;
  return made;
}

_Bool fusion_driver_replay(struct device *device) {
  struct driver *driver = (struct driver *)device;
  int code = CALL(driver, LAUNCH_GRAPH, of_launch_graph)(driver->graph, driver->stream);
  return code ? fusion_driver_fail(driver, code, "Launching the kernels as a graph") : 1;
}

/* Marks. */

static _Bool make_mark(struct driver *driver) {
  for (int i = CREATE_EVENT; i <= DESTROY_EVENT; i++)
    if (!driver->functions[i])
      return fusion_gpu_fail("The %s driver %.300s cannot time what it does, for it has no function %s; install a newer driver, "
                             "or run the model without --profile.",
                             driver->vendor->who, driver->library, driver->vendor->symbols[i]);
  void **more = realloc(driver->marks, (driver->marks_count + 1ull) * sizeof *more);
  if (!more)
    return fusion_gpu_fail("There is no memory for the times of what the run does; profile a shorter run.");
  driver->marks = more;
  int code = CALL(driver, CREATE_EVENT, of_stream)(&more[driver->marks_count], 0);
  if (code)
    return fusion_driver_fail(driver, code, "Making an event to time kernels by");
  driver->marks_count++;
  return 1;
}

_Bool fusion_driver_mark(struct device *device, uint32_t number) {
  struct driver *driver = (struct driver *)device;
  while (driver->marks_count <= number)
    if (!make_mark(driver))
      return 0;
  int code = CALL(driver, RECORD_EVENT, of_launch_graph)(driver->marks[number], driver->stream);
  return code ? fusion_driver_fail(driver, code, "Timing a kernel") : 1;
}

_Bool fusion_driver_between(struct device *device, uint32_t from, uint32_t to, double *seconds) {
  struct driver *driver = (struct driver *)device;
  float milliseconds = 0;
  int code = CALL(driver, TIME_BETWEEN, of_elapsed)(&milliseconds, driver->marks[from], driver->marks[to]);
  *seconds = milliseconds / 1e3;
  return code ? fusion_driver_fail(driver, code, "Reading the time of a kernel") : 1;
}
