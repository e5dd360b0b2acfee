/* One side of benchmarks/structural.py: structural operations, compiled against the C++ headers of either project.
 *
 * Reads lines `ROW SIZE N` and answers each with the ns of CPU time per node, over N iterations of the row on values of
 * SIZE nodes, and a 0. The argument of the program only labels the process in listings. */
#include "rows.h"

#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/extra/structural_hash.h>
#include <tvm/ffi/extra/structural_mutate.h>
#include <tvm/ffi/extra/structural_visit.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstring>
#include <string>

namespace {

namespace ffi = tvm::ffi;
namespace refl = ffi::reflection;
using ffi::Any;
using ffi::AnyView;
using ffi::Array;
using ffi::Expected;
using ffi::Map;
using ffi::ObjectPtr;
using ffi::ObjectRef;
using ffi::Optional;
using ffi::StructuralMutatorObj;
using ffi::StructuralVisitorObj;
using ffi::Unchanged;
using ffi::UnchangedOr;
using ffi::VisitInterrupt;
using ffi::WalkOrder;
using ffi::WalkResult;

/* ---- A tree: nodes with two children, by reflected fields or by hooks; leaves with a number ---- */

class LeafObj : public ffi::Object {
public:
  int64_t value = 0;
  explicit LeafObj(int64_t number) : value(number) {}
  explicit LeafObj(ffi::UnsafeInit) {}
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_bench.Leaf", LeafObj, ffi::Object);
};
class Leaf : public ObjectRef {
public:
  explicit Leaf(int64_t value) { data_ = ffi::make_object<LeafObj>(value); }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Leaf, ObjectRef, LeafObj);
};

class BranchObj : public ffi::Object {
public:
  ObjectRef left, right;
  BranchObj(ObjectRef a, ObjectRef b) : left(std::move(a)), right(std::move(b)) {}
  explicit BranchObj(ffi::UnsafeInit) {}
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_bench.Branch", BranchObj, ffi::Object);
};

class HookedObj : public ffi::Object {
public:
  ObjectRef left, right;
  HookedObj(ObjectRef a, ObjectRef b) : left(std::move(a)), right(std::move(b)) {}
  explicit HookedObj(ffi::UnsafeInit) {}
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_bench.Hooked", HookedObj, ffi::Object);
};

Expected<Optional<VisitInterrupt>> visit_hooked(StructuralVisitorObj *visitor, AnyView value) noexcept {
  const HookedObj *hooked = value.as<HookedObj>();
  TVM_FFI_S_VISIT_MAYBE_EARLY_RETURN(visitor->VisitExpected(hooked->left));
  TVM_FFI_S_VISIT_MAYBE_EARLY_RETURN(visitor->VisitExpected(hooked->right));
  return Optional<VisitInterrupt>(std::nullopt);
}

Expected<UnchangedOr<Any>> mutate_hooked(StructuralMutatorObj *mutator, AnyView value) noexcept {
  const HookedObj *hooked = value.as<HookedObj>();
  TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN(UnchangedOr<ObjectRef>, left, mutator->MutateExpected(hooked->left));
  TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN(UnchangedOr<ObjectRef>, right, mutator->MutateExpected(hooked->right));
  if (left.UnchangedOrSameAs(hooked->left) && right.UnchangedOrSameAs(hooked->right)) return Unchanged();
  ObjectPtr<HookedObj> copy = ffi::make_object<HookedObj>(*hooked);
  copy->left = std::move(left).ValueOrUnchanged(std::move(copy->left));
  copy->right = std::move(right).ValueOrUnchanged(std::move(copy->right));
  return Any(ObjectRef(std::move(copy)));
}

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<LeafObj>().def_ro("value", &LeafObj::value);
  refl::ObjectDef<BranchObj>().def_ro("left", &BranchObj::left).def_ro("right", &BranchObj::right);
  refl::ObjectDef<HookedObj>().def_ro("left", &HookedObj::left).def_ro("right", &HookedObj::right);
  refl::TypeAttrDef<HookedObj>()
      .native_fn_attr<&visit_hooked>(ffi::type_attr::kStructuralVisit)
      .native_fn_attr<&mutate_hooked>(ffi::type_attr::kStructuralMutate);
}

/* Makes a tree of about n_nodes nodes. */
using Make = ObjectRef (*)(int64_t n_nodes);

