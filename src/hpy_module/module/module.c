/* The module _core: its types in order, its functions, its constants.
 *
 * An import runs module_exec once. set_up() calls the initialisation functions of all folders in the order of their
 * dependencies. After a failure another import may try again. */
#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "core/platform/system.h"
#include "hpy_module/collect/closed.h"
#include "hpy_module/collect/collect.h"
#include "hpy_module/container/builtin.h"
#include "hpy_module/container/container.h"
#include "hpy_module/container/deep_copy.h"
#include "hpy_module/container/iterate.h"
#include "hpy_module/context/capsule.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/context/type.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/immediate.h"
#include "hpy_module/error/error.h"
#include "hpy_module/error/translate.h"
#include "hpy_module/function/callback.h"
#include "hpy_module/function/function.h"
#include "hpy_module/function/operation.h"
#include "hpy_module/object/class_table.h"
#include "hpy_module/object/identity.h"
#include "hpy_module/object/recorded.h"
#include "hpy_module/object/transfer.h"
#include "hpy_module/record/field.h"
#include "hpy_module/record/record.h"
#include "hpy_module/schema/schema_type.h"
#include "hpy_module/tensor/borrowed.h"
#include "hpy_module/tensor/exchange_table.h"
#include "hpy_module/tensor/ndarray.h"
#include "hpy_module/tensor/parts.h"
#include "hpy_module/tensor/tensor.h"
#include "hpy_module/value/value.h"
#include "parts.h"

/* Libraries that are linked to the core by soname, without a path, find the core if its symbols are global. */
static void core_make_global(void) { fh_loader_show((const void *)(uintptr_t)&TVMFFIGetVersion); }

/* C++ libraries need names that the core's C header does not declare. Our core has them in a separate library, which it
 * loads before it loads any other library. But ctypes and imports load libraries without the core, so the separate
 * library is loaded at once. apache-tvm-ffi's core contains the names, and has no function that loads them. */
static void core_load_cxx_names(void) {
  const char *name = "ffi_hpy.load_cxx";
  TVMFFIByteArray text = {name, strlen(name)};
  TVMFFIObjectHandle load = NULL;
  TVMFFIAny result = {0};
  if (TVMFFIFunctionGetGlobal(&text, &load) == 0 && load != NULL) TVMFFIFunctionCall(load, NULL, 0, &result);
  TVMFFIObjectDecRef(load);
}

/* Sets an attribute and steals the value. Returns 0, or -1 with an exception raised. */
static int add(HPyContext *ctx, HPy module, const char *name, HPy value) {
  if (HPy_IsNull(value)) return -1;
  int rc = HPy_SetAttr_s(ctx, module, name, value);
  HPy_Close(ctx, value);
  return rc;
}

/* Like add(), for the class of a native type; the package may register a subclass later. */
static int add_class(HPyContext *ctx, HPy module, const char *name, int32_t type_index, HPy cls) {
  if (HPy_IsNull(cls) || fb_class_table_store(ctx, type_index, cls, true) != 0) {
    if (!HPy_IsNull(cls)) HPy_Close(ctx, cls);
    return -1;
  }
  return add(ctx, module, name, cls);
}

/* Adds the base classes of Array, List, Map and Dict. */
static int add_containers(HPyContext *ctx, HPy module, HPy object) {
  /* A base is added last, because that closes its handle. Both handles are closed in any case. */
  HPy sequence = fb_sequence_type_new(ctx, object), mapping = fb_mapping_type_new(ctx, object);
  int rc = HPy_IsNull(sequence) ? -1 : add(ctx, module, "CList", fb_sequence_list_type_new(ctx, sequence));
  if (rc == 0) rc = HPy_IsNull(mapping) ? -1 : add(ctx, module, "CDict", fb_mapping_dict_type_new(ctx, mapping));
  int last[] = {add(ctx, module, "CSequence", sequence), add(ctx, module, "CMapping", mapping)};
  return rc == 0 && last[0] == 0 && last[1] == 0 ? 0 : -1;
}

/* CObject is made first, because it is a base class, and added last, because that closes its handle. After a failure
 * the remaining types are skipped. */
