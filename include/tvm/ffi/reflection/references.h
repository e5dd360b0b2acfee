/*!
 * \file tvm/ffi/reflection/references.h
 * \brief References in members that are not registered as fields, for Python's garbage collector.
 */
#ifndef TVM_FFI_REFLECTION_REFERENCES_H_
#define TVM_FFI_REFLECTION_REFERENCES_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/object.h>

#include <new>
#include <utility>

namespace tvm::ffi::reflection {

/** Takes the references that an object has, each as often as the object has it. When the collector has found that an
 * object is garbage, the members lose their references. */
class ReferenceVisitor {
public:
  /** Takes the reference of `member`, which may be null. */
  void operator()(const ObjectRef &member) const { Visit(member.get(), &member); }
  /** Takes the reference of `member`, which may be null. */
  template <typename T> void operator()(const ObjectPtr<T> &member) const { Visit(member.get(), &member); }
  /** Takes the reference of `member` if it holds an object. */
  void operator()(const Any &member) const {
    const TVMFFIAny *any = ffi::detail::AnyUnsafe::TVMFFIAnyPtrFromAny(member);
    if (any->type_index < kTVMFFIStaticObjectBegin) return;
    Pass(any->v_obj, &member);
  }

private:
  template <typename T> void Visit(const Object *target, const T *member) const {
    if (target != nullptr) Pass(ffi::detail::ObjectUnsafe::GetHeader(target), member);
  }
  template <typename T> void Pass(TVMFFIObject *target, const T *member) const {
    if (take_ == nullptr) return visit_(arg_, target, member);
    auto *former = new (std::nothrow) T(std::move(*const_cast<T *>(member)));
    if (former != nullptr) take_(arg_, former, [](void *taken) { delete static_cast<T *>(taken); });
  }

  /* The first members of the struct that the collector makes, in C. */
  void (*visit_)(void *arg, TVMFFIObject *target, const void *slot) = nullptr;
  void *arg_ = nullptr;
  void (*take_)(void *arg, void *former, void (*release)(void *former)) = nullptr;
};

} // namespace tvm::ffi::reflection

#endif // TVM_FFI_REFLECTION_REFERENCES_H_
