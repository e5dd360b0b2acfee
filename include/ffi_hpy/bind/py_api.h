/* py_api.h - functions of CPython's API that sources for nanobind call beside nanobind's own, on every Python. Programs
 * include nanobind/nanobind.h.
 *
 * The functions have CPython's conventions: a result is a new reference or borrowed as there, and NULL or -1 means that
 * an error is pending (PyErr_Occurred). A borrowed result that no object of C++ keeps, such as an item of a list, is
 * valid until the thread has got 64 further results. */
#ifndef FFI_HPY_BIND_PY_API_H_
#define FFI_HPY_BIND_PY_API_H_

#include <ffi_hpy/bind/py_object.h>

#include <ffi_hpy/bind.h>
#include <ffi_hpy/bind/type_slots.h>

#include <cstddef>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The result of an operation of the package with at most seven values: an empty handle with a pending error if it
 * fails. */
inline handle ask_quietly(operation what, std::initializer_list<handle> values) noexcept {
  TVMFFIAny args[8] = {};
  size_t n = 1;
  for (const handle &value : values) args[n++] = value.any();
  return guarded([&] { return ask_python_with(what, args, n); });
}
/** The result of an operation of the package: a new reference, or NULL with a pending error. */
template <typename... Values> PyObject *ask_pointer(operation what, const Values &...values) noexcept {
  return ask_quietly(what, {handle(values)...}).ptr();
}
/** The result as a number, or -1 with a pending error. */
template <typename... Values> int64_t ask_number(operation what, const Values &...values) noexcept {
  handle made = ask_quietly(what, {handle(values)...});
  if (!made.is_valid()) return -1;
  int64_t number = made.any().v_int64;
  made.dec_ref();
  return number;
}
/** 0, or -1 with a pending error. */
template <typename... Values> int ask_done(const char *operation, const Values &...values) noexcept {
  handle made = ask_quietly(operation, {handle(values)...});
  made.dec_ref();
  return made.is_valid() ? 0 : -1;
}
template <typename F> PyObject *guarded_pointer(F &&make) noexcept { return guarded(std::forward<F>(make)).ptr(); }

template <typename F> PyObject *guarded_loan(F &&make) noexcept {
  handle made = guarded(std::forward<F>(make));
  return made.is_valid() ? lend(steal(made)).ptr() : nullptr;
}
/** A text of `n` bytes, or up to a zero byte. */
inline object text_object(const char *text, Py_ssize_t n) {
  return str_of(n < 0 ? std::string_view(text) : std::string_view(text, static_cast<size_t>(n)));
}
/** The bytes of a str or of bytes, which are valid as long as the object. */
inline const char *text_data(PyObject *o, bool is_bytes, Py_ssize_t *n) noexcept {
  /* A short text is inside of the pointer. */
  handle given(o);
  std::string_view text;
  if (!read_text(given.any(), is_bytes, &text)) {
    api->raise("TypeError", is_bytes ? "expected bytes" : "expected a str");
    return nullptr;
  }
  if (!is_object(given.any())) {
    thread_local std::string lent[16];
    thread_local unsigned next = 0;
    std::string &place = lent[next++ % 16];
    place = text;
    text = place;
  }
  if (n != nullptr) *n = static_cast<Py_ssize_t>(text.size());
  return text.data();
}
/** A number of C++ in an object; T(-1) with a pending error for another value. */
template <typename T> T number_in(PyObject *o, const char *expected) noexcept {
  handle source(o);
  make_caster<T> caster;
  if (source.is_valid() && caster.from_python(source, cast_flags::convert, nullptr)) return caster.value;
  bool is_large = source.any().type_index == kTVMFFIInt || source.any().type_index == kTVMFFIBigInt;
  api->raise(is_large ? "OverflowError" : "TypeError", is_large ? "the int is too large for the C++ type" : expected);
  return static_cast<T>(-1);
}

/** The number of references of a value without an object, which is never released, and the part of every number where
 * Python does not count its references. */
inline constexpr Py_ssize_t kManyReferences = 1 << 30;
/** The references of C++ and of Python to an object. */
inline Py_ssize_t count_references(handle value) noexcept {
  if (!is_object(value.any())) return kManyReferences;
  auto own = static_cast<Py_ssize_t>(ref_count(value.any().v_obj));
  object counted = steal(guarded([&] { return ask_python("python_references", value); }));
  /* a list that only one native object refers to: the call has the other references */
  object few = steal(guarded([&] { return ask_python("python_references", ask_python(kFfiHpyRunList)); }));
  if (!counted.is_valid() || !few.is_valid() || few.is_none()) {
    if (!counted.is_valid() || !few.is_valid()) python_error dropped;
    return own + kManyReferences;
  }
  int64_t of_python = counted.any().v_int64 - few.any().v_int64 + 1;
  return of_python <= 0 ? own : own - 1 + static_cast<Py_ssize_t>(of_python); /* one of them is in both numbers */
}

