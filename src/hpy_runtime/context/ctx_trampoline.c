/* Context entry CallRealFunctionFromTrampoline: converts the interpreter's signatures to HPy's.
 *
 * A trampoline, compiled into the extension, has packed the interpreter's arguments into a struct. Handles are
 * pointers, so most cases only make the call. The exceptions are the argument tuple of tp_new and tp_init, which HPy
 * expects as an array, the visitor of tp_traverse, which HPy calls with fields, and the destructor of a capsule. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"
#include "hpy_runtime/types/pypy_slots.h"
#include "hpy_runtime/types/type_instance.h"

/* H makes the handle of an object, P the object of a handle. */
#define H(pointer) ((HPy){(intptr_t)(pointer)})
#define P(handle) ((cpy_PyObject *)(handle)._i)

/* ---- argument tuples, as arrays ---- */

enum { N_ON_STACK = 16 };

typedef struct {
  HPy stack[N_ON_STACK];
  HPy *items; /* borrowed from the tuple; `stack` or an allocated array */
  Py_ssize_t n_items;
} Arguments;

/* Returns the items inside a tuple, which are the array that HPy expects, since handles are pointers. NULL without
 * a tuple, or if the offset is unknown. */
static inline const HPy *find_items(PyObject *tuple, Py_ssize_t *n_items) {
  if (tuple == NULL || fhpy_layout.tuple_items == 0) return NULL;
  *n_items = *(Py_ssize_t *)((char *)tuple + fhpy_layout.header_size);
  return (const HPy *)((char *)tuple + fhpy_layout.tuple_items);
}

/* Copies the items out of a tuple (NULL: no items). Few items need no allocation. Returns false with MemoryError raised
 * on failure. */
static bool unpack(Arguments *a, PyObject *tuple) {
  a->items = a->stack;
  a->n_items = tuple != NULL ? PyTuple_Size(tuple) : 0;
  if (a->n_items > N_ON_STACK) a->items = PyMem_Malloc((size_t)a->n_items * sizeof(HPy));
  if (a->items == NULL) {
    PyErr_NoMemory();
    return false;
  }
  for (Py_ssize_t i = 0; i < a->n_items; ++i) a->items[i] = to_hpy(PyTuple_GetItem(tuple, i));
  return true;
}
static void free_arguments(Arguments *a) {
  if (a->items != a->stack) PyMem_Free(a->items);
}

/* Not inline, so that call_real does not reserve the array in its stack frame. */
static FH_NOINLINE int call_init_unpacked(HPyContext *ctx, HPyFunc_initproc f, const _HPyFunc_args_INITPROC *call) {
  Arguments a;
  if (!unpack(&a, (PyObject *)call->args)) return -1;
  int rc = f(ctx, H(call->self), a.items, a.n_items, H(call->kw));
  free_arguments(&a);
  return rc;
}
static inline int call_init(HPyContext *ctx, HPyFunc_initproc f, const _HPyFunc_args_INITPROC *call) {
  Py_ssize_t n;
  const HPy *items = find_items((PyObject *)call->args, &n);
  return items != NULL ? f(ctx, H(call->self), items, n, H(call->kw)) : call_init_unpacked(ctx, f, call);
}

static FH_NOINLINE HPy call_new_unpacked(HPyContext *ctx, HPyFunc_newfunc f, const _HPyFunc_args_NEWFUNC *call) {
  Arguments a;
  if (!unpack(&a, (PyObject *)call->args)) return HPy_NULL;
  HPy result = f(ctx, H(call->self), a.items, a.n_items, H(call->kw));
  free_arguments(&a);
  return result;
}
static inline HPy call_new(HPyContext *ctx, HPyFunc_newfunc f, const _HPyFunc_args_NEWFUNC *call) {
  Py_ssize_t n;
  const HPy *items = find_items((PyObject *)call->args, &n);
  return items != NULL ? f(ctx, H(call->self), items, n, H(call->kw)) : call_new_unpacked(ctx, f, call);
}

/* The interpreter passes the capsule; HPy's destructor expects its name, pointer and context. */
static FH_NOINLINE void call_capsule_destructor(HPyFunc_Capsule_Destructor f, PyObject *capsule) {
  const char *name = PyCapsule_GetName(capsule);
  f(name, PyCapsule_GetPointer(capsule, name), PyCapsule_GetContext(capsule));
}

/* ---- the shapes ----
 * CASE has the signature (also part of the name of the struct of packed arguments), the type of the function, and the
 * call. */

#define CASE(sig, function_type, call)                     \
  case HPyFunc_##sig: {                                    \
    _HPyFunc_args_##sig *a = (_HPyFunc_args_##sig *)args;  \
    function_type f = (function_type)(void (*)(void))func; \
    call;                                                  \
    return;                                                \
  }
#define OBJECT(sig, function_type, call) CASE(sig, function_type, a->result = P(call))
#define VALUE(sig, function_type, call) CASE(sig, function_type, a->result = call)
#define VOID(sig, function_type, call) CASE(sig, function_type, call)
#define ITEMS(array, n) ((const HPy *)(array))
#define N_WITH_KEYWORDS(a) 0 /* ITEMS does not need it */

static void call_real(HPyContext *ctx, HPyFunc_Signature sig, HPyCFunction func, void *args) {
  if (fhpy_pypy_slots_refuse(sig, func, args)) return;
  switch (sig) {
#include "hpy_runtime/types/trampoline_shapes.def"
    CASE(INITPROC, HPyFunc_initproc, a->result = call_init(ctx, f, a))
    CASE(NEWFUNC, HPyFunc_newfunc, a->result = P(call_new(ctx, f, a)))
    /* a Py_buffer has the layout of an HPy_buffer (cpython_abi.h) */
    CASE(GETBUFFERPROC, HPyFunc_getbufferproc, a->result = f(ctx, H(a->self), (HPy_buffer *)a->view, a->flags))
    CASE(RELEASEBUFFERPROC, HPyFunc_releasebufferproc, f(ctx, H(a->self), (HPy_buffer *)a->view))
    CASE(TRAVERSEPROC, HPyFunc_traverseproc,
         a->result = fhpy_type_traverse_struct((PyObject *)a->self, f, (visit_fn)a->visit, a->arg))
  case HPyFunc_MOD_CREATE: {
    _HPyFunc_args_UNARYFUNC *a = (_HPyFunc_args_UNARYFUNC *)args; /* packed by its trampoline */
    a->result = P(((HPyFunc_mod_create)(void (*)(void))func)(ctx, H(a->arg0)));
    return;
  }
  case HPyFunc_CAPSULE_DESTRUCTOR:
    call_capsule_destructor((HPyFunc_Capsule_Destructor)(void (*)(void))func, (PyObject *)args);
    return;
  case HPyFunc_DESTROYFUNC: /* called by the deallocation, without a trampoline */
  case HPyFunc_VECTORCALLFUNC: /* no trampoline of HPy 0.9 has this shape */ break;
  }
  /* An unknown shape has no known place for a result, so no error can be returned. */
  Py_FatalError("ffi_hpy._hpy: a trampoline asks for a call in an HPyFunc_Signature that HPy 0.9 does not have");
}

void fhpy_ctx_trampoline_fill(HPyContext *ctx) { ctx->ctx_CallRealFunctionFromTrampoline = call_real; }
