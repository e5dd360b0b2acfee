/* loader.h - the system's loader of shared libraries: opening, looking up, and whose code an address is.
 *
 * Paths are UTF-8 on all systems. Any thread. Nothing is ever closed. */
#ifndef FH_LOADER_H_
#define FH_LOADER_H_

#include "base.h"

typedef enum {
  FH_LOADER_LOCAL,  /* its names are found by fh_loader_find only, and by what it has opened itself */
  FH_LOADER_GLOBAL, /* libraries that are opened later find them, too. Windows has no such thing: there as LOCAL */
  FH_LOADER_LAZY,   /* as LOCAL, but what is missing matters only when it is called. On Windows as LOCAL */
} fh_loader_mode;

enum { FH_LOADER_REASON = 4096 }; /* bytes that suffice for most reasons, which name paths */
/* Opens a library, and what it needs: on Windows that is looked for in its own folder too, if the path is absolute.
 * NULL with a reason in `reason`, cut to its size: the system's, without the path, which the caller names; or of a file
 * that is for another system or machine, what it is (loader_head.h). */
void *fh_loader_open(const char *path, fh_loader_mode mode, char *reason, size_t n_reason);
/* The name that a library lacks, in the reason why it was not opened, and its length. NULL for any other reason. */
const char *fh_loader_lacking(const char *reason, size_t *length);
/* The address of a name in a library, NULL if there is none. */
void *fh_loader_find(void *library, const char *name);
/* The address of a name in any library of the process that shows its names to all, NULL if there is none. On Windows
 * every library does. */
void *fh_loader_find_anywhere(const char *name);

/* Whose code or data an address is. */
typedef struct {
  void *base;       /* where the library, or the program, begins in memory */
  const char *name; /* of the exported function that the address lies in; NULL if that is not known */
  void *start;      /* where that function begins */
  char file[4096];  /* its path, as the system tells it, or "" */
} fh_loader_place;
/* Whether the address belongs to a library or to the program. Without that nothing is written. */
int fh_loader_place_of(const void *address, fh_loader_place *place);

/* Shows the names of the library that has the address to all that are opened later. */
void fh_loader_show(const void *address);
/* Keeps the library that has the address in the process, also when somebody closes it. */
void fh_loader_pin(const void *address);
/* The number of bytes from an address to the end of its segment, of a library or of the program. SIZE_MAX if the
 * address is in no segment, or if this system cannot tell. */
size_t fh_loader_room(const void *address);
/* The addresses in the calls that led here, the caller's own first; how many of at most n. 0 where that is unknown. */
int fh_loader_frames(void **addresses, int n);

#endif /* FH_LOADER_H_ */