/** The type of the tuples of PyTuple_New; 0 before the first. */
inline std::atomic<int32_t> tuple_type{0};
/** The items of such a tuple; NULL for another object. */
inline TVMFFISeqCell *tuple_cell_of(PyObject *o) {
  TVMFFIAny any = value_of(o);
  bool has_cell = is_object(any) && any.type_index == tuple_type.load(std::memory_order_relaxed);
  return has_cell ? cell_of(any.v_obj) : nullptr;
}
inline PyObject *new_tuple(Py_ssize_t n) noexcept {
  TVMFFIObjectHandle made = nullptr;
  if (api->container_new(kFfiHpyTuple, static_cast<size_t>(n), &made) != 0) return nullptr;
  TVMFFISeqCell *cell = cell_of(static_cast<TVMFFIObject *>(made));
  for (Py_ssize_t i = 0; i < n; ++i) static_cast<TVMFFIAny *>(cell->data)[i] = none_value();
  cell->size = n;
  TVMFFIAny any = view_of(made);
  tuple_type.store(any.type_index, std::memory_order_relaxed);
  return pointer_of(any);
}
inline int set_slot(PyObject *o, Py_ssize_t at, PyObject *owned) noexcept {
  object item = steal(handle(owned));
  TVMFFISeqCell *cell = tuple_cell_of(o);
  if (cell == nullptr) return ask_done("setitem", o, int_value(at), item);
  if (at < 0 || at >= cell->size) {
    api->raise("IndexError", "assignment index out of range");
    return -1;
  }
  TVMFFIAny &place = static_cast<TVMFFIAny *>(cell->data)[at];
  handle(place).dec_ref();
  place = item.release().any();
  return 0;
}

/** Calls a function with an array of arguments, the last of which have the names in a tuple. */
inline object call_array(handle function, PyObject *const *args, size_t n, handle names) {
  object list = ask_python(kFfiHpyRunList), named = ask_python(kFfiHpyRunDict);
  for (size_t i = 0; i < n; ++i) ask_python(kFfiHpyRunAppend, list, handle(args[i]));
  size_t n_names = names.is_valid() ? static_cast<size_t>(int_of(ask_python(kFfiHpyRunLength, names))) : 0;
  for (size_t i = 0; i < n_names; ++i) ask_python(kFfiHpyRunSetItem, named, object(names[i]), handle(args[n + i]));
  return function(*list, **named);
}
enum : size_t { kArgumentsOffset = size_t{1} << (8 * sizeof(size_t) - 1) };
inline PyObject *vectorcall(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *names) noexcept {
  return guarded_pointer([&] { return call_array(function, args, nargsf & ~kArgumentsOffset, names); });
}
inline PyObject *vectorcall_method(PyObject *name, PyObject *const *args, size_t nargsf, PyObject *names) noexcept {
  return guarded_pointer([&] {
    object method = ask_python(kFfiHpyRunGetAttr, handle(args[0]), handle(name));
    return call_array(method, args + 1, (nargsf & ~kArgumentsOffset) - 1, names);
  });
}

/** The text of a bound vector, with its class and its items. The caller owns the reference. */
inline PyObject *repr_list(PyObject *vector) { return ask_pointer("list_repr", handle(vector)); }
/** The text of a bound map, with its class and its items. The caller owns the reference. */
inline PyObject *repr_map(PyObject *map) { return ask_pointer("dict_repr", handle(map)); }

} // namespace detail

FFI_HPY_NAMESPACE_END

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility push(hidden) /* the interpreter exports variables of these names */
#endif

/* ---- References ---- */

inline void Py_INCREF(PyObject *o) { ::FFI_HPY_BIND_NAMESPACE::handle(o).inc_ref(); }
inline void Py_DECREF(PyObject *o) { ::FFI_HPY_BIND_NAMESPACE::handle(o).dec_ref(); }
/** The references of C++ and of Python. On PyPy, which does not count Python's, the number is above 2**30. */
inline Py_ssize_t Py_REFCNT(PyObject *o) { return ::FFI_HPY_BIND_NAMESPACE::detail::count_references(o); }
inline void Py_XINCREF(PyObject *o) { Py_INCREF(o); }
inline void Py_XDECREF(PyObject *o) { Py_DECREF(o); }
inline PyObject *Py_NewRef(PyObject *o) { return Py_INCREF(o), o; }
inline PyObject *Py_XNewRef(PyObject *o) { return Py_NewRef(o); }
#define Py_CLEAR(o)           \
  do {                        \
    PyObject *was_here = (o); \
    (o) = nullptr;            \
    Py_XDECREF(was_here);     \
  } while (0)

/* ---- Constants and classes ---- */

