/* Visits of values: walks, visits that callbacks control, hooks of classes, and the places that errors report. */
#include "terms.h"

#include <gtest/gtest.h>
#include <tvm/ffi/extra/structural_visit.h>

#include <stdexcept>

namespace {

using namespace test;
namespace refl = tvm::ffi::reflection;

using MaybeInterrupt = Optional<VisitInterrupt>;

/* A class that is visited by a hook: right before left, without the comment. */
class BackwardsObj : public Object {
public:
  Any left, right;
  String comment;
  BackwardsObj(Any first, Any second) : left(std::move(first)), right(std::move(second)), comment("a comment") {}
  static Expected<MaybeInterrupt> Visit(StructuralVisitorObj *visitor, AnyView value) noexcept {
    const BackwardsObj *self = value.as<BackwardsObj>();
    TVM_FFI_S_VISIT_MAYBE_EARLY_RETURN(visitor->VisitExpected(self->right));
    return visitor->VisitExpected(self->left);
  }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Backwards", BackwardsObj, Object);
};
class Backwards : public ObjectRef {
public:
  Backwards(Any left, Any right) : ObjectRef(make_object<BackwardsObj>(std::move(left), std::move(right))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Backwards, ObjectRef, BackwardsObj);
};

/* A class with a hook that throws. */
class ThrowingHookObj : public Object {
public:
  static MaybeInterrupt Visit(StructuralVisitorObj *, AnyView) { throw std::runtime_error("the hook threw"); }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.ThrowingHook", ThrowingHookObj, Object);
};

/* A class with a hook that is a Function: it visits the contents twice. */
class TwiceObj : public Object {
public:
  Any content;
  explicit TwiceObj(Any value) : content(std::move(value)) {}
  static Any Visit(StructuralVisitorObj *visitor, AnyView value) {
    const TwiceObj *self = value.as<TwiceObj>();
    if (MaybeInterrupt interrupt = visitor->Visit(self->content)) return interrupt;
    return visitor->Visit(self->content);
  }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Twice", TwiceObj, Object);
};

class BadHookObj : public Object {
public:
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.BadHook", BadHookObj, Object);
};

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::TypeAttrDef<BackwardsObj>().native_fn_attr<&BackwardsObj::Visit>(type_attr::kStructuralVisit);
  refl::TypeAttrDef<ThrowingHookObj>().native_fn_attr<&ThrowingHookObj::Visit>(type_attr::kStructuralVisit);
  refl::TypeAttrDef<TwiceObj>().def(type_attr::kStructuralVisit.name, &TwiceObj::Visit);
  refl::TypeAttrDef<BadHookObj>().attr(type_attr::kStructuralVisit.name, 42);
}

/* Returns the values that a walk visits, as a string. */
template <WalkOrder order> std::string Met(AnyView root) {
  std::string text;
  StructuralWalk<order>(
      root,
      [&](int64_t number) -> Expected<WalkResult> {
        text += std::to_string(number) + " ";
        return WalkResult::Advance();
      },
      [&](const VarObj *var, TVMFFIDefRegionKind region) -> Expected<WalkResult> {
        text.append(var->name).append(region == kTVMFFIDefRegionKindNone ? " " : "! ");
        return WalkResult::Advance();
      },
      [&](const Any &value) -> Expected<WalkResult> {
        text += value.GetTypeKey() + " ";
        return WalkResult::Advance();
      });
  return text;
}

TEST(StructuralWalk, MeetsEachValueInOrder) {
  Var x("x", Pair(1, nullptr));
  Any root = Array<Any>{Lambda({x}, Map<String, Any>{{"key", x}}, "not met"), 2};
  EXPECT_EQ(Met<WalkOrder::kPreOrder>(root),
            "ffi.Array test.cpp.terms.Lambda ffi.Array x! test.cpp.terms.Pair 1 ffi.Map x test.cpp.terms.Pair 1 2 ");
  EXPECT_EQ(Met<WalkOrder::kPostOrder>(root),
            "1 test.cpp.terms.Pair x! ffi.Array 1 test.cpp.terms.Pair x ffi.Map test.cpp.terms.Lambda 2 ffi.Array ");
  EXPECT_EQ(Met<WalkOrder::kPreOrder>(nullptr), "");
  EXPECT_EQ(Met<WalkOrder::kPreOrder>(3), "3 ");
}