static int add_types(HPyContext *ctx, HPy module) {
  HPy object = fb_cobject_type_new(ctx);
  if (HPy_IsNull(object)) return -1;
  int rc = add_class(ctx, module, "Function", kTVMFFIFunction, fb_function_type_new(ctx, object));
  if (rc == 0) rc = add_class(ctx, module, "Error", kTVMFFIError, fb_error_type_new(ctx, object));
  if (rc == 0) rc = add_class(ctx, module, "Tensor", kTVMFFITensor, fb_tensor_type_new(ctx, object));
  if (rc == 0) rc = add(ctx, module, "ObjectRValueRef", fb_rvalue_ref_type_new(ctx));
  if (rc == 0) rc = add(ctx, module, "PlainValue", fb_plain_type_new(ctx));
  if (rc == 0) rc = add_containers(ctx, module, object);
  if (rc == 0) rc = add(ctx, module, "FieldSlot", fb_field_slot_type_new(ctx));
  if (rc == 0) rc = add(ctx, module, "Initializer", fb_initializer_type_new(ctx));
  if (rc == 0) rc = add(ctx, module, "InitFunction", fb_init_method_type_new(ctx));
  if (rc == 0) rc = add(ctx, module, "CAny", fb_cany_type_new(ctx));
  if (rc == 0) rc = add(ctx, module, "Schema", fb_schema_type_new(ctx));
  int last = add(ctx, module, "CObject", object);
  return rc == 0 ? last : rc;
}

/* Adds numbers and facts that only the binding knows: type kinds for the package's `classify`, and the abilities of
 * this context. constants.c adds the numbers of the headers. */
static int add_constants(HPyContext *ctx, HPy module) {
  static const struct {
    const char *name;
    FbTypeTag kind;
  } kinds[] = {
#define KIND(name) {"TAG_" #name, FB_TYPE_KIND_##name},
#include "hpy_module/object/type_kinds.def"
#undef KIND
  };
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    if (add(ctx, module, kinds[i].name, HPyLong_FromInt32_t(ctx, kinds[i].kind)) != 0) return -1;
  }
  if (add(ctx, module, "HAS_EXTENSION", HPy_Dup(ctx, fb_ext != NULL ? ctx->h_True : ctx->h_False)) != 0) return -1;
  if (add(ctx, module, "HAS_DESCRIPTORS", HPy_Dup(ctx, fb_ext != NULL ? ctx->h_True : ctx->h_False)) != 0) return -1;
  if (add(ctx, module, "HAS_EXCHANGE", HPy_Dup(ctx, fb_exchange_is_usable() ? ctx->h_True : ctx->h_False)) != 0) {
    return -1;
  }
  HPy keeps_identity = HPy_Dup(ctx, fb_identity_is_kept ? ctx->h_True : ctx->h_False);
  if (add(ctx, module, "KEEPS_IDENTITY", keeps_identity) != 0) return -1;
  return add(ctx, module, "CONTEXT_NAME", HPyUnicode_FromString(ctx, ctx->name));
}

FB_METHOD_O(convert, "convert", arg, "The value after a trip to native code and back.") {
  TVMFFIAny value;
  if (fb_argument_convert_owned(ctx, arg, &value, "convert") != 0) return HPy_NULL;
  return fb_result_make(ctx, &value);
}

/* The package registers this function with atexit. */
FB_METHOD_NOARGS(mark_finalizing, "mark_finalizing",
                 "From now on Python objects held by native code are leaked instead of touched.") {
  fb_thread_mark_finalizing(ctx);
  return HPy_Dup(ctx, ctx->h_None);
}

