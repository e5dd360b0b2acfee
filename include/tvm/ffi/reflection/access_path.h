/* access_path.h - the place of a value in a nested value: a chain of steps from the root. */
#ifndef TVM_FFI_REFLECTION_ACCESS_PATH_H_
#define TVM_FFI_REFLECTION_ACCESS_PATH_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/cast.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/tuple.h>

namespace tvm::ffi::reflection {

/** The "missing" kinds mark a place that one of two compared values does not have. */
enum class AccessKind : int32_t {
  kAttr = 0, /**< a field */
  kArrayItem = 1, /**< an item of a sequence */
  kMapItem = 2, /**< a value of a map */
  kAttrMissing = 3, /**< a field that is missing */
  kArrayItemMissing = 4, /**< an item that is missing */
  kMapItemMissing = 5, /**< a key that is missing */
};

class AccessStep;

/** The object of an AccessStep. */
class AccessStepObj : public Object {
public:
  AccessKind kind = AccessKind::kAttr; /**< the kind of the step */
  Any key; /**< the name of a field, an index, or a key */

  AccessStepObj() = default;
  /** A step of that kind with that key. */
  AccessStepObj(AccessKind step_kind, Any step_key) : kind(step_kind), key(std::move(step_key)) {}
  /** Whether two steps are equal. */
  inline bool StepEqual(const AccessStep &other) const;

  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindConstTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi.reflection.AccessStep", AccessStepObj, Object);
};

/** One step from a value to a part of it. */
class AccessStep : public ObjectRef {
public:
  /** A step of that kind with that key. */
  AccessStep(AccessKind kind, Any key) : ObjectRef(make_object<AccessStepObj>(kind, std::move(key))) {}
  /** The step to a field. */
  static AccessStep Attr(String name) { return AccessStep(AccessKind::kAttr, std::move(name)); }
  /** The step to a field that is missing. */
  static AccessStep AttrMissing(String name) { return AccessStep(AccessKind::kAttrMissing, std::move(name)); }
  /** The step to an item of a sequence. */
  static AccessStep ArrayItem(int64_t i) { return AccessStep(AccessKind::kArrayItem, i); }
  /** The step to an item that is missing. */
  static AccessStep ArrayItemMissing(int64_t i) { return AccessStep(AccessKind::kArrayItemMissing, i); }
  /** The step to the value of a key. */
  static AccessStep MapItem(Any key) { return AccessStep(AccessKind::kMapItem, std::move(key)); }
  /** The step to a key that is missing. */
  static AccessStep MapItemMissing(Any key = nullptr) {
    return AccessStep(AccessKind::kMapItemMissing, std::move(key));
  }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(AccessStep, ObjectRef, AccessStepObj);
};

inline bool AccessStepObj::StepEqual(const AccessStep &other) const {
  return kind == other->kind && AnyEqual()(key, other->key);
}

class AccessPath;

/** A path: its last step, and the path before that step. Paths share their beginnings. */
class AccessPathObj : public Object {
public:
  Optional<ObjectRef> parent; /**< an AccessPath; empty for the root */
  Optional<AccessStep> step; /**< the last step; empty for the root */
  int32_t depth = 0; /**< steps from the root */

  AccessPathObj() = default;
  /** A path from its parts; n_steps is the distance from the root. */
  AccessPathObj(Optional<ObjectRef> before, Optional<AccessStep> last, int32_t n_steps)
      : parent(std::move(before)), step(std::move(last)), depth(n_steps) {}