TEST(StructuralWalk, FollowsTheHooksOfTypes) {
  EXPECT_EQ(Met<WalkOrder::kPreOrder>(Backwards(1, Backwards(2, 3))), "test.cpp.Backwards test.cpp.Backwards 3 2 1 ");
  EXPECT_EQ(Met<WalkOrder::kPreOrder>(make_object<TwiceObj>(7)), "test.cpp.Twice 7 7 ");
}

TEST(StructuralWalk, SkipsAndStops) {
  std::string met;
  Any root = Array<Any>{Pair(1, 2), 3, 4};
  MaybeInterrupt interrupt = StructuralWalk<WalkOrder::kPreOrder>(
      root, [](const PairObj *) -> Expected<WalkResult> { return WalkResult::Skip(); },
      [&](int64_t number) -> Expected<WalkResult> {
        met += std::to_string(number);
        return number == 3 ? WalkResult::Interrupt(VisitInterrupt("three")) : WalkResult::Advance();
      });
  EXPECT_EQ(met, "3");
  ASSERT_TRUE(interrupt.has_value());
  EXPECT_EQ(interrupt.value()->value.cast<String>(), "three");
  EXPECT_FALSE(StructuralWalk<WalkOrder::kPostOrder>(root, [](const PairObj *) -> Expected<WalkResult> {
                 return WalkResult::Skip();
               }).has_value());
}

TEST(StructuralWalk, StopsFromInsideAHook) {
  Any root = Array<Any>{make_object<TwiceObj>(Backwards(1, 2)), 3};
  int n_met = 0;
  MaybeInterrupt interrupt = StructuralWalk<WalkOrder::kPostOrder>(root, [&](int64_t) -> Expected<WalkResult> {
    return ++n_met == 3 ? WalkResult::Interrupt() : WalkResult::Advance();
  });
  EXPECT_EQ(n_met, 3);
  EXPECT_TRUE(interrupt.has_value() && interrupt.value()->value == nullptr);
}

/* Returns the objects in the context of an error. */
List<ObjectRef> NotedIn(const Error &error) {
  Optional<VisitErrorContext> context = VisitErrorContext::TryGetFromError(error);
  return context.has_value() ? context.value()->reverse_visit_pattern : List<ObjectRef>();
}

template <typename F> void ExpectErrorOfCallback(F fail, const char *text) {
  Var x("x");
  Pair pair(1, x);
  Array<Any> root{Map<String, Any>{{"key", pair}}};
  for (bool before : {true, false}) {
    auto callback = [&](const VarObj *) -> Expected<WalkResult> { return fail(); };
    Expected<MaybeInterrupt> result = before ? StructuralWalkExpected<WalkOrder::kPreOrder>(root, callback)
                                             : StructuralWalkExpected<WalkOrder::kPostOrder>(root, callback);
    ASSERT_TRUE(result.is_err());
    EXPECT_EQ(TextOf(result.error()), text);
    List<ObjectRef> noted = NotedIn(result.error());
    ASSERT_EQ(noted.size(), 4U);
    EXPECT_TRUE(noted[0].same_as(x));
    EXPECT_TRUE(noted[1].same_as(pair));
    EXPECT_TRUE(noted[3].same_as(root));
    auto context = VisitErrorContext::TryGetFromError(result.error());
    Array<refl::AccessPath> paths = VisitErrorContext::FindAccessPaths(root, context.value());
    ASSERT_EQ(paths.size(), 1U);
    EXPECT_TRUE(paths[0]->PathEqual(refl::AccessPath::Root()->ArrayItem(0)->MapItem("key")->Attr("right")));
  }
}

TEST(StructuralWalk, ReturnsTheErrorsOfCallbacksWithWhereTheyCameUp) {
  ExpectErrorOfCallback([]() -> Expected<WalkResult> { return Error("ValueError", "returned", ""); },
                        "ValueError: returned");
  ExpectErrorOfCallback(
      []() -> Expected<WalkResult> {
        TVM_FFI_THROW(KeyError) << "thrown";
        return WalkResult::Advance();
      },
      "KeyError: thrown");
}

