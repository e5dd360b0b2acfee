/* The frequent operations of C++ on Python objects: attributes, items, calls, iteration, containers, tests. */
#include "operation.h"

#include <stdlib.h>

#include "callback.h"
#include "hpy_module/container/builtin.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/capsule.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/immediate.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/error/translate.h"
#include "hpy_module/object/class_table.h"
#include "hpy_module/object/object.h"
#include "hpy_module/tensor/ndarray.h"
#include "hpy_runtime/api/appended.h"

enum { STACK_ARGS = 8 };

/* An operation that runs. */
typedef struct Call {
  HPyContext *ctx;
  const TVMFFIAny *values; /* as C++ passes them */
  const HPy *args; /* the values as Python objects; see n_raw */
  size_t n; /* the number of values */
  TVMFFIAny *result;
} Call;

/* Returns 0, -1 with an exception raised, or 1 if only the package can run the operation. */
typedef int (*Operation)(const Call *call);

/* --- arguments and results ---------------------------------------------------------------------------------------- */

/* The str of short texts, most of which are names of attributes: the interpreter finds an attribute faster by the same
 * str. The GIL guards the table, which is not used without a GIL. */
enum { N_KNOWN_TEXTS = 256, MOST_BYTES = 24 };
typedef struct TextKey {
  uint64_t words[3];
  size_t n_bytes;
} TextKey;
static struct KnownText {
  TextKey key;
  HPy text; /* HPy_NULL: the entry is empty */
} known_texts[N_KNOWN_TEXTS];

FH_INLINE uint64_t load_8(const char *data) {
  uint64_t word;
  memcpy(&word, data, sizeof(word));
  return word;
}
FH_INLINE uint64_t load_4(const char *data) {
  uint32_t word;
  memcpy(&word, data, sizeof(word));
  return word;
}
/* The words overlap, so that together they have each byte. */
FH_INLINE TextKey text_key(const char *data, size_t n) {
  TextKey key = {{0}, n};
  if (n >= 8) {
    key = (TextKey){{load_8(data), load_8(n > 16 ? data + 8 : data), load_8(data + n - 8)}, n};
  } else if (n >= 4) {
    key.words[0] = load_4(data) | load_4(data + n - 4) << 32;
  } else if (n > 0) {
    key.words[0] =
        (uint64_t)(uint8_t)data[0] | (uint64_t)(uint8_t)data[n / 2] << 8 | (uint64_t)(uint8_t)data[n - 1] << 16;
  }
  return key;
}

static HPy known_text(HPyContext *ctx, const TVMFFIAny *value, const char *data, size_t n_bytes) {
  if (FH_UNLIKELY(fb_context_free_threaded) || n_bytes > MOST_BYTES) return fb_result_of_view(ctx, value);
  TextKey key = text_key(data, n_bytes);
  uint64_t hash = (key.words[0] ^ key.words[1] * 3 ^ key.words[2] * 5 ^ n_bytes) * UINT64_C(0x9E3779B97F4A7C15);
  struct KnownText *known = &known_texts[hash >> 56];
  bool is_known = !HPy_IsNull(known->text) && known->key.n_bytes == n_bytes && known->key.words[0] == key.words[0] &&
                  known->key.words[1] == key.words[1] && known->key.words[2] == key.words[2];
  if (FH_UNLIKELY(!is_known)) {
    HPy made = fb_result_of_view(ctx, value), before = known->text;
    if (HPy_IsNull(made)) return HPy_NULL;
    *known = (struct KnownText){key, made};
    if (!HPy_IsNull(before)) HPy_Close(ctx, before);
  }
  return HPy_Dup(ctx, known->text);
}