template <typename T> ObjectRef branches(int64_t n_nodes) {
  if (n_nodes <= 1) return Leaf(n_nodes);
  return ObjectRef(ffi::make_object<T>(branches<T>(n_nodes / 2), branches<T>(n_nodes / 2)));
}
ObjectRef arrays(int64_t n_nodes) {
  if (n_nodes <= 4) return Array<Any>{1, 2.5, ffi::String("a text of some length"), n_nodes};
  return Array<Any>{arrays(n_nodes / 4), arrays(n_nodes / 4), arrays(n_nodes / 4), arrays(n_nodes / 4)};
}
ObjectRef maps(int64_t n_nodes) {
  if (n_nodes <= 4) return Map<ffi::String, Any>{{"one", 1}, {"two and more", n_nodes}};
  return Map<ffi::String, Any>{{"a", maps(n_nodes / 2)}, {"b", maps(n_nodes / 2)}};
}

/* ---- Operations on the trees ---- */

uint64_t sum; /* keeps the compiler from removing the work */

double equal(Make make, int64_t n, int64_t size) {
  Any a = make(size), b = make(size);
  return time_of(n, size, [&] { sum += ffi::StructuralEqual::Equal(a, b); });
}

double hash(Make make, int64_t n, int64_t size) {
  Any a = make(size);
  return time_of(n, size, [&] { sum += ffi::StructuralHash::Hash(a); });
}

template <WalkOrder order> double walk(Make make, int64_t n, int64_t size) {
  Any a = make(size);
  return time_of(n, size, [&] {
    ffi::StructuralWalk<order>(a, [](const LeafObj *leaf) -> Expected<WalkResult> {
      sum += static_cast<uint64_t>(leaf->value);
      return WalkResult::Advance();
    });
  });
}

double visit(Make make, int64_t n, int64_t size) {
  Any a = make(size);
  return time_of(n, size, [&] {
    ffi::StructuralVisit(a, [](const LeafObj *leaf, StructuralVisitorObj *) -> Expected<Optional<VisitInterrupt>> {
      sum += static_cast<uint64_t>(leaf->value);
      return Optional<VisitInterrupt>(std::nullopt);
    });
  });
}

/* Nothing changes. */
double map_same(Make make, int64_t n, int64_t size) {
  Any a = make(size);
  return time_of(n, size, [&] {
    Any same = ffi::StructuralMap<WalkOrder::kPostOrder>(
        a, [](const LeafObj *leaf) -> Expected<UnchangedOr<Any>> { return sum += leaf->value != 0, Unchanged(); });
  });
}

/* Every leaf changes, so every node on the way to a leaf is copied. */
double map_leaves(Make make, int64_t n, int64_t size) {
  Any a = make(size);
  return time_of(n, size, [&] {
    Any changed = ffi::StructuralMap<WalkOrder::kPostOrder>(
        a, [](const LeafObj *leaf) -> Expected<UnchangedOr<Any>> { return Any(Leaf(leaf->value + 1)); },
        [](int64_t number) -> Expected<UnchangedOr<Any>> { return Any(number + 1); });
  });
}

/* map_leaves with callbacks that receive the mutator. */
double mutate_leaves(Make make, int64_t n, int64_t size) {
  Any a = make(size);
  return time_of(n, size, [&] {
    Any changed = ffi::StructuralMutate(
        a,
        [](const LeafObj *leaf, StructuralMutatorObj *) -> Expected<UnchangedOr<Any>> {
          return Any(Leaf(leaf->value + 1));
        },
        [](int64_t number, StructuralMutatorObj *) -> Expected<UnchangedOr<Any>> { return Any(number + 1); });
  });
}

/* ---- Commands ---- */

const struct {
  const char *name;
  double (*run)(Make make, int64_t n, int64_t size);
} rows[] = {
    {"equal", equal},
    {"hash", hash},
    {"walk_pre", walk<WalkOrder::kPreOrder>},
    {"walk_post", walk<WalkOrder::kPostOrder>},
    {"visit", visit},
    {"map_same", map_same},
    {"map_leaves", map_leaves},
    {"mutate_leaves", mutate_leaves},
};
const struct {
  const char *name;
  Make make;
} makers[] = {
    {"objects", branches<BranchObj>},
    {"hooked", branches<HookedObj>},
    {"arrays", arrays},
    {"maps", maps},
};

/* `name` is ROW/VALUE. */
double ns_of(const char *name, int64_t size, int64_t n) {
  for (const auto &row : rows) {
    size_t length = std::strlen(row.name);
    if (std::strncmp(row.name, name, length) != 0 || name[length] != '/') continue;
    for (const auto &maker : makers) {
      if (std::strcmp(maker.name, name + length + 1) == 0) return row.run(maker.make, n, size);
    }
  }
  return -1;
}

} // namespace

int main() { return answer_rows(ns_of); }