TEST(StructuralWalk, TurnsAnyExceptionIntoAnErrorBeforeItGetsToC) {
  ExpectErrorOfCallback([]() -> Expected<WalkResult> { throw std::out_of_range("from the standard library"); },
                        "IndexError: from the standard library");
  ExpectErrorOfCallback([]() -> Expected<WalkResult> { throw 42; }, "RuntimeError: a C++ exception of type `int`");
}

TEST(StructuralWalk, ReturnsTheErrorsOfHooks) {
  auto walk = [](const Any &root) {
    return StructuralWalkExpected<WalkOrder::kPreOrder>(
        root, [](int64_t) -> Expected<WalkResult> { return WalkResult::Advance(); });
  };
  EXPECT_EQ(TextOf(walk(Array<Any>{make_object<ThrowingHookObj>()}).error()),
            "RuntimeError: the hook threw [std::runtime_error]");
  EXPECT_EQ(TextOf(walk(make_object<BadHookObj>()).error()),
            "TypeError: __s_visit__ must be an opaque function pointer or ffi.Function");
  EXPECT_EQ(walk(Odd(1)).is_ok(), true);
}

TEST(StructuralWalk, RefusesValuesTooDeepForTheStack) {
  auto walk = [](const Any &root) {
    int n_met = 0;
    Expected<MaybeInterrupt> result =
        StructuralWalkExpected<WalkOrder::kPostOrder>(root, [&](AnyView) -> Expected<WalkResult> {
          ++n_met;
          return WalkResult::Advance();
        });
    return result.is_ok() ? std::to_string(n_met) : result.error().kind();
  };
  EXPECT_EQ(walk(NestedArrays(kDeep)), std::to_string(kDeep + 1));
  EXPECT_EQ(walk(NestedPairs(kDeep)), std::to_string(kDeep + 1));
  Cycle cycle;
  EXPECT_EQ(walk(cycle.list), "ValueError");
  EXPECT_EQ(walk(Pair(cycle.list, 1)), "ValueError");
  EXPECT_EQ(walk(Backwards(1, cycle.list)), "ValueError");
}

TEST(StructuralWalk, CanStartAnotherOneInACallback) {
  int64_t sum = 0;
  StructuralWalk<WalkOrder::kPreOrder>(
      Array<Any>{Pair(1, 2), Pair(3, 4)}, [&](const PairObj *pair) -> Expected<WalkResult> {
        StructuralWalk<WalkOrder::kPreOrder>(pair->right, [&](int64_t number) -> Expected<WalkResult> {
          sum += number;
          return WalkResult::Advance();
        });
        return WalkResult::Skip();
      });
  EXPECT_EQ(sum, 6);
}

TEST(StructuralWalk, KeepsARootThatACallbackReplaces) {
  for (Any root : {Any(Array<Any>{1, Pair(2, 3), 4}), Any(Map<Any, Any>{{"a", 1}, {"b", Pair(2, 3)}, {"c", 4}})}) {
    int64_t sum = 0;
    StructuralWalk<WalkOrder::kPreOrder>(root, [&](int64_t number) -> Expected<WalkResult> {
      root = nullptr;
      sum += number;
      return WalkResult::Advance();
    });
    EXPECT_EQ(sum, 10);
  }
}

/* A layer with states for callbacks, which decides about descents. */
class CountingLayer : public StructuralVisitorObj {
public:
  using VisitorObjType = CountingLayer;
  using StateTupleType = std::tuple<const int &>;
  explicit CountingLayer(const StructuralVisitorVTable *table) : StructuralVisitorObj(table) {}
  Expected<MaybeInterrupt> DefaultVisitExpected(AnyView value) noexcept {
    ++n_descents;
    if (value.as<VarObj>() != nullptr) return MaybeInterrupt(std::nullopt);
    return StructuralVisitorObj::DefaultVisitExpected(value);
  }
  int n_descents = 0;

protected:
  StateTupleType StateTuple() const noexcept { return StateTupleType(n_descents); }
};

