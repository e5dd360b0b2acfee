/* py_buffer.h - CPython's buffer protocol for C++ that reads or writes the memory of objects, on every Python. Programs
 * include nanobind/nanobind.h.
 *
 * The functions are templates, so that libraries without buffers do not compile their bodies. */
#ifndef FFI_HPY_BIND_PY_BUFFER_H_
#define FFI_HPY_BIND_PY_BUFFER_H_

#include <ffi_hpy/bind/py_object.h>

#include <ffi_hpy/bind.h>
#include <ffi_hpy/bind/py_api.h>

#include <string>

/** The memory of an object, which stays exported until PyBuffer_Release. */
typedef struct ffi_hpy_py_buffer {
  void *buf; /**< the first element */
  PyObject *obj; /**< the owner, a reference */
  Py_ssize_t len; /**< in bytes */
  Py_ssize_t itemsize; /**< in bytes */
  int readonly; /**< 1 if the memory must not be written */
  int ndim; /**< the number of axes */
  char *format; /**< of the module struct; NULL unless the request asks for it */
  Py_ssize_t *shape; /**< the extents; NULL unless the request asks for them */
  Py_ssize_t *strides; /**< in bytes; NULL unless the request asks for them */
  Py_ssize_t *suboffsets; /**< NULL */
  void *internal; /**< the owner of the arrays above */
} Py_buffer;

/** Requests for PyObject_GetBuffer, and the flags of PyMemoryView_FromMemory. */
enum {
  PyBUF_SIMPLE = 0,
  PyBUF_WRITABLE = 1,
  PyBUF_FORMAT = 4,
  PyBUF_ND = 8,
  PyBUF_STRIDES = 0x10 | PyBUF_ND,
  PyBUF_C_CONTIGUOUS = 0x20 | PyBUF_STRIDES,
  PyBUF_F_CONTIGUOUS = 0x40 | PyBUF_STRIDES,
  PyBUF_ANY_CONTIGUOUS = 0x80 | PyBUF_STRIDES,
  PyBUF_INDIRECT = 0x100 | PyBUF_STRIDES,
  PyBUF_CONTIG = PyBUF_ND | PyBUF_WRITABLE,
  PyBUF_CONTIG_RO = PyBUF_ND,
  PyBUF_STRIDED = PyBUF_STRIDES | PyBUF_WRITABLE,
  PyBUF_STRIDED_RO = PyBUF_STRIDES,
  PyBUF_RECORDS = PyBUF_STRIDES | PyBUF_WRITABLE | PyBUF_FORMAT,
  PyBUF_RECORDS_RO = PyBUF_STRIDES | PyBUF_FORMAT,
  PyBUF_FULL = PyBUF_INDIRECT | PyBUF_WRITABLE | PyBUF_FORMAT,
  PyBUF_FULL_RO = PyBUF_INDIRECT | PyBUF_FORMAT,
  PyBUF_READ = 0x100,
  PyBUF_WRITE = 0x200
};

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The exporter and the arrays of a Py_buffer. */
struct buffer_memory {
  buffer_memory() = default;
  buffer_memory(const buffer_memory &) = delete;
  buffer_memory &operator=(const buffer_memory &) = delete;
  ~buffer_memory() { delete[] extents; }

  object exporter; /**< a memoryview */
  std::string format;
  Py_ssize_t *extents = nullptr; /**< the shape, then the strides */
};