#define Py_None ::FFI_HPY_BIND_NAMESPACE::detail::pointer_of(::FFI_HPY_BIND_NAMESPACE::detail::none_value())
#define Py_True ::FFI_HPY_BIND_NAMESPACE::handle(::FFI_HPY_BIND_NAMESPACE::detail::word(kTVMFFIBool, 1)).ptr()
#define Py_False ::FFI_HPY_BIND_NAMESPACE::handle(::FFI_HPY_BIND_NAMESPACE::detail::word(kTVMFFIBool, 0)).ptr()
/** The result of an operator that does not know the other object. */
#define Py_NotImplemented \
  ::FFI_HPY_BIND_NAMESPACE::detail::guarded_loan([] { return ::FFI_HPY_BIND_NAMESPACE::not_implemented(); })
#define Py_RETURN_NOTIMPLEMENTED return Py_NewRef(Py_NotImplemented)
#define Py_RETURN_NONE return Py_None
#define Py_RETURN_TRUE return Py_True
#define Py_RETURN_FALSE return Py_False

#define FFI_HPY_PY_CLASS(variable, name) \
  inline PyTypeObject variable{{1, ::FFI_HPY_BIND_NAMESPACE::detail::kStaticClass, 0, {nullptr}}, name, {nullptr}};
FFI_HPY_PY_CLASS(PyBaseObject_Type, "object")
FFI_HPY_PY_CLASS(PyBool_Type, "bool")
FFI_HPY_PY_CLASS(PyByteArray_Type, "bytearray")
FFI_HPY_PY_CLASS(PyBytes_Type, "bytes")
FFI_HPY_PY_CLASS(PyComplex_Type, "complex")
FFI_HPY_PY_CLASS(PyDict_Type, "dict")
FFI_HPY_PY_CLASS(PyFloat_Type, "float")
FFI_HPY_PY_CLASS(PyFrozenSet_Type, "frozenset")
FFI_HPY_PY_CLASS(PyList_Type, "list")
FFI_HPY_PY_CLASS(PyLong_Type, "int")
FFI_HPY_PY_CLASS(PyMemoryView_Type, "memoryview")
FFI_HPY_PY_CLASS(PySet_Type, "set")
FFI_HPY_PY_CLASS(PySlice_Type, "slice")
FFI_HPY_PY_CLASS(PyTuple_Type, "tuple")
FFI_HPY_PY_CLASS(PyType_Type, "type")
FFI_HPY_PY_CLASS(PyUnicode_Type, "str")
#undef FFI_HPY_PY_CLASS

#define FFI_HPY_PY_EXCEPTION(kind)                                                          \
  inline PyTypeObject ffi_hpy_class_##kind{                                                 \
      {1, ::FFI_HPY_BIND_NAMESPACE::detail::kStaticClass, 0, {nullptr}}, #kind, {nullptr}}; \
  inline PyObject *const PyExc_##kind = reinterpret_cast<PyObject *>(&ffi_hpy_class_##kind);
FFI_HPY_PY_EXCEPTION(ArithmeticError)
FFI_HPY_PY_EXCEPTION(AssertionError)
FFI_HPY_PY_EXCEPTION(AttributeError)
FFI_HPY_PY_EXCEPTION(BaseException)
FFI_HPY_PY_EXCEPTION(BufferError)
FFI_HPY_PY_EXCEPTION(DeprecationWarning)
FFI_HPY_PY_EXCEPTION(EOFError)
FFI_HPY_PY_EXCEPTION(Exception)
FFI_HPY_PY_EXCEPTION(FileExistsError)
FFI_HPY_PY_EXCEPTION(FileNotFoundError)
FFI_HPY_PY_EXCEPTION(FutureWarning)
FFI_HPY_PY_EXCEPTION(ImportError)
FFI_HPY_PY_EXCEPTION(IndexError)
FFI_HPY_PY_EXCEPTION(KeyError)
FFI_HPY_PY_EXCEPTION(KeyboardInterrupt)
FFI_HPY_PY_EXCEPTION(LookupError)
FFI_HPY_PY_EXCEPTION(MemoryError)
FFI_HPY_PY_EXCEPTION(NameError)
FFI_HPY_PY_EXCEPTION(NotImplementedError)
FFI_HPY_PY_EXCEPTION(OSError)
FFI_HPY_PY_EXCEPTION(OverflowError)
FFI_HPY_PY_EXCEPTION(PermissionError)
FFI_HPY_PY_EXCEPTION(RecursionError)
FFI_HPY_PY_EXCEPTION(RuntimeError)
FFI_HPY_PY_EXCEPTION(RuntimeWarning)
FFI_HPY_PY_EXCEPTION(StopIteration)
FFI_HPY_PY_EXCEPTION(SystemError)
FFI_HPY_PY_EXCEPTION(TimeoutError)
FFI_HPY_PY_EXCEPTION(TypeError)
FFI_HPY_PY_EXCEPTION(UnicodeDecodeError)
FFI_HPY_PY_EXCEPTION(UnicodeEncodeError)
FFI_HPY_PY_EXCEPTION(UserWarning)
FFI_HPY_PY_EXCEPTION(ValueError)
FFI_HPY_PY_EXCEPTION(Warning)
FFI_HPY_PY_EXCEPTION(ZeroDivisionError)
#undef FFI_HPY_PY_EXCEPTION
inline PyObject *const PyExc_IOError = reinterpret_cast<PyObject *>(&ffi_hpy_class_OSError);

