/* define.h - functions, methods and properties become attributes of modules and classes. Programs include
 * ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_DEFINE_H_
#define FFI_HPY_BIND_DEFINE_H_

#include <ffi_hpy/bind/function.h>

#include <cstring>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

inline object text_or_empty(const char *text) { return str_of(text != nullptr ? text : ""); }

/** Sets a function in a scope, or adds an overload to the function of that name. */
FFI_HPY_NOINLINE inline void define_function_in_module(handle scope, function_record *record) {
  object name = str_of(record->name);
  defined_function made = define(record, ask_python("known_function", scope, name));
  ask_python("function", scope, name, made.function, made.metadata, text_or_empty(record->doc));
}

/** Adds a method to a bound class: for all languages, and as an attribute of the class of Python. */
FFI_HPY_NOINLINE inline object define_method(handle scope, const ffi_hpy_class *type, const char *name, bool is_static,
                                             function_record *record) {
  object key = str_of(name);
  defined_function made = define(record, ask_python("known_function", scope, key));
  std::string_view metadata;
  (void)read_text(made.metadata.any(), false, &metadata);
  TVMFFIMethodInfo info{};
  info.name = bytes_of(name);
  info.doc = bytes_of(record->doc != nullptr ? record->doc : "");
  info.metadata = bytes_of(metadata);
  info.flags = is_static ? kTVMFFIFieldFlagBitMaskIsStaticMethod : 0;
  info.method = made.function.any();
  check(api->class_add_method(type->type_index, &info));
  ask_python("method", scope, key, made.function, made.metadata, text_or_empty(record->doc),
             handle(word(kTVMFFIBool, is_static)));
  return made.function;
}

/** Adds a property of a bound class. `write` may be NULL. */
inline void define_property(handle scope, const ffi_hpy_class *type, function_record *read, function_record *write) {
  handle none(none_value());
  defined_function get = define(read, handle()), set{borrow<object>(none), borrow<object>(none)};
  if (write != nullptr) set = define(write, handle());
  std::string_view metadata;
  object about = ask_python("property_metadata", get.metadata);
  (void)read_text(about.any(), false, &metadata);
  TVMFFIFieldInfo info{};
  info.name = bytes_of(read->name);
  info.doc = bytes_of(read->doc != nullptr ? read->doc : "");
  info.metadata = bytes_of(metadata);
  if (write != nullptr && (write->flags & kFfiHpyFunctionSetsWord) != 0) info.flags = FFI_HPY_FIELD_IS_WORD;
  check(api->class_add_property(type, &info, get.function.any().v_obj,
                                write != nullptr ? set.function.any().v_obj : nullptr));
  ask_python("property", scope, str_of(read->name), set.function, set.metadata);
}

/** A method that constructs an object in the memory of its first parameter: `__init__` and `__setstate__` of an author,
 * `[](T *self, int x) { new (self) T(x); }`. The core gets a function that returns a new object. */
struct placement {
  ffi_hpy_overload method; /* without parameters */
  void (*free_capture)(void **capture);
  const ffi_hpy_class *type;
  void (*release)(ffi_hpy_instance *);

  static int call(const ffi_hpy_overload *self, const TVMFFIAny *args, uint32_t flags, TVMFFIAny *result) noexcept {
    try {
      const auto *known = static_cast<const placement *>(self->capture[0]);
      item_list<ffi_hpy_param> params; /* of the object, and of the arguments */
      item_list<TVMFFIAny> all;
      params.add(ffi_hpy_param{});
      all.add(none_value());
      for (uint32_t i = 0; i < self->n_params; ++i) params.add(self->params[i]), all.add(args[i]);
      ffi_hpy_overload method = known->method;
      method.params = params.data();
      method.n_params = self->n_params + 1;
      new_instance made(*known->type, true);
      *all.data() = made.open();
      int rc = method.call(&method, all.data(), flags, result);
      made.close();
      if (rc == 0) *result = made.finish(made.room(), known->release).release().any();
      return rc;
    } catch (...) {
      return translate_exception();
    }
  }
  static void free(void **capture) {
    auto *known = static_cast<placement *>(capture[0]);
    if (known->free_capture != nullptr) known->free_capture(known->method.capture);
    delete known;
  }
  /** Changes the record of a method; its types begin with the types of the result and of the object. */
  static void change(function_record *record, std::string *types, const ffi_hpy_class *type) {
    auto *made = new placement{};
    made->method.call = record->call;
    made->method.policy = record->policy;
    std::memcpy(made->method.capture, record->capture, sizeof(record->capture));
    made->free_capture = record->free_capture;
    made->type = type;
    made->release = type->destroy != nullptr ? destroy_value : nullptr;
    record->capture[0] = made;
    record->free_capture = &free;
    record->call = &call;
    record->flags &= kFfiHpyFunctionRefusesNone;
    if (record->n_named == record->n_params) ++record->params, --record->n_named;
    --record->n_params;
    ++record->type_flags;
    size_t object = types->find('\n'), end = types->find('\n', object + 1);
    types->erase(object, end == std::string::npos ? end : end - object);
  }
};

/** Adds a method that constructs the object. */
inline object define_placement(handle scope, const ffi_hpy_class *type, const char *name, function_record *record) {
  std::string types = type_text(record->text, record->infos, true);
  placement::change(record, &types, type);
  record->types = types.c_str();
  if (std::strcmp(name, "__init__") == 0) return define_method(scope, type, "__ffi_init__", true, record);
  defined_function made = define(record, handle());
  ask_python("setstate", scope, made.function);
  return object();
}

} // namespace detail

template <typename F, typename... Extra> module_ &module_::def(const char *name, F &&f, const Extra &...extra) {
  detail::description<0, std::decay_t<F>, Extra...> made(name, static_cast<F &&>(f), extra...);
  handle in = *this;
  (detail::find_scope(&in, extra), ...);
  detail::in_module->define_function(in, &made);
  return *this;
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_DEFINE_H_ */
