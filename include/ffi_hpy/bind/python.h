/* python.h - errors of Python, and questions to the package. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_PYTHON_H_
#define FFI_HPY_BIND_PYTHON_H_

#include <ffi_hpy/bind/in_module.h>

#include <initializer_list>
#include <string>

FFI_HPY_NAMESPACE_BEGIN

/** An error of Python or of another library, on its way through C++: the exception that a call of native code or of
 * Python throws. Python sees the original exception again. */
namespace detail {
const char *error_text_in_module(const python_error &error) noexcept;
}

class python_error : public std::exception {
public:
  /** Takes the error that is pending on this thread. */
  python_error() {
    TVMFFIObjectHandle taken = nullptr;
    detail::api->hold_error(&taken);
    held_ = detail::take_object(taken);
  }
  /** The text that Python prints for the exception, with its traceback. */
  const char *what() const noexcept override { return detail::in_module->error_text(*this); }
  /** The kind of the error: the name of an exception class. */
  std::string_view kind() const {
    const TVMFFIErrorCell *cell = this->cell();
    return cell == nullptr ? std::string_view() : std::string_view(cell->kind.data, cell->kind.size);
  }
  /** The text of the error itself. */
  std::string_view message() const {
    const TVMFFIErrorCell *cell = this->cell();
    return cell == nullptr ? std::string_view() : std::string_view(cell->message.data, cell->message.size);
  }
  /** Whether the exception is an instance of a class of Python. */
  bool matches(handle exception_class) const;
  /** The exception, its class and its traceback. */
  object value() const;
  object type() const;
  object traceback() const;
  /** Makes the error the pending one of this thread again. */
  void restore() const { detail::api->restore_error(held_.is_none() ? nullptr : held_.any().v_obj); }
  /** Reports the error where it cannot be raised, such as in a destructor: sys.unraisablehook. */
  void discard_as_unraisable(handle context) noexcept;
  void discard_as_unraisable(const char *context) noexcept;

private:
  friend class error_scope;
  friend const char *detail::error_text_in_module(const python_error &error) noexcept;

  /* The error object; None if there is none. */
  FFI_HPY_COLD handle error() const {
    return held_.is_none() ? handle(held_) : handle(detail::view_of(detail::api->error_of(held_.any().v_obj)));
  }
  FFI_HPY_COLD const TVMFFIErrorCell *cell() const {
    handle found = error();
    return found.is_none() ? nullptr : TVMFFIErrorGetCellPtr(found.any().v_obj);
  }

  object held_; /* of hold_error */
  mutable std::string text_;
};

namespace detail {

/** A text of several parts. All texts share this function, because compilers take long for operator+ of strings. */
FFI_HPY_NOINLINE inline std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text.append(part.data(), part.size());
  return text;
}

/** Throws the pending error if a function of the core failed. */
inline void check(int rc) {
  if (rc != 0) throw python_error();
}

inline object str_of(std::string_view text) {
  TVMFFIAny made = none_value();
  TVMFFIByteArray bytes = bytes_of(text);
  check(api->new_str(&bytes, &made));
  return take(made);
}

inline object bytes_object(std::string_view data) {
  TVMFFIAny made = none_value();
  TVMFFIByteArray bytes = bytes_of(data);
  check(api->new_bytes(&bytes, &made));
  return take(made);
}

/** Whether a value is a text, or bytes, of another library, which Python would get as an instance of a subclass of str
 * or bytes. */
