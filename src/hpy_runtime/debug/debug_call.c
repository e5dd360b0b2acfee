/* Debug mode: calls into the extension. Arguments become handles that are closed when the call returns, so an extension
 * that keeps a handle is detected at its next use. */
#include "debug.h"
#include "debug_handle.h"
#include "debug_report.h"
#include "hpy_runtime/context/context.h"
#include "hpy_runtime/types/pypy_slots.h"

/* The argument handles that one call has opened. `few` is large enough for every calling shape. */
typedef struct {
  HPy few[8]; /* handles that are passed individually */
  size_t n_few;
  HPy *items; /* handles that are passed as an array, or NULL */
  size_t n_items;
} Frame;

/* The record owns a reference, because the object must outlive the handle. */
static HPy open_argument(PyObject *o) {
  Py_IncRef(o);
  return fhpy_debug_record_open(o, HANDLE_ARGUMENT);
}

/* Opens a handle for an argument that is passed individually; null for a null pointer. */
static HPy frame_open(Frame *frame, void *o) {
  HPy h = open_argument(o);
  frame->few[frame->n_few++] = h;
  return h;
}

/* Allocates an array of argument handles. Never NULL, even without items, because functions may test the array's
 * pointer. */
static HPy *frame_allocate(Frame *frame, size_t n_items) {
  frame->items = PyMem_Malloc((n_items + 1) * sizeof(HPy));
  if (frame->items == NULL) Py_FatalError("ffi_hpy debug mode: no memory for the arguments of a call");
  frame->n_items = n_items;
  return frame->items;
}

static const HPy *frame_open_array(Frame *frame, PyObject *const *objects, size_t n_items) {
  HPy *items = frame_allocate(frame, n_items);
  for (size_t i = 0; i < n_items; ++i) items[i] = open_argument(objects[i]);
  return items;
}

/* Opens the items of an argument tuple by the interpreter's function: only the plain context uses them in place. */
static const HPy *frame_open_tuple(Frame *frame, PyObject *tuple, Py_ssize_t n_items) {
  HPy *items = frame_allocate(frame, (size_t)n_items);
  for (Py_ssize_t i = 0; i < n_items; ++i) items[i] = open_argument(PyTuple_GetItem(tuple, i));
  return items;
}

/* Closes the handles that the call has opened. frame_allocate is called at most once in a call. */
static void frame_close(Frame *frame) {
  for (size_t i = 0; i < frame->n_few; ++i) fhpy_debug_handle_close_argument(frame->few[i]);
  for (size_t i = 0; i < frame->n_items; ++i) fhpy_debug_handle_close_argument(frame->items[i]);
  PyMem_Free(frame->items);
}

/* ---- shapes that are not in trampoline_shapes.def ---- */

static Py_ssize_t tuple_size(void *tuple) { return tuple != NULL ? PyTuple_Size(tuple) : 0; }

/* view->obj, the exporting object, is a handle for the extension and an owned pointer for the interpreter. view->obj is
 * converted around the call. */
static int call_getbuffer(HPyContext *ctx, HPyFunc_getbufferproc f, HPy self, HPy_buffer *view, int flags) {
  int rc = f(ctx, self, view, flags);
  view->obj = rc == 0 ? to_hpy(fhpy_debug_handle_take(view->obj)) : HPy_NULL;
  return rc;
}
static void call_releasebuffer(HPyContext *ctx, HPyFunc_releasebufferproc f, HPy self, HPy exporter, HPy_buffer *view) {
  HPy object = view->obj;
  view->obj = exporter;
  f(ctx, self, view);
  view->obj = object;
}

/* ---- the call ---- */

/* Macros for trampoline_shapes.def: H and ITEMS open argument handles, P closes the handle that the function
 * returned. */
#define H(pointer) frame_open(frame, pointer)
#define P(handle) ((cpy_PyObject *)fhpy_debug_handle_take(handle))
#define ITEMS(array, n) frame_open_array(frame, (PyObject *const *)(array), (size_t)(n))
#define TUPLE_ITEMS(tuple) frame_open_tuple(frame, (PyObject *)(tuple), tuple_size(tuple))
#define N_WITH_KEYWORDS(a) (((a)->nargsf & ~VECTORCALL_ARGUMENTS_OFFSET) + (size_t)tuple_size((a)->kwnames))