namespace FFI_HPY_BIND_NAMESPACE {
namespace detail {
inline int is_instance(PyObject *o, PyTypeObject *type) noexcept {
  return ask_number(kFfiHpyRunIsInstance, o, type) == 1;
}
inline int is_exactly(PyObject *o, PyTypeObject *type) noexcept {
  return ask_number(kFfiHpyRunIs, steal(guarded([&] { return ask_python(kFfiHpyRunType, handle(o)); })), type) == 1;
}
inline PyTypeObject *class_of_value(PyObject *o) noexcept {
  if (is_traversed(o)) return nullptr; /* Python cannot be asked while its collector runs */
  return reinterpret_cast<PyTypeObject *>(guarded_loan([&] { return ask_python(kFfiHpyRunType, handle(o)); }));
}
} // namespace detail
} // namespace FFI_HPY_BIND_NAMESPACE

/** Borrowed. NULL in a function for the garbage collector, which finds the classes of objects by itself. */
inline PyTypeObject *Py_TYPE(PyObject *o) { return ::FFI_HPY_BIND_NAMESPACE::detail::class_of_value(o); }
#define Py_VISIT(o)                                                        \
  do {                                                                     \
    if (PyObject *visited = reinterpret_cast<PyObject *>(o)) {             \
      if (int stopped = visit(visited, arg); stopped != 0) return stopped; \
    }                                                                      \
  } while (0)

#define FFI_HPY_PY_CHECK(function, variable) \
  inline int function(PyObject *o) { return ::FFI_HPY_BIND_NAMESPACE::detail::is_instance(o, &variable); }
FFI_HPY_PY_CHECK(PyBool_Check, PyBool_Type)
FFI_HPY_PY_CHECK(PyByteArray_Check, PyByteArray_Type)
FFI_HPY_PY_CHECK(PyBytes_Check, PyBytes_Type)
FFI_HPY_PY_CHECK(PyComplex_Check, PyComplex_Type)
FFI_HPY_PY_CHECK(PyDict_Check, PyDict_Type)
FFI_HPY_PY_CHECK(PyFloat_Check, PyFloat_Type)
FFI_HPY_PY_CHECK(PyList_Check, PyList_Type)
FFI_HPY_PY_CHECK(PyLong_Check, PyLong_Type)
FFI_HPY_PY_CHECK(PyMemoryView_Check, PyMemoryView_Type)
FFI_HPY_PY_CHECK(PySlice_Check, PySlice_Type)
FFI_HPY_PY_CHECK(PyTuple_Check, PyTuple_Type)
FFI_HPY_PY_CHECK(PyType_Check, PyType_Type)
FFI_HPY_PY_CHECK(PyUnicode_Check, PyUnicode_Type)
#undef FFI_HPY_PY_CHECK
/** Does nothing: a change of type_dict() sets the attribute of the class itself. */
inline void PyType_Modified(PyTypeObject *) {}
inline int PyAnySet_Check(PyObject *o) {
  using namespace ::FFI_HPY_BIND_NAMESPACE::detail;
  return is_instance(o, &PySet_Type) != 0 || is_instance(o, &PyFrozenSet_Type) != 0;
}
#define FFI_HPY_PY_CHECK_EXACT(function, variable) \
  inline int function(PyObject *o) { return ::FFI_HPY_BIND_NAMESPACE::detail::is_exactly(o, &variable); }