TEST(StructuralWalk, LetsAParentAddStatesAndChangeTheDescent) {
  std::vector<int> seen;
  auto callback = [&](int64_t, const int &n_descents, TVMFFIDefRegionKind) -> Expected<WalkResult> {
    seen.push_back(n_descents);
    return WalkResult::Advance();
  };
  using Engine = StructuralWalkEngine<CountingLayer, WalkOrder::kPreOrder, decltype(callback)>;
  auto engine = make_object<Engine>(callback);
  Array<Any> root{Var("x", Array<Any>{1}), 2};
  EXPECT_FALSE(engine->Visit(root).has_value());
  EXPECT_EQ(seen, std::vector<int>{2});
  EXPECT_EQ(engine->n_descents, 3);
  Cycle cycle;
  EXPECT_TRUE(engine->VisitExpected(cycle.list).is_err());
  EXPECT_TRUE(engine->VisitExpected(root).is_ok()) << "as usable as before the error";
}

TEST(StructuralVisit, LetsCallbacksChooseTheVisitedValues) {
  std::string met;
  MaybeInterrupt interrupt = StructuralVisit(
      Array<Any>{Pair(1, 2), Lambda({Var("x")}, 3)},
      [](const Pair &pair, StructuralVisitorObj *visitor) -> Expected<MaybeInterrupt> {
        return visitor->VisitExpected(pair->right);
      },
      [&](const VarObj *var, StructuralVisitorObj *visitor) -> Expected<MaybeInterrupt> {
        met += var->name;
        EXPECT_EQ(visitor->def_region_kind(), kTVMFFIDefRegionKindPattern);
        return visitor->DefaultVisitExpected(var);
      },
      [&](int64_t number, StructuralVisitorObj *) -> Expected<MaybeInterrupt> {
        met += std::to_string(number);
        if (number == 3) return MaybeInterrupt(VisitInterrupt(number));
        return MaybeInterrupt(std::nullopt);
      });
  EXPECT_EQ(met, "2x3");
  EXPECT_EQ(interrupt.value()->value.cast<int64_t>(), 3);
}

TEST(StructuralVisit, RegionsEndWhereTheyBeganAndAPatternHoldsForAllInIt) {
  auto callback = [](AnyView, CountingLayer *) -> Expected<MaybeInterrupt> { return MaybeInterrupt(std::nullopt); };
  auto visitor = make_object<StructuralVisitEngine<CountingLayer, decltype(callback)>>(callback);
  auto region = [&] { return visitor->def_region_kind(); };
  EXPECT_EQ(visitor->WithDefRegionKind(kTVMFFIDefRegionKindSimple, region), kTVMFFIDefRegionKindSimple);
  EXPECT_EQ(region(), kTVMFFIDefRegionKindNone);
  EXPECT_EQ(visitor->WithDefRegionKind(kTVMFFIDefRegionKindPattern,
                                       [&] { return visitor->WithDefRegionKind(kTVMFFIDefRegionKindNone, region); }),
            kTVMFFIDefRegionKindPattern);
  EXPECT_THROW(visitor->WithDefRegionKind(kTVMFFIDefRegionKindPattern, []() -> int { throw 1; }), int);
  EXPECT_EQ(region(), kTVMFFIDefRegionKindNone);
}

TEST(StructuralVisit, WorksWithAVisitorOfTheCore) {
  Function visit = Function::GetGlobalRequired("ffi.StructuralVisit");
  std::string met;
  auto entry = [](int32_t type_index, Function function) { return Tuple<int32_t, Function>(type_index, function); };
  Array<Tuple<int32_t, Function>> callbacks{
      entry(PairObj::RuntimeTypeIndex(), Function::FromTyped([&](const Pair &pair, const StructuralVisitor &visitor) {
              met += "pair ";
              return visitor->Visit(pair->right);
            })),
      entry(kTVMFFIInt, Function::FromTyped([&](int64_t number, const StructuralVisitor &) {
              if (number < 0) throw std::runtime_error("negative");
              met += std::to_string(number) + " ";
            }))};
  EXPECT_TRUE(visit(Array<Any>{Pair(1, 2), Backwards(3, 4)}, callbacks) == nullptr);
  EXPECT_EQ(met, "pair 2 4 3 ");
  Pair root(1, Array<Any>{Backwards(-1, 2)});
  Error error = ERROR_OF(visit(root, callbacks));
  EXPECT_EQ(TextOf(error), "RuntimeError: negative [std::runtime_error]");
  EXPECT_TRUE(NotedIn(error).back().same_as(root));
}

