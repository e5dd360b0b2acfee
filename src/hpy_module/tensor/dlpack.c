/* Import of tensors by DLPack's Python protocol.
 *
 * A producer's __dlpack__() returns a capsule with a managed tensor, named "dltensor" or, in DLPack 1,
 * "dltensor_versioned". A consumer renames the capsule to "used_..." and owns the tensor from then on. Two consumers
 * may have the same capsule; the consumer that renames it first gets the tensor. */
#include "tensor.h"

#include "core/platform/fork.h"
#include "exchange.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/capsule.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/int32.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "managed.h"
#include "ndarray.h"
#include "parts.h"

/* --- import ------------------------------------------------------------------------------------------------------- */

/* Without a GIL: makes the check and the change of the name one step. */
FH_LOCK(claiming, "capsules", FH_RANK_PLAIN);

/* Takes the pointer out of a capsule with the given name and renames the capsule, so that no other consumer takes it.
 * Returns NULL without an exception if the capsule has another name. */
static void *claim(HPyContext *ctx, HPy capsule, const char *name, const char *used_name) {
  void *pointer = NULL;
  /* With a GIL: no call in this block runs Python code or releases the GIL. */
  if (FH_LIKELY(!fb_context_free_threaded)) {
    pointer = fb_capsule_get(ctx, capsule, name);
    if (pointer == NULL) HPyErr_Clear(ctx);
    if (pointer != NULL && fb_capsule_rename(ctx, capsule, used_name) != 0) return NULL;
    return pointer;
  }
  /* Held for three calls that read and write the capsule and run no Python code. */
  fh_mutex_lock(&claiming);
  if (fb_capsule_is_valid(ctx, capsule, name)) {
    pointer = fb_capsule_get(ctx, capsule, name);
    fb_capsule_rename(ctx, capsule, used_name);
  }
  fh_mutex_unlock(&claiming);
  return pointer;
}

/* Raises the error for an object that is not a capsule with a tensor, or for a used capsule. Returns -1. */
static FH_NOINLINE int refuse_capsule(HPyContext *ctx, HPy capsule) {
  char given[128];
  if (fb_capsule_is_valid(ctx, capsule, "used_dltensor") ||
      fb_capsule_is_valid(ctx, capsule, "used_dltensor_versioned")) {
    fb_raise(ctx, ctx->h_ValueError, "the DLPack capsule was consumed already");
  } else {
    fb_raise(ctx, ctx->h_TypeError,
             "expected a DLPack capsule, got %s, which is not an array either: it has no __dlpack__",
             fb_attr_type_name(ctx, capsule, given, sizeof(given)));
  }
  return -1;
}

static FH_NOINLINE int take_versioned(HPyContext *ctx, HPy capsule, FbDemands demands, TVMFFIObject **out) {
  DLManagedTensorVersioned *managed = claim(ctx, capsule, "dltensor_versioned", "used_dltensor_versioned");
  if (managed == NULL) return refuse_capsule(ctx, capsule);
  if (fb_managed_import(ctx, managed, demands, out) == 0) return 0;
  fb_capsule_rename(ctx, capsule, "dltensor_versioned"); /* the tensor was refused: other consumers may take it */
  return -1;
}

/* Takes the tensor out of a capsule and marks the capsule as used. *out is owned. Returns 0, or -1 with an exception
 * raised. */
static int take_capsule(HPyContext *ctx, HPy capsule, FbDemands demands, TVMFFIObject **out) {
  TVMFFIObjectHandle made = NULL;
  /* The older form first, because __dlpack__() without arguments returns it. */
  DLManagedTensor *managed = claim(ctx, capsule, "dltensor", "used_dltensor");
  if (FH_UNLIKELY(managed == NULL)) return take_versioned(ctx, capsule, demands, out);
  if (FH_UNLIKELY(TVMFFITensorFromDLPack(managed, demands.alignment, demands.contiguous, &made) != 0)) {
    fb_error_raise_pending(ctx, "from_dlpack");
    fb_capsule_rename(ctx, capsule, "dltensor"); /* the tensor was refused: other consumers may take it */
    return -1;
  }
  *out = made;
  return 0;
}

static FbRef dlpack_name; /* "__dlpack__"; written once during the import */

/* Makes an ffi.Tensor over the memory of an object with __dlpack__. *out is owned. Returns 0, or -1 with an exception
 * raised. */