FFI_HPY_PY_CHECK_EXACT(PyBytes_CheckExact, PyBytes_Type)
FFI_HPY_PY_CHECK_EXACT(PyDict_CheckExact, PyDict_Type)
FFI_HPY_PY_CHECK_EXACT(PyFloat_CheckExact, PyFloat_Type)
FFI_HPY_PY_CHECK_EXACT(PyList_CheckExact, PyList_Type)
FFI_HPY_PY_CHECK_EXACT(PyLong_CheckExact, PyLong_Type)
FFI_HPY_PY_CHECK_EXACT(PyTuple_CheckExact, PyTuple_Type)
#undef FFI_HPY_PY_CHECK_EXACT
inline int PyUnicode_CheckExact(PyObject *o) { return PyUnicode_Check(o); }
inline int PyType_IsSubtype(PyTypeObject *type, PyTypeObject *base) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::ask_number("issubclass", type, base) == 1;
}
inline int PyIndex_Check(PyObject *o) {
  return o != nullptr && ::FFI_HPY_BIND_NAMESPACE::hasattr(::FFI_HPY_BIND_NAMESPACE::handle(o), "__index__");
}
inline int PyIter_Check(PyObject *o) {
  return o != nullptr && ::FFI_HPY_BIND_NAMESPACE::hasattr(::FFI_HPY_BIND_NAMESPACE::handle(o), "__next__");
}
inline int PyCallable_Check(PyObject *o) {
  return o != nullptr && ::FFI_HPY_BIND_NAMESPACE::callable::check_(::FFI_HPY_BIND_NAMESPACE::handle(o));
}
inline int PySequence_Check(PyObject *o) {
  return o != nullptr && ::FFI_HPY_BIND_NAMESPACE::hasattr(o, "__getitem__") && PyDict_Check(o) == 0;
}
inline int PyMapping_Check(PyObject *o) { return o != nullptr && ::FFI_HPY_BIND_NAMESPACE::hasattr(o, "__getitem__"); }

/* ---- Errors ---- */

inline void PyErr_Clear() { ::FFI_HPY_BIND_NAMESPACE::python_error dropped; }
/** The class of the pending error, borrowed; NULL if there is none. */
inline PyObject *PyErr_Occurred() {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  own::error_scope pending;
  return pending.is_pending() ? own::detail::guarded_loan([&] { return pending.type(); }) : nullptr;
}
inline void PyErr_SetString(PyObject *type, const char *text) {
  ::FFI_HPY_BIND_NAMESPACE::set_error(::FFI_HPY_BIND_NAMESPACE::handle(type), "%s", text);
}
#define PyErr_Format(type, ...)                                                              \
  (::FFI_HPY_BIND_NAMESPACE::set_error(::FFI_HPY_BIND_NAMESPACE::handle(type), __VA_ARGS__), \
   static_cast<PyObject *>(nullptr))
inline void PyErr_SetObject(PyObject *type, PyObject *value) {
  (void)::FFI_HPY_BIND_NAMESPACE::detail::ask_done("raise_object", type, value);
}
inline void PyErr_SetNone(PyObject *type) { PyErr_SetString(type, ""); }
inline int PyErr_ExceptionMatches(PyObject *type) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  own::error_scope pending;
  return pending.is_pending() && pending.matches(type);
}
inline void PyErr_WriteUnraisable(PyObject *context) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  own::python_error().discard_as_unraisable(own::handle(context));
}
/** Runs the handlers of signals that have arrived. */
inline int PyErr_CheckSignals() { return ::FFI_HPY_BIND_NAMESPACE::detail::ask_done("bool", Py_None); }

/* ---- Numbers and texts ---- */

namespace FFI_HPY_BIND_NAMESPACE {
namespace detail {
inline PyObject *operate(const char *name, PyObject *a, PyObject *b) noexcept {
  return ask_pointer(kFfiHpyRunOperator, handle(a), handle(b), raw_text(name));
}
} // namespace detail
} // namespace FFI_HPY_BIND_NAMESPACE
#define FFI_HPY_PY_OPERATOR(function, name) \
  inline PyObject *function(PyObject *a, PyObject *b) { return ::FFI_HPY_BIND_NAMESPACE::detail::operate(name, a, b); }
FFI_HPY_PY_OPERATOR(PyNumber_Add, "add")
FFI_HPY_PY_OPERATOR(PyNumber_And, "and_")
FFI_HPY_PY_OPERATOR(PyNumber_FloorDivide, "floordiv")
FFI_HPY_PY_OPERATOR(PyNumber_Lshift, "lshift")
FFI_HPY_PY_OPERATOR(PyNumber_Multiply, "mul")
FFI_HPY_PY_OPERATOR(PyNumber_Or, "or_")
FFI_HPY_PY_OPERATOR(PyNumber_Remainder, "mod")
FFI_HPY_PY_OPERATOR(PyNumber_Rshift, "rshift")
FFI_HPY_PY_OPERATOR(PyNumber_Subtract, "sub")
FFI_HPY_PY_OPERATOR(PyNumber_TrueDivide, "truediv")
FFI_HPY_PY_OPERATOR(PyNumber_Xor, "xor")
#undef FFI_HPY_PY_OPERATOR
inline PyObject *PyNumber_Index(PyObject *o) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  return own::detail::ask_pointer(kFfiHpyRunOperator, own::handle(o), own::detail::raw_text("index"));
}
inline PyObject *PyNumber_Float(PyObject *o) { return ::FFI_HPY_BIND_NAMESPACE::detail::ask_pointer("float", o); }
inline PyObject *PyNumber_Long(PyObject *o) { return ::FFI_HPY_BIND_NAMESPACE::detail::ask_pointer("int", o); }
inline PyObject *PyObject_RichCompare(PyObject *a, PyObject *b, int which) {
  static constexpr const char *kNames[] = {"lt", "le", "eq", "ne", "gt", "ge"};
  return ::FFI_HPY_BIND_NAMESPACE::detail::operate(kNames[which], a, b);
}
/** As in containers: an object equals itself. */
inline int PyObject_RichCompareBool(PyObject *a, PyObject *b, int which) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  if (which == Py_EQ) return static_cast<int>(own::detail::ask_number(kFfiHpyRunEqual, a, b));
  if (which == Py_NE) return static_cast<int>(own::detail::ask_number("not_equal", a, b));
  own::object made = own::steal(own::handle(PyObject_RichCompare(a, b, which)));
  return made.is_valid() ? static_cast<int>(own::detail::ask_number(kFfiHpyRunBool, made)) : -1;
}

