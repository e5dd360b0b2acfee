/* The private extension of the context: fills the table of extension.h, which has the contracts of these functions. */
#include "core/platform/base.h"
#include "core/platform/system.h"
#include "entries.h"
#include "hpy_runtime/abi/handle.h"
#include "hpy_runtime/abi/layout.h"
#include "hpy_runtime/lifetime/collection.h"
#include "hpy_runtime/lifetime/watch.h"
#include "hpy_runtime/types/descriptor.h"
#include "hpy_runtime/types/instance_end.h"
#include "hpy_runtime/types/pypy_type.h"
#include "hpy_runtime/types/type_collect.h"
#include "hpy_runtime/types/type_instance.h"
#include "threads.h"

static FhpyExtension extension; /* filled once, before any module gets the context */

/* Up to 3.11 a raised exception is three words, and the value may still be the arguments of the exception.
 * Normalization makes the exception object. */
static HPy error_take(CTX) {
  if (fhpy_optional.PyErr_GetRaisedException != NULL) return to_hpy(fhpy_optional.PyErr_GetRaisedException());
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (type == NULL) return HPy_NULL;
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != NULL) PyException_SetTraceback(value, traceback);
  Py_DecRef(type), Py_DecRef(traceback);
  return to_hpy(value);
}

/* Restoring the three words needs references to all of them; PyException_GetTraceback returns a new one. */
static void error_restore(CTX, HPy exception) {
  PyObject *value = to_py(exception);
  Py_IncRef(value);
  if (fhpy_optional.PyErr_SetRaisedException != NULL) {
    fhpy_optional.PyErr_SetRaisedException(value);
    return;
  }
  Py_IncRef(type_of(value));
  PyErr_Restore(type_of(value), value, PyException_GetTraceback(value));
}

static int refcount_defer(CTX, HPy h) { return defer_references(to_py(h)); }

static HPy method_new(CTX, HPy callable, const FhpyMethodNames *names) {
  return to_hpy(fhpy_descriptor_new_method(to_py(callable), names));
}

/* During finalization the interpreter collects without the notification of collection.c, so no more types are watched.
 * */
static int type_watch(HPy type, void (*ended)(intptr_t word)) {
  return fhpy_threads_is_finalizing() ? 0 : fhpy_type_end_watch(to_py(type), ended);
}

#ifdef FHPY_PYPY
static void text_class_made(HPy type) { fhpy_pypy_text_free_with(to_py(type)); }
#endif

static void reference_watch(HPy h) { fhpy_watch_begin(to_py(h)); }
#ifndef FHPY_PYPY
/* Whether all bytes are ASCII. */
static inline bool is_ascii(const char *data, size_t byte_len) {
  const uint64_t high = UINT64_C(0x8080808080808080);
  uint64_t seen = 0, word;
  size_t i = 0;
  for (; i + sizeof(word) <= byte_len; i += sizeof(word)) {
    memcpy(&word, data + i, sizeof(word));
    seen |= word;
  }
  for (; i < byte_len; ++i) seen |= (unsigned char)data[i];
  return (seen & high) == 0;
}

static HPy decode_text(const char *data, HPy_ssize_t byte_len) {
  return to_hpy(PyUnicode_DecodeUTF8(data, byte_len, "replace"));
}

/* Most strings are ASCII and short, and decoding such a string takes longer than making the str, unless
 * fhpy_layout.ascii_data is 0. The interpreter caches a str for each single character, which its decoder finds. */
static HPy copy_text(const char *data, HPy_ssize_t byte_len) {
  enum { MOST = 0x7f };
  if (byte_len > 1 && is_ascii(data, (size_t)byte_len)) {
    PyObject *text = fhpy_optional.PyUnicode_New(byte_len, MOST);
    if (FH_LIKELY(text != NULL)) memcpy((char *)text + fhpy_layout.ascii_data, data, (size_t)byte_len);
    return to_hpy(text);
  }
  return decode_text(data, byte_len);
}
#endif
#ifndef FHPY_PYPY
static void collect(HPy type) { fhpy_type_collect(to_py(type)); }
#endif
static void keep(HPy h) { fhpy_keep_object(to_py(h)); }
static int reference_try(HPy h) { return fhpy_watch_try(to_py(h)); }