static int from_producer(HPyContext *ctx, HPy producer, FbDemands demands, TVMFFIObject **out) {
  /* Without arguments every producer returns the older struct, which has no flags to check, or raises BufferError if it
   * cannot; the package then calls again, with all arguments. No other exception leads to a second call: an
   * exception of a signal handler would be lost, and a producer that recurses to the end of the stack would do so twice
   * at each depth. */
  HPy name = fb_ref_borrow(ctx, &dlpack_name);
  HPy capsule = fb_call_method(ctx, name, &producer, 1);
  fb_ref_return(ctx, name);
  if (HPy_IsNull(capsule) && HPyErr_ExceptionMatches(ctx, ctx->h_BufferError)) {
    HPyErr_Clear(ctx);
    capsule = fb_hook_call(ctx, FB_HOOK_DLPACK_CAPSULE, &producer, 1);
  }
  if (HPy_IsNull(capsule)) return -1;
  int rc = take_capsule(ctx, capsule, demands, out);
  fb_drop_handle(ctx, capsule);
  return rc;
}

/* An FbConversion. Records the producer's stream in the scope of the call, if there is one. */
static int producer_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  TVMFFIObject *made;
  unsigned protocols;
  if (fb_ndarray_check(value)) {
    int rc = fb_ndarray_argument(ctx, value, out, args);
    if (rc <= 0) return rc;
  }
  if (fb_type_tag_with_protocols(ctx, value, &protocols) == FB_TYPE_KIND_UNKNOWN) return -1;
  if ((protocols & FB_PROTOCOL_LAZY_BITS) != 0 && fb_lazy_bits_check(ctx, value) != 0) return -1;
  if (from_producer(ctx, value, (FbDemands){.reads = args->reads}, &made) != 0) return -1;
  if (args->scope == NULL || fb_scope_add_producer(ctx, args->scope, value, made) == 0) {
    return fb_args_view(args, made, out);
  }
  fb_drop_object(made, -1);
  return -1;
}

/* Converts a DLTensor*, which a callback may get as an argument: it has no owner, and its memory is borrowed for the
 * call. */
static HPy borrowed_result(HPyContext *ctx, const TVMFFIAny *value) {
  TVMFFIObject *handle = fb_managed_borrow(ctx, value->v_ptr);
  return handle == NULL ? HPy_NULL : fb_wrap_object(ctx, handle);
}

/* Registers the conversions of arrays without a table, and of a DLTensor* result. */
int fb_dlpack_init(HPyContext *ctx) {
  fb_argument_set_conversion(FB_TYPE_KIND_DLPACK, producer_argument);
  fb_result_set(kTVMFFIDLTensorPtr, borrowed_result);
  HPy name = HPyUnicode_FromString(ctx, "__dlpack__");
  if (HPy_IsNull(name)) return -1;
  fb_ref_store(ctx, &dlpack_name, name);
  HPy_Close(ctx, name);
  return 0;
}

/* Returns the address of a native tensor as an int; steals the tensor on failure. */
static HPy address_of(HPyContext *ctx, TVMFFIObject *made) {
  HPy address = HPyLong_FromInt64_t(ctx, (int64_t)(intptr_t)made);
  if (HPy_IsNull(address)) fb_drop_object(made, -1);
  return address;
}

/* Imports an object whose class has an exchange table, an object with __dlpack__, or a capsule. */
static int from_any(HPyContext *ctx, HPy value, FbDemands demands, TVMFFIObject **out) {
  /* The import of managed tensors checks the requirements. */
  if (fb_ndarray_check(value) && demands.alignment == 0 && !demands.contiguous) {
    int rc = fb_ndarray_tensor(ctx, value, demands.reads, out);
    if (FH_LIKELY(rc <= 0)) return rc;
  }
  unsigned protocols;
  FbTypeTag kind = fb_type_tag_with_protocols(ctx, value, &protocols);
  if (kind == FB_TYPE_KIND_UNKNOWN) return -1;
  if ((protocols & FB_PROTOCOL_LAZY_BITS) != 0 && fb_lazy_bits_check(ctx, value) != 0) return -1;
  if (kind == FB_TYPE_KIND_EXCHANGE) {
    const DLPackExchangeAPI *exchange = fb_type_tag_exchange(ctx, value, &protocols);
    return exchange == NULL ? -1 : fb_exchange_tensor(ctx, value, exchange, demands, out);
  }
  /* A class of another kind may still have the method; a capsule has none. */
  if (kind != FB_TYPE_KIND_DLPACK) {
    HPy method = fb_attr_find(ctx, value, "__dlpack__");
    if (!HPy_IsNull(method)) {
      HPy_Close(ctx, method);
    } else {
      return HPyErr_Occurred(ctx) ? -1 : take_capsule(ctx, value, demands, out);
    }
  }
  return from_producer(ctx, value, demands, out);
}

