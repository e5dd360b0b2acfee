/* class.h - modules, classes and enums of Python for C++. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_CLASS_H_
#define FFI_HPY_BIND_CLASS_H_

#include <ffi_hpy/bind/function.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** A Function of an overload, or the Function of that name in a scope, to which the overload is added. */
inline owned add_overload(const owned &scope, const owned &name, std::unique_ptr<overload_record> overload) {
  owned known = ask_python("known_function", scope, name);
  if (known.is_none()) {
    known = function_of(std::move(overload));
    ask_python("new_function", scope, name, known);
  } else {
    check(api->function_add(known.value.v_obj, overload.get()));
    (void)overload.release();
  }
  return known;
}

} // namespace detail

/** A module or a class of Python, which gets attributes. */
class scope {
public:
  /** The object of Python. */
  const detail::owned &python() const { return python_; }
  /** The name that the keys of types in this scope begin with, such as "shapes". */
  const std::string &key() const { return key_; }

  /** Sets an attribute: scope.attr("answer") = 42. */
  class attribute {
  public:
    attribute(const scope &in, const char *name) : scope_(in), name_(name) {}
    template <typename T> void operator=(T &&value) const {
      detail::ask_python("set_attribute", scope_.python_, detail::str_of(name_),
                         arg("value").operator=(std::forward<T>(value)).value);
    }

  private:
    const scope &scope_;
    const char *name_;
  };
  attribute attr(const char *name) const { return attribute(*this, name); }

protected:
  scope(detail::owned python, std::string key) : python_(std::move(python)), key_(std::move(key)) {}

  detail::owned python_;
  std::string key_;
};

/** A module of Python. */
class module_ : public scope {
public:
  module_(detail::owned python, std::string key) : scope(std::move(python), std::move(key)) {}

  /** Sets a function. Further arguments: documentation, the names and defaults of parameters, rv_policy, call_guard. */
  template <typename F, typename... Extra> module_ &def(const char *name, F &&f, const Extra &...extra) {
    auto made = detail::make_overload(name, false, std::forward<F>(f), extra...);
    detail::owned key = detail::str_of(name), doc = detail::str_of(made->doc), about = detail::str_of(made->metadata);
    detail::owned function = detail::add_overload(python_, key, std::move(made));
    detail::ask_python("function", python_, key, function, about, doc);
    return *this;
  }
  /** Makes a module inside of this one. */
  module_ def_submodule(const char *name, const char *doc = "") {
    detail::owned made = detail::ask_python("submodule", python_, detail::str_of(name), detail::str_of(doc));
    return module_(std::move(made), key_ + "." + name);
  }
};

/** A constructor: init<int, float>(). */
template <typename... Args> struct init {};

/** Instances of the class have attributes that Python sets. */
struct dynamic_attr {};
/** Python can have weak references to instances of the class. */
struct is_weak_referenceable {};

namespace detail {
/** The further arguments of class_. */
struct class_about {
  std::string doc;
  int64_t flags = 0;
};
inline void say(class_about *about, const char *doc) { about->doc = doc; }
inline void say(class_about *about, dynamic_attr) { about->flags |= 1; }
inline void say(class_about *about, is_weak_referenceable) { about->flags |= 2; }
} // namespace detail