static int end_watch(HPy type, int (*keeps)(HPy self), int only_with_state) {
  return fhpy_instance_end_watch(to_py(type), keeps, only_with_state != 0);
}
static int end_is_watched(HPy h) { return fhpy_instance_end_is_watched(to_py(h)); }
#ifndef FHPY_PYPY
static int class_call(HPy cls, void (*call)(void)) { return fhpy_type_instance_set_call(to_py(cls), (void *)call); }
static int class_next(HPy cls, void (*next)(void)) { return fhpy_type_instance_set_next(to_py(cls), (void *)next); }
static int class_shorten(HPy cls, HPy base) { return fhpy_type_instance_shorten(to_py(cls), to_py(base)); }
static HPy short_new(HPy cls) { return to_hpy(_PyObject_GC_New(to_py(cls))); }
static void short_track(HPy h) { PyObject_GC_Track(to_py(h)); }
#endif
#ifndef FHPY_PYPY
/* CPython 3.12 and 3.13 count nested calls of C functions and allow 10,000 of them, although calls of bound functions
 * need more stack than there is. There the remaining stack decides, as in later versions. */
extern PyObject *PyExc_RecursionError;

static int stack_check(const char *where) {
  enum { SPARED = 256 * 1024 }; /* for the called function */
  static FH_THREAD_LOCAL uintptr_t end;
  static FH_THREAD_LOCAL size_t size; /* 0: not known yet, SIZE_MAX: unknown */
  if (FH_UNLIKELY(size == 0) && (!fh_thread_stack(&end, &size) || size == 0)) size = SIZE_MAX;
  uintptr_t left = (uintptr_t)__builtin_frame_address(0) - end;
  size_t spared = size / 4 < SPARED ? size / 4 : SPARED;
  if (FH_LIKELY(left > spared) || size == SIZE_MAX) return 0; /* also on another stack than the thread's */
  PyErr_Format(PyExc_RecursionError, "maximum recursion depth exceeded%s: the thread's stack ends", where);
  return -1;
}
static void stack_leave(void) {}
static bool checks_stack(void) { return fhpy_layout.minor == 12 || fhpy_layout.minor == 13; }
#endif
static int end_resume(HPy h) { return fhpy_instance_end_resume(to_py(h)); }

/* The copy is never freed, because the descriptor points into it and the runtime gets no notification when the
 * descriptor is freed. */
static HPy getset_new(CTX, HPy type, const FhpyGetSet *def) {
  if (!is_type(to_py(type))) {
    PyErr_Format(PyExc_TypeError, "getset_new expects a type, got %R", to_py(type));
    return HPy_NULL;
  }
  PyGetSetDef *copy = PyMem_Malloc(sizeof(PyGetSetDef));
  if (copy == NULL) return to_hpy(PyErr_NoMemory());
  *copy = (PyGetSetDef){def->name, (void *)def->get, (void *)def->set, def->doc, def->closure};
  PyObject *descriptor = PyDescr_NewGetSet(to_py(type), copy);
  if (descriptor == NULL) PyMem_Free(copy);
  return to_hpy(descriptor);
}