/* A value as a Python object: a new handle, or HPy_NULL with an exception raised. */
FH_INLINE HPy argument_of(HPyContext *ctx, const TVMFFIAny *value) {
  if (value->type_index == kTVMFFIOpaquePyObject) {
    const FbPyOwner *owner = fb_opaque_owner(value->v_obj);
    if (FH_LIKELY(owner != NULL)) return fb_ref_load(ctx, &owner->ref);
  } else if (value->type_index == kTVMFFIInt) {
    return fb_immediate_int_new(ctx, value->v_int64);
  } else if (value->type_index == kTVMFFISmallStr) {
    return known_text(ctx, value, value->v_bytes, value->small_str_len);
  } else if (value->type_index == kTVMFFIRawStr) {
    return known_text(ctx, value, value->v_c_str, strlen(value->v_c_str));
  } else if (value->type_index == kTVMFFIStr) {
    const TVMFFIByteArray *text = TVMFFIBytesGetByteArrayPtr(value->v_obj);
    return known_text(ctx, value, text->data, text->size);
  }
  return fb_result_of_view(ctx, value);
}

/* Passes a new handle to C++, or the raised exception. */
static int pass(const Call *call, HPy value) {
  if (FH_UNLIKELY(HPy_IsNull(value))) return -1;
  int rc = 0;
  if (!fb_immediate_read(value, call->result)) {
    rc = fb_argument_keep_owned(call->ctx, value, call->result, FB_MESSAGE_RETURN_VALUE);
  }
  HPy_Close(call->ctx, value);
  return rc;
}

/* Passes the result of a function that returns 1 or 0, or -1 with an exception raised. */
static int pass_truth(const Call *call, int truth) {
  if (FH_UNLIKELY(truth < 0)) return -1;
  fb_put(call->result, kTVMFFIBool, truth);
  return 0;
}

/* --- the operations ----------------------------------------------------------------------------------------------- */

static int get_attribute(const Call *call) { return pass(call, HPy_GetAttr(call->ctx, call->args[0], call->args[1])); }

static int set_attribute(const Call *call) {
  return HPy_SetAttr(call->ctx, call->args[0], call->args[1], call->args[2]);
}

static int get_item(const Call *call) { return pass(call, HPy_GetItem(call->ctx, call->args[0], call->args[1])); }

static int set_item(const Call *call) { return HPy_SetItem(call->ctx, call->args[0], call->args[1], call->args[2]); }

static int contains(const Call *call) {
  return pass_truth(call, HPy_Contains(call->ctx, call->args[0], call->args[1]));
}

static int get_length(const Call *call) {
  HPy_ssize_t length = HPy_Length(call->ctx, call->args[0]);
  if (FH_UNLIKELY(length < 0)) return -1;
  fb_put(call->result, kTVMFFIInt, length);
  return 0;
}

static int append(const Call *call) {
  if (FH_UNLIKELY(!HPyList_Check(call->ctx, call->args[0]))) return 1; /* the package raises the TypeError */
  return HPyList_Append(call->ctx, call->args[0], call->args[1]);
}

static int call_object(const Call *call) {
  return pass(call, fb_call(call->ctx, call->args[0], call->args + 1, call->n - 1, HPy_NULL));
}

static int call_method(const Call *call) {
  return pass(call, fb_call_method(call->ctx, call->args[0], call->args + 1, call->n - 1));
}

/* The callable that a Function was made of, or else the Function. */
static int call_function(const Call *call) {
  const TVMFFIAny *function = &call->values[call->n - 1];
  if (FH_UNLIKELY(function->type_index != kTVMFFIFunction)) return 1;
  const FbPyOwner *owner = fb_callback_owner(function->v_obj);
  HPy callable = owner == NULL ? fb_result_of_view(call->ctx, function) : fb_ref_load(call->ctx, &owner->ref);
  if (FH_UNLIKELY(HPy_IsNull(callable))) return -1;
  HPy made = fb_call(call->ctx, callable, call->args, call->n - 1, HPy_NULL);
  HPy_Close(call->ctx, callable);
  return pass(call, made);
}

static const FhpyContext *appended; /* entries for iterators; written once during the import */

static int get_iterator(const Call *call) { return pass(call, appended->ctx_GetIter(call->ctx, call->args[0])); }