template <typename View> void fill_buffer(handle source, View *view, int flags) {
  auto *memory = new buffer_memory;
  view->internal = memory; /* get_buffer() releases it if a step below throws */
  object seen = ask_python("buffer", source, int_value(flags));
  auto number = [](const object &value) { return static_cast<Py_ssize_t>(int_of(value)); };
  memory->exporter = seen[0];
  memory->format = cast<std::string_view>(object(seen[5]));
  object shape = seen[6], strides = seen[7];
  auto n_axes = static_cast<size_t>(int_of(ask_python(kFfiHpyRunLength, shape)));
  memory->extents = new Py_ssize_t[2 * n_axes + 1];
  for (size_t i = 0; i < n_axes; ++i) {
    memory->extents[i] = number(object(shape[i]));
    memory->extents[n_axes + i] = number(object(strides[i]));
  }
  view->buf = reinterpret_cast<void *>(static_cast<intptr_t>(number(object(seen[1]))));
  view->len = number(object(seen[2]));
  view->itemsize = number(object(seen[3]));
  view->readonly = object(seen[4]).any().v_int64 != 0;
  view->ndim = static_cast<int>(n_axes);
  if ((flags & PyBUF_FORMAT) != 0) view->format = memory->format.data();
  if ((flags & PyBUF_ND) != 0) view->shape = memory->extents;
  if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) view->strides = memory->extents + n_axes;
  view->obj = borrow(source).release().ptr();
}
/** Releases the memory at once, also where no reference is counted. */
template <typename Object> void end_export(Object *exporter) noexcept {
  error_scope pending;
  if (exporter->is_valid() && ask_done("buffer_release", *exporter) != 0) python_error dropped;
  *exporter = Object();
}
template <typename View> void release_buffer(View *view) noexcept {
  auto *memory = static_cast<buffer_memory *>(view->internal);
  if (memory != nullptr) end_export(&memory->exporter);
  delete memory;
  handle(view->obj).dec_ref();
  *view = {};
}
template <typename View> int get_buffer(PyObject *o, View *view, int flags) noexcept {
  *view = {};
  auto fill = [&] {
    fill_buffer(handle(o), view, flags);
    return take(none_value());
  };
  if (guarded(fill).is_valid()) return 0;
  release_buffer(view);
  return -1;
}

/** The memory of a memoryview, which the memoryview keeps: the result is valid until the thread has got 16 further
 * ones. */
template <typename View = Py_buffer> View *view_memory(PyObject *o) noexcept {
  thread_local View lent[16] = {};
  thread_local unsigned next = 0;
  View &place = lent[next++ % 16];
  release_buffer(&place);
  if (get_buffer(o, &place, PyBUF_FULL_RO) != 0) return nullptr;
  /* An exported bytearray could not change its length. */
  end_export(&static_cast<buffer_memory *>(place.internal)->exporter);
  handle(place.obj).dec_ref();
  place.obj = nullptr;
  return &place;
}

} // namespace detail

FFI_HPY_NAMESPACE_END

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility push(hidden) /* the interpreter exports functions of these names */
#endif

/** Fills a view of the memory of an object. Otherwise the error is a BufferError for another layout, or a TypeError. */
template <typename View> int PyObject_GetBuffer(PyObject *o, View *view, int flags) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::get_buffer(o, view, flags);
}
template <typename View> void PyBuffer_Release(View *view) { ::FFI_HPY_BIND_NAMESPACE::detail::release_buffer(view); }
template <typename View = Py_buffer> int PyObject_CheckBuffer(PyObject *o) {
  View view;
  if (PyObject_GetBuffer(o, &view, PyBUF_FULL_RO) != 0) return PyErr_Clear(), 0;
  return PyBuffer_Release(&view), 1;
}
/** Whether the elements are in the order 'C', 'F', or in one of both: 'A'. */
template <typename View> int PyBuffer_IsContiguous(const View *view, char order) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  const char text[] = {order, '\0'};
  return own::detail::ask_number("buffer_is_contiguous",
                                 static_cast<own::detail::buffer_memory *>(view->internal)->exporter,
                                 own::str(text)) == 1;
}
/** A memoryview of memory that outlives it. */
inline PyObject *PyMemoryView_FromMemory(char *data, Py_ssize_t n, int flags) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE::detail;
  return own::ask_pointer("memory", own::int_value(static_cast<int64_t>(reinterpret_cast<intptr_t>(data))),
                          own::int_value(n), own::word(kTVMFFIBool, flags == PyBUF_WRITE));
}
inline PyObject *PyMemoryView_FromObject(PyObject *o) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::ask_pointer("memoryview", o);
}
/** The memory of a memoryview. */
#define PyMemoryView_GET_BUFFER(o) ::FFI_HPY_BIND_NAMESPACE::detail::view_memory(o)

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility pop
#endif

#endif /* FFI_HPY_BIND_PY_BUFFER_H_ */