/* Reads the requirements of from_dlpack(), if given. Returns 0, or -1 with an exception raised. */
static int read_demands(HPyContext *ctx, HPy aligned, HPy compact, int32_t *alignment, int *contiguous) {
  if (!HPy_IsNull(aligned)) *alignment = fb_int32_read(ctx, aligned);
  if (*alignment == -1 && HPyErr_Occurred(ctx)) return -1;
  if (!HPy_IsNull(compact)) *contiguous = HPy_IsTrue(ctx, compact);
  if (*contiguous < 0) return -1;
  if (*alignment >= 0) return 0;
  fb_raise(ctx, ctx->h_ValueError, "require_alignment must not be negative");
  return -1;
}

/* Makes a native tensor from the arguments of from_dlpack(): *out is owned. Returns 0, or -1 with an exception
 * raised. */
static int from_arguments(HPyContext *ctx, const HPy *args, size_t nargs, HPy kwnames, TVMFFIObject **out) {
  static const char *const names[] = {"ext_tensor", "require_alignment", "require_contiguous"};
  static const FbKeywords keywords = {"from_dlpack", names, 3, NULL};
  HPy given[3];
  int32_t alignment = 0;
  int contiguous = 0;
  if (FH_LIKELY(nargs == 1 && HPy_IsNull(kwnames))) return from_any(ctx, args[0], (FbDemands){0}, out);
  if (nargs > 1) {
    fb_raise(ctx, ctx->h_TypeError, "from_dlpack() takes one array, got %zu", nargs);
    return -1;
  }
  if (fb_keywords_bind(ctx, &keywords, 1, args, nargs, kwnames, given) != 0) return -1;
  if (read_demands(ctx, given[1], given[2], &alignment, &contiguous) != 0) return -1;
  return from_any(ctx, given[0], (FbDemands){alignment, contiguous != 0, false}, out);
}

FB_METHOD_KEYWORDS(fb_dlpack_from, "from_dlpack",
                   "from_dlpack(ext_tensor, *, require_alignment=0, require_contiguous=False)\n--\n\n"
                   "Make a Tensor on the memory of an array of any library that supports DLPack, without\n"
                   "copying.\n\n"
                   "Args:\n"
                   "    ext_tensor: an object with `__dlpack__`, or a DLPack capsule, which is used up.\n"
                   "    require_alignment: the number of bytes of which the address of the first element must be\n"
                   "        a multiple; 0 for any.\n"
                   "    require_contiguous: whether the elements must be contiguous, row by row.\n\n"
                   "Returns:\n"
                   "    A new Tensor, which keeps the memory alive. A write to the Tensor changes the array.\n\n"
                   "Raises:\n"
                   "    TypeError: for an object that is not an array.\n"
                   "    ValueError: for a capsule that was used up before.\n"
                   "    BufferError: if the array's library refuses, as NumPy does for text, and for read-only\n"
                   "        memory, because native code could not know that it must not write.\n"
                   "    RuntimeError: if the memory does not meet the requirements.\n\n"
                   "Examples:\n"
                   "    >>> import numpy\n"
                   "    >>> ffi_hpy.from_dlpack(numpy.arange(6.0).reshape(2, 3))\n"
                   "    float64[2, 3]@cpu:0") {
  TVMFFIObject *made;
  return from_arguments(ctx, args, nargs, kwnames, &made) == 0 ? fb_wrap_object(ctx, made) : HPy_NULL;
}

FB_METHOD_KEYWORDS(fb_dlpack_handle_from, "tensor_from_dlpack",
                   "As from_dlpack(): the address of the native tensor, whose reference is the caller's.") {
  TVMFFIObject *made;
  if (from_arguments(ctx, args, nargs, kwnames, &made) != 0) return HPy_NULL;
  return address_of(ctx, made);
}

FB_METHOD_O(fb_dlpack_handle_to_read, "tensor_to_read", array,
            "As tensor_from_dlpack(array), for native code that only reads: the array may be read-only.") {
  TVMFFIObject *made;
  return from_any(ctx, array, (FbDemands){.reads = true}, &made) == 0 ? address_of(ctx, made) : HPy_NULL;
}