/* Passes an Array of two objects, which are closed; HPy_NULL: an exception is raised. */
static int pass_two(const Call *call, HPy first, HPy second) {
  const HPy values[] = {first, second};
  TVMFFIObjectHandle made = NULL;
  int rc = HPy_IsNull(first) || HPy_IsNull(second) ? -1 : 0;
  if (rc == 0 && fb_holder_bound->container_new(kFfiHpyTuple, 2, &made) != 0) {
    fb_error_raise_pending(call->ctx, "a pair");
    rc = -1;
  }
  TVMFFISeqCell *cell = made == NULL ? NULL : (TVMFFISeqCell *)((TVMFFIObject *)made + 1);
  for (int i = 0; i < 2; ++i) {
    Call part = {.ctx = call->ctx, .result = rc == 0 ? (TVMFFIAny *)cell->data + i : NULL};
    if (rc == 0) {
      *part.result = (TVMFFIAny){.type_index = kTVMFFINone};
      rc = pass(&part, values[i]);
      if (rc == 0) ++cell->size;
    } else if (!HPy_IsNull(values[i])) {
      fb_drop_handle(call->ctx, values[i]);
    }
  }
  if (rc == 0) {
    ((TVMFFIObject *)made)->type_index = kTVMFFIArray; /* which has the same cell */
    fb_put_object(call->result, made);
  } else if (made != NULL) {
    fb_drop_object(made, -1);
  }
  return rc;
}

/* Passes an Array of the two items of a pair, which is closed. */
static int pass_pair(const Call *call, HPy pair) {
  HPy first = HPy_GetItem_i(call->ctx, pair, 0);
  HPy second = HPy_IsNull(first) ? HPy_NULL : HPy_GetItem_i(call->ctx, pair, 1);
  int rc = pass_two(call, first, second);
  rc == 0 ? HPy_Close(call->ctx, pair) : fb_drop_handle(call->ctx, pair);
  return rc;
}

static int get_next_with(const Call *call, int (*pass_item)(const Call *call, HPy item)) {
  if (call->values[1].type_index >= kTVMFFIStaticObjectBegin) return 1;
  if (FH_UNLIKELY(!appended->ctx_Iter_Check(call->ctx, call->args[0]))) return 1; /* the package raises */
  HPy item = appended->ctx_Iter_Next(call->ctx, call->args[0]);
  if (FH_LIKELY(!HPy_IsNull(item))) return pass_item(call, item);
  if (FH_UNLIKELY(fb_raised_is())) return -1;
  *call->result = call->values[1];
  return 0;
}
static int get_next(const Call *call) { return get_next_with(call, pass); }
static int get_next_pair(const Call *call) { return get_next_with(call, pass_pair); }

/* Makes a container. container_take steals handles. */
static int make_container(const Call *call, int kind) {
  HPy *items = malloc((call->n + 1) * sizeof(*items));
  if (items == NULL) {
    HPyErr_NoMemory(call->ctx);
    return -1;
  }
  for (size_t i = 0; i < call->n; ++i) items[i] = HPy_Dup(call->ctx, call->args[i]);
  HPy made = fb_ext->container_take(kind, items, (HPy_ssize_t)call->n);
  free(items);
  return pass(call, made);
}
static int make_tuple(const Call *call) { return make_container(call, FHPY_TUPLE); }
static int make_list(const Call *call) { return make_container(call, FHPY_LIST); }
static int make_dict(const Call *call) { return call->n % 2 != 0 ? 1 : make_container(call, FHPY_DICT); }

static int is_same(const Call *call) {
  return pass_truth(call, fb_context_is_same(call->ctx, call->args[0], call->args[1]));
}

/* An object equals itself, as in containers; except a float, of which PyPy has one object for each value. */
static int is_equal(const Call *call) {
  HPyContext *ctx = call->ctx;
  bool is_one = fb_context_is_same(ctx, call->args[0], call->args[1]);
  if (is_one && fb_immediate_type(call->args[0]) != fb_immediate.float_type) return pass_truth(call, 1);
  HPy answer = HPy_RichCompare(ctx, call->args[0], call->args[1], HPy_EQ);
  if (HPy_IsNull(answer)) return -1;
  int truth = HPy_IsTrue(ctx, answer);
  HPy_Close(ctx, answer);
  return pass_truth(call, truth);
}