TEST(WalkResult, IsAValue) {
  EXPECT_EQ(Any(WalkResult::Skip()).cast<int>(), 1);
  EXPECT_TRUE(Any(nullptr).cast<WalkResult>().same_as(WalkResult::Advance()));
  EXPECT_TRUE(Any(nullptr).as<WalkResult>()->same_as(WalkResult::Advance()));
  EXPECT_TRUE(Any(VisitInterrupt(1)).cast<WalkResult>().as<VisitInterrupt>().has_value());
  EXPECT_FALSE(Any("text").try_cast<WalkResult>().has_value());
}

/* ---- Visits by hand ---- */

void VisitByHand(const ObjectRef &node, const ObjectRef &wrong) {
  TVM_FFI_VISIT_BEGIN();
  if (const PairObj *pair = node.as<PairObj>()) {
    if (pair->left.same_as(wrong)) TVM_FFI_VISIT_THROW(ValueError, pair->left.cast<ObjectRef>()) << "wrong";
    if (pair->right != nullptr) VisitByHand(pair->right.cast<ObjectRef>(), wrong);
  }
  TVM_FFI_VISIT_END(node);
}

TEST(VisitErrorContext, NotesTheWayOutOfAVisit) {
  Var x("x");
  Pair inner(x, nullptr), root(1, inner);
  Error error = ERROR_OF(VisitByHand(root, x));
  EXPECT_EQ(TextOf(error), "ValueError: wrong");
  List<ObjectRef> noted = NotedIn(error);
  ASSERT_EQ(noted.size(), 3U);
  EXPECT_TRUE(noted[0].same_as(x) && noted[1].same_as(inner) && noted[2].same_as(root));
}

TEST(VisitErrorContext, NotesAnErrorThatIsReturned) {
  Pair node(1, 2);
  auto visit = [&]() -> Expected<int> {
    TVM_FFI_VISIT_BEGIN();
    TVM_FFI_THROW(ValueError) << "thrown inside";
    TVM_FFI_VISIT_END_RETURN_EXPECTED(node);
    return 0;
  };
  EXPECT_TRUE(NotedIn(visit().error())[0].same_as(node));
}

TEST(VisitErrorContext, KeepsTheContextThatWasThere) {
  Pair before(1, 2), node(3, 4);
  Error error("ValueError", "with a context", "", std::nullopt, ObjectRef(before));
  detail::UpdateVisitErrorContext(error, node);
  detail::UpdateVisitErrorContext(error, 5);
  detail::UpdateVisitErrorContext(error, ObjectRef());
  EXPECT_EQ(NotedIn(error).size(), 1U);
  EXPECT_TRUE(VisitErrorContext::TryGetFromError(error).value()->prev_error_context.value().same_as(before));
  EXPECT_FALSE(VisitErrorContext::TryGetFromError(Error("ValueError", "without", "")).has_value());
}

TEST(VisitErrorContext, LeavesTheErrorOfNoMemoryAsItIs) {
  Error error("MemoryError", "all threads have this one", "");
  detail::UpdateVisitErrorContext(error, Pair(1, 2));
  EXPECT_FALSE(error.extra_context().has_value());
}

TEST(VisitErrorContext, FindsPathsOfAPartToo) {
  Var x("x");
  Pair inner(x, 1), root(inner, inner);
  Error error = ERROR_OF(VisitByHand(Pair(nullptr, inner), x));
  VisitErrorContext context = VisitErrorContext::TryGetFromError(error).value();
  EXPECT_EQ(VisitErrorContext::FindAccessPaths(root, context).size(), 0U) << "the root was another one";
  context->reverse_visit_pattern.pop_back();
  EXPECT_EQ(VisitErrorContext::FindAccessPaths(root, context).size(), 2U);
  context->reverse_visit_pattern.insert(context->reverse_visit_pattern.begin(), Var("elsewhere"));
  EXPECT_EQ(VisitErrorContext::FindAccessPaths(root, context).size(), 0U);
  EXPECT_EQ(VisitErrorContext::FindAccessPaths(root, context, true).size(), 2U);
}

} // namespace
