/* access_path.h - ffi.reflection.AccessStep and ffi.reflection.AccessPath: the location of a value inside another
 * value.
 *
 * A path is a chain of steps, the last one first, so that paths share their common beginnings. Both are immutable. */
#pragma once

#include "core/object/any.h"

/* The kind of a step. The last three say that the member was expected there and is missing. */
typedef enum {
  FH_ACCESS_ATTR = 0,       /* key: name */
  FH_ACCESS_ARRAY_ITEM = 1, /* key: index */
  FH_ACCESS_MAP_ITEM = 2,   /* key: any */
  FH_ACCESS_ATTR_MISSING = 3,
  FH_ACCESS_ARRAY_ITEM_MISSING = 4,
  FH_ACCESS_MAP_ITEM_MISSING = 5
} fh_access_kind;

typedef struct {
  TVMFFIObject header;
  int32_t kind; /* fh_access_kind */
  TVMFFIAny key;
} fh_access_step_object;

typedef struct {
  TVMFFIObject header;
  TVMFFIObject *parent; /* a path; NULL for the root */
  TVMFFIObject *step;   /* the last step; NULL for the root */
  int32_t depth;        /* number of steps */
} fh_access_path_object;

/* The empty path: a new reference, NULL with an error pending. */
fh_access_path_object *fh_access_path_root(void);
/* Makes a path with one more step: a new reference, NULL with an error pending. The new path holds a reference to
 * `path`. The key is a view. */
fh_access_path_object *fh_access_path_extend(fh_access_path_object *path, fh_access_kind kind, const TVMFFIAny *key);

void fh_access_path_init(void);