static int is_true(const Call *call) { return pass_truth(call, HPy_IsTrue(call->ctx, call->args[0])); }

static int get_text(const Call *call) { return pass(call, HPy_Str(call->ctx, call->args[0])); }

static int get_type(const Call *call) { return pass(call, HPy_Type(call->ctx, call->args[0])); }

/* The functions of Python's module `operator` that C++ uses most. */
static const struct Operator {
  const char *name;
  HPy (*run)(HPyContext *ctx, HPy a, HPy b);
  int compares; /* of an operator without `run`: HPy_LT, ... */
} operators[] = {{"add", HPy_Add, 0},
                 {"sub", HPy_Subtract, 0},
                 {"mul", HPy_Multiply, 0},
                 {"truediv", HPy_TrueDivide, 0},
                 {"floordiv", HPy_FloorDivide, 0},
                 {"mod", HPy_Remainder, 0},
                 {"and_", HPy_And, 0},
                 {"or_", HPy_Or, 0},
                 {"xor", HPy_Xor, 0},
                 {"lshift", HPy_Lshift, 0},
                 {"rshift", HPy_Rshift, 0},
                 {"iadd", HPy_InPlaceAdd, 0},
                 {"isub", HPy_InPlaceSubtract, 0},
                 {"imul", HPy_InPlaceMultiply, 0},
                 {"itruediv", HPy_InPlaceTrueDivide, 0},
                 {"lt", NULL, HPy_LT},
                 {"le", NULL, HPy_LE},
                 {"gt", NULL, HPy_GT},
                 {"ge", NULL, HPy_GE},
                 {"eq", NULL, HPy_EQ},
                 {"ne", NULL, HPy_NE}};

static int use_operator(const Call *call) {
  const TVMFFIAny *name = &call->values[call->n - 1];
  if (name->type_index != kTVMFFIRawStr || call->n != 3) return 1;
  HPy a = call->args[0], b = call->args[1];
  for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); ++i) {
    const struct Operator *each = &operators[i];
    if (strcmp(each->name, name->v_c_str) != 0) continue;
    return pass(call,
                each->run != NULL ? each->run(call->ctx, a, b) : HPy_RichCompare(call->ctx, a, b, each->compares));
  }
  return 1;
}

/* Only for objects of classes below float, such as NumPy's float64. */
static int to_float(const Call *call) {
  if (!HPy_TypeCheck(call->ctx, call->args[0], call->ctx->h_FloatType)) return 1;
  fb_put_float(call->result, HPyFloat_AsDouble(call->ctx, call->args[0]));
  return 0;
}

static int make_big_int(const Call *call) {
  return pass(call, HPyLong_FromUInt64_t(call->ctx, call->values[0].v_uint64));
}

static int read_complex(const Call *call) {
  if (fb_immediate_type(call->args[0]) != call->ctx->h_ComplexType._i) return 1;
  HPy real = HPy_GetAttr_s(call->ctx, call->args[0], "real");
  return pass_two(call, real, HPy_IsNull(real) ? HPy_NULL : HPy_GetAttr_s(call->ctx, call->args[0], "imag"));
}
static int make_complex(const Call *call) {
  return pass(call, fb_call(call->ctx, call->ctx->h_ComplexType, call->args, call->n, HPy_NULL));
}

/* The text of a str that ends with a NUL; NULL for None. */
static const char *text_of(const TVMFFIAny *value) {
  if (value->type_index == kTVMFFISmallStr) return value->v_bytes;
  if (value->type_index == kTVMFFIStr) return TVMFFIBytesGetByteArrayPtr(value->v_obj)->data;
  return NULL;
}

static int make_capsule(const Call *call) {
  const TVMFFIAny *address = &call->values[0], *cleanup = &call->values[2];
  if (address->type_index != kTVMFFIOpaquePtr) return 1;
  void (*run)(void *) = NULL;
  if (cleanup->type_index == kTVMFFIOpaquePtr) memcpy(&run, &cleanup->v_ptr, sizeof(run));
  return pass(call, fb_capsule_new_owned(call->ctx, address->v_ptr, text_of(&call->values[1]), run));
}