#define FFI_HPY_PY_NUMBER(From, As, Type)                                                          \
  inline PyObject *From(Type value) {                                                              \
    return ::FFI_HPY_BIND_NAMESPACE::detail::make_caster<Type>::from_cpp(                          \
               value, ::FFI_HPY_BIND_NAMESPACE::rv_policy::copy, nullptr)                          \
        .ptr();                                                                                    \
  }                                                                                                \
  inline Type As(PyObject *o) {                                                                    \
    return ::FFI_HPY_BIND_NAMESPACE::detail::number_in<Type>(o, "expected a number of this type"); \
  }
FFI_HPY_PY_NUMBER(PyLong_FromLong, PyLong_AsLong, long)
FFI_HPY_PY_NUMBER(PyLong_FromUnsignedLong, PyLong_AsUnsignedLong, unsigned long)
FFI_HPY_PY_NUMBER(PyLong_FromLongLong, PyLong_AsLongLong, long long)
FFI_HPY_PY_NUMBER(PyLong_FromUnsignedLongLong, PyLong_AsUnsignedLongLong, unsigned long long)
FFI_HPY_PY_NUMBER(PyLong_FromSsize_t, PyLong_AsSsize_t, Py_ssize_t)
FFI_HPY_PY_NUMBER(PyLong_FromSize_t, PyLong_AsSize_t, size_t)
FFI_HPY_PY_NUMBER(PyFloat_FromDouble, PyFloat_AsDouble, double)
#undef FFI_HPY_PY_NUMBER
inline PyObject *PyBool_FromLong(long value) { return value != 0 ? Py_True : Py_False; }

inline PyObject *PyUnicode_FromStringAndSize(const char *text, Py_ssize_t n) {
  using namespace ::FFI_HPY_BIND_NAMESPACE::detail;
  return guarded_pointer([&] { return text_object(text, n); });
}
inline PyObject *PyUnicode_FromString(const char *text) { return PyUnicode_FromStringAndSize(text, -1); }
inline const char *PyUnicode_AsUTF8AndSize(PyObject *o, Py_ssize_t *n) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::text_data(o, false, n);
}
inline const char *PyUnicode_AsUTF8(PyObject *o) { return PyUnicode_AsUTF8AndSize(o, nullptr); }
inline int PyUnicode_CompareWithASCIIString(PyObject *o, const char *text) {
  const char *own = PyUnicode_AsUTF8(o);
  return own == nullptr ? -1 : std::strcmp(own, text);
}
inline Py_ssize_t PyUnicode_GetLength(PyObject *o) {
  return static_cast<Py_ssize_t>(::FFI_HPY_BIND_NAMESPACE::detail::ask_number(kFfiHpyRunLength, o));
}
inline PyObject *PyBytes_FromStringAndSize(const char *data, Py_ssize_t n) {
  using namespace ::FFI_HPY_BIND_NAMESPACE::detail;
  return guarded_pointer([&] { return bytes_object({data, static_cast<size_t>(n)}); });
}
inline PyObject *PyBytes_FromString(const char *text) {
  return PyBytes_FromStringAndSize(text, static_cast<Py_ssize_t>(std::strlen(text)));
}
/** The bytes must not be changed. */
inline char *PyBytes_AsString(PyObject *o) {
  return const_cast<char *>(::FFI_HPY_BIND_NAMESPACE::detail::text_data(o, true, nullptr));
}
inline Py_ssize_t PyBytes_Size(PyObject *o) {
  Py_ssize_t n = -1;
  (void)::FFI_HPY_BIND_NAMESPACE::detail::text_data(o, true, &n);
  return n;
}

/* ---- Containers ---- */

