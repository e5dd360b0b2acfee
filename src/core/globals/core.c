/* core.c - initialises the library: the load-time constructor, which calls the parts in order. */
#include "core/fields/access_path.h"
#include "core/fields/convert.h"
#include "core/fields/enum.h"
#include "core/module/library_load.h"
#include "core/module/library_module.h"
#include "core/module/module.h"
#include "core/object/backtrace.h"
#include "core/object/bigint.h"
#include "core/object/error.h"
#include "core/object/guard.h"
#include "core/object/reflect.h"
#include "core/object/sentinel.h"
#include "core/object/type.h"
#include "core/platform/base.h"
#include "core/platform/loader.h"
#include "core/structural/mutator.h"
#include "core/structural/structural_key.h"
#include "core/structural/visit_context.h"
#include "core/structural/visitor.h"
#include "core/tensor/env.h"
#include "globals.h"

/* ffi.Object: its size is the size of the header of every object, and it has no structural kind. */
static void register_object_metadata(void) {
  TVMFFITypeMetadata metadata;
  memset(&metadata, 0, sizeof metadata);
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
  fh_globals_init();
  fh_reflect_end_own();
  fh_guard_set_refuse(fh_library_load_fail);
}

void TVMFFIGetVersion(TVMFFIVersion *out_version) {
  out_version->major = TVM_FFI_VERSION_MAJOR;
  out_version->minor = TVM_FFI_VERSION_MINOR;
  out_version->patch = TVM_FFI_VERSION_PATCH;
}
