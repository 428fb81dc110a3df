/* A device behind a driver that is loaded when it is first needed, so that libraries are linked with none.
 *
 *     open     load the library, find its functions, initialise, choose the device, its primary context, one stream
 *     launch   load the image that the kernel is in (once), find the function (once), launch on the stream
 *     wait     until the stream is done: here come the errors of what ran meanwhile
 *
 * All that is asked for is put onto the one stream and happens in order. The primary context is that which other software in
 * the process uses as well, so that its memory may be given to runs. An error code becomes a sentence by what was tried and by
 * the row of the code in `troubles`; both drivers number their errors alike. */

#include "driver.h"

enum {
  DYNAMIC_WITHOUT_ASKING = 48 << 10,
  /* Options of cuModuleLoadDataEx. */
  ERROR_LOG = 5,
  ERROR_LOG_BYTES = 6,
};

enum trouble {
  OTHER,       /* what the driver says has to do */
  NO_DEVICE,
  OLD_DRIVER,
  NO_MEMORY,
  WRONG_IMAGE,
  LIMITS,      /* of a launch */
  LOST,        /* nothing works any more */
};

static const struct {
  int code;
  enum trouble trouble;
} troubles[] = {
    {2, NO_MEMORY},     {35, OLD_DRIVER},   {803, OLD_DRIVER},  {804, OLD_DRIVER},  {100, NO_DEVICE},   {101, NO_DEVICE},
    {200, WRONG_IMAGE}, {209, WRONG_IMAGE}, {218, WRONG_IMAGE}, {222, WRONG_IMAGE}, {300, WRONG_IMAGE}, {301, WRONG_IMAGE},
    {303, WRONG_IMAGE}, {1, LIMITS},        {9, LIMITS},        {701, LIMITS},      {46, LOST},         {214, LOST},
    {220, LOST},        {226, LOST},        {700, LOST},        {702, LOST},        {709, LOST},        {710, LOST},
    {714, LOST},        {715, LOST},        {716, LOST},        {717, LOST},        {718, LOST},        {719, LOST},
    {999, LOST},
};

/* Errors. */

static enum trouble trouble_of(int code) {
  for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++)
    if (troubles[i].code == code)
      return troubles[i].trouble;
  return OTHER;
}

static const char *text_of(const struct driver *driver, enum function which, int code) {
  const char *text = NULL;
  if (!driver->functions[which])
    return "?";
  if (driver->vendor->gives_texts)
    text = CALL(driver, which, gives_text)(code);
  else if (CALL(driver, which, writes_text)(code, &text))
    text = NULL;
  return text ? text : "?";
}

/* What went wrong and what the driver says of it, then what to do. */
_Bool fusion_driver_fail(struct driver *driver, int code, const char *what) {
  enum trouble trouble = trouble_of(code);
  const char *name = text_of(driver, ERROR_NAME, code), *text = text_of(driver, ERROR_TEXT, code);
  const char *todo = "run the model with --emulate if it stays so";
  switch (trouble) {
  case NO_DEVICE:
    todo = "look whether the system shows the device to this program, or use --emulate";
    break;
  case OLD_DRIVER:
    todo = "install a newer driver, or use --emulate";
    break;
  case NO_MEMORY:
    todo = "end other programs that use the device, run the model with a smaller batch, or use --emulate";
    break;
  case LOST:
    driver->device.lost = 1;
    todo = "what the model had on the device is lost, and the next run begins anew; if that fails as well start the program "
           "again, and with --emulate a kernel that is wrong is found";
    break;
  default:
    break;
  }
  return fusion_gpu_fail("%s failed on %s device %d%s%s%s: %.100s (%d, %.300s); %s.", what, driver->vendor->who, driver->number,
                         driver->name[0] ? " (" : "", driver->name, driver->name[0] ? ")" : "", name, code, text, todo);
}

/* Opening. */

static _Bool find_functions(struct driver *driver) {
  const struct vendor *vendor = driver->vendor;
  const char *given = getenv(vendor->variable), *const *name = given && *given ? &given : vendor->libraries;
  const char *const *after = given && *given ? name + 1 : name + sizeof vendor->libraries / sizeof *vendor->libraries;
  char why[300] = "";
  void *library = NULL;
  for (; !library && name < after && *name; name++) {
    library = dlopen(*name, 2 /* all at once */);
    const char *said = library ? NULL : dlerror();
    snprintf(driver->library, sizeof driver->library, "%s", *name);
    if (said && !why[0])
      snprintf(why, sizeof why, "%s", said);
  }
  if (!library)
    return fusion_gpu_fail("There is no %s driver: %.300s cannot be loaded (%s); install the driver, name its library in "
                           "%s, or use --emulate.",
                           vendor->who, given && *given ? given : vendor->libraries[0], why, vendor->variable);
  for (int i = 0; i < FUNCTIONS; i++) {
    if (!vendor->symbols[i])
      continue;
    driver->functions[i] = dlsym(library, vendor->symbols[i]);
    if (!driver->functions[i] && i < BEGIN_CAPTURE)
      return fusion_gpu_fail("The %s driver %.300s has no function %s; install a newer driver, or use --emulate.", vendor->who,
                             driver->library, vendor->symbols[i]);
  }
  return 1;  /* the library stays: drivers do not like to be unloaded */
}