inline PyObject *PyTuple_New(Py_ssize_t n) { return ::FFI_HPY_BIND_NAMESPACE::detail::new_tuple(n); }
/** For a tuple of PyTuple_New that Python does not have yet; steals the item. */
inline int PyTuple_SetItem(PyObject *tuple, Py_ssize_t at, PyObject *item) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::set_slot(tuple, at, item);
}
inline PyObject *PyList_New(Py_ssize_t n) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  return own::detail::guarded_pointer([&] {
    own::list made;
    for (Py_ssize_t i = 0; i < n; ++i) made.append(own::none());
    return made;
  });
}
inline int PyList_SetItem(PyObject *list, Py_ssize_t at, PyObject *item) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::set_slot(list, at, item);
}
inline int PyList_Append(PyObject *list, PyObject *item) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::ask_done("append", list, item);
}
inline Py_ssize_t PyObject_Size(PyObject *o) {
  return static_cast<Py_ssize_t>(::FFI_HPY_BIND_NAMESPACE::detail::ask_number(kFfiHpyRunLength, o));
}
inline Py_ssize_t PyObject_Length(PyObject *o) { return PyObject_Size(o); }
inline Py_ssize_t PyList_Size(PyObject *o) { return PyObject_Size(o); }
inline Py_ssize_t PyTuple_Size(PyObject *o) { return PyObject_Size(o); }
inline Py_ssize_t PyDict_Size(PyObject *o) { return PyObject_Size(o); }
inline Py_ssize_t PySequence_Size(PyObject *o) { return PyObject_Size(o); }
inline PyObject *PyObject_GetItem(PyObject *o, PyObject *key) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::ask_pointer(kFfiHpyRunGetItem, o, key);
}
inline int PyObject_SetItem(PyObject *o, PyObject *key, PyObject *value) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::ask_done("setitem", o, key, value);
}
inline int PyObject_DelItem(PyObject *o, PyObject *key) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::ask_done("delitem", o, key);
}
inline PyObject *PySequence_GetItem(PyObject *o, Py_ssize_t at) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE::detail;
  return own::ask_pointer(kFfiHpyRunGetItem, o, own::int_value(at));
}
/** Borrowed. */
inline PyObject *PyList_GetItem(PyObject *list, Py_ssize_t at) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  return own::detail::guarded_loan(
      [&] { return own::detail::ask_python(kFfiHpyRunGetItem, own::handle(list), own::detail::int_value(at)); });
}
inline PyObject *PyTuple_GetItem(PyObject *tuple, Py_ssize_t at) { return PyList_GetItem(tuple, at); }
#define PyTuple_GET_ITEM(tuple, at) PyTuple_GetItem(tuple, at)
#define PyTuple_SET_ITEM(tuple, at, item) ((void)PyTuple_SetItem(tuple, at, item))
#define PyTuple_GET_SIZE(tuple) PyTuple_Size(tuple)
#define PyList_GET_ITEM(list, at) PyList_GetItem(list, at)
#define PyList_SET_ITEM(list, at, item) ((void)PyList_SetItem(list, at, item))
#define PyList_GET_SIZE(list) PyList_Size(list)

inline PyObject *PyDict_New() { return ::FFI_HPY_BIND_NAMESPACE::detail::ask_pointer(kFfiHpyRunDict); }
inline int PyDict_SetItem(PyObject *dict, PyObject *key, PyObject *value) { return PyObject_SetItem(dict, key, value); }
inline int PyDict_SetItemString(PyObject *dict, const char *key, PyObject *value) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  return own::detail::ask_done("setitem", dict, own::str(key), value);
}
inline int PyDict_DelItem(PyObject *dict, PyObject *key) { return PyObject_DelItem(dict, key); }
inline int PyDict_Contains(PyObject *dict, PyObject *key) {
  return static_cast<int>(::FFI_HPY_BIND_NAMESPACE::detail::ask_number(kFfiHpyRunContains, dict, key));
}
/** Borrowed; NULL without an error if the key is missing. */
inline PyObject *PyDict_GetItemWithError(PyObject *dict, PyObject *key) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  return own::detail::guarded_loan([&] {
    own::object found = own::detail::ask_python("get_or_none", own::handle(dict), own::handle(key));
    return found.is_none() ? own::object() : own::object(found[0]);
  });
}
inline PyObject *PyDict_GetItem(PyObject *dict, PyObject *key) {
  PyObject *found = PyDict_GetItemWithError(dict, key);
  if (found == nullptr) PyErr_Clear();
  return found;
}
inline PyObject *PyDict_GetItemString(PyObject *dict, const char *key) {
  return PyDict_GetItem(dict, ::FFI_HPY_BIND_NAMESPACE::str(key).ptr());
}

/* ---- Objects ---- */

