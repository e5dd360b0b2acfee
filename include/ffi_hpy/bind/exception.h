/* exception.h - C++ exceptions as Python's. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_EXCEPTION_H_
#define FFI_HPY_BIND_EXCEPTION_H_

#include <ffi_hpy/bind/python.h>

#include <new>
#include <stdexcept>
#include <typeinfo>
#if defined(__GNUC__) || defined(__clang__)
#include <cxxabi.h>

#include <cstdlib>
#endif

FFI_HPY_NAMESPACE_BEGIN

/** An exception that Python sees as the class of its `kind`. */
class builtin_exception : public std::runtime_error {
public:
  builtin_exception(const char *kind, const char *what) : std::runtime_error(what), kind_(kind) {}
  /** The name of Python's class. */
  const char *kind() const { return kind_; }

private:
  const char *kind_;
};

#define FFI_HPY_BUILTIN_EXCEPTION(name, kind) \
  inline builtin_exception name(const char *what = "") { return builtin_exception(kind, what); }
FFI_HPY_BUILTIN_EXCEPTION(stop_iteration, "StopIteration")
FFI_HPY_BUILTIN_EXCEPTION(index_error, "IndexError")
FFI_HPY_BUILTIN_EXCEPTION(key_error, "KeyError")
FFI_HPY_BUILTIN_EXCEPTION(value_error, "ValueError")
FFI_HPY_BUILTIN_EXCEPTION(type_error, "TypeError")
FFI_HPY_BUILTIN_EXCEPTION(buffer_error, "BufferError")
FFI_HPY_BUILTIN_EXCEPTION(import_error, "ImportError")
FFI_HPY_BUILTIN_EXCEPTION(attribute_error, "AttributeError")
#undef FFI_HPY_BUILTIN_EXCEPTION

/** Thrown by cast<T>() for a value that is not a T. */
class cast_error : public builtin_exception {
public:
  explicit cast_error(const char *what = "std::bad_cast") : builtin_exception("RuntimeError", what) {}
};

/** Thrown by a function that does not accept its arguments: the next overload is tried. */
struct next_overload {};

namespace detail {

/** A class of exceptions that the library has registered, in a list; the newest is tried first. */
struct translator {
  bool (*translate)(const translator *self, const std::exception_ptr &thrown);
  std::string kind;
  const translator *older;
};
inline const translator *translators = nullptr;

FFI_HPY_COLD inline std::string demangled(const char *name) {
#if defined(__GNUC__) || defined(__clang__)
  int status = 0;
  char *text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string made(text != nullptr ? text : name);
  std::free(text);
  return made;
#else
  return name;
#endif
}

/** Makes the exception that is being handled the pending error. Returns -1; or FFI_HPY_NEXT_OVERLOAD if an argument did
 * not fit. */
FFI_HPY_COLD inline int translate_exception() {
  for (const translator *each = translators; each != nullptr; each = each->older) {
    if (each->translate(each, std::current_exception())) return -1;
  }
  try {
    throw;
  } catch (const python_error &error) {
    error.restore();
  } catch (const builtin_exception &error) {
    api->raise(error.kind(), error.what());
  } catch (const next_overload &) {
    return FFI_HPY_NEXT_OVERLOAD;
  } catch (const std::bad_cast &error) {
    api->raise("TypeError", error.what());
  } catch (const std::bad_alloc &error) {
    api->raise("MemoryError", error.what());
  } catch (const std::out_of_range &error) {
    api->raise("IndexError", error.what());
  } catch (const std::logic_error &error) {
    bool is_value = typeid(error) == typeid(std::invalid_argument) || typeid(error) == typeid(std::domain_error) ||
                    typeid(error) == typeid(std::length_error);
    api->raise(is_value ? "ValueError" : "RuntimeError", error.what());
  } catch (const std::overflow_error &error) {
    api->raise("OverflowError", error.what());
  } catch (const std::range_error &error) {
    api->raise("ValueError", error.what());
  } catch (const std::runtime_error &error) {
    api->raise("RuntimeError", error.what());
  } catch (const std::exception &error) {
    std::string text = demangled(typeid(error).name()) + ": " + error.what();
    api->raise("RuntimeError", text.c_str());
  } catch (...) {
    api->raise("RuntimeError", "an exception of a class that does not derive from std::exception");
  }
  return -1;
}

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_EXCEPTION_H_ */
