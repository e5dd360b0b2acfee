/* The class Schema, the base class of the package's TypeSchema: it has the compiled tree, and converts and checks
 * values by it.
 *
 * A tree is compiled at the first use and not when the object is made, because its types may be registered later.
 * Compilation asks the Python object for its description, _describe(), and does so for each argument; the nodes come
 * from fb_schema_intern. TypeSchema is immutable, so the tree is never replaced. */
#include "schema_type.h"

#include <stdlib.h>

#include "convert.h"
#include "core/platform/atomic.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/capsule.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/int32.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/context/type.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/value/value.h"

typedef struct FbSchemaObject {
  /* NULL until the first use. Threads that compile at the same time store the same pointer, because trees are
   * unique. */
  const FbSchema *tree;
} FbSchemaObject;

HPyType_HELPERS(FbSchemaObject)

static FbRef schema_type; /* written once during the import */

/* --- compiling ---------------------------------------------------------------------------------------------------- */

/* The names of the operations in _describe(). */
static const char *const op_names[FB_N_SCHEMA_OPS] = {
    [FB_SCHEMA_ANY] = "any",           [FB_SCHEMA_NONE] = "none",         [FB_SCHEMA_INT] = "int",
    [FB_SCHEMA_FLOAT] = "float",       [FB_SCHEMA_BOOL] = "bool",         [FB_SCHEMA_STR] = "str",
    [FB_SCHEMA_BYTES] = "bytes",       [FB_SCHEMA_DEVICE] = "device",     [FB_SCHEMA_DTYPE] = "dtype",
    [FB_SCHEMA_OPAQUE_PTR] = "void*",  [FB_SCHEMA_OBJECT] = "object",     [FB_SCHEMA_INSTANCE] = "instance",
    [FB_SCHEMA_INT_ENUM] = "int enum", [FB_SCHEMA_STR_ENUM] = "str enum", [FB_SCHEMA_SEQUENCE] = "sequence",
    [FB_SCHEMA_TUPLE] = "tuple",       [FB_SCHEMA_MAPPING] = "mapping",   [FB_SCHEMA_OPTIONAL] = "optional",
    [FB_SCHEMA_UNION] = "union",       [FB_SCHEMA_CHECKED] = "checked",
};

/* Returns the number of arguments of an operation; -1: any number. */
static int n_args_of(FbSchemaOp op) {
  switch (op) {
  case FB_SCHEMA_TUPLE:
  case FB_SCHEMA_UNION: return -1;
  case FB_SCHEMA_MAPPING: return 2;
  case FB_SCHEMA_SEQUENCE:
  case FB_SCHEMA_CHECKED:
  case FB_SCHEMA_OPTIONAL: return 1;
  default: return 0;
  }
}

/* Finds the operation of a name. Returns 0, or -1 with an exception raised: ValueError for an unknown name. */
static int read_op(HPyContext *ctx, HPy name, FbSchemaOp *op) {
  HPy_ssize_t n;
  const char *text = fb_text_arg(ctx, name, "the operation of a schema", &n);
  for (int i = 0; text != NULL && i < FB_N_SCHEMA_OPS; ++i) {
    if (!fb_text_is(text, n, op_names[i])) continue;
    *op = (FbSchemaOp)i;
    return 0;
  }
  if (text != NULL) fb_raise(ctx, ctx->h_ValueError, "schemas have no operation %s", text);
  return -1;
}

/* Compilation recurses along the arguments: get, tree_of, compile_object, compile, get_all, get. `depth` is the number
 * of enclosing schemas. */
static const FbSchema *get(HPyContext *ctx, HPy schema, int depth);