inline PyObject *PyObject_GetAttr(PyObject *o, PyObject *name) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::ask_pointer(kFfiHpyRunGetAttr, o, name);
}
inline PyObject *PyObject_GetAttrString(PyObject *o, const char *name) {
  return PyObject_GetAttr(o, ::FFI_HPY_BIND_NAMESPACE::str(name).ptr());
}
inline int PyObject_SetAttr(PyObject *o, PyObject *name, PyObject *value) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::ask_done("setattr", o, name, value);
}
inline int PyObject_SetAttrString(PyObject *o, const char *name, PyObject *value) {
  return PyObject_SetAttr(o, ::FFI_HPY_BIND_NAMESPACE::str(name).ptr(), value);
}
inline int PyObject_HasAttrString(PyObject *o, const char *name) {
  return ::FFI_HPY_BIND_NAMESPACE::hasattr(::FFI_HPY_BIND_NAMESPACE::handle(o), name);
}
inline PyObject *PyObject_Str(PyObject *o) { return ::FFI_HPY_BIND_NAMESPACE::detail::ask_pointer(kFfiHpyRunStr, o); }
inline PyObject *PyObject_Repr(PyObject *o) { return ::FFI_HPY_BIND_NAMESPACE::detail::ask_pointer("repr", o); }
/** `format` may be NULL. */
inline PyObject *PyObject_Format(PyObject *o, PyObject *format) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  return own::detail::ask_pointer("format", o, format != nullptr ? own::borrow(format) : own::str(""));
}
/** The path of a str, of bytes or of a path object. */
inline PyObject *PyOS_FSPath(PyObject *o) { return ::FFI_HPY_BIND_NAMESPACE::detail::ask_pointer("fspath", o); }
inline Py_ssize_t PyObject_Hash(PyObject *o) {
  return static_cast<Py_ssize_t>(::FFI_HPY_BIND_NAMESPACE::detail::ask_number("hash", o));
}
inline int PyObject_IsTrue(PyObject *o) {
  return static_cast<int>(::FFI_HPY_BIND_NAMESPACE::detail::ask_number(kFfiHpyRunBool, o));
}
inline int PyObject_IsInstance(PyObject *o, PyObject *type) {
  return static_cast<int>(::FFI_HPY_BIND_NAMESPACE::detail::ask_number(kFfiHpyRunIsInstance, o, type));
}
inline PyObject *PyObject_GetIter(PyObject *o) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::ask_pointer(kFfiHpyRunIter, o);
}
/** NULL without an error at the end. */
inline PyObject *PyIter_Next(PyObject *iterator) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  return own::detail::guarded_pointer([&] { return own::detail::next_of(own::handle(iterator)); });
}
/** `args` is a tuple, or NULL. */
inline PyObject *PyObject_Call(PyObject *function, PyObject *args, PyObject *named) {
  namespace own = ::FFI_HPY_BIND_NAMESPACE;
  return own::detail::guarded_pointer([&] {
    own::object all = args != nullptr ? own::borrow(args) : own::tuple();
    own::object by_name = named != nullptr ? own::borrow(named) : own::dict();
    return own::handle(function)(*all, **by_name);
  });
}
inline PyObject *PyObject_CallObject(PyObject *function, PyObject *args) {
  return PyObject_Call(function, args, nullptr);
}
inline PyObject *PyObject_CallNoArgs(PyObject *function) { return PyObject_Call(function, nullptr, nullptr); }
/** The arguments end with NULL. */
template <typename... Args> PyObject *PyObject_CallFunctionObjArgs(PyObject *function, Args... args) {
  PyObject *const all[] = {args...};
  return ::FFI_HPY_BIND_NAMESPACE::detail::vectorcall(function, all, sizeof...(args) - 1, nullptr);
}
inline PyObject *PyImport_ImportModule(const char *name) {
  return ::FFI_HPY_BIND_NAMESPACE::detail::ask_pointer("import", ::FFI_HPY_BIND_NAMESPACE::str(name));
}

/* ---- Threads ---- */

typedef int PyGILState_STATE;
#define Py_BEGIN_ALLOW_THREADS \
  {                            \
    ::FFI_HPY_BIND_NAMESPACE::gil_scoped_release ffi_hpy_released;
#define Py_END_ALLOW_THREADS }
inline PyGILState_STATE PyGILState_Ensure() {
  const auto &python = ::FFI_HPY_BIND_NAMESPACE::detail::gil_functions::get();
  return python.ensure != nullptr ? python.ensure() : 0;
}
inline void PyGILState_Release(PyGILState_STATE state) {
  const auto &python = ::FFI_HPY_BIND_NAMESPACE::detail::gil_functions::get();
  if (python.release != nullptr) python.release(state);
}
inline int Py_IsInitialized() { return ::FFI_HPY_BIND_NAMESPACE::is_alive(); }

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility pop
#endif

#endif /* FFI_HPY_BIND_PY_API_H_ */
