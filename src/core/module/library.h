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
/* Makes the library's C++ names, libtvm_ffi_cxx.so beside this one, known to all that is loaded later. It is absent
 * where there is no libstdc++, and then nothing happens. Cheap when done before; fh_library_open does it, too. */
void fh_library_load_cxx(void);
/* The address of a symbol, NULL if there is none; no error. */
void *fh_library_find(void *library, const char *symbol);
/* How many bytes from an address on belong to the segment of a library, or of the program, that it lies in; SIZE_MAX if
 * it lies in none, or if this system cannot tell. */
size_t fh_library_room(const void *address);

#endif /* FH_LIBRARY_H_ */
