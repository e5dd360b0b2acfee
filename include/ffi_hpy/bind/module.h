/* module.h - FFI_HPY_MODULE: the functions by which Python imports a library. Programs include ffi_hpy/bind.h.
 *
 * CPython imports a library by PyInit_NAME, which returns a PyModuleDef. The struct begins with the header of an
 * object, whose size differs between interpreters with and without the GIL. The library finds the functions of the
 * interpreter by name in the running process, so it needs none of them to be loaded. PyPy imports the library through
 * the package (ffi_hpy/_bind/importer.py), which calls the exported function of FFI_HPY_MODULE. */
#ifndef FFI_HPY_BIND_MODULE_H_
#define FFI_HPY_BIND_MODULE_H_

#include <ffi_hpy/bind/enum.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Fills the module by `define`: args are the module, the address of the core's table, and the Function by
 * which the package answers. */
inline int execute(void (*define)(module_ &), const TVMFFIAny *args, int32_t n_args) {
  if (n_args != 3 || args[1].type_index != kTVMFFIOpaquePtr || args[2].type_index != kTVMFFIFunction) return -1;
  api = static_cast<const ffi_hpy_bind_api *>(args[1].v_ptr);
#if defined(FFI_HPY_SEVERAL_FILES)
#define FFI_HPY_MODULE_VALUE(result, name, parameters) &name##_in_module,
  static const module_functions functions{FFI_HPY_MODULE_FUNCTIONS(FFI_HPY_MODULE_VALUE)};
#undef FFI_HPY_MODULE_VALUE
  in_module = &functions;
#endif
  try {
    if (api->version < FFI_HPY_BIND_VERSION) {
      throw builtin_exception("ImportError", "the library was compiled for a later release of ffi-hpy");
    }
    package = handle(args[2]).inc_ref().any().v_obj; /* for the life of the process */
    module_ made = borrow<module_>(handle(args[0]));
    define(made);
    return 0;
  } catch (...) {
    return translate_exception();
  }
}

/* ---- CPython ---- */

/** A PyModuleDef behind an object header of 16 or 32 bytes, and the slots of the module. */
struct module_def {
  struct slot {
    int id;
    void *value;
  };
  struct after_header {
    void *init;
    intptr_t index;
    void *copy;
    const char *name, *doc;
    intptr_t size;
    void *methods;
    slot *slots;
    void *traverse, *clear, *free;
  };
  enum : int { kExec = 2, kGil = 4 };

  char bytes[32 + sizeof(after_header)];
  slot slots[3];
};

/** The result of PyInit_NAME. `is_immortal`: the reference count of a struct without references. */
inline void *make_module_def(module_def *def, const char *name, int (*exec)(void *module)) {
  auto version = python_function<const char *(*)()>("Py_GetVersion");
  auto init = python_function<void *(*)(void *)>("PyModuleDef_Init");
  if (version == nullptr || init == nullptr) return nullptr;
  bool is_free_threaded = std::strstr(version(), "free-threading") != nullptr;
  int minor = std::atoi(std::strchr(version(), '.') + 1);
  auto *body = reinterpret_cast<module_def::after_header *>(def->bytes + (is_free_threaded ? 32 : 16));
  if (body->name == nullptr) {
    /* The first word of the header is the reference count; without the GIL, the count of the owning thread is at 12. */
    if (is_free_threaded) {
      *reinterpret_cast<uint32_t *>(def->bytes + 12) = UINT32_MAX;
    } else {
      *reinterpret_cast<intptr_t *>(def->bytes) = 1;
    }
    def->slots[0] = {module_def::kExec, reinterpret_cast<void *>(exec)};
    if (minor >= 13) def->slots[1] = {module_def::kGil, reinterpret_cast<void *>(intptr_t{1})}; /* needs no GIL */
    body->name = name;
    body->slots = def->slots;
  }
  return init(def->bytes);
}

/** Asks the package to call `execute`, the exported function, for a module of CPython. */
inline int execute_by_package(void *module, TVMFFISafeCallType execute) {
  auto import = python_function<void *(*)(const char *)>("PyImport_ImportModule");
  auto call = python_function<void *(*)(void *, const char *, const char *, ...)>("PyObject_CallMethod");
  auto drop = python_function<void (*)(void *)>("Py_DecRef");
  void *importer = import("ffi_hpy._bind.importer");
  if (importer == nullptr) return -1;
  void *result =
      call(importer, "execute", "OK", module, static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(execute)));
  drop(importer);
  if (result == nullptr) return -1;
  drop(result);
  return 0;
}

} // namespace detail

FFI_HPY_NAMESPACE_END

/** The functions by which Python imports the library as the module `name`. The block behind the macro defines the
 * module, by its parameter `variable`. A library may have several modules, under links with their names:
 *
 *   FFI_HPY_MODULE(shapes, m) { m.def("area", &Area, "w"_a, "h"_a); } */
#define FFI_HPY_MODULE(name, variable)                                                                              \
  static void ffi_hpy_define_##name(::FFI_HPY_BIND_NAMESPACE::module_ &);                                           \
  extern "C" TVM_FFI_DLL_EXPORT int __tvm_ffi_ffi_hpy_execute_##name(void *, const TVMFFIAny *args, int32_t n_args, \
                                                                     TVMFFIAny *) {                                 \
    return ::FFI_HPY_BIND_NAMESPACE::detail::execute(&ffi_hpy_define_##name, args, n_args);                         \
  }                                                                                                                 \
  extern "C" TVM_FFI_DLL_EXPORT void *PyInit_##name() {                                                             \
    static ::FFI_HPY_BIND_NAMESPACE::detail::module_def def{};                                                      \
    return ::FFI_HPY_BIND_NAMESPACE::detail::make_module_def(&def, #name, [](void *module) {                        \
      return ::FFI_HPY_BIND_NAMESPACE::detail::execute_by_package(module, &__tvm_ffi_ffi_hpy_execute_##name);       \
    });                                                                                                             \
  }                                                                                                                 \
  static void ffi_hpy_define_##name([[maybe_unused]] ::FFI_HPY_BIND_NAMESPACE::module_ &variable)

#endif /* FFI_HPY_BIND_MODULE_H_ */
