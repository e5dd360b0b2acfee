/* library.h - dynamic libraries of the operating system: open and look up.
 *
 * Libraries are never closed: objects, deleters, types and functions of a library point into its code, and the last of
 * these pointers cannot be detected. */
#pragma once

#include "core/platform/base.h"

/* 0, or -1 with an InternalError pending if the file at a path is truncated, damaged or not a library
 * (library_file.h). */
int fh_library_check_file(const char *path);
/* Loads libtvm_ffi_cxx from the folder of this library, so that libraries loaded later find the ABI's C++ names. Does
 * nothing if it cannot be loaded (libstdc++ is missing), and is cheap the second time. Loading a library calls it. */
void fh_library_load_cxx(void);

/* --- libraries whose initialisation may fail --------------------------------------------------------------------- */

/* Opening of libraries whose initialisation may fail. */

/* Opens a library. NULL with an error pending if the library cannot be opened, or reports that its initialisation
 * failed. */
void *fh_library_load(const char *path);
/* Makes the load in progress on this thread fail; 0 if there is none. */
int fh_library_load_fail(TVMFFIByteArray reason);
