/* global.h - the table of global functions: name to Function, with its metadata.
 *
 * Writers take the lock `global`. Readers take no lock: a reader increments a count, and a writer that replaced or
 * removed an entry waits for that count to be zero before it frees the entry. */
#pragma once

#include "any.h"

/* 1 found, with a new reference in *out; 0 not found, with NULL in *out. Never an error. */
bool fh_global_find(TVMFFIByteArray name, TVMFFIObjectHandle *out);

/* Asks the Python package for an operation with one or two values (ffi_hpy/_values/standard.py): 1 with the owned
 * answer, 0 if the package is not loaded, -1 with an error pending. Runs foreign code. */
int fh_global_ask_python(const char *operation, const TVMFFIAny *values, int32_t n_values, TVMFFIAny *out);
/* 1 removed, 0 not found. */
bool fh_global_remove(TVMFFIByteArray name);
/* The metadata (JSON), or the documentation, of the function of that name as an owned string; RuntimeError if there is
 * none. */
int fh_global_text(TVMFFIByteArray name, bool is_doc, TVMFFIAny *out);
/* The names, in order of registration, as an owned array of *n owned string values. The caller drops each and frees
 * the array with fh_mem_free. */
int fh_global_names(TVMFFIAny **out, int64_t *n);

/* Registers a function written in C under a name, for the load-time constructor. `call` checks its arguments itself.
 * `metadata`: JSON, or NULL. */
int fh_global_add(const char *name, TVMFFISafeCallType call, const char *metadata);