/* Returns the trees of a tuple of schemas, in an array that the caller frees; NULL with an exception raised. */
static const FbSchema **get_all(HPyContext *ctx, HPy schemas, int32_t n, int depth) {
  /* One more than needed, because malloc(0) may return NULL. */
  const FbSchema **trees = malloc(((size_t)n + 1) * sizeof(trees[0]));
  if (trees == NULL) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  for (int32_t i = 0; i < n; ++i) {
    HPy item = HPy_GetItem_i(ctx, schemas, i);
    trees[i] = HPy_IsNull(item) ? NULL : get(ctx, item, depth + 1);
    if (!HPy_IsNull(item)) HPy_Close(ctx, item);
    if (trees[i] != NULL) continue;
    free(trees);
    return NULL;
  }
  return trees;
}

/* Raises ValueError; returns NULL. compile_object counts from the outermost schema inwards, which also ends the
 * recursion of a schema whose description contains itself. fb_schema_intern counts from the leaves outwards, which
 * includes arguments that were compiled before. */
static const FbSchema *too_deep(HPyContext *ctx) {
  fb_raise(ctx, ctx->h_ValueError, "expected a schema nested at most %d deep, got a deeper one", FB_SCHEMA_DEPTH_LIMIT);
  return NULL;
}

/* Makes a node from its description: operation, type index, name, schemas of the arguments. */
static const FbSchema *compile(HPyContext *ctx, const HPy description[4], int depth) {
  FbSchemaParts parts = {0};
  HPy_ssize_t n_bytes, n_args = HPy_Length(ctx, description[3]);
  if (n_args < 0 || read_op(ctx, description[0], &parts.op) != 0) return NULL;
  int expected = n_args_of(parts.op);
  if (n_args > INT32_MAX / 2 || (expected >= 0 && n_args != expected)) {
    fb_raise(ctx, ctx->h_ValueError, "a schema of %s has %d arguments, got %zd", op_names[parts.op], expected, n_args);
    return NULL;
  }
  parts.type_index = fb_int32_read(ctx, description[1]);
  if (parts.type_index == -1 && HPyErr_Occurred(ctx)) return NULL;
  /* The string belongs to the str, which the caller holds; the node copies it. */
  parts.name = fb_text_arg(ctx, description[2], "the name of a schema", &n_bytes);
  if (parts.name == NULL) return NULL;
  parts.n_args = (int32_t)n_args;
  const FbSchema **trees = get_all(ctx, description[3], parts.n_args, depth);
  if (trees == NULL) return NULL;
  parts.args = trees;
  bool is_too_deep;
  const FbSchema *tree = fb_schema_intern(&parts, &is_too_deep);
  free(trees);
  if (tree != NULL) return tree;
  if (is_too_deep) return too_deep(ctx);
  HPyErr_NoMemory(ctx);
  return NULL;
}

/* Asks a Schema for its description and compiles it. Returns the tree, or NULL with an exception raised. */
static const FbSchema *compile_object(HPyContext *ctx, HPy schema, int depth) {
  if (depth >= FB_SCHEMA_DEPTH_LIMIT) return too_deep(ctx);
  HPy describe = HPy_GetAttr_s(ctx, schema, "_describe");
  HPy answer = HPy_IsNull(describe) ? HPy_NULL : fb_call(ctx, describe, NULL, 0, HPy_NULL);
  if (!HPy_IsNull(describe)) HPy_Close(ctx, describe);
  if (HPy_IsNull(answer)) return NULL;
  HPy parts[4] = {HPy_NULL, HPy_NULL, HPy_NULL, HPy_NULL};
  bool complete = true;
  for (int i = 0; complete && i < 4; ++i) complete = !HPy_IsNull(parts[i] = HPy_GetItem_i(ctx, answer, i));
  const FbSchema *tree = complete ? compile(ctx, parts, depth) : NULL;
  for (int i = 0; i < 4; ++i) {
    if (!HPy_IsNull(parts[i])) HPy_Close(ctx, parts[i]);
  }
  HPy_Close(ctx, answer);
  return tree;
}

/* Returns the struct of an object that is known to be a Schema. */
FH_INLINE FbSchemaObject *object_struct(HPyContext *ctx, HPy h) {
  if (FH_LIKELY(fb_ext != NULL)) return (FbSchemaObject *)((char *)h._i + fb_context_data_offset);
  return FbSchemaObject_AsStruct(ctx, h);
}