static int read_capsule(const Call *call) {
  const char *name = NULL;
  if (!HPy_TypeCheck(call->ctx, call->args[0], call->ctx->h_CapsuleType)) return 1;
  void *data = fb_capsule_read(call->ctx, call->args[0], &name);
  if (data == NULL) return -1;
  const char *wanted = call->n > 1 ? text_of(&call->values[1]) : NULL;
  bool is_wanted = call->n == 1 || (name == NULL ? wanted == NULL : wanted != NULL && strcmp(name, wanted) == 0);
  if (!is_wanted) return 1; /* the package raises ValueError */
  fb_put(call->result, kTVMFFIOpaquePtr, (int64_t)(intptr_t)data);
  return 0;
}

/* An array of a library; only NumPy's are made here. */
static int export_array(const Call *call) {
  enum { NUMPY = 1 }; /* as in ffi_hpy/bind/array_type.h */
  const TVMFFIAny *framework = &call->values[1], *reads = &call->values[2], *copies = &call->values[3];
  HPy array = HPy_NULL;
  if (framework->v_int64 != NUMPY) return 1;
  if (!fb_ndarray_export(call->ctx, call->args[0], reads->v_int64 != 0, copies->v_int64 != 0, &array)) return 1;
  return pass(call, array);
}

/* --- builtins ----------------------------------------------------------------------------------------------------- */

/* Functions and classes of the module builtins, written once during the import. */
static FbRef builtin_isinstance, builtin_hasattr;
static struct Kind {
  const char *name;
  FbRef type;
} kinds[] = {{.name = "list"},      {.name = "tuple"},     {.name = "dict"},      {.name = "str"},   {.name = "int"},
             {.name = "float"},     {.name = "set"},       {.name = "bytes"},     {.name = "slice"}, {.name = "type"},
             {.name = "frozenset"}, {.name = "bytearray"}, {.name = "memoryview"}};
enum { N_KINDS = sizeof(kinds) / sizeof(*kinds) };

static int call_builtin(const Call *call, const FbRef *function) {
  return pass(call, fb_call(call->ctx, fb_ref_borrow(call->ctx, function), call->args, call->n, HPy_NULL));
}
static int is_instance(const Call *call) { return call_builtin(call, &builtin_isinstance); }
static int has_attribute(const Call *call) { return call_builtin(call, &builtin_hasattr); }

static int is_kind(const Call *call) {
  if (call->values[1].type_index != kTVMFFIRawStr) return 1;
  const char *name = call->values[1].v_c_str;
  if (strcmp(name, "callable") == 0) return pass_truth(call, HPyCallable_Check(call->ctx, call->args[0]));
  if (strcmp(name, "list_or_tuple") == 0) {
    return pass_truth(call, fb_builtin_is_list_or_tuple(call->ctx, call->args[0]));
  }
  if (strcmp(name, "capsule") == 0) {
    return pass_truth(call, HPy_TypeCheck(call->ctx, call->args[0], call->ctx->h_CapsuleType));
  }
  bool is_any = strcmp(name, "iterable") == 0 || strcmp(name, "sequence") == 0;
  if (is_any && fb_builtin_is_list_or_tuple(call->ctx, call->args[0])) return pass_truth(call, 1);
  for (size_t i = 0; i < N_KINDS; ++i) {
    if (strcmp(name, kinds[i].name) != 0) continue;
    return pass_truth(call, HPy_TypeCheck(call->ctx, call->args[0], fb_ref_borrow(call->ctx, &kinds[i].type)));
  }
  return 1;
}

static int read_builtin(HPyContext *ctx, HPy builtins, const char *name, FbRef *out) {
  HPy found = HPy_GetAttr_s(ctx, builtins, name);
  if (HPy_IsNull(found)) return -1;
  fb_ref_store(ctx, out, found);
  HPy_Close(ctx, found);
  return 0;
}

/* --- slices and times --------------------------------------------------------------------------------------------- */

/* Names of attributes, and the types of slices and of timedeltas as type words (extension.h; 0: not known yet). None is
 * released. The names and the first type are written once during the import. */
