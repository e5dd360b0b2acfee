/* guard.c - recognises libraries with incompatible layouts by their registrations. */
#include "guard.h"

#include <stdio.h>

#include "core/platform/atomic.h"

static int (*refuse_load)(TVMFFIByteArray reason); /* written before there are other threads */

void fh_guard_set_refuse(int (*refuse)(TVMFFIByteArray reason)) { refuse_load = refuse; }

/* ---- Messages ---- */

const char *fh_guard_library(const void *address, fh_loader_place *place) {
  if (fh_loader_place_of(address, place) && place->file[0] != '\0') return place->file;
  place->base = NULL;
  return "a library";
}

/* The libraries that a line was written about. If all places are used, no line is written about further libraries. */
static void *named[16];

/* Whether this is the first line about the library. */
static bool claim(void *library) {
  for (size_t i = 0; i < FH_COUNT_OF(named); ++i) {
    void *expected = NULL;
    if (fh_atomic_cas_seq_cst_ptr(&named[i], &expected, library)) return true;
    if (expected == library) return false;
  }
  return false;
}

/* `sentence` begins with the library's name. */
static void warn(void *library, const char *sentence) {
  if (library != NULL && claim(library)) fprintf(stderr, "[WARNING] %s\n", sentence);
}

/* Handles a layout that certainly differs: the load in progress fails, or a line is written. */
static void refuse(void *library, const char *sentence) {
  if (refuse_load == NULL || !refuse_load(fh_base_bytes(sentence))) warn(library, sentence);
}

#define MAX_SENTENCE 1024
/* For a "%.*s": names are cut, so that the end of a sentence is not. */
#define SHORT_ARGS(bytes) (int)((bytes).size < 100 ? (bytes).size : 100), (bytes).data
#define NEWER "was it compiled for a newer version of tvm-ffi than 0.1.15?"

/* ---- Possible registrations of libraries of newer versions ---- */

void fh_guard_type(TVMFFIByteArray type_key, int32_t static_index, int32_t type_index, const TVMFFITypeInfo *holder,
                   void *caller) {
  char sentence[MAX_SENTENCE];
  fh_loader_place place;
  if (type_index == static_index && holder != NULL) return; /* the frequent case: the type is known */
  /* Built-in types have static indices, and keys that begin with "ffi.". */
  if (static_index >= kTVMFFIDynObjectBegin || type_key.data == NULL || type_key.size < 4) return;
  if (memcmp(type_key.data, "ffi.", 4) != 0) return;
  const char *name = fh_guard_library(caller, &place);
  if (type_index == static_index) {
    snprintf(sentence, sizeof(sentence),
             "%.600s registers the built-in type `%.*s`, index %d, which is unknown here: " NEWER, name,
             SHORT_ARGS(type_key), (int)static_index);
    warn(place.base, sentence);
  } else if (type_index >= 0) {
    snprintf(sentence, sizeof(sentence),
             "%.600s registers the built-in type `%.*s` with index %d, but its index is %d here: " NEWER, name,
             SHORT_ARGS(type_key), (int)static_index, (int)type_index);
    refuse(place.base, sentence);
  } else if (holder != NULL) {
    snprintf(sentence, sizeof(sentence),
             "%.600s registers the built-in type `%.*s` with index %d, which is that of `%.100s` here: " NEWER, name,
             SHORT_ARGS(type_key), (int)static_index, holder->type_key.data);
    refuse(place.base, sentence);
  }
}

/* All defined flags. */
#define KNOWN_FLAGS (((int64_t)kTVMFFIFieldFlagBitMaskSEqHashDefSimple << 1) - 1)

void fh_guard_field(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field, void *caller) {
  char sentence[MAX_SENTENCE];
  fh_loader_place place;
  int64_t unknown = field->flags & ~(KNOWN_FLAGS | FFI_HPY_FIELD_IS_WORD);
  if (unknown == 0) return;
  const char *name = fh_guard_library(caller, &place);
  snprintf(sentence, sizeof(sentence),
           "%.600s gives field `%.*s` of type `%.100s` the flags 0x%llx, unknown here: " NEWER, name,
           SHORT_ARGS(field->name), type->type_key.data, (unsigned long long)unknown);
  warn(place.base, sentence);
}

void fh_guard_metadata(const TVMFFITypeInfo *type, const TVMFFITypeMetadata *metadata, void *caller) {
  char sentence[MAX_SENTENCE];
  fh_loader_place place;
  int kind = (int)metadata->structural_eq_hash_kind;
  if (kind >= kTVMFFISEqHashKindUnsupported && kind <= kTVMFFISEqHashKindUniqueInstance) return;
  const char *name = fh_guard_library(caller, &place);
  snprintf(sentence, sizeof(sentence),
           "%.600s gives type `%.100s` the structural kind %d, which is unknown here: " NEWER, name,
           type->type_key.data, kind);
  warn(place.base, sentence);
}

/* ---- The layout of the versions that were withdrawn ---- */

void fh_guard_withdrawn(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field) {
  char sentence[MAX_SENTENCE];
  fh_loader_place place, own;
  const char *name = fh_guard_library((void *)(uintptr_t)field->getter, &place);
  /* Inline fields of a binding have getters of the core, for which their layout is correct. */
  (void)fh_guard_library((void *)(uintptr_t)fh_guard_withdrawn, &own);
  if (place.base == own.base) return;
  snprintf(sentence, sizeof(sentence),
           "%.600s " FH_GUARD_WITHDRAWN
           "field `%.*s` of type `%.100s` has %d bytes instead of %d" FH_GUARD_COMPILE_AGAIN,
           name, SHORT_ARGS(field->name), type->type_key.data, (int)field->size, (int)sizeof(void *));
  refuse(place.base, sentence);
}