/* `args_sig` names the struct of packed arguments: MOD_CREATE uses the struct of UNARYFUNC. */
#define CASE(sig, args_sig, function_type, call)                    \
  case HPyFunc_##sig: {                                             \
    _HPyFunc_args_##args_sig *a = (_HPyFunc_args_##args_sig *)args; \
    function_type f = (function_type)(void (*)(void))func;          \
    call;                                                           \
    return;                                                         \
  }
#define OBJECT(sig, function_type, call) CASE(sig, sig, function_type, a->result = P(call))
#define VALUE(sig, function_type, call) CASE(sig, sig, function_type, a->result = call)
#define VOID(sig, function_type, call) CASE(sig, sig, function_type, call)

static void call_wrapped(HPyContext *ctx, HPyFunc_Signature sig, HPyCFunction func, void *args, Frame *frame) {
  switch (sig) {
#include "hpy_runtime/types/trampoline_shapes.def"
    VALUE(INITPROC, HPyFunc_initproc, f(ctx, H(a->self), TUPLE_ITEMS(a->args), tuple_size(a->args), H(a->kw)))
    OBJECT(NEWFUNC, HPyFunc_newfunc, f(ctx, H(a->self), TUPLE_ITEMS(a->args), tuple_size(a->args), H(a->kw)))
    VALUE(GETBUFFERPROC, HPyFunc_getbufferproc, call_getbuffer(ctx, f, H(a->self), (HPy_buffer *)a->view, a->flags))
    VOID(RELEASEBUFFERPROC, HPyFunc_releasebufferproc,
         call_releasebuffer(ctx, f, H(a->self), H(to_py(((HPy_buffer *)a->view)->obj)), (HPy_buffer *)a->view))
    CASE(MOD_CREATE, UNARYFUNC, HPyFunc_mod_create, a->result = P(f(ctx, H(a->arg0))))
  default: /* no handles are passed, or the plain context refuses the signature */
    fhpy_context.base.ctx_CallRealFunctionFromTrampoline(&fhpy_context.base, sig, func, args);
  }
}

/* Calls nest, so the name of the outer function is restored. */
void fhpy_debug_call(HPyContext *ctx, HPyFunc_Signature sig, HPyCFunction func, void *args) {
  if (fhpy_pypy_slots_refuse(sig, func, args)) return;
  const char *outer = fhpy_debug_name_running;
  fhpy_debug_name_running = fhpy_debug_name_find(func);
  Frame frame = {.n_few = 0};
  call_wrapped(ctx, sig, func, args, &frame);
  frame_close(&frame);
  fhpy_debug_name_running = outer;
}

/* --- arrays ------------------------------------------------------------------------------------------------------ */

/* Debug mode: entries with an array of handles. The handles are looked up into an array of objects, which is passed to
 * the plain context's entry. */

static HPyContext *const real = &fhpy_context.base;

/* Returns the objects of an array of handles, borrowed. Free the array with PyMem_Free. Never NULL: if memory is
 * exhausted, the process ends. */
static HPy *unwrap_array(const HPy *items, size_t n_items, const char *entry) {
  HPy *objects = PyMem_Malloc((n_items + 1) * sizeof(HPy));
  if (objects == NULL) Py_FatalError("ffi_hpy debug mode: no memory for the arguments of a call");
  for (size_t i = 0; i < n_items; ++i) objects[i] = debug_unwrap(items[i], entry);
  return objects;
}

/* Returns the objects of arguments, followed by the values of keywords. If `names` is not a tuple there are no values,
 * and the plain context's entry raises the TypeError. */
static HPy *unwrap_arguments(const HPy *args, size_t nargs, HPy names, const char *entry) {
  PyObject *tuple = to_py(names);
  if (tuple != NULL && type_has_flag(type_of(tuple), TYPE_FLAG_TUPLE_SUBCLASS)) nargs += (size_t)PyTuple_Size(tuple);
  return unwrap_array(args, nargs, entry);
}

static HPy call_object(CTX, HPy callable, const HPy *args, size_t nargs, HPy kwnames) {
  HPy names = debug_unwrap(kwnames, "Call");
  HPy *objects = unwrap_arguments(args, nargs, names, "Call");
  HPy result = real->ctx_Call(real, debug_unwrap(callable, "Call"), objects, nargs, names);
  PyMem_Free(objects);
  return debug_wrap(result);
}

