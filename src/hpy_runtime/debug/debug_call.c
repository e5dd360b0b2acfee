/* Debug mode: calls into the extension. Arguments become handles that are closed when the call returns, so an extension
 * that keeps a handle is detected at its next use. */
#include "debug_entries.h"
#include "debug_handle.h"
#include "debug_name.h"
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
  for (size_t i = 0; i < n_items; i++) items[i] = open_argument(objects[i]);
  return items;
}

/* Opens the items of an argument tuple by the interpreter's function: only the plain context uses them in place. */
static const HPy *frame_open_tuple(Frame *frame, PyObject *tuple, Py_ssize_t n_items) {
  HPy *items = frame_allocate(frame, (size_t)n_items);
  for (Py_ssize_t i = 0; i < n_items; i++) items[i] = open_argument(PyTuple_GetItem(tuple, i));
  return items;
}

/* Closes the handles that the call has opened. frame_allocate is called at most once in a call. */
static void frame_close(Frame *frame) {
  for (size_t i = 0; i < frame->n_few; i++) fhpy_debug_handle_close_argument(frame->few[i]);
  for (size_t i = 0; i < frame->n_items; i++) fhpy_debug_handle_close_argument(frame->items[i]);
  PyMem_Free(frame->items);
}

/* ---- shapes that are not in trampoline_shapes.def ---- */

static Py_ssize_t tuple_size(void *tuple) { return tuple != NULL ? PyTuple_Size(tuple) : 0; }

/* view->obj, the exporting object, is a handle for the extension and an owned pointer for the interpreter. It is
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

/* `args_sig` names the struct of packed arguments: MOD_CREATE uses that of UNARYFUNC. */
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