static _Bool choose_device(struct driver *driver, int32_t number) {
  const struct vendor *vendor = driver->vendor;
  int count = 0, code = CALL(driver, INITIALIZE, of_number)(0);
  if (!code)
    code = CALL(driver, COUNT_DEVICES, of_place)(&count);
  if (trouble_of(code) == NO_DEVICE || (!code && count == 0))
    return fusion_gpu_fail("There is an %s driver, but it finds no device; look whether the system shows one to this program, or "
                           "use --emulate.",
                           vendor->who);
  if (code)
    return fusion_driver_fail(driver, code, "Starting the driver");
  if (number >= count)
    return fusion_gpu_fail("There is no %s device %d: there %s %d, and the first is 0; choose one with --device or "
                           "FUSION_DEVICE.",
                           vendor->who, number, count == 1 ? "is" : "are", count);
  if ((code = CALL(driver, GET_DEVICE, of_places)(&driver->handle, number)))
    return fusion_driver_fail(driver, code, "Opening");
  if (CALL(driver, NAME_OF_DEVICE, of_name)(driver->name, sizeof driver->name, driver->handle))
    driver->name[0] = 0;
  driver->name[sizeof driver->name - 1] = 0;
  if (driver->functions[RETAIN_CONTEXT]) {
    void *context = NULL;
    if ((code = CALL(driver, RETAIN_CONTEXT, of_retain)(&context, driver->handle)))
      return fusion_driver_fail(driver, code, "Opening");
    driver->context = context;
  }
  return 1;
}

static _Bool make_stream(struct driver *driver) {
  if (!fusion_driver_enter(&driver->device))
    return 0;
  /* A stream that waits for the default one: who gives tensors of the device may have written them there. */
  int code = CALL(driver, CREATE_STREAM, of_stream)(&driver->own_stream, 0);
  driver->stream = driver->own_stream;
  driver->has_stream = !code;
  if (code)
    fusion_driver_fail(driver, code, "Making a stream");
  fusion_driver_leave(&driver->device);
  return !code;
}

struct device *fusion_driver_open(const struct device_kind *kind, int32_t number) {
  struct driver *driver = calloc(1, sizeof *driver);
  if (!driver) {
    fusion_gpu_fail("There is no memory for a device.");
    return NULL;
  }
  const char *each = getenv("FUSION_GPU_WAIT");
  driver->device.kind = kind;
  driver->vendor = kind->facts;
  driver->number = number;
  driver->waits_for_each = each && *each && *each != '0';
  if (find_functions(driver) && choose_device(driver, number) && make_stream(driver))
    return &driver->device;
  fusion_driver_close(&driver->device);
  return NULL;
}

/* Errors are no matter here: what cannot be freed is gone with the device. */
void fusion_driver_close(struct device *device) {
  struct driver *driver = (struct driver *)device;
  while (driver->loaded) {
    struct loaded *next = driver->loaded->next;
    driver->loaded->kernel->state = NULL;
    fusion_driver_free_loaded(driver->loaded);
    driver->loaded = next;
  }
  _Bool entered = driver->has_stream && fusion_driver_enter(device);
  if (entered)
    fusion_driver_forget(driver);
  while (driver->modules) {
    struct module *next = driver->modules->next;
    if (entered)
      CALL(driver, UNLOAD, of_handle)(driver->modules->handle);
    free(driver->modules);
    driver->modules = next;
  }
  if (entered) {
    CALL(driver, DESTROY_STREAM, of_handle)(driver->own_stream);
    fusion_driver_leave(device);
  }
  if (driver->context)
    CALL(driver, RELEASE_CONTEXT, of_number)((unsigned)driver->handle);
  free(driver->marks);
  free(driver);
}

_Bool fusion_driver_enter(struct device *device) {
  struct driver *driver = (struct driver *)device;
  int code;
  if (driver->functions[PUSH_CONTEXT]) {
    code = CALL(driver, PUSH_CONTEXT, of_handle)(driver->context);
  } else {
    code = CALL(driver, CURRENT_DEVICE, of_place)(&driver->before);
    if (!code)
      code = CALL(driver, SET_DEVICE, of_number)((unsigned)driver->number);
  }
  return code ? fusion_driver_fail(driver, code, "Turning to the device") : 1;
}

