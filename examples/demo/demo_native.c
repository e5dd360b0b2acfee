/* A native library for the tvm-ffi ABI in plain C: functions, an object type with fields and methods,
 * a callback, errors.
 *
 *   cc -shared -fPIC -O2 -I include demo_native.c -L ffi_hpy/lib -ltvm_ffi -lm -o demo_native.so
 *
 * Every function of the ABI has one C type, TVMFFISafeCallType: arguments are borrowed, the result is owned, and the
 * return value is 0, or -1 with an error pending. load_module() finds the exported function __tvm_ffi_<name> as
 * <name>. */
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tvm/ffi/c_api.h>

#define EXPORT(name) \
  TVM_FFI_DLL_EXPORT int __tvm_ffi_##name(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result)

#define TEXT(literal) ((TVMFFIByteArray){(literal), sizeof(literal) - 1})

/* --- arguments and results ------------------------------------------------------------------------------------- */

static int fail(const char *kind, const char *function, const char *message) {
  const char *parts[] = {function, ": ", message};
  TVMFFIErrorSetRaisedFromCStrParts(kind, parts, 3);
  return -1;
}

static int expect_count(const char *function, int32_t have, int32_t want) {
  return have == want ? 0 : fail("TypeError", function, "wrong number of arguments");
}

static int get_int(const char *function, const TVMFFIAny *arg, int64_t *out) {
  if (arg->type_index != kTVMFFIInt && arg->type_index != kTVMFFIBool)
    return fail("TypeError", function, "expected int");
  *out = arg->v_int64;
  return 0;
}

static int get_float(const char *function, const TVMFFIAny *arg, double *out) {
  switch (arg->type_index) {
  case kTVMFFIFloat: *out = arg->v_float64; return 0;
  case kTVMFFIInt:
  case kTVMFFIBool: *out = (double)arg->v_int64; return 0;
  default: return fail("TypeError", function, "expected float");
  }
}

/* Strings and bytes have a small form (up to 7 bytes, inside the value) and an object form. */
static int get_bytes(const char *function, const TVMFFIAny *arg, int32_t small, int32_t large, TVMFFIByteArray *out) {
  if (arg->type_index == small) {
    *out = TVMFFISmallBytesGetContentByteArray(arg);
  } else if (arg->type_index == large) {
    *out = *TVMFFIBytesGetByteArrayPtr(arg->v_obj);
  } else {
    return fail("TypeError", function, small == kTVMFFISmallStr ? "expected str" : "expected bytes");
  }
  return 0;
}

static int give_int(TVMFFIAny *result, int64_t value) {
  *result = (TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = value};
  return 0;
}

static int give_float(TVMFFIAny *result, double value) {
  *result = (TVMFFIAny){.type_index = kTVMFFIFloat, .v_float64 = value};
  return 0;
}

/* Steals the reference. */
static int give_object(TVMFFIAny *result, TVMFFIObject *object) {
  *result = (TVMFFIAny){.type_index = object->type_index, .v_obj = object};
  return 0;
}

/* --- functions over plain values ------------------------------------------------------------------------------- */

EXPORT(nop) {
  (void)self, (void)args, (void)num_args, (void)result; /* the result is None already */
  return 0;
}

/* Metadata of nop. nop is short and calls no other code, so a caller need not release the GIL around it. */
EXPORT(_metadata_nop) {
  (void)self, (void)args, (void)num_args;
  TVMFFIByteArray json = TEXT("{\"nonblocking\": true}");
  return TVMFFIStringFromByteArray(&json, result);
}

EXPORT(add) {
  (void)self;
  int64_t a, b;
  if (expect_count("add", num_args, 2) != 0) return -1;
  if (get_int("add", &args[0], &a) != 0 || get_int("add", &args[1], &b) != 0) return -1;
  return give_int(result, (int64_t)((uint64_t)a + (uint64_t)b));
}

EXPORT(halve) {
  (void)self;
  double x;
  if (expect_count("halve", num_args, 1) != 0 || get_float("halve", &args[0], &x) != 0) return -1;
  return give_float(result, x / 2);
}

EXPORT(negate) {
  (void)self;
  if (expect_count("negate", num_args, 1) != 0) return -1;
  if (args[0].type_index != kTVMFFIBool) return fail("TypeError", "negate", "expected bool");
  *result = (TVMFFIAny){.type_index = kTVMFFIBool, .v_int64 = !args[0].v_int64};
  return 0;
}