void fhpy_ctx_extension_fill(HPyContext *ctx) {
  fhpy_threads_measure();
  extension = (FhpyExtension){
      .magic = FHPY_EXTENSION_MAGIC,
      .version = FHPY_EXTENSION_VERSION,
      .byte_size = sizeof(FhpyExtension),
      .type_offset = fhpy_layout.type_offset,
      .data_offset = fhpy_layout.data_offset[HPyType_BuiltinShape_Object],
      .free_threaded = fhpy_layout.free_threaded,
      .thread_attach = fhpy_threads_attach,
      .thread_detach = fhpy_threads_detach,
      .is_finalizing = fhpy_threads_is_finalizing,
      .threads_close = fhpy_threads_close,
      .error_take = error_take,
      .error_restore = error_restore,
      .refcount_defer = refcount_defer,
      .getset_new = getset_new,
      .defers_refcounts = can_defer_references(),
      .reference_watch = fhpy_watch_is_possible() ? reference_watch : NULL,
      .reference_try = fhpy_watch_is_possible() ? reference_try : NULL,
      .method_new = fhpy_descriptor_is_possible() ? method_new : NULL,
#ifndef FHPY_PYPY /* NULL there: cpyext's decoder ends the process for malformed data */
      .text_new = fhpy_layout.ascii_data != 0 ? copy_text : decode_text,
#endif
      .tuple_items = fhpy_layout.tuple_items,
      .type_watch = type_watch,
#ifdef FHPY_PYPY
      .text_class_made = text_class_made,
#endif
      .keep = keep,
      .values = &fhpy_value_layout,
      .leave = PyEval_SaveThread,
      .reenter = PyEval_RestoreThread,
      .thread_state = fhpy_threads_state,
      .error_occurred = (void *(*)(void))PyErr_Occurred,
#ifndef FHPY_PYPY
      .collect = fhpy_type_collect_is_possible() ? collect : NULL,
      .collect_begin = fhpy_type_collect_begin,
#endif
      .end_watch = fhpy_instance_end_is_possible() ? end_watch : NULL,
      .end_is_watched = fhpy_instance_end_is_possible() ? end_is_watched : NULL,
      .end_resume = fhpy_instance_end_is_possible() ? end_resume : NULL,
      .end_offset = fhpy_layout.member_offset[MEMBER_FINALIZE],
      .end_word = fhpy_instance_end_get_word(),
      .collection_watch = fhpy_collection_follow,
      .list_items = fhpy_layout.list_items,
      .container_take = fhpy_ctx_container_take,
      .dict_next = fhpy_layout.free_threaded ? NULL : fhpy_ctx_container_next,
#ifndef FHPY_PYPY
      .class_call = fhpy_layout.type_vectorcall != 0 ? class_call : NULL,
      .class_shorten = class_shorten,
      .short_new = short_new,
      .short_track = short_track,
      .recursion_enter = checks_stack() ? stack_check : Py_EnterRecursiveCall,
      .recursion_leave = checks_stack() ? stack_leave : Py_LeaveRecursiveCall,
      .class_next = fhpy_layout.member_offset[MEMBER_ITERNEXT] != 0 ? class_next : NULL,
      .set_items = fhpy_layout.free_threaded ? NULL : fhpy_ctx_container_set_items,
#endif
  };
  ctx->_private = &extension;
}

/* --- entries that were added after HPy 0.9 ----------------------------------------------------------------------- */

/* Context entries that HPy's master has added after 0.9.0 (appended.h has their contracts) and that do more than pass
 * their arguments on. */

static void *as_struct_dict(CTX, HPy h) { return (char *)to_py(h) + fhpy_layout.data_offset[FHPY_BUILTIN_SHAPE_DICT]; }

/* PyIter_Next calls tp_iternext without a check that it exists. At the end it returns NULL without an exception, like
 * HPy's entry. */
static HPy iter_next(CTX, HPy iterator) {
  if (PyIter_Check(to_py(iterator))) return to_hpy(PyIter_Next(to_py(iterator)));
  PyErr_Format(PyExc_TypeError, "HPyIter_Next expects an iterator, got %R", type_of(to_py(iterator)));
  return HPy_NULL;
}

void fhpy_ctx_appended_fill(FhpyContext *ctx) {
  ctx->h_DictType = to_hpy(&PyDict_Type);
  ctx->ctx_AsStruct_Dict = as_struct_dict;
  ctx->ctx_Iter_Next = iter_next;
}
