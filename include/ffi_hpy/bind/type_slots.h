/* type_slots.h - functions of a class in CPython's form (PyType_Slot) as methods of a bound class. Programs include
 * nanobind/nanobind.h.
 *
 * Py_tp_clear has no counterpart: the garbage collector destroys the values of a cycle itself. Py_tp_init is not
 * needed: the `__init__` of a class may be replaced. */
#ifndef FFI_HPY_BIND_TYPE_SLOTS_H_
#define FFI_HPY_BIND_TYPE_SLOTS_H_

#include <ffi_hpy/bind/py_object.h>

#include <ffi_hpy/bind/class.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** A Py_tp_traverse as a step of a class. */
struct slot_traverse : ffi_hpy_traverse {
  traverseproc function;
  const ffi_hpy_class *type;
};
inline int visit_pointer(PyObject *pointer, void *visitor) {
  TVMFFIAny any = value_of(pointer);
  if (!is_object(any) || is_traversed(pointer)) return 0;
  auto &visit = *static_cast<const reference_visitor *>(visitor);
  if (!visit.is_cutting()) visit.visit_target(any.v_obj, nullptr); /* the member that owns it is not known */
  return 0;
}
inline void run_traverse(const ffi_hpy_traverse *self, const void *value, const void *visitor) {
  auto *own = static_cast<const slot_traverse *>(self);
  /* Members of def_rw and def_ro are visited already, and the function would visit them twice. */
  if (own->type->traverse != self || self->next != nullptr) return;
  ffi_hpy_instance whole{};
  whole.header.type_index = own->type->type_index;
  whole.value = const_cast<void *>(value);
  whole.type = own->type;
  traversed_object() = &whole;
  own->function(reinterpret_cast<PyObject *>(&whole), visit_pointer, const_cast<void *>(visitor));
  traversed_object() = nullptr;
}
inline void add_slot_traverse(const ffi_hpy_class *type, void *function) {
  auto *step = new slot_traverse{}; /* for the life of the process, as the class */
  step->visit = run_traverse;
  step->function = reinterpret_cast<traverseproc>(function);
  step->type = type;
  api->class_add_traverse(type, step);
}

template <typename F, typename... Extra>
void define_slot(handle cls, const ffi_hpy_class *type, const char *name, F &&f, const Extra &...extra) {
  description<kFfiHpyFunctionIsMethod, std::decay_t<F>, Extra...> made(name, std::forward<F>(f), extra...);
  define_method(cls, type, name, false, &made);
}
/** A result of a function of CPython's form. */
inline object slot_result(PyObject *made) {
  if (made == nullptr) throw python_error();
  return steal(handle(made));
}
template <typename T> T slot_number(T number) {
  if (number == T(-1)) {
    python_error error;
    if (!error.kind().empty()) throw error;
  }
  return number;
}

template <typename T, std::enable_if_t<std::is_same_v<T, type_slots>, int>>
void define_slots(handle cls, const ffi_hpy_class *type, const T &given) {
  for (const PyType_Slot *each = given.slots; each->slot != 0; ++each) {
    void *f = each->pfunc;
    auto define_unary = [&](const char *name) {
      define_slot(cls, type, name,
                  [f](handle self) { return slot_result(reinterpret_cast<unaryfunc>(f)(self.ptr())); });
    };
    auto define_binary = [&](const char *name) {
      define_slot(
          cls, type, name,
          [f](handle self, handle other) {
            return slot_result(reinterpret_cast<binaryfunc>(f)(self.ptr(), other.ptr()));
          },
          arg().none());
    };
    auto define_number = [&](const char *name) {
      define_slot(cls, type, name, [f](handle self) { return slot_number(reinterpret_cast<lenfunc>(f)(self.ptr())); });
    };
    switch (each->slot) {
    case Py_tp_traverse: add_slot_traverse(type, f); break;
    case Py_tp_clear:
    case Py_tp_init: break;
    case Py_mp_length:
    case Py_sq_length: define_number("__len__"); break;
    case Py_tp_hash: define_number("__hash__"); break;
    case Py_nb_bool:
      define_slot(cls, type, "__bool__",
                  [f](handle self) { return slot_number(reinterpret_cast<inquiry>(f)(self.ptr())) != 0; });
      break;
    case Py_tp_repr: define_unary("__repr__"); break;
    case Py_tp_str: define_unary("__str__"); break;
    case Py_tp_iter: define_unary("__iter__"); break;
    case Py_tp_iternext: define_unary("__next__"); break;
    case Py_nb_add: define_binary("__add__"); break;
    case Py_mp_subscript: define_binary("__getitem__"); break;
    default: raise("type_slots: the slot %d has no counterpart; define a method", each->slot);
    }
  }
}

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_TYPE_SLOTS_H_ */
