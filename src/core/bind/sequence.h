/* sequence.h - containers between Python and libraries that are bound with ffi_hpy/bind.h. */
#pragma once

#include <ffi_hpy/c_bind.h>

#include "core/platform/base.h"

/* Registers the types of containers; before the table of api.h is given to a library. */
int fh_sequence_init(void);

/* Implement the entries of ffi_hpy_bind_api with these names. */
int fh_sequence_container_new(uint32_t kind, size_t n, TVMFFIObjectHandle *out);
int fh_sequence_container_items(const TVMFFIAny *value, uint32_t flags, TVMFFIAny *out);

/* The entry `python` of that table. */
extern FH_HIDDEN const ffi_hpy_python_values *fh_sequence_python;

/* Makes an owned value readable for a caller in another language than Python: a container of these types, and the
 * containers in it, become an Array or a Map. Returns 0, or -1 with an error pending, and None in *value. */
int fh_sequence_make_native(TVMFFIAny *value);

/* Calls a function of the package; None if there is none of that name. */
int fh_sequence_ask(const char *function_name, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *out);

/* The class of Python that a container of that type becomes; NULL for other types. */
const char *fh_sequence_class_name(int32_t type_index);