  /** The path before the last step; nullopt for the root. */
  inline Optional<AccessPath> GetParent() const;
  /** The path with one more step. */
  inline AccessPath Extend(AccessStep next) const;
  /** The path to a field of this value. */
  inline AccessPath Attr(String name) const;
  /** The path to a missing field of this value. */
  inline AccessPath AttrMissing(String name) const;
  /** The path to an item of this value. */
  inline AccessPath ArrayItem(int64_t i) const;
  /** The path to a missing item of this value. */
  inline AccessPath ArrayItemMissing(int64_t i) const;
  /** The path to the value of a key of this value. */
  inline AccessPath MapItem(Any key) const;
  /** The path to a missing key of this value. */
  inline AccessPath MapItemMissing(Any key) const;
  /** The steps, from the root on. */
  inline Array<AccessStep> ToSteps() const;
  /** Whether both paths have equal steps. */
  inline bool PathEqual(const AccessPath &other) const;
  /** Whether `other` begins with the steps of this path. */
  inline bool IsPrefixOf(const AccessPath &other) const;

  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindConstTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi.reflection.AccessPath", AccessPathObj, Object);

private:
  const AccessPathObj *Before() const { return static_cast<const AccessPathObj *>(parent.get()); }
  /** Compares two paths of equal depth. */
  static bool StepsEqual(const AccessPathObj *left, const AccessPathObj *right) {
    for (; left != right && left->depth > 0; left = left->Before(), right = right->Before()) {
      if (!left->step.value()->StepEqual(right->step.value())) return false;
    }
    return true;
  }
};

/** A reference to a path; never null. */
class AccessPath : public ObjectRef {
public:
  /** The path of the root, without steps. */
  static AccessPath Root() { return AccessPath(make_object<AccessPathObj>()); }
  /** The path with these steps, from the root on. */
  template <typename IterType> static AccessPath FromSteps(IterType first, IterType last) {
    AccessPath path = Root();
    for (; first != last; ++first) path = path->Extend(*first);
    return path;
  }
  /** The path with these steps, from the root on. */
  static AccessPath FromSteps(const Array<AccessStep> &steps) { return FromSteps(steps.begin(), steps.end()); }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(AccessPath, ObjectRef, AccessPathObj);

private:
  explicit AccessPath(ObjectPtr<AccessPathObj> data) : ObjectRef(std::move(data)) {}
  friend class AccessPathObj;
};

/** Two paths, into the left and into the right of two compared values. */
using AccessPathPair = Tuple<AccessPath, AccessPath>;

inline Optional<AccessPath> AccessPathObj::GetParent() const {
  if (!parent.has_value()) return std::nullopt;
  return parent.value().as_or_throw<AccessPath>();
}
inline AccessPath AccessPathObj::Extend(AccessStep next) const {
  return AccessPath(make_object<AccessPathObj>(ObjectRef(GetRef<AccessPath>(this)), std::move(next), depth + 1));
}
inline AccessPath AccessPathObj::Attr(String name) const { return Extend(AccessStep::Attr(std::move(name))); }
inline AccessPath AccessPathObj::AttrMissing(String name) const {
  return Extend(AccessStep::AttrMissing(std::move(name)));
}
inline AccessPath AccessPathObj::ArrayItem(int64_t i) const { return Extend(AccessStep::ArrayItem(i)); }
inline AccessPath AccessPathObj::ArrayItemMissing(int64_t i) const { return Extend(AccessStep::ArrayItemMissing(i)); }
inline AccessPath AccessPathObj::MapItem(Any key) const { return Extend(AccessStep::MapItem(std::move(key))); }
inline AccessPath AccessPathObj::MapItemMissing(Any key) const {
  return Extend(AccessStep::MapItemMissing(std::move(key)));
}
inline Array<AccessStep> AccessPathObj::ToSteps() const {
  std::vector<AccessStep> backwards;
  for (const AccessPathObj *at = this; at->depth > 0; at = at->Before()) backwards.push_back(at->step.value());
  return Array<AccessStep>(backwards.rbegin(), backwards.rend());
}
inline bool AccessPathObj::PathEqual(const AccessPath &other) const {
  return depth == other->depth && StepsEqual(this, other.get());
}
inline bool AccessPathObj::IsPrefixOf(const AccessPath &other) const {
  const AccessPathObj *at = other.get();
  while (at->depth > depth) at = at->Before();
  return at->depth == depth && StepsEqual(this, at);
}

} // namespace tvm::ffi::reflection

#endif /* TVM_FFI_REFLECTION_ACCESS_PATH_H_ */
