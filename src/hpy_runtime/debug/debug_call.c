/* Debug mode: calls into the extension. Arguments become handles that end with the call. */
#include "debug_entries.h"
#include "debug_handle.h"
#include "debug_name.h"
#include "hpy_runtime/context/context.h"
#include "hpy_runtime/types/pypy_slots.h"

/* The arguments of one call. */
typedef struct {
  HPy few[8]; /* those that are passed one by one */
  size_t n_few;
  HPy *items; /* those that are passed as an array, or NULL */
  size_t n_items;
} Frame;

static HPy open_argument(PyObject *o) {
  Py_IncRef(o);
  return fhpy_debug_record_open(o, HANDLE_ARGUMENT);
}

static HPy frame_open(Frame *frame, void *o) {
  HPy h = open_argument(o);
  frame->few[frame->n_few++] = h;
  return h;
}

/* Never NULL: functions may look at the array's address. */
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

static const HPy *frame_open_tuple(Frame *frame, PyObject *tuple, Py_ssize_t n_items) {
  HPy *items = frame_allocate(frame, (size_t)n_items);
  for (Py_ssize_t i = 0; i < n_items; i++) items[i] = open_argument(PyTuple_GetItem(tuple, i));
  return items;
}

static void frame_close(Frame *frame) {
  for (size_t i = 0; i < frame->n_few; i++) fhpy_debug_handle_close_argument(frame->few[i]);
  for (size_t i = 0; i < frame->n_items; i++) fhpy_debug_handle_close_argument(frame->items[i]);
  PyMem_Free(frame->items);
}

/* ---- shapes that are not in trampoline_shapes.def ---- */

static Py_ssize_t tuple_size(void *tuple) { return tuple != NULL ? PyTuple_Size(tuple) : 0; }

/* view->obj, the exporting object, is a handle to the extension and an owned pointer to the interpreter. */
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

#define H(pointer) frame_open(frame, pointer)
#define P(handle) ((cpy_PyObject *)fhpy_debug_handle_take(handle))
#define ITEMS(array, n) frame_open_array(frame, (PyObject *const *)(array), (size_t)(n))
#define TUPLE_ITEMS(tuple) frame_open_tuple(frame, (PyObject *)(tuple), tuple_size(tuple))
#define N_WITH_KEYWORDS(a) (((a)->nargsf & ~VECTORCALL_ARGUMENTS_OFFSET) + (size_t)tuple_size((a)->kwnames))

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
  default: /* no handles are passed, or the signature is unknown */
    fhpy_context.base.ctx_CallRealFunctionFromTrampoline(&fhpy_context.base, sig, func, args);
  }
}

void fhpy_debug_call(HPyContext *ctx, HPyFunc_Signature sig, HPyCFunction func, void *args) {
  if (fhpy_pypy_slots_refuse(sig, func, args)) return;
  const char *outer = fhpy_debug_name_running;
  fhpy_debug_name_running = fhpy_debug_name_find(func);
  Frame frame = {.n_few = 0};
  call_wrapped(ctx, sig, func, args, &frame);
  frame_close(&frame);
  fhpy_debug_name_running = outer;
}
