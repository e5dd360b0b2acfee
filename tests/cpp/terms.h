/* terms.h - a small language for tests of structural operations: variables, binders, and trees of terms. */
#ifndef TESTS_CPP_TERMS_H_
#define TESTS_CPP_TERMS_H_

#include "objects.h"

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/reflection/registry.h>

namespace test {

class VarObj : public Object {
public:
  String name;
  Optional<ObjectRef> type;
  explicit VarObj(String text, Optional<ObjectRef> of = std::nullopt) : name(std::move(text)), type(std::move(of)) {}
  explicit VarObj(UnsafeInit) {}
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindFreeVar;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.terms.Var", VarObj, Object);
};
class Var : public ObjectRef {
public:
  explicit Var(String name, Optional<ObjectRef> type = std::nullopt)
      : ObjectRef(make_object<VarObj>(std::move(name), std::move(type))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Var, ObjectRef, VarObj);
};

class PairObj : public Object {
public:
  Any left, right;
  PairObj() = default;
  PairObj(Any first, Any second) : left(std::move(first)), right(std::move(second)) {}
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.terms.Pair", PairObj, Object);
};
class Pair : public ObjectRef {
public:
  Pair(Any left, Any right) : ObjectRef(make_object<PairObj>(std::move(left), std::move(right))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Pair, ObjectRef, PairObj);
};

/* Sharing matters: two references to one object differ from two equal objects. */
class NodeObj : public Object {
public:
  Any child;
  explicit NodeObj(Any value) : child(std::move(value)) {}
  explicit NodeObj(UnsafeInit) {}
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindDAGNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.terms.Node", NodeObj, Object);
};
class Node : public ObjectRef {
public:
  explicit Node(Any child) : ObjectRef(make_object<NodeObj>(std::move(child))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Node, ObjectRef, NodeObj);
};

class LambdaObj : public Object {
public:
  Array<Var> params;
  Any body;
  String comment;
  LambdaObj(Array<Var> vars, Any inside, String text)
      : params(std::move(vars)), body(std::move(inside)), comment(std::move(text)) {}
  explicit LambdaObj(UnsafeInit) {}
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.terms.Lambda", LambdaObj, Object);
};
class Lambda : public ObjectRef {
public:
  Lambda(Array<Var> params, Any body, String comment = "")
      : ObjectRef(make_object<LambdaObj>(std::move(params), std::move(body), std::move(comment))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Lambda, ObjectRef, LambdaObj);
};

/* Objects without a structural kind, which cannot be compared or copied. */
class OddObj : public Object {
public:
  Any content;
  explicit OddObj(Any value) : content(std::move(value)) {}
  OddObj(const OddObj &) = delete;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.terms.Odd", OddObj, Object);
};
class Odd : public ObjectRef {
public:
  explicit Odd(Any content) : ObjectRef(make_object<OddObj>(std::move(content))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Odd, ObjectRef, OddObj);
};

inline bool RegisterTerms() {
  namespace refl = tvm::ffi::reflection;
  refl::ObjectDef<VarObj>()
      .def_ro("name", &VarObj::name, refl::AttachFieldFlag::SEqHashIgnore())
      .def_ro("type", &VarObj::type);
  refl::ObjectDef<PairObj>().def_ro("left", &PairObj::left).def_ro("right", &PairObj::right);
  refl::ObjectDef<NodeObj>().def_ro("child", &NodeObj::child);
  refl::ObjectDef<LambdaObj>()
      .def_ro("params", &LambdaObj::params, refl::AttachFieldFlag::SEqHashDefPattern())
      .def_ro("body", &LambdaObj::body)
      .def_ro("comment", &LambdaObj::comment, refl::AttachFieldFlag::SEqHashIgnore());
  refl::ObjectDef<OddObj>(refl::init(false)).def_ro("content", &OddObj::content);
  return true;
}
inline const bool terms_are_registered = RegisterTerms();

/* A number of levels that every system supports: on Windows a walk may use an eighth of the stack of other systems. */
#if defined(_WIN32)
constexpr int kDeep = 125;
#else
constexpr int kDeep = 1000;
#endif

/* An int inside n_levels nested Arrays. */
inline Any NestedArrays(int n_levels) {
  Any value = 1;
  for (int i = 0; i < n_levels; ++i) value = Array<Any>{std::move(value)};
  return value;
}
inline Any NestedPairs(int n_levels) {
  Any value = 1;
  for (int i = 0; i < n_levels; ++i) value = Pair(std::move(value), nullptr);
  return value;
}

/* A List that contains itself during the lifetime of this object. */
class Cycle {
public:
  Cycle() { list.push_back(list); }
  ~Cycle() { list.clear(); }
  List<Any> list;
};

/* Returns "kind: message". */
inline std::string TextOf(const Error &error) { return error.kind() + ": " + error.message(); }

} // namespace test

#endif /* TESTS_CPP_TERMS_H_ */