EXPORT(is_none) {
  (void)self;
  if (expect_count("is_none", num_args, 1) != 0) return -1;
  *result = (TVMFFIAny){.type_index = kTVMFFIBool, .v_int64 = args[0].type_index == kTVMFFINone};
  return 0;
}

EXPORT(greet) {
  (void)self;
  TVMFFIByteArray name;
  if (expect_count("greet", num_args, 1) != 0) return -1;
  if (get_bytes("greet", &args[0], kTVMFFISmallStr, kTVMFFIStr, &name) != 0) return -1;
  static const char hello[] = "hello, ";
  size_t hello_len = sizeof(hello) - 1;
  char *text = malloc(hello_len + name.size);
  if (text == NULL) return fail("MemoryError", "greet", "out of memory");
  memcpy(text, hello, hello_len);
  if (name.size != 0) memcpy(text + hello_len, name.data, name.size);
  TVMFFIByteArray greeting = {text, hello_len + name.size};
  int status = TVMFFIStringFromByteArray(&greeting, result);
  free(text);
  return status;
}

EXPORT(reverse) {
  (void)self;
  TVMFFIByteArray in;
  if (expect_count("reverse", num_args, 1) != 0) return -1;
  if (get_bytes("reverse", &args[0], kTVMFFISmallBytes, kTVMFFIBytes, &in) != 0) return -1;
  char *data = malloc(in.size + 1); /* + 1 because malloc(0) may return NULL */
  if (data == NULL) return fail("MemoryError", "reverse", "out of memory");
  for (size_t i = 0; i < in.size; i++) data[i] = in.data[in.size - 1 - i];
  TVMFFIByteArray out = {data, in.size};
  int status = TVMFFIBytesFromByteArray(&out, result);
  free(data);
  return status;
}

/* --- arrays ---------------------------------------------------------------------------------------------------- */

static int total_of_tensor(const DLTensor *t, TVMFFIAny *result) {
  if (t->device.device_type != kDLCPU) return fail("ValueError", "total", "expected a tensor in CPU memory");
  if (t->ndim != 1) return fail("ValueError", "total", "expected a tensor with one axis");
  if (t->dtype.code != kDLFloat || t->dtype.bits != 64 || t->dtype.lanes != 1) {
    return fail("TypeError", "total", "expected a tensor of float64");
  }
  const double *data = (const double *)((const char *)t->data + t->byte_offset);
  int64_t step = t->strides == NULL ? 1 : t->strides[0]; /* in elements */
  double sum = 0;
  for (int64_t i = 0; i < t->shape[0]; i++) sum += data[i * step];
  return give_float(result, sum);
}

static int total_of_array(const TVMFFISeqCell *array, TVMFFIAny *result) {
  const TVMFFIAny *items = array->data;
  double sum = 0, x;
  for (int64_t i = 0; i < array->size; i++) {
    if (get_float("total", &items[i], &x) != 0) return -1;
    sum += x;
  }
  return give_float(result, sum);
}

/* Returns the sum of a float64 tensor with one axis, or of an Array of numbers. */
EXPORT(total) {
  (void)self;
  if (expect_count("total", num_args, 1) != 0) return -1;
  switch (args[0].type_index) {
  case kTVMFFITensor: return total_of_tensor(TVMFFITensorGetDLTensorPtr(args[0].v_obj), result);
  case kTVMFFIDLTensorPtr: return total_of_tensor(args[0].v_ptr, result);
  case kTVMFFIArray: return total_of_array((const TVMFFISeqCell *)(args[0].v_obj + 1), result);
  default: return fail("TypeError", "total", "expected a tensor or a sequence of numbers");
  }
}

/* The memory of one of our tensors except the numbers: one block, freed by the tensor's last user. */
typedef struct Ramp {
  DLManagedTensor managed;
  int64_t shape[1];
  double data[];
} Ramp;

static void ramp_delete(DLManagedTensor *managed) { free(managed->manager_ctx); }

