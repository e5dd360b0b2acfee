/*!
 * \file tvm/ffi/reflection/references.h
 * \brief References in members that are not registered as fields, for Python's garbage collector.
 */
#ifndef TVM_FFI_REFLECTION_REFERENCES_H_
#define TVM_FFI_REFLECTION_REFERENCES_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/object.h>

namespace tvm {
namespace ffi {
namespace reflection {

/** Takes the references that an object has, each as often as the object has it. */
class ReferenceVisitor {
public:
  /** Takes the reference of `member`, which may be null. */
  void operator()(const ObjectRef &member) const { Visit(member.get()); }
  /** Takes the reference of `member`, which may be null. */
  template <typename T> void operator()(const ObjectPtr<T> &member) const { Visit(member.get()); }
  /** Takes the reference of `member` if it holds an object. */
  void operator()(const Any &member) const {
    const TVMFFIAny *any = ffi::detail::AnyUnsafe::TVMFFIAnyPtrFromAny(member);
    if (any->type_index >= kTVMFFIStaticObjectBegin) visit_(arg_, any->v_obj);
  }

private:
  void Visit(const Object *target) const {
    if (target != nullptr) visit_(arg_, ffi::detail::ObjectUnsafe::GetHeader(target));
  }

  /* The collector makes this struct in C. */
  void (*visit_)(void *arg, TVMFFIObject *target) = nullptr;
  void *arg_ = nullptr;
};

} // namespace reflection
} // namespace ffi
} // namespace tvm

#endif // TVM_FFI_REFLECTION_REFERENCES_H_
