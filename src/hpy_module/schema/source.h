/* A Python value during its conversion by a schema. Internal to convert_python.c. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/object/type_tag.h"
#include "mismatch.h"
#include "schema.h"

/* A value and the facts known about it. */
typedef struct FbSource {
  HPy value; /* borrowed */
  FbTypeTag kind;
  unsigned protocols; /* FB_PROTOCOL_* of its type */
  bool is_packed;
  TVMFFIAny packed; /* owned */
} FbSource;

enum { FB_SOURCE_NAME = 128 };

/* Returns the name of the value's type for messages: in `buffer`, which has FB_SOURCE_NAME bytes, or in static
 * memory. */
const char *fb_source_describe(HPyContext *ctx, const FbSource *source, char *buffer);
/* FB_MISMATCH: "expected X, got Y". */
FbConverted fb_source_refuse(HPyContext *ctx, const FbSchema *schema, const FbSource *source, FbMismatch *mismatch);
/* Like fb_source_refuse, with the raised exception as the reason. FB_RAISED if the exception is unrelated (an
 * interruption, exhausted memory); it stays raised. */
FbConverted fb_source_refuse_because(HPyContext *ctx, const FbSchema *schema, const FbSource *source,
                                     FbMismatch *mismatch);
/* Calls callable(*argv). Returns a new handle; or HPy_NULL with the outcome in *failed: FB_MISMATCH, with the message
 * of the exception appended to the mismatch, or FB_RAISED. */
HPy fb_source_call(HPyContext *ctx, HPy callable, const HPy *argv, size_t n, FbMismatch *mismatch, FbConverted *failed);
/* Converts the outcome of a native conversion: raises the pending error, if there is one. */
FbConverted fb_source_from_native(HPyContext *ctx, FbConverted converted);

/* --- protocols ---------------------------------------------------------------------------------------------------- */

/* Protocols: methods by which an object returns another value, which schemas convert in its place. */

/* Replaces the source by the result of its protocols, until its type has none. FB_CONVERTED: unless `*held` is
 * HPy_NULL, the caller closes it after the use of the source. */
FbConverted fb_source_protocol_follow(HPyContext *ctx, const FbSchema *schema, FbSource *source, HPy *held,
                                      FbMismatch *mismatch);

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* Conversion of Python numbers by schemas of int, float and bool. */

/* Whether a schema of int or float reads the value, an opaque object, by its methods. */
bool fb_source_number_is_given(const FbSchema *schema, const FbSource *source);
/* Converts such a value. */
FbConverted fb_source_number_ask(HPyContext *ctx, const FbSchema *schema, const FbSource *source, TVMFFIAny *out,
                                 FbMismatch *mismatch);
/* Converts a value of kind int or float by a schema of int (or of an int enum), float or bool. */
FbConverted fb_source_number_convert(HPyContext *ctx, const FbSchema *schema, const FbSource *source, TVMFFIAny *out,
                                     FbMismatch *mismatch);
