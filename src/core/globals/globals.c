/* globals.c - initialises the library, and registers the ffi.* functions, which clients find by name. */
#include "core/fields/access_path.h"
#include "core/fields/builtin.h"
#include "core/fields/enum.h"
#include "core/module/library.h"
#include "core/module/library_module.h"
#include "core/module/module.h"
#include "core/object/backtrace.h"
#include "core/object/bigint.h"
#include "core/object/error.h"
#include "core/object/global.h"
#include "core/object/guard.h"
#include "core/object/opaque.h"
#include "core/object/reflect.h"
#include "core/object/type.h"
#include "core/platform/base.h"
#include "core/platform/system.h"
#include "core/structural/mutator.h"
#include "core/structural/operations.h"
#include "core/structural/visit_context.h"
#include "core/structural/visitor.h"
#include "core/tensor/env.h"
#include "globals_entry.h"

#define MAX_METADATA 512 /* the longest has 425 bytes */
#define BEGIN "{\"type_schema\":\""
#define BEGIN_FUNCTION BEGIN "{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{\\\"return\\\":["

static char *put(char *at, const char *text) {
  size_t n = strlen(text);
  memcpy(at, text, n + 1);
  return at + n;
}

/* Writes the metadata for a schema: JSON in a JSON string. A name is a type, which ends with the name or with its
 * arguments. */
static void expand(const char *schema, char *at) {
  bool has_params = strchr(schema, '(') != NULL, in_name = false;
  at = put(at, has_params ? BEGIN_FUNCTION : BEGIN);
  for (; *schema != '\0'; ++schema) {
    bool is_part = *schema > ')' && *schema != ',' && *schema != '<' && *schema != '>'; /* is a character of a name */
    if (is_part && !in_name) at = put(at, "{\\\"type\\\":\\\"");
    if (in_name && !is_part && *schema != '<') at = put(at, "\\\"}");
    in_name = is_part;
    switch (*schema) {
    case '<': at = put(at, "\\\",\\\"args\\\":["); break;
    case '>': at = put(at, "]}"); break;
    case '(': at = put(at, "],\\\"params\\\":["); break;
    case ')': at = put(at, "]}}"); break;
    case ' ': break;
    default: *at++ = *schema;
    }
  }
  put(at, in_name ? "\\\"}\"}" : "\"}");
}

/* If the memory for an entry runs out, the function is missing afterwards, and the error is pending (globals.c). */
static void add_all(const fh_globals_item *entries) {
  char metadata[MAX_METADATA];
  for (; *entries != NULL; ++entries) {
    const fh_globals_entry *entry = *entries;
    if (entry->schema != NULL) expand(entry->schema, metadata);
    fh_global_add(entry->name, entry->call, entry->schema != NULL ? metadata : NULL);
  }
}

static void register_functions(void) {
  add_all(fh_globals_seq);
  add_all(fh_globals_map);
  add_all(fh_globals_value);
  add_all(fh_globals_nested);
  add_all(fh_globals_registry);
  add_all(fh_globals_create);
  add_all(fh_globals_cxx);
  add_all(fh_globals_binding);
  add_all(fh_globals_module);
  add_all(fh_globals_structural);
  add_all(fh_globals_visit);
  add_all(fh_globals_mutate);
  add_all(fh_globals_json);
}

/* --- the load-time constructor ----------------------------------------------------------------------------------- */

/* ffi.Object: its size is the size of the header of every object, and it has no structural kind. */
static void register_object_metadata(void) {
  TVMFFITypeMetadata metadata;
  memset(&metadata, 0, sizeof(metadata));
  metadata.total_size = sizeof(TVMFFIObject);
  metadata.structural_eq_hash_kind = kTVMFFISEqHashKindUnsupported;
  TVMFFITypeRegisterMetadata(kTVMFFIObject, &metadata);
}

/* Runs once, before other code has an address of this library, so it needs no lock. The order matters: errors first,
 * because all other parts may raise one; then the static types and the attribute columns; then the parts that register
 * types, fields and attributes. fh_convert_init comes after the enum types, because it adds conversions to them. A part
 * that runs out of memory is missing afterwards, and a MemoryError is pending. */
FH_CONSTRUCTOR(fh_core_load) {
  /* threads that end later still run clean-up code of this library */
  fh_loader_pin((const void *)(uintptr_t)fh_core_load);
  fh_error_init();
  fh_backtrace_init();
  fh_type_init();
  fh_reflect_init();
  register_object_metadata();
  fh_bigint_init();
  fh_sentinel_init();
  fh_env_init();
  fh_module_init();
  fh_library_module_init();
  fh_enum_init();
  fh_convert_init();
  fh_access_path_init();
  fh_structural_key_init();
  fh_visitor_init();
  fh_visit_context_init();
  fh_mutator_init();
  register_functions();
  fh_reflect_end_own();
  fh_guard_set_refuse(fh_library_load_fail);
}

void TVMFFIGetVersion(TVMFFIVersion *out_version) {
  out_version->major = TVM_FFI_VERSION_MAJOR;
  out_version->minor = TVM_FFI_VERSION_MINOR;
  out_version->patch = TVM_FFI_VERSION_PATCH;
}
