/* What a library of a model asks to be called later, when the process forks or ends, goes when the library is unloaded.
 *
 * A C compiler links files of its own into each library that see to it, with a handle that `atexit` and `pthread_atfork` take. Libraries
 * that are linked without one have this. */

#ifndef FUSION_UNLOAD_H
#define FUSION_UNLOAD_H

/* The functions of glibc that take such a handle. */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library);
extern void __cxa_finalize(void *library);

static char this_library;

__attribute__((destructor)) static void unregister(void) { __cxa_finalize(&this_library); }

#endif