void fusion_driver_leave(struct device *device) {
  struct driver *driver = (struct driver *)device;
  void *context;
  if (driver->functions[POP_CONTEXT])
    CALL(driver, POP_CONTEXT, of_handle_place)(&context);
  else
    CALL(driver, SET_DEVICE, of_number)((unsigned)driver->before);
}

/* Memory. */

void *fusion_driver_allocate(struct device *device, uint64_t bytes, const char *what) {
  struct driver *driver = (struct driver *)device;
  void *memory = NULL;
  int code = CALL(driver, ALLOCATE, of_allocate)(&memory, bytes ? bytes : 1);
  if (!code)
    return memory;
  char tried[128];
  snprintf(tried, sizeof tried, "Getting memory for the %llu bytes of the model's %s", (unsigned long long)bytes, what);
  fusion_driver_fail(driver, code, tried);
  return NULL;
}

void fusion_driver_release(struct device *device, void *memory) {
  CALL((struct driver *)device, FREE, of_handle)(memory);
}

_Bool fusion_driver_upload(struct device *device, void *to, const void *from, uint64_t bytes) {
  struct driver *driver = (struct driver *)device;
  int code = bytes ? CALL(driver, UPLOAD, of_copy)(to, from, bytes, driver->stream) : 0;
  return code ? fusion_driver_fail(driver, code, "Copying to the device") : 1;
}

_Bool fusion_driver_download(struct device *device, void *to, const void *from, uint64_t bytes) {
  struct driver *driver = (struct driver *)device;
  int code = bytes ? CALL(driver, DOWNLOAD, of_copy)(to, from, bytes, driver->stream) : 0;
  return code ? fusion_driver_fail(driver, code, "Copying from the device") : 1;
}

_Bool fusion_driver_copy(struct device *device, void *to, const void *from, uint64_t bytes) {
  struct driver *driver = (struct driver *)device;
  int code = bytes ? CALL(driver, COPY, of_copy)(to, from, bytes, driver->stream) : 0;
  return code ? fusion_driver_fail(driver, code, "Copying on the device") : 1;
}

/* Kernels. */

static _Bool fail_load(struct driver *driver, const struct fusion_gpu_kernel *kernel, int code) {
  char architecture[32] = "", what[300];
  int major, minor;
  if (trouble_of(code) != WRONG_IMAGE) {
    snprintf(what, sizeof what, "Loading the code of kernel \"%.200s\"", kernel->name);
    return fusion_driver_fail(driver, code, what);
  }
  if (driver->functions[ATTRIBUTE] && !CALL(driver, ATTRIBUTE, of_attribute)(&major, driver->vendor->major, driver->handle) &&
      !CALL(driver, ATTRIBUTE, of_attribute)(&minor, driver->vendor->minor, driver->handle))
    snprintf(architecture, sizeof architecture, ", sm_%d%d", major, minor);
  for (char *c = driver->log; *c; c++)
    if (*c == '\n' || *c == '\r')
      *c = ' ';
  return fusion_gpu_fail("The code of kernel \"%.200s\" is not for %s device %d (%s%s): %.100s (%d, %.200s)%s%.700s; compile the "
                         "model for this device, or use --emulate.",
                         kernel->name, driver->vendor->who, driver->number, driver->name, architecture,
                         text_of(driver, ERROR_NAME, code), code, text_of(driver, ERROR_TEXT, code), driver->log[0] ? "; " : "",
                         driver->log);
}

/* Text ends with NUL for the driver. */
static const void *image_for_driver(const struct fusion_gpu_kernel *kernel, void **copy) {
  const char *image = kernel->image;
  uint64_t bytes = kernel->image_bytes;
  *copy = NULL;
  if (bytes == 0 || (bytes >= 4 && !memcmp(image, "\177ELF", 4)) || image[bytes - 1] == 0)
    return image;
  char *with_end = malloc(bytes + 1);
  if (with_end) {
    memcpy(with_end, image, bytes);
    with_end[bytes] = 0;
  }
  return *copy = with_end;
}