/* Returns the tree of an object that is known to be a Schema; NULL with an exception raised. */
FH_INLINE const FbSchema *tree_of(HPyContext *ctx, HPy schema, int depth) {
  FbSchemaObject *object = object_struct(ctx, schema);
  if (FH_UNLIKELY(object == NULL)) {
    fb_instance_raise_unmade(ctx, schema);
    return NULL;
  }
  const FbSchema *tree = fh_atomic_load_acquire(&object->tree); /* pairs with the store below */
  if (FH_LIKELY(tree != NULL)) return tree;
  tree = compile_object(ctx, schema, depth);
  if (tree != NULL) fh_atomic_store_release(&object_struct(ctx, schema)->tree, tree);
  return tree;
}

/* Like tree_of, for any value: raises TypeError if it is not a Schema. */
static const FbSchema *get(HPyContext *ctx, HPy schema, int depth) {
  HPy cls = fb_ref_borrow(ctx, &schema_type);
  bool is_schema = HPy_TypeCheck(ctx, schema, cls);
  fb_ref_return(ctx, cls);
  if (is_schema) return tree_of(ctx, schema, depth);
  char given[128];
  fb_raise(ctx, ctx->h_TypeError, "expected a TypeSchema, got %s",
           fb_attr_type_name(ctx, schema, given, sizeof(given)));
  return NULL;
}

const FbSchema *fb_schema_type_get(HPyContext *ctx, HPy schema) { return get(ctx, schema, 0); }

/* --- converting --------------------------------------------------------------------------------------------------- */

/* Raises TypeError "`what` failed for List[int]: element [0]: ...". Ends the mismatch. */
static HPy raise_fault(HPyContext *ctx, HPy schema, const char *what, FbMismatch *mismatch) {
  if (mismatch->text == NULL) return HPyErr_NoMemory(ctx);
  HPy repr = HPy_Repr(ctx, schema);
  HPy_ssize_t n;
  const char *name = HPy_IsNull(repr) ? NULL : fb_text_get(ctx, repr, &n);
  if (name == NULL) HPyErr_Clear(ctx);
  fb_mismatch_prefix(mismatch, "%s failed for %s: ", what, name == NULL ? "a schema" : name);
  if (!HPy_IsNull(repr)) HPy_Close(ctx, repr);
  if (mismatch->text == NULL) return HPyErr_NoMemory(ctx);
  HPy message = fb_text_new(ctx, mismatch->text, strlen(mismatch->text));
  if (!HPy_IsNull(message)) {
    HPyErr_SetObject(ctx, ctx->h_TypeError, message);
    HPy_Close(ctx, message);
  }
  fb_mismatch_end(mismatch);
  return HPy_NULL;
}

/* Returns 0 with *out owned, or -1 with an exception raised. */
FH_INLINE int convert(HPyContext *ctx, HPy self, HPy value, const char *what, TVMFFIAny *out) {
  const FbSchema *tree = tree_of(ctx, self, 0);
  if (FH_UNLIKELY(tree == NULL)) return -1;
  FbMismatch mismatch = {0};
  /* A conversion runs native functions (the hooks of types), which may call back into Python. */
  FbThreadState outer;
  fb_thread_enter_held(ctx, &outer);
  FbConverted converted = fb_convert_python_value(ctx, tree, value, out, &mismatch);
  fb_thread_leave_held(&outer);
  if (FH_UNLIKELY(converted == FB_MISMATCH)) {
    raise_fault(ctx, self, what, &mismatch);
  } else {
    fb_mismatch_end(&mismatch); /* a failed attempt may have left a message */
  }
  return converted == FB_CONVERTED ? 0 : -1;
}

static const char *const value_name[] = {"value"}; /* the argument of both methods */

