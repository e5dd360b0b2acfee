/* globals.c - registering the ffi.* functions. */
#include "globals.h"

#include "global.h"
#include "mem.h"

static TVMFFIObject *missing;
static TVMFFIObject *kwargs;

TVMFFIObject *fh_globals_missing(void) { return missing; }
TVMFFIObject *fh_globals_kwargs(void) { return kwargs; }

static TVMFFIObject *new_sentinel(void) {
  TVMFFIObject *sentinel = (TVMFFIObject *)fh_object_new(sizeof *sentinel, kTVMFFIObject, fh_object_delete_plain);
  fh_mem_keep(sentinel);
  return sentinel;
}

static void add_all(const fh_globals_entry *entries) {
  for (; entries->name != NULL; ++entries) fh_global_add(entries->name, entries->call, entries->metadata);
}

void fh_globals_init(void) {
  missing = new_sentinel();
  kwargs = new_sentinel();
  add_all(fh_globals_seq);
  add_all(fh_globals_map);
  add_all(fh_globals_value);
  add_all(fh_globals_nested);
  add_all(fh_globals_registry);
  add_all(fh_globals_create);
  add_all(fh_globals_module);
  add_all(fh_globals_json);
  add_all(fh_globals_structural);
  add_all(fh_globals_visit);
  add_all(fh_globals_mutate);
}
