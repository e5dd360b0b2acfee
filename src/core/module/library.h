/* library.h - dynamic libraries of the operating system: open and look up.
 *
 * Nothing is ever closed: objects, deleters, types and functions that came from a library point into its code, and
 * nobody can know when the last of them is gone. */
#ifndef FH_LIBRARY_H_
#define FH_LIBRARY_H_

#include "core/platform/base.h"

/* 0, or -1 with an InternalError pending if the file at a path is truncated, damaged or no library (library_file.h). */
int fh_library_check_file(const char *path);
/* Opens a library with its symbols local to it. NULL with an InternalError pending: that of fh_library_check_file, or
 * one that carries the system's text. */
void *fh_library_open(const char *path);
/* Loads libtvm_ffi_cxx, which lies beside this library, so that libraries loaded later find the ABI's C++ names.
 * Does nothing where it cannot be loaded (there is no libstdc++), and is cheap the second time. fh_library_open calls
 * it. */
void fh_library_load_cxx(void);

#endif /* FH_LIBRARY_H_ */