FB_METHOD_KEYWORDS(schema_convert, "convert",
                   "convert($self, value)\n--\n\nThe value as one of this schema, a CAny; else TypeError.") {
  static const FbKeywords keywords = {"convert", value_name, 1, NULL};
  HPy value;
  TVMFFIAny out;
  if (fb_keywords_bind_one(ctx, &keywords, args, nargs, kwnames, &value) != 0) return HPy_NULL;
  return convert(ctx, self, value, "type conversion", &out) == 0 ? fb_cany_new(ctx, &out) : HPy_NULL;
}

/* A check converts the value, because the results of protocols and hooks are known only after they have run. */
FB_METHOD_KEYWORDS(schema_check, "check_value",
                   "check_value($self, value)\n--\n\nTypeError if convert() would refuse the value.") {
  static const FbKeywords keywords = {"check_value", value_name, 1, NULL};
  HPy value;
  TVMFFIAny out;
  if (fb_keywords_bind_one(ctx, &keywords, args, nargs, kwnames, &value) != 0) return HPy_NULL;
  if (convert(ctx, self, value, "type check", &out) != 0) return HPy_NULL;
  fb_any_drop(&out);
  return HPy_Dup(ctx, ctx->h_None);
}

/* For the cffi backend. args: value, pointer, and whether this is a check, for the message. */
FB_METHOD(schema_convert_into, "_convert_into",
          "Convert a value into the TVMFFIAny at an address, which owns it then.") {
  if (nargs != 3) return fb_raise(ctx, ctx->h_TypeError, "_convert_into() takes 3 arguments, got %zu", nargs);
  TVMFFIAny *out = fb_lent_arg(ctx, args[1], "_convert_into()");
  if (out == NULL) return HPy_NULL;
  int is_check = HPy_IsTrue(ctx, args[2]);
  if (is_check < 0) return HPy_NULL;
  const char *what = is_check ? "type check" : "type conversion";
  if (convert(ctx, self, args[0], what, out) != 0) return HPy_NULL;
  return HPy_Dup(ctx, ctx->h_None);
}

HPyDef_SLOT(schema_new, HPy_tp_new)
static HPy schema_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)args, (void)nargs, (void)kw; /* they are for __init__ */
  void *data;
  return fb_instance_make(ctx, type, &schema_type, &data);
}

HPy fb_schema_type_new(HPyContext *ctx) {
  fb_convert_container_init();
  fb_convert_python_init();
  static HPyDef *defines[] = {&schema_new, &schema_convert, &schema_check, &schema_convert_into, NULL};
  static HPyType_Spec spec = FB_TYPE_SPEC(FbSchemaObject, "Schema", HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE, defines,
                                          "The base class of TypeSchema: conversions.");
  return fb_type_new_root(ctx, &spec, &schema_type);
}

/* --- setters ------------------------------------------------------------------------------------------------------ */

/* ffi.MakeFieldSetter(static type index of the field, data of the converter, pointer of the converter). */
static FbCoreFunction make_setter = {.name = "ffi.MakeFieldSetter"};

FB_METHOD(fb_schema_type_setter, "schema_setter",
          "A native Function(field address, value) that converts by a schema and writes.") {
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "schema_setter() takes schema, type_index, got %zu", nargs);
  const FbSchema *tree = get(ctx, args[0], 0);
  if (tree == NULL) return HPy_NULL;
  int32_t type_index = fb_int32_read(ctx, args[1]);
  if (type_index == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  /* The tree is passed as a plain pointer: trees are never freed, and any thread may use them. */
  TVMFFIAny parts[3] = {{.type_index = kTVMFFIInt}, {.type_index = kTVMFFIInt}, {.type_index = kTVMFFIInt}}, made;
  parts[0].v_int64 = type_index;
  parts[1].v_int64 = (int64_t)(uintptr_t)tree;
  parts[2].v_int64 = (int64_t)(uintptr_t)fb_convert_for_setter;
  if (fb_core_function_call(&make_setter, parts, 3, &made) != 0) return fb_error_raise_pending(ctx, make_setter.name);
  return fb_result_make(ctx, &made);
}