static HPy indices_name, days_name, seconds_name, microseconds_name;
static intptr_t slice_type, timedelta_type;

static int make_name(HPyContext *ctx, const char *text, HPy *out) {
  *out = HPyUnicode_FromString(ctx, text);
  return HPy_IsNull(*out) ? -1 : 0;
}

static int64_t number_of_steps(int64_t start, int64_t stop, int64_t step) {
  if (step > 0) return start < stop ? (stop - start - 1) / step + 1 : 0;
  return stop < start ? (start - stop - 1) / -step + 1 : 0;
}

/* Reads a tuple of three ints, which is closed. Returns false without an exception if one has more than 64 bits. */
static bool read_three(HPyContext *ctx, HPy tuple, int64_t *out) {
  bool fits = true;
  for (int i = 0; i < 3; ++i) {
    HPy item = HPy_GetItem_i(ctx, tuple, i);
    out[i] = HPyLong_AsInt64_t(ctx, item);
    fits = fits && (out[i] != -1 || !HPyErr_Occurred(ctx));
    HPy_Close(ctx, item);
  }
  if (!fits) HPyErr_Clear(ctx);
  HPy_Close(ctx, tuple);
  return fits;
}

static int compute_slice(const Call *call) {
  int64_t n[4];
  TVMFFIObjectHandle made = NULL;
  if (fb_immediate_type(call->args[0]) != slice_type) return 1;
  HPy found = fb_call_method(call->ctx, indices_name, call->args, 2);
  if (HPy_IsNull(found)) return -1;
  if (!read_three(call->ctx, found, n)) return 1;
  n[3] = number_of_steps(n[0], n[1], n[2]);
  if (fb_holder_bound->container_new(kFfiHpyTuple, 4, &made) != 0) {
    fb_error_raise_pending(call->ctx, "the numbers of a slice");
    return -1;
  }
  TVMFFISeqCell *cell = (TVMFFISeqCell *)((TVMFFIObject *)made + 1);
  for (int i = 0; i < 4; ++i) fb_put((TVMFFIAny *)cell->data + i, kTVMFFIInt, n[i]);
  cell->size = 4;
  ((TVMFFIObject *)made)->type_index = kTVMFFIArray; /* which has the same cell */
  fb_put_object(call->result, made);
  return 0;
}

/* The class datetime.timedelta, borrowed; HPy_NULL with an exception raised. */
static HPy find_timedelta(HPyContext *ctx) {
  intptr_t known = fh_atomic_load_acquire(&timedelta_type), none = 0; /* pairs with the exchange below */
  if (FH_LIKELY(known != 0)) return (HPy){known};
  HPy module = HPyImport_ImportModule(ctx, "datetime");
  HPy found = HPy_IsNull(module) ? HPy_NULL : HPy_GetAttr_s(ctx, module, "timedelta");
  if (!HPy_IsNull(module)) HPy_Close(ctx, module);
  if (HPy_IsNull(found) || fh_atomic_cas_acq_rel(&timedelta_type, &none, found._i)) return found;
  HPy_Close(ctx, found);
  return (HPy){none};
}

static int add_part(HPyContext *ctx, HPy value, HPy name, int64_t factor, int64_t *sum) {
  HPy part = HPy_GetAttr(ctx, value, name);
  if (HPy_IsNull(part)) return -1;
  *sum += factor * HPyLong_AsInt64_t(ctx, part);
  HPy_Close(ctx, part);
  return 0;
}

/* Only for a timedelta itself whose microseconds have 63 bits. */
static int read_timedelta(const Call *call) {
  enum { SECONDS = 86400, MOST_DAYS = 100000000 };
  HPyContext *ctx = call->ctx;
  HPy cls = find_timedelta(ctx);
  int64_t days = 0, n = 0;
  if (HPy_IsNull(cls)) return -1;
  if (fb_immediate_type(call->args[0]) != cls._i) return 1;
  if (add_part(ctx, call->args[0], days_name, 1, &days) != 0) return -1;
  if (days > MOST_DAYS || days < -MOST_DAYS) return 1;
  n = days * SECONDS * INT64_C(1000000);
  if (add_part(ctx, call->args[0], seconds_name, 1000000, &n) != 0) return -1;
  if (add_part(ctx, call->args[0], microseconds_name, 1, &n) != 0) return -1;
  fb_put(call->result, kTVMFFIInt, n);
  return 0;
}