static HPy call_method(CTX, HPy name, const HPy *args, size_t nargs, HPy kwnames) {
  HPy names = debug_unwrap(kwnames, "CallMethod");
  HPy *objects = unwrap_arguments(args, nargs, names, "CallMethod");
  HPy result = real->ctx_CallMethod(real, debug_unwrap(name, "CallMethod"), objects, nargs, names);
  PyMem_Free(objects);
  return debug_wrap(result);
}

static HPy tuple_from_array(CTX, HPy items[], HPy_ssize_t n_items) {
  HPy *objects = unwrap_array(items, n_items > 0 ? (size_t)n_items : 0, "Tuple_FromArray");
  HPy result = real->ctx_Tuple_FromArray(real, objects, n_items);
  PyMem_Free(objects);
  return debug_wrap(result);
}

static HPy type_generic_new(CTX, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  HPy *objects = unwrap_array(args, args != NULL && nargs > 0 ? (size_t)nargs : 0, "Type_GenericNew");
  HPy result = real->ctx_Type_GenericNew(real, debug_unwrap(type, "Type_GenericNew"), objects, nargs,
                                         debug_unwrap(kw, "Type_GenericNew"));
  PyMem_Free(objects);
  return debug_wrap(result);
}

static HPy type_from_spec(CTX, HPyType_Spec *spec, HPyType_SpecParam *params) {
  size_t n_params = 0;
  while (params != NULL && params[n_params].kind != 0) ++n_params;
  /* One more, zeroed, because kind 0 ends the array. */
  HPyType_SpecParam *unwrapped = PyMem_Calloc(n_params + 1, sizeof(HPyType_SpecParam));
  if (unwrapped == NULL) {
    PyErr_NoMemory();
    return HPy_NULL;
  }
  for (size_t i = 0; i < n_params; ++i)
    unwrapped[i] = (HPyType_SpecParam){params[i].kind, debug_unwrap(params[i].object, "Type_FromSpec")};
  /* Before the type exists, so that the first call of one of its functions finds the name. */
  if (spec->name != NULL) fhpy_debug_name_defines(spec->name, spec->defines);
  HPy result = real->ctx_Type_FromSpec(real, spec, unwrapped);
  PyMem_Free(unwrapped);
  return debug_wrap(result);
}

void fhpy_debug_array_fill(HPyContext *ctx) {
  ctx->ctx_Call = call_object;
  ctx->ctx_CallMethod = call_method;
  ctx->ctx_Tuple_FromArray = tuple_from_array;
  ctx->ctx_Type_GenericNew = type_generic_new;
  ctx->ctx_Type_FromSpec = type_from_spec;
}

/* --- text -------------------------------------------------------------------------------------------------------- */

/* Debug mode: entries that return strings. The extension gets a copy, which becomes unreadable when the handle is
 * closed (debug_record.c). */

/* The copy needs the size, so it is requested even if the extension does not request it. One more byte is copied: the
 * NUL. */
static const char *unicode_as_utf8_and_size(CTX, HPy h, HPy_ssize_t *byte_len) {
  HPy_ssize_t n = 0;
  const char *text = real->ctx_Unicode_AsUTF8AndSize(real, debug_unwrap(h, "Unicode_AsUTF8AndSize"), &n);
  if (text != NULL && byte_len != NULL) *byte_len = n;
  return fhpy_debug_record_keep_text(h, text, (size_t)n + 1);
}

static const char *bytes_text(HPy h, const char *entry) {
  HPy bytes = debug_unwrap(h, entry);
  const char *text = real->ctx_Bytes_AsString(real, bytes);
  return text != NULL ? fhpy_debug_record_keep_text(h, text, (size_t)real->ctx_Bytes_Size(real, bytes) + 1) : NULL;
}
static const char *bytes_as_string(CTX, HPy h) { return bytes_text(h, "Bytes_AsString"); }
static const char *bytes_as_string_unchecked(CTX, HPy h) { return bytes_text(h, "Bytes_AS_STRING"); }

void fhpy_debug_text_fill(HPyContext *ctx) {
  ctx->ctx_Unicode_AsUTF8AndSize = unicode_as_utf8_and_size;
  ctx->ctx_Bytes_AsString = bytes_as_string;
  ctx->ctx_Bytes_AS_STRING = bytes_as_string_unchecked;
}
