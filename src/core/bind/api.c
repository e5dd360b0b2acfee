/* api.c - the table of functions for libraries that are bound with ffi_hpy/bind.h. */
#include "api.h"

#include "core/object/error.h"
#include "core/object/error_deferred.h"
#include "core/object/str.h"
#include "instance.h"
#include "overload.h"
#include "sequence.h"

/* The end of an iteration is an answer more than an error, so it gets no backtrace. */
static void raise_end(const char *kind) {
  const TVMFFIByteArray none = {NULL, 0};
  TVMFFIObject *error = fh_error_new(fh_base_bytes(kind), none, none, NULL, NULL);
  error != NULL ? fh_error_put(error) : (void)fh_error_raise_no_memory();
}

static void raise_error(const char *kind, const char *message) {
  bool is_end = message[0] == '\0' && strcmp(kind, "StopIteration") == 0;
  is_end ? raise_end(kind) : TVMFFIErrorSetRaisedFromCStr(kind, message);
}

/* bind.h reads the containers of sequence.h. */
static int call(TVMFFIObjectHandle function, TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  if (result->type_index == kTVMFFINone) result->zero_padding = FFI_HPY_TAKES_CONTAINERS;
  int rc = TVMFFIFunctionCall(function, args, n_args, result);
  /* A function that returns nothing may leave the result as it is, and equal values have equal padding. */
  if (result->zero_padding == FFI_HPY_TAKES_CONTAINERS) result->zero_padding = 0;
  return rc;
}

const ffi_hpy_bind_api fh_api_table = {
    .version = FFI_HPY_BIND_VERSION,
    .dec_ref = TVMFFIObjectDecRef,
    .get_global = TVMFFIFunctionGetGlobal,
    .call = call,
    .own = TVMFFIAnyViewToOwnedAny,
    .new_function = TVMFFIFunctionCreate,
    .new_str = fh_str_new_plain,
    .new_bytes = fh_bytes_new_plain,
    .raise = raise_error,
    .take_error = TVMFFIErrorMoveFromRaised,
    .set_error = TVMFFIErrorSetRaised,
    .type_info = TVMFFIGetTypeInfo,
    .function_define = fh_overload_define,
    .class_add = fh_instance_class_add,
    .class_find = fh_instance_class_find,
    .class_add_property = fh_instance_class_add_property,
    .class_add_method = TVMFFITypeRegisterMethod,
    .class_add_attr = TVMFFITypeRegisterAttr,
    .instance_new = fh_instance_new,
    .instance_ready = fh_instance_ready,
    .instance_find = fh_instance_find,
    .instance_release_whole = fh_instance_release_whole,
    .instance_cast = fh_instance_cast,
    .str_deleter = fh_str_delete_plain,
    .container_new = fh_sequence_container_new,
    .container_items = fh_sequence_container_items,
    .instance_of = fh_instance_of,
    .instance_keep = fh_instance_keep,
    .instance_take = fh_instance_take,
    .instance_return = fh_instance_return,
    .function_call = fh_overload_call,
    .class_add_traverse = fh_instance_class_add_traverse,
    .value_visit = fh_instance_value_visit,
    .python = &fh_sequence_python,
    .function_refuse = fh_overload_refuse,
    .hold_error = fh_error_hold,
    .error_of = fh_error_of_held,
    .restore_error = fh_error_restore,
};