/** Binds a class, which need not know of it. Ts may name the bound base class. */
template <typename T, typename... Ts> class class_ : public scope {
  template <typename U> static constexpr bool is_base = std::is_base_of_v<U, T> && !std::is_same_v<U, T>;
  static_assert((is_base<Ts> && ... && (sizeof...(Ts) <= 1)), "class_<T, Base>: one base class of T");

public:
  using Type = T;

  /** Further arguments: documentation, dynamic_attr(), is_weak_referenceable(). */
  template <typename... Extra>
  class_(const scope &in, const char *name, const Extra &...extra) : scope(detail::owned(), in.key() + "." + name) {
    detail::class_about about;
    (detail::say(&about, extra), ...);
    auto *made = new ffi_hpy_class{}; /* for the life of the process */
    (set_base<Ts>(made), ...);
    if constexpr (std::is_destructible_v<T>) {
      made->destroy = [](void *value) { static_cast<T *>(value)->~T(); };
    }
    made->cpp_name = typeid(T).name();
    made->size = sizeof(T);
    made->alignment = alignof(T);
    TVMFFIByteArray key = detail::bytes_of(key_), doc = detail::bytes_of(about.doc);
    detail::check(detail::api->class_add(made, &key, &doc));
    type_ = detail::class_of<T>::known = made;
    python_ = detail::ask_python("class", in.python(), detail::str_of(name), index(),
                                 detail::owned(detail::word(kTVMFFIInt, about.flags)));
  }

  /** Adds a constructor. */
  template <typename... Args, typename... Extra> class_ &def(init<Args...>, const Extra &...extra) {
    auto construct = [](Args... args) -> detail::owned {
      return detail::make_instance<T>(static_cast<Args &&>(args)...);
    };
    detail::owned made = add("__ffi_init__", true, detail::make_overload("__init__", false, construct, extra...));
    if (!has_init_) {
      TVMFFIByteArray init_name = detail::bytes_of("__ffi_init__");
      detail::check(detail::api->class_add_attr(type_->type_index, &init_name, &made.value));
    }
    has_init_ = true;
    return *this;
  }
  /** Adds a method: a member function, or a function whose first parameter is the object. */
  template <typename F, typename... Extra> class_ &def(const char *name, F &&f, const Extra &...extra) {
    auto method = detail::with_self<T>(std::forward<F>(f));
    add(name, false, detail::make_overload(name, true, std::move(method), extra...));
    return *this;
  }
  /** Adds a static method. */
  template <typename F, typename... Extra> class_ &def_static(const char *name, F &&f, const Extra &...extra) {
    add(name, true, detail::make_overload(name, false, std::forward<F>(f), extra...));
    return *this;
  }
  /** Adds a property of a member that can be read and set. */
  template <typename C, typename M, typename... Extra>
  class_ &def_rw(const char *name, M C::*member, const Extra &...extra) {
    return add_property(name, getter(member), setter(member), rv_policy::reference_internal, extra...);
  }
  /** Adds a property of a member that can be read. */
  template <typename C, typename M, typename... Extra>
  class_ &def_ro(const char *name, M C::*member, const Extra &...extra) {
    return add_property(name, getter(member), nullptr, rv_policy::reference_internal, extra...);
  }
  /** Adds a property with functions that read it and set it. */
  template <typename Get, typename Set, typename... Extra>
  class_ &def_prop_rw(const char *name, Get &&get, Set &&set, const Extra &...extra) {
    return add_property(name, detail::with_self<T>(std::forward<Get>(get)),
                        detail::with_self<T>(std::forward<Set>(set)), rv_policy::reference_internal, extra...);
  }
  /** Adds a property with a function that reads it. */
  template <typename Get, typename... Extra> class_ &def_prop_ro(const char *name, Get &&get, const Extra &...extra) {
    return add_property(name, detail::with_self<T>(std::forward<Get>(get)), nullptr, rv_policy::reference_internal,
                        extra...);
  }

private:
  detail::owned index() const { return detail::owned(detail::word(kTVMFFIInt, type_->type_index)); }

  template <typename Base> static void set_base(ffi_hpy_class *made) {
    made->base = &detail::class_of<Base>::get();
    auto *whole = reinterpret_cast<T *>(uintptr_t{4096}); /* never accessed */
    if (reinterpret_cast<uintptr_t>(static_cast<Base *>(whole)) == 4096) return;
    made->to_base = [](void *value) -> void * { return static_cast<Base *>(static_cast<T *>(value)); };
  }
  template <typename C, typename M> static auto getter(M C::*member) {
    if constexpr (std::is_class_v<M> && !std::is_copy_constructible_v<M>) {
      return [member](T &self) -> M & { return self.*member; };
    } else if constexpr (std::is_base_of_v<detail::str_caster_base, caster<M>> || !std::is_class_v<M>) {
      return [member](const T &self) -> const M & { return self.*member; };
    } else {
      return [member](T &self) -> M & { return self.*member; };
    }
  }
  template <typename C, typename M> static auto setter(M C::*member) {
    return [member](T &self, const M &value) { self.*member = value; };
  }

  /** Registers the function for all languages, and sets it as an attribute of the class. */
  detail::owned add(const char *name, bool is_static, std::unique_ptr<detail::overload_record> overload) {
    std::string doc = overload->doc, metadata = overload->metadata;
    detail::owned key = detail::str_of(name), function = detail::add_overload(python_, key, std::move(overload));
    TVMFFIMethodInfo info{};
    info.name = detail::bytes_of(name);
    info.doc = detail::bytes_of(doc);
    info.metadata = detail::bytes_of(metadata);
    info.flags = is_static ? kTVMFFIFieldFlagBitMaskIsStaticMethod : 0;
    info.method = function.value;
    detail::check(detail::api->class_add_method(type_->type_index, &info));
    detail::ask_python("method", python_, key);
    return function;
  }
  template <typename Get, typename Set, typename... Extra>
  class_ &add_property(const char *name, Get &&get, Set &&set, rv_policy policy, const Extra &...extra) {
    auto read = detail::make_overload(name, true, std::forward<Get>(get), policy, extra...);
    std::string doc = read->doc, metadata = "{\"type_schema\":" + detail::quoted(read_schema(get)) + "}";
    detail::owned getter = detail::function_of(std::move(read)), setter;
    if constexpr (!std::is_same_v<std::decay_t<Set>, std::nullptr_t>) {
      setter = detail::function_of(detail::make_overload(name, true, std::forward<Set>(set)));
    }
    TVMFFIFieldInfo info{};
    info.name = detail::bytes_of(name);
    info.doc = detail::bytes_of(doc);
    info.metadata = detail::bytes_of(metadata);
    detail::check(detail::api->class_add_property(type_, &info, getter.value.v_obj,
                                                  setter.is_none() ? nullptr : setter.value.v_obj));
    detail::ask_python("property", python_, detail::str_of(name));
    return *this;
  }
  template <typename Get> static std::string read_schema(const Get &) {
    return detail::signature_of<std::decay_t<Get>>::types[0].schema();
  }

  const ffi_hpy_class *type_ = nullptr;
  bool has_init_ = false;
};

/** Makes an exception class of Python for a C++ class: exception<TooSmall>(m, "TooSmall"). The base is the name of a
 * built-in class. */
template <typename E> class exception : public scope {
public:
  exception(const scope &in, const char *name, const char *base = "Exception") : scope(detail::owned(), "") {
    python_ = detail::ask_python("exception", in.python(), detail::str_of(name), detail::str_of(base));
    auto translate = [](const detail::translator *self, const std::exception_ptr &thrown) {
      try {
        std::rethrow_exception(thrown);
      } catch (const E &error) {
        detail::api->raise(self->kind.c_str(), error.what());
        return true;
      } catch (...) {
        return false;
      }
    };
    detail::translators = new detail::translator{translate, in.key() + "." + name, detail::translators};
  }
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_CLASS_H_ */