inline bool is_foreign_text(const TVMFFIAny &value) {
  bool is_text = value.type_index == kTVMFFIStr || value.type_index == kTVMFFIBytes;
  return is_text && value.v_obj->deleter != api->str_deleter;
}
/** A copy of such a value, which becomes a str or bytes. */
FFI_HPY_NOINLINE inline object own_text_in_module(const TVMFFIAny &value) {
  const TVMFFIByteArray *bytes = TVMFFIBytesGetByteArrayPtr(value.v_obj);
  std::string_view data(bytes->data, bytes->size);
  return value.type_index == kTVMFFIStr ? str_of(data) : bytes_object(data);
}
inline object own_text(const TVMFFIAny &value) { return in_module->own_text(value); }
/** The bytes of a str or, if is_bytes is true, of bytes. False for another value. */
FFI_HPY_NOINLINE inline bool read_any_text(const TVMFFIAny &value, bool is_bytes, std::string_view *out) noexcept {
  switch (value.type_index) {
  case kTVMFFIRawStr:
    if (is_bytes) return false;
    *out = value.v_c_str;
    return true;
  case kTVMFFISmallStr:
  case kTVMFFISmallBytes:
    if (is_bytes != (value.type_index == kTVMFFISmallBytes)) return false;
    *out = {value.v_bytes, value.small_str_len};
    return true;
  case kTVMFFIStr:
  case kTVMFFIBytes: {
    if (is_bytes != (value.type_index == kTVMFFIBytes)) return false;
    const TVMFFIByteArray *bytes = TVMFFIBytesGetByteArrayPtr(value.v_obj);
    *out = {bytes->data, bytes->size};
    return true;
  }
  case kTVMFFIByteArrayPtr: {
    if (!is_bytes) return false;
    const auto *bytes = static_cast<const TVMFFIByteArray *>(value.v_ptr);
    *out = {bytes->data, bytes->size};
    return true;
  }
  case kTVMFFIOpaquePyObject: return in_module->read_object_text(value, is_bytes, out);
  default: return false;
  }
}
inline bool read_text(const TVMFFIAny &value, bool is_bytes, std::string_view *out) noexcept {
  if (is_bytes || value.type_index != kTVMFFIStr) return read_any_text(value, is_bytes, out);
  const TVMFFIByteArray *text = TVMFFIBytesGetByteArrayPtr(value.v_obj);
  *out = {text->data, text->size};
  return true;
}

/** Whether the binding has run an operation itself. args[0] is free; the arguments follow. */
inline bool run_in_binding(operation what, TVMFFIAny *args, size_t n, TVMFFIAny *result) {
  python_values python = *api->python;
  if (python == nullptr || what.number == kFfiHpyNumOperations) return false;
  int rc = python->operate(what.number, args + 1, n - 1, result);
  if (rc < 0) throw python_error();
  return rc == 0;
}
/** Asks for an operation on Python objects: args[0] is free, and n - 1 arguments follow. All numbers and types of
 * arguments share this function, because compilers take long for code that each question repeats. */
inline object ask_python_with(operation what, TVMFFIAny *args, size_t n) {
  return in_module->ask_python(what, args, n);
}
FFI_HPY_NOINLINE inline object ask_python_in_module(operation what, TVMFFIAny *args, size_t n) {
  for (size_t i = 1; i < n; ++i) {
    if (!is_foreign_text(args[i])) continue;
    TVMFFIAny given = args[i];
    object own = own_text_in_module(given);
    args[i] = own.any();
    object result = ask_python_in_module(what, args, n);
    args[i] = given;
    return result;
  }
  TVMFFIAny result = none_value();
  if (run_in_binding(what, args, n, &result)) return take(result);
  object name = str_of(what.text());
  args[0] = name.any();
  check(api->call(package, args, static_cast<int32_t>(n), &result));
  return take(result);
}
/* Functions for the usual numbers of arguments, because compilers take long for each instance of a template. */
inline object ask_python(operation what) {
  TVMFFIAny args[] = {none_value()};
  return ask_python_with(what, args, 1);
}
inline object ask_python(operation what, const handle &a) {
  TVMFFIAny args[] = {none_value(), a.any()};
  return ask_python_with(what, args, 2);
}
inline object ask_python(operation what, const handle &a, const handle &b) {
  TVMFFIAny args[] = {none_value(), a.any(), b.any()};
  return ask_python_with(what, args, 3);
}
inline object ask_python(operation what, const handle &a, const handle &b, const handle &c) {
  TVMFFIAny args[] = {none_value(), a.any(), b.any(), c.any()};
  return ask_python_with(what, args, 4);
}
template <typename... More>
object ask_python(operation what, const handle &a, const handle &b, const handle &c, const handle &d,
                  const More &...more) {
  TVMFFIAny args[] = {none_value(), a.any(), b.any(), c.any(), d.any(), more.any()...};
  return ask_python_with(what, args, 5 + sizeof...(More));
}
/** The items of an Array, or of another sequence of the core, valid as long as it is. */
inline const TVMFFIAny *items_in(const handle &sequence) {
  return static_cast<const TVMFFIAny *>(cell_of(sequence.any().v_obj)->data);
}
/** A text that lives longer than the value. */
inline handle raw_text(const char *text) {
  TVMFFIAny value = word(kTVMFFIRawStr, 0);
  value.v_c_str = text;
  return handle(value);
}
/** Whether a value is an instance of a class, or of another kind, that the package knows by name. */
inline bool is_kind(const char *name, handle value) {
  return value.is_valid() && ask_python(kFfiHpyRunIsKind, value, raw_text(name)).any().v_int64 != 0;
}
/** The result of a function of Python's module `operator`. */
inline object use_operator(const char *name, handle a) { return ask_python(kFfiHpyRunOperator, a, raw_text(name)); }
inline object use_operator(const char *name, handle a, handle b) {
  return ask_python(kFfiHpyRunOperator, a, b, raw_text(name));
}
inline handle int_value(int64_t number) { return handle(word(kTVMFFIInt, number)); }