/* Returns a new tensor 0.0, 1.0, ..., n - 1. */
EXPORT(ramp) {
  (void)self;
  int64_t n;
  if (expect_count("ramp", num_args, 1) != 0 || get_int("ramp", &args[0], &n) != 0) return -1;
  if (n < 0 || n > 1 << 20) return fail("ValueError", "ramp", "expected a length from 0 to 2**20");
  Ramp *ramp = malloc(sizeof(*ramp) + (size_t)n * sizeof(double));
  if (ramp == NULL) return fail("MemoryError", "ramp", "out of memory");
  for (int64_t i = 0; i < n; i++) ramp->data[i] = (double)i;
  ramp->shape[0] = n;
  ramp->managed = (DLManagedTensor){
      .dl_tensor = {.data = ramp->data,
                    .device = {kDLCPU, 0},
                    .ndim = 1,
                    .dtype = {.code = kDLFloat, .bits = 64, .lanes = 1},
                    .shape = ramp->shape},
      .manager_ctx = ramp,
      .deleter = ramp_delete,
  };
  TVMFFIObjectHandle tensor;
  if (TVMFFITensorFromDLPack(&ramp->managed, 0, 0, &tensor) != 0) {
    free(ramp);
    return -1;
  }
  return give_object(result, tensor);
}

/* --- the object type demo.Point -------------------------------------------------------------------------------- */

typedef struct Point {
  TVMFFIObject header;
  double x, y;
  int64_t id; /* number of this point, counted from 1 */
} Point;

static int32_t point_index; /* written once, at load */
static _Atomic(int64_t) n_points;

static void point_delete(void *self, int flags) {
  /* A point owns no resources, so the Strong flag needs no action. */
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) free(self);
}

static Point *point_new(double x, double y) {
  Point *point = malloc(sizeof(*point));
  if (point == NULL) return NULL;
  *point = (Point){
      .header = {.combined_ref_count = UINT64_C(1) << 32 | 1, .type_index = point_index, .deleter = point_delete},
      .x = x,
      .y = y,
      .id = atomic_fetch_add(&n_points, 1) + 1,
  };
  return point;
}

static int give_point(const char *function, TVMFFIAny *result, double x, double y) {
  Point *point = point_new(x, y);
  return point == NULL ? fail("MemoryError", function, "out of memory") : give_object(result, &point->header);
}

static int get_point(const char *function, const TVMFFIAny *arg, const Point **out) {
  if (arg->type_index != point_index) return fail("TypeError", function, "expected demo.Point");
  *out = (const Point *)arg->v_obj;
  return 0;
}

/* Fields are read and written through functions that receive the field's address. */
static int float_field_get(void *field, TVMFFIAny *result) { return give_float(result, *(double *)field); }
static int float_field_set(void *field, const TVMFFIAny *value) { return get_float("demo.Point", value, field); }
static int int_field_get(void *field, TVMFFIAny *result) { return give_int(result, *(int64_t *)field); }

static int point_init(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  (void)self;
  double x, y;
  if (expect_count("demo.Point", num_args, 2) != 0) return -1;
  if (get_float("demo.Point", &args[0], &x) != 0 || get_float("demo.Point", &args[1], &y) != 0) return -1;
  return give_point("demo.Point", result, x, y);
}

static int point_norm(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  (void)self;
  const Point *p;
  if (expect_count("norm", num_args, 1) != 0 || get_point("norm", &args[0], &p) != 0) return -1;
  return give_float(result, sqrt(p->x * p->x + p->y * p->y));
}

static int point_origin(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  (void)self, (void)args;
  if (expect_count("origin", num_args, 0) != 0) return -1;
  return give_point("origin", result, 0, 0);
}

EXPORT(distance) {
  (void)self;
  const Point *p, *q;
  if (expect_count("distance", num_args, 2) != 0) return -1;
  if (get_point("distance", &args[0], &p) != 0 || get_point("distance", &args[1], &q) != 0) return -1;
  return give_float(result, sqrt((p->x - q->x) * (p->x - q->x) + (p->y - q->y) * (p->y - q->y)));
}

#define SCHEMA_FLOAT TEXT("{\"type_schema\":\"{\\\"type\\\":\\\"float\\\"}\"}")
#define SCHEMA_INT TEXT("{\"type_schema\":\"{\\\"type\\\":\\\"int\\\"}\"}")