/* Fills the module. After a failure it can be called again, and sets everything again. */
static int set_up(HPyContext *ctx, HPy module) {
  /* First, because all other code depends on the kind of context. */
  if (fb_context_init(ctx) != 0) return -1;
  fb_raised_init();
  fb_text_init();
  if (fb_immediate_init(ctx) != 0) return -1;
  /* Before any code loads a native library. */
  core_make_global();
  core_load_cxx_names();
  /* Callbacks of the core, and conversions of other folders: these need no Python object. */
  fb_translate_init();
  fb_field_init();
  fb_signals_connect();
  fb_container_init();
  fb_data_type_init();
  fb_opaque_value_init();
  fb_member_init();
  fb_exchange_init();
  fb_shape_init();
  /* Types come after fb_type_init: on PyPy 7.3 their properties are instances of the type that fb_type_init makes. */
  if (fb_type_tag_init(ctx) != 0 || fb_dlpack_init(ctx) != 0 || fb_dlpack_out_init(ctx) != 0 ||
      fb_type_init(ctx) != 0 || fb_iterate_init(ctx) != 0 || fb_deep_copy_init(ctx) != 0 ||
      add_types(ctx, module) != 0 || fb_callback_init(ctx, module) != 0 || fb_operation_init(ctx) != 0)
    return -1;
  fb_collect_init();
  /* After the types: making CObject determines whether wrappers have an identity (KEEPS_IDENTITY). */
  if (fb_constants_add(ctx, module) != 0 || add_constants(ctx, module) != 0) return -1;
  /* The package tests whether these functions exist; they must not exist where they cannot work. */
  if (fb_ext == NULL && HPy_DelAttr_s(ctx, module, "function_from_method_name") != 0) return -1;
  bool calls_classes = fb_ext != NULL && FHPY_EXTENSION_HAS(fb_ext, class_call) && fb_ext->class_call != NULL;
  if (!calls_classes && HPy_DelAttr_s(ctx, module, "class_call") != 0) return -1;
  bool has_steps = fb_ext != NULL && FHPY_EXTENSION_HAS(fb_ext, class_next) && fb_ext->class_next != NULL;
  if (!has_steps && HPy_DelAttr_s(ctx, module, "class_next") != 0) return -1;
  if (fb_function_has_methods()) return 0;
  return HPy_DelAttr_s(ctx, module, "method_descriptor") != 0 ? -1 : HPy_DelAttr_s(ctx, module, "init_method");
}

HPyDef_SLOT(module_exec, HPy_mod_exec)
static int module_exec_impl(HPyContext *ctx, HPy module) {
  /* The import system's lock does not suffice: a program may import the file by its path, under any name. */
  static bool is_loaded;
  if (fh_atomic_exchange_acq_rel(&is_loaded, true)) {
    fb_raise(ctx, ctx->h_ImportError, "ffi_hpy._core was loaded already and cannot be loaded twice in one process");
    return -1;
  }
  int rc = set_up(ctx, module);
  if (rc != 0) fh_atomic_store_seq_cst(&is_loaded, false); /* another import may try again */
  return rc;
}

static HPyDef *module_defines[] = {&module_exec,
                                   &mark_finalizing,
                                   &fb_hook_set_all,
                                   &fb_messages_get,
                                   &convert,
                                   &fb_callback_function,
                                   &fb_callback_method,
                                   &fb_callback_keeping,
                                   &fb_address_function,
                                   &fb_cffi_backend_start,
                                   &fb_closed_find,
                                   &fb_closed_break,
                                   &fb_function_method_descriptor,
                                   &fb_address_mlir_function,
                                   &fb_native_functions,
                                   &fb_recorded_wrappers,
                                   &fb_opaque_value_hold,
                                   &fb_data_type_parse,
                                   &fb_data_type_name,
                                   &fb_capsule_make,
                                   &fb_capsule_parts,
                                   &fb_described_capsule,
                                   &fb_dlpack_from,
                                   &fb_dlpack_handle_from,
                                   &fb_dlpack_handle_to_read,
                                   &fb_dlpack_out_of,
                                   &fb_held_reader,
                                   &fb_ndarray_reads,
                                   &fb_ndarray_use,
                                   &fb_exchange_address,
                                   &fb_exchange_writable,
                                   &fb_lazy_bits_learn,
                                   &fb_exchange_table_get,
                                   &fb_exchange_python_address,
                                   &fb_registry_type_index,
                                   &fb_registry_type_info,
                                   &fb_registry_type_attr,
                                   &fb_init_method,
                                   &fb_class_call,
                                   &fb_class_next,
                                   &fb_define_type,
                                   &fb_define_fields,
                                   &fb_define_method,
                                   &fb_define_type_attr,
                                   &fb_classes_register,
                                   &fb_classes_offer,
                                   &fb_classes_made,
                                   &fb_cany_value,
                                   &fb_schema_type_setter,
                                   &fb_registry_get_global,
                                   &fb_registry_global_metadata,
                                   &fb_registry_set_global,
                                   &fb_stream_get,
                                   &fb_stream_set,
                                   &fb_builtin_enable,
                                   &fb_builtin_items,
                                   &fb_member_register,
                                   NULL};

/* All state is static and not per module, because a process loads the binding once (module_exec). */
static HPyModuleDef module_def = {
    .doc = "The binding between the tvm-ffi C ABI and Python.",
    .size = 0,
    .defines = module_defines,
};

HPy_MODINIT(_core, module_def)