static struct module *load(struct driver *driver, const struct fusion_gpu_kernel *kernel) {
  for (struct module *module = driver->modules; module; module = module->next)
    if (module->image == kernel->image)
      return module;
  void *copy;
  const void *image = image_for_driver(kernel, &copy);
  struct module *module = calloc(1, sizeof *module);
  if (!module || !image) {
    free(module);
    free(copy);
    fusion_gpu_fail("There is no memory for loading kernel \"%.200s\".", kernel->name);
    return NULL;
  }
  int code;
  driver->log[0] = 0;
  if (driver->functions[LOAD_WITH_LOG]) {
    int options[] = {ERROR_LOG, ERROR_LOG_BYTES};
    void *values[] = {driver->log, (void *)(uintptr_t)(LOG_BYTES - 1)};
    code = CALL(driver, LOAD_WITH_LOG, of_load_with_log)(&module->handle, image, 2, options, values);
    driver->log[LOG_BYTES - 1] = 0;
  } else {
    code = CALL(driver, LOAD, of_load)(&module->handle, image);
  }
  free(copy);
  if (code) {
    free(module);
    fail_load(driver, kernel, code);
    return NULL;
  }
  module->image = kernel->image;
  module->next = driver->modules;
  driver->modules = module;
  return module;
}

static struct loaded *prepare(struct driver *driver, struct fusion_gpu_kernel *kernel) {
  char what[300];
  if (!kernel->image) {
    fusion_gpu_fail("kernel \"%.200s\" was compiled to be emulated and has no code for a device; compile the model again.",
                    kernel->name);
    return NULL;
  }
  struct module *module = load(driver, kernel);
  if (!module)
    return NULL;
  void *function;
  int code = CALL(driver, FIND_FUNCTION, of_find)(&function, module->handle, kernel->name);
  if (code) {
    snprintf(what, sizeof what, "Finding kernel \"%.200s\" in its code", kernel->name);
    fusion_driver_fail(driver, code, what);
    return NULL;
  }
  if (kernel->dynamic_bytes > DYNAMIC_WITHOUT_ASKING && driver->functions[SET_FUNCTION]) {
    code = CALL(driver, SET_FUNCTION, of_function_attribute)(function, driver->vendor->most_dynamic, (int)kernel->dynamic_bytes);
    if (code) {
      snprintf(what, sizeof what, "Allowing kernel \"%.200s\" %u bytes of shared memory", kernel->name, kernel->dynamic_bytes);
      fusion_driver_fail(driver, code, what);
      return NULL;
    }
  }
  struct loaded *loaded = fusion_driver_new_loaded(kernel);
  if (!loaded) {
    fusion_gpu_fail("There is no memory for launching kernel \"%.200s\".", kernel->name);
    return NULL;
  }
  loaded->next = driver->loaded;
  loaded->kernel = kernel;
  loaded->function = function;
  driver->loaded = loaded;
  return kernel->state = loaded;
}

static _Bool fail_launch(struct driver *driver, const struct fusion_gpu_kernel *kernel, int code) {
  const uint32_t *grid = kernel->grid, *block = kernel->block;
  char what[512];
  snprintf(what, sizeof what,
           "Launching kernel \"%.200s\" (%u x %u x %u blocks of %u x %u x %u threads with %u bytes of shared memory)%s",
           kernel->name, grid[0], grid[1], grid[2], block[0], block[1], block[2], kernel->shared_bytes + kernel->dynamic_bytes,
           trouble_of(code) == LIMITS ? ", which may be more than the device has," : "");
  return fusion_driver_fail(driver, code, what);
}

_Bool fusion_driver_launch(struct device *device, struct fusion_gpu_kernel *kernel, void *const *arguments) {
  struct driver *driver = (struct driver *)device;
  struct loaded *loaded = kernel->state;
  if (!loaded && !(loaded = prepare(driver, kernel)))
    return 0;
  for (uint32_t i = 0; i < kernel->arguments; i++)
    loaded->places[i] = (void *)(uintptr_t)&arguments[i];
  if (!fusion_driver_maps(driver, loaded, arguments))
    return 0;
  const uint32_t *grid = kernel->grid, *block = kernel->block;
  int code = CALL(driver, LAUNCH, of_launch)(loaded->function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                             kernel->dynamic_bytes, driver->stream, loaded->places, NULL);
  if (!code && driver->waits_for_each)
    code = CALL(driver, WAIT_FOR_STREAM, of_handle)(driver->stream);
  return code ? fail_launch(driver, kernel, code) : 1;
}

void fusion_driver_turn_to(struct device *device, void *stream, _Bool own) {
  struct driver *driver = (struct driver *)device;
  driver->stream = own ? driver->own_stream : stream;
}

_Bool fusion_driver_wait(struct device *device) {
  struct driver *driver = (struct driver *)device;
  int code = CALL(driver, WAIT_FOR_STREAM, of_handle)(driver->stream);
  if (!code)
    return 1;
  return fusion_driver_fail(driver, code, driver->waits_for_each ? "Waiting for the device"
                                                   : "A kernel (FUSION_GPU_WAIT=1 in the environment tells which)");
}