static int point_register_fields(void) {
  const TVMFFIFieldInfo fields[] = {
      {.name = TEXT("x"),
       .doc = TEXT("Abscissa."),
       .metadata = SCHEMA_FLOAT,
       .flags = kTVMFFIFieldFlagBitMaskWritable,
       .size = sizeof(double),
       .alignment = _Alignof(double),
       .offset = offsetof(Point, x),
       .getter = float_field_get,
       .setter = (void *)(uintptr_t)float_field_set,
       .field_static_type_index = kTVMFFIFloat},
      {.name = TEXT("y"),
       .doc = TEXT("Ordinate."),
       .metadata = SCHEMA_FLOAT,
       .flags = kTVMFFIFieldFlagBitMaskWritable,
       .size = sizeof(double),
       .alignment = _Alignof(double),
       .offset = offsetof(Point, y),
       .getter = float_field_get,
       .setter = (void *)(uintptr_t)float_field_set,
       .field_static_type_index = kTVMFFIFloat},
      {.name = TEXT("id"),
       .doc = TEXT("Number of the point, from 1."),
       .metadata = SCHEMA_INT,
       .size = sizeof(int64_t),
       .alignment = _Alignof(int64_t),
       .offset = offsetof(Point, id),
       .getter = int_field_get,
       .field_static_type_index = kTVMFFIInt},
  };
  for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
    if (TVMFFITypeRegisterField(point_index, &fields[i]) != 0) return -1;
  }
  return 0;
}

static int point_register_method(TVMFFIByteArray name, TVMFFIByteArray doc, TVMFFIByteArray metadata, int64_t flags,
                                 TVMFFISafeCallType call) {
  TVMFFIObjectHandle function;
  if (TVMFFIFunctionCreate(NULL, call, NULL, &function) != 0) return -1;
  TVMFFIMethodInfo method = {.name = name, .doc = doc, .metadata = metadata, .flags = flags};
  give_object(&method.method, function);
  int status = TVMFFITypeRegisterMethod(point_index, &method);
  TVMFFIObjectDecRef(function); /* the registry has its own reference */
  return status;
}

static int point_register(void) {
  TVMFFIByteArray key = TEXT("demo.Point");
  point_index = TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, kTVMFFIObject);
  if (point_index < 0) return -1;
  TVMFFITypeMetadata metadata = {.doc = TEXT("A point in the plane."), .total_size = sizeof(Point)};
  TVMFFIByteArray none = TEXT(""), nonblocking = TEXT("{\"nonblocking\": true}");
  const int64_t is_static = kTVMFFIFieldFlagBitMaskIsStaticMethod;
  if (TVMFFITypeRegisterMetadata(point_index, &metadata) != 0 || point_register_fields() != 0) return -1;
  if (point_register_method(TEXT("__ffi_init__"), TEXT("Point(x, y)"), none, is_static, point_init) != 0) return -1;
  if (point_register_method(TEXT("norm"), TEXT("Distance from the origin."), nonblocking, 0, point_norm) != 0)
    return -1;
  return point_register_method(TEXT("origin"), TEXT("A new point at (0, 0)."), none, is_static, point_origin);
}

/* Runs when the library is loaded; afterwards the whole process knows the type. */
__attribute__((constructor)) static void demo_load(void) {
  if (point_register() == 0) return;
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return;
  TVMFFIByteArray message = TVMFFIErrorGetCellPtr(error)->message;
  fprintf(stderr, "demo_native: cannot register demo.Point: %.*s\n", (int)message.size, message.data);
  TVMFFIObjectDecRef(error);
}

/* --- callbacks and errors -------------------------------------------------------------------------------------- */

/* callback(callback(x)) */
EXPORT(apply_twice) {
  (void)self;
  if (expect_count("apply_twice", num_args, 2) != 0) return -1;
  if (args[0].type_index != kTVMFFIFunction) return fail("TypeError", "apply_twice", "expected a callable");
  TVMFFIAny input = args[1], first = {.type_index = kTVMFFINone};
  if (TVMFFIFunctionCall(args[0].v_obj, &input, 1, &first) != 0)
    return -1; /* our caller receives the callback's error */
  int status = TVMFFIFunctionCall(args[0].v_obj, &first, 1, result);
  if (first.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(first.v_obj);
  return status;
}

EXPORT(raise_error) {
  (void)self;
  TVMFFIByteArray message;
  if (expect_count("raise_error", num_args, 1) != 0) return -1;
  if (get_bytes("raise_error", &args[0], kTVMFFISmallStr, kTVMFFIStr, &message) != 0) return -1;
  /* Stored strings end with a NUL, also in the small form. */
  TVMFFIErrorSetRaisedFromCStr("ValueError", message.data);
  return -1;
}
