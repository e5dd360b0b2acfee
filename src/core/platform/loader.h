/* loader.h - the system's loader of shared libraries: opening libraries, looking up symbols, finding the library of an
 * address.
 *
 * Paths are UTF-8 on all systems. Any thread. Libraries are never closed. */
#ifndef FH_LOADER_H_
#define FH_LOADER_H_

#include "base.h"

typedef enum {
  FH_LOADER_LOCAL,  /* only fh_loader_find, and libraries that this one loads, find its symbols */
  FH_LOADER_GLOBAL, /* libraries that are opened later find its symbols, too; on Windows the same as LOCAL */
  FH_LOADER_LAZY,   /* as LOCAL, but a missing symbol matters only when it is called; on Windows the same as LOCAL */
} fh_loader_mode;

enum { FH_LOADER_REASON = 4096 }; /* bytes that suffice for most reasons, which contain paths */
/* Opens a library and its dependencies. Windows looks for them also in the folder of the library if the path is
 * absolute. On failure NULL, with a reason in `reason`, cut to its size: the system's message without the path, which
 * the caller adds; for a file of another system or machine, a description of the file (loader_head.h). */
void *fh_loader_open(const char *path, fh_loader_mode mode, char *reason, size_t n_reason);
/* The name of the missing library in a reason for which a library was not opened, and the length of the name. NULL for
 * any other reason. */
const char *fh_loader_lacking(const char *reason, size_t *length);
/* The address of a symbol in a library, NULL if there is none. */
void *fh_loader_find(void *library, const char *name);
/* The address of a symbol in any library of the process with global symbols, NULL if there is none. On Windows the
 * symbols of every library are global. */
void *fh_loader_find_anywhere(const char *name);

/* The library and function that an address belongs to. */
typedef struct {
  void *base;       /* start of the library, or the program, in memory */
  const char *name; /* the exported function that contains the address; NULL if unknown */
  void *start;      /* start of that function */
  char file[4096];  /* path of the library, as the system reports it, or "" */
} fh_loader_place;
/* Whether the address belongs to a library or to the program. If not, *place is unchanged. */
int fh_loader_place_of(const void *address, fh_loader_place *place);

/* Makes the symbols of the library that contains the address global, for all libraries that are opened later. */
void fh_loader_show(const void *address);
/* Keeps the library that contains the address loaded, even if another part of the process closes it. */
void fh_loader_pin(const void *address);
/* The number of bytes from an address to the end of its segment, in a library or the program. SIZE_MAX if the address
 * is in no segment, or if the system does not provide that. */
size_t fh_loader_room(const void *address);
/* Stores at most n return addresses of the current call stack, the caller's own first, and returns their number. 0
 * where they are unknown. */
int fh_loader_frames(void **addresses, int n);

#endif /* FH_LOADER_H_ */