static int make_timedelta(const Call *call) {
  HPyContext *ctx = call->ctx;
  HPy cls = find_timedelta(ctx);
  if (HPy_IsNull(cls)) return -1;
  HPy zero = fb_immediate_int_new(ctx, 0);
  if (HPy_IsNull(zero)) return -1;
  const HPy args[] = {zero, zero, call->args[0]}; /* days, seconds, microseconds */
  HPy made = fb_call(ctx, cls, args, 3, HPy_NULL);
  HPy_Close(ctx, zero);
  return pass(call, made);
}

static int find_slices(HPyContext *ctx) {
  HPy slice = HPy_NULL;
  int rc = make_name(ctx, "indices", &indices_name) | make_name(ctx, "days", &days_name) |
           make_name(ctx, "seconds", &seconds_name) | make_name(ctx, "microseconds", &microseconds_name);
  for (size_t i = 0; rc == 0 && i < sizeof(kinds) / sizeof(*kinds); ++i) {
    if (strcmp(kinds[i].name, "slice") == 0) slice = fb_ref_load(ctx, &kinds[i].type);
  }
  slice_type = slice._i;
  return rc;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static const struct Row {
  Operation run;
  size_t least, most; /* numbers of values */
  size_t n_raw; /* how many of them, at the end, do not become Python objects */
  bool is_for_pypy; /* faster than the package's function, which PyPy compiles, too */
} rows[kFfiHpyNumOperations] = {
    [kFfiHpyRunGetAttr] = {get_attribute, 2, 2, 0, false},
    [kFfiHpyRunSetAttr] = {set_attribute, 3, 3, 0, false},
    [kFfiHpyRunHasAttr] = {has_attribute, 2, 2, 0, false},
    [kFfiHpyRunGetItem] = {get_item, 2, 2, 0, false},
    [kFfiHpyRunSetItem] = {set_item, 3, 3, 0, false},
    [kFfiHpyRunContains] = {contains, 2, 2, 0, false},
    [kFfiHpyRunLength] = {get_length, 1, 1, 0, false},
    [kFfiHpyRunAppend] = {append, 2, 2, 0, false},
    [kFfiHpyRunCall] = {call_object, 1, SIZE_MAX, 0, true},
    [kFfiHpyRunCallMethod] = {call_method, 2, SIZE_MAX, 0, true},
    [kFfiHpyRunCallFunction] = {call_function, 1, SIZE_MAX, 1, false},
    [kFfiHpyRunIter] = {get_iterator, 1, 1, 0, true},
    [kFfiHpyRunNext] = {get_next, 2, 2, 1, true},
    [kFfiHpyRunNextPair] = {get_next_pair, 2, 2, 1, true},
    [kFfiHpyRunTuple] = {make_tuple, 0, SIZE_MAX, 0, false},
    [kFfiHpyRunList] = {make_list, 0, SIZE_MAX, 0, false},
    [kFfiHpyRunDict] = {make_dict, 0, SIZE_MAX, 0, false},
    [kFfiHpyRunIs] = {is_same, 2, 2, 0, false},
    [kFfiHpyRunEqual] = {is_equal, 2, 2, 0, false},
    [kFfiHpyRunBool] = {is_true, 1, 1, 0, false},
    [kFfiHpyRunType] = {get_type, 1, 1, 0, false},
    [kFfiHpyRunIsInstance] = {is_instance, 2, 2, 0, false},
    [kFfiHpyRunStr] = {get_text, 1, 1, 0, false},
    [kFfiHpyRunOperator] = {use_operator, 2, 3, 1, false},
    [kFfiHpyRunExport] = {export_array, 4, 4, 3, false},
    [kFfiHpyRunComplex] = {make_complex, 2, 2, 0, false},
    [kFfiHpyRunComplexParts] = {read_complex, 2, 2, 1, false},
    [kFfiHpyRunToFloat] = {to_float, 1, 1, 0, false},
    [kFfiHpyRunBigInt] = {make_big_int, 1, 1, 1, false},
    [kFfiHpyRunCapsule] = {make_capsule, 3, 3, 3, false},
    [kFfiHpyRunCapsuleData] = {read_capsule, 1, 2, 0, false},
    [kFfiHpyRunIsKind] = {is_kind, 2, 2, 1, false},
    [kFfiHpyRunSliceRange] = {compute_slice, 2, 2, 0, false},
    [kFfiHpyRunMicroseconds] = {read_timedelta, 1, 1, 0, false},
    [kFfiHpyRunTimedelta] = {make_timedelta, 1, 1, 0, false},
};

/* Converts the first n_args values, for which args has room, runs, and closes the arguments. Returns 0, -1 with a
 * native error pending, or 1. */
static int convert_and_run(const struct Row *row, Call *call, HPy *args, size_t n_args) {
  HPyContext *ctx = call->ctx;
  uint64_t began = fb_error_moment(); /* as for callbacks */
  size_t n_made = 0;
  int rc = -1;
  while (n_made < n_args && !HPy_IsNull(args[n_made] = argument_of(ctx, &call->values[n_made]))) ++n_made;
  if (FH_LIKELY(n_made == n_args) && FH_LIKELY(fb_guard_enter(ctx))) {
    call->args = args;
    rc = row->run(call);
    fb_guard_leave();
  }
  FbRaised raised; /* closing the arguments may run code */
  if (FH_UNLIKELY(rc < 0)) fb_raised_take(&raised);
  for (size_t i = 0; i < n_made; ++i) HPy_Close(ctx, args[i]);
  if (FH_LIKELY(rc >= 0)) return rc;
  fb_raised_put(&raised);
  return fb_translate_raised(ctx, began);
}

/* The entry `operate` of the struct that the core gives bound libraries. */
static int operate(uint32_t operation, const TVMFFIAny *values, size_t n, TVMFFIAny *result) {
  if (FH_UNLIKELY(operation >= kFfiHpyNumOperations)) return 1; /* of a later version */
  const struct Row *row = &rows[operation];
  if (FH_UNLIKELY(n < row->least || n > row->most)) return 1;
  if (FH_UNLIKELY(fb_thread_has_cffi_backend) && !row->is_for_pypy) return 1;
  FbThread attach;
  if (fb_thread_attach(&attach) != 0) return fb_callback_refuse();
  HPy stack[STACK_ARGS], *args = stack;
  size_t n_args = n - row->n_raw;
  if (FH_UNLIKELY(n_args > STACK_ARGS)) args = malloc(n_args * sizeof(*args));
  FbRaised raised; /* a destructor may ask while an exception is raised */
  fb_raised_take(&raised);
  int rc = -1;
  if (FH_UNLIKELY(args == NULL)) {
    TVMFFIErrorSetRaisedFromCStr("MemoryError", "no memory for the values of an operation");
  } else {
    rc = convert_and_run(row, &(Call){attach.ctx, values, NULL, n, result}, args, n_args);
  }
  if (args != stack) free(args);
  fb_raised_put(&raised);
  fb_thread_detach(&attach);
  return rc;
}

int fb_operation_init(HPyContext *ctx) {
  if (fb_ext == NULL || !FHPY_EXTENSION_HAS(fb_ext, container_take)) return 0;
  HPy builtins = HPyImport_ImportModule(ctx, "builtins");
  if (HPy_IsNull(builtins)) return -1;
  int rc = read_builtin(ctx, builtins, "isinstance", &builtin_isinstance);
  if (rc == 0) rc = read_builtin(ctx, builtins, "hasattr", &builtin_hasattr);
  for (size_t i = 0; rc == 0 && i < N_KINDS; ++i) rc = read_builtin(ctx, builtins, kinds[i].name, &kinds[i].type);
  HPy_Close(ctx, builtins);
  if (rc == 0) rc = find_slices(ctx);
  appended = fhpy_appended_find(ctx);
  fb_builtin_values.operate = operate;
  return rc;
}
