/* globals.c - registering the ffi.* functions: the ABI's functions that clients find by name, in any language. */
#include "globals.h"

#include "core/object/global.h"
#include "globals_entry.h"

/* A function for whose entry there is no memory is missing afterwards, and the error is pending (core.c). */
static void add_all(const fh_globals_entry *entries) {
  for (; entries->name != NULL; ++entries) fh_global_add(entries->name, entries->call, entries->metadata);
}

void fh_globals_init(void) {
  add_all(fh_globals_seq);
  add_all(fh_globals_map);
  add_all(fh_globals_value);
  add_all(fh_globals_nested);
  add_all(fh_globals_registry);
  add_all(fh_globals_create);
  add_all(fh_globals_cxx);
  add_all(fh_globals_error);
  add_all(fh_globals_module);
  add_all(fh_globals_structural);
  add_all(fh_globals_visit);
  add_all(fh_globals_mutate);
  add_all(fh_globals_json);
}
