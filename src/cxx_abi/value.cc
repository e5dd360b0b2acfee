/* value.cc - copying and releasing values and references, and the exception class that clients throw and catch. */
#include "shapes.h"

namespace tvm::ffi {

Any::~Any() {
  if (cell_.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(cell_.v_obj);
}

TVMFFIAny Optional<int, void>::by_value() const {
  TVMFFIAny view{};
  if (pair_.has_value) {
    view.type_index = kTVMFFIInt;
    view.v_int64 = pair_.value;
  }
  return view;
}

ObjectRef::ObjectRef(const ObjectRef &other) : data_(other.data_) {
  if (data_ != nullptr) TVMFFIObjectIncRef(data_);
}

ObjectRef::~ObjectRef() {
  if (data_ != nullptr) TVMFFIObjectDecRef(data_);
}

TVMFFIAny ObjectRef::view() const {
  TVMFFIAny view{};
  if (data_ != nullptr) {
    view.v_obj = static_cast<TVMFFIObject *>(static_cast<void *>(data_));
    view.type_index = view.v_obj->type_index;
  }
  return view;
}

/* --- the exception class ------------------------------------------------------------------------------------------ */

Error::~Error() noexcept {}

const char *Error::what() const noexcept { return TVMFFIErrorGetCellPtr(handle())->message.data; }

} // namespace tvm::ffi