#if defined(FFI_HPY_BIND_PY_OBJECT)
inline TVMFFIAny class_value(PyTypeObject *type) {
  if (type == nullptr) return word(kNull, 0);
  /* acquire and release: the object is complete for all threads */
  TVMFFIObject *known = type->known.load(std::memory_order_acquire);
  if (known == nullptr) {
    object made = ask_python("constant", str_of(type->name));
    TVMFFIObject *own = made.any().v_obj;
    if (type->known.compare_exchange_strong(known, own, std::memory_order_acq_rel)) {
      known = made.release().any().v_obj;
    }
  }
  return view_of(known);
}
#endif

} // namespace detail

FFI_HPY_COLD inline const char *detail::error_text_in_module(const python_error &error) noexcept {
  std::string &text = error.text_;
  if (!text.empty() || error.held_.is_none()) return text.c_str();
  try {
    try {
      object shown = ask_python("error_text", error.error());
      std::string_view found;
      (void)read_text(shown.any(), true, &found);
      text = found;
    } catch (const python_error &) { /* Python does not answer: the interpreter has begun to exit */
      text.append(error.kind()).append(": ").append(error.message());
    }
    return text.c_str();
  } catch (...) {
    return "<error while formatting exception>";
  }
}
inline bool python_error::matches(handle exception_class) const {
  return detail::ask_python("error_matches", error(), exception_class).any().v_int64 != 0;
}
inline object python_error::value() const {
  return held_.is_none() ? held_ : detail::ask_python("error_value", error());
}
inline object python_error::type() const { return detail::ask_python(kFfiHpyRunType, value()); }
inline object python_error::traceback() const {
  return detail::ask_python(kFfiHpyRunGetAttr, value(), detail::str_of("__traceback__"));
}
/** Keeps the error that is pending on this thread, and makes it pending again at the end of the scope. */
class error_scope {
public:
  error_scope() = default;
  error_scope(const error_scope &) = delete;
  ~error_scope() { error_.restore(); }
  /** Whether there is an error. */
  bool is_pending() const { return !error_.held_.is_none(); }
  /** The error's class, and whether the error is an instance of a class. */
  object type() const { return error_.type(); }
  bool matches(handle exception_class) const { return error_.matches(exception_class); }

private:
  python_error error_;
};

inline void python_error::discard_as_unraisable(handle context) noexcept {
  try {
    detail::ask_python("unraisable", error(), context);
  } catch (...) {
    /* the report itself failed, and a second report is impossible */
  }
}
inline void python_error::discard_as_unraisable(const char *context) noexcept {
  try {
    discard_as_unraisable(detail::str_of(context));
  } catch (...) {
    /* no memory for the report */
  }
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_PYTHON_H_ */
