/* Changed copies of values: maps, mutations that callbacks control, hooks of classes, and changes in place. */
#include "terms.h"

#include <gtest/gtest.h>
#include <tvm/ffi/extra/structural_mutate.h>

#include <stdexcept>

namespace {

using namespace test;
namespace refl = tvm::ffi::reflection;

Expected<Any> Increment(int64_t number) { return number + 1; }
Expected<Any> NegativeThrows(int64_t number) {
  if (number < 0) throw std::runtime_error("negative");
  return number + 1;
}

/* A class that is mutated by hooks: it contains an Array, and changes in place if that is allowed. */
class BoxObj : public Object {
public:
  Array<Any> content;
  explicit BoxObj(Array<Any> items) : content(std::move(items)) {}
  static Expected<UnchangedOr<Any>> Mutate(StructuralMutatorObj *mutator, AnyView value) noexcept {
    const BoxObj *self = value.as<BoxObj>();
    TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN(UnchangedOr<Array<Any>>, content, mutator->MutateExpected(self->content));
    if (content.UnchangedOrSameAs(self->content)) return Unchanged();
    return make_object<BoxObj>(std::move(content).ValueUnchecked());
  }
  static Expected<UnchangedOr<Any>> MutateInplace(StructuralMutatorObj *mutator, AnyView value) noexcept {
    BoxObj *self = value.cast<BoxObj *>();
    TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN(UnchangedOr<Array<Any>>, content,
                                      mutator->MutateExpected(self->content, InplaceMode::kAllow));
    self->content = std::move(content).ValueOrUnchanged(std::move(self->content));
    return Any(value);
  }
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Box", BoxObj, Object);
};
class Box : public ObjectRef {
public:
  explicit Box(Array<Any> content) : ObjectRef(make_object<BoxObj>(std::move(content))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Box, ObjectRef, BoxObj);
};

/* A class whose hook cannot be called. */
class BadMutateObj : public Object {
public:
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.BadMutate", BadMutateObj, Object);
};

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::TypeAttrDef<BoxObj>()
      .native_fn_attr<&BoxObj::Mutate>(type_attr::kStructuralMutate)
      .native_fn_attr<&BoxObj::MutateInplace>(type_attr::kStructuralMaybeInplaceMutate);
  refl::TypeAttrDef<BadMutateObj>().attr(type_attr::kStructuralMutate.name, 42);
}

TEST(UnchangedOr, HoldsAReplacementOrNothing) {
  UnchangedOr<String> unchanged = Unchanged(), changed = String("a text that is not short");
  EXPECT_TRUE(unchanged.IsUnchanged());
  EXPECT_FALSE(changed.IsUnchanged());
  EXPECT_EQ(UnchangedOr<String>(unchanged).ValueOrUnchanged("original"), "original");
  EXPECT_EQ(UnchangedOr<String>(changed).ValueOrUnchanged("original"), "a text that is not short");
  EXPECT_EQ(std::move(changed).ValueUnchecked(), "a text that is not short");
  EXPECT_FALSE(UnchangedOr<Any>(nullptr).IsUnchanged()) << "None is a replacement";
}

TEST(UnchangedOr, MovesTheOriginalOnlyWhereItIsNeeded) {
  Pair original(1, 2);
  EXPECT_FALSE(UnchangedOr<Pair>(Pair(3, 4)).ValueOrUnchanged(std::move(original)).same_as(original));
  ASSERT_TRUE(original.defined());
  EXPECT_TRUE(original.unique());
  EXPECT_TRUE(UnchangedOr<Pair>(original).UnchangedOrSameAs(original));
  EXPECT_FALSE(UnchangedOr<Pair>(Pair(1, 2)).UnchangedOrSameAs(original));
  Pair kept = UnchangedOr<Pair>(Unchanged()).ValueOrUnchanged(std::move(original));
  EXPECT_FALSE(original.defined());
  EXPECT_TRUE(kept.unique());
}

TEST(UnchangedOr, IsConvertedAsItsContent) {
  UnchangedOr<double> number = UnchangedOr<int>(1);
  EXPECT_EQ(Any(number).type_index(), kTVMFFIFloat);
  UnchangedOr<Any> any = UnchangedOr<Pair>(Pair(1, 2));
  EXPECT_TRUE(UnchangedOr<Any>(any).as<Pair>().has_value());
  EXPECT_FALSE(UnchangedOr<Any>(any).as<Var>().has_value());
  EXPECT_EQ(ERROR_OF(UnchangedOr<Any>(any).as_or_throw<Var>()).kind(), "TypeError");
  EXPECT_TRUE(UnchangedOr<Any>(Unchanged()).as_or_throw<UnchangedOr<Var>>().IsUnchanged());
  static_assert(!std::is_convertible_v<UnchangedOr<Any>, UnchangedOr<int>>);
  static_assert(!std::is_constructible_v<UnchangedOr<int>, String>);
}

TEST(UnchangedOr, IsAValue) {
  Function keep = Function::FromTyped([](UnchangedOr<int64_t> value) { return value; });
  EXPECT_EQ(keep(Unchanged().operator Any()).type_index(), kTVMFFIUnchanged);
  EXPECT_EQ(keep(true).cast<UnchangedOr<int64_t>>().ValueOrUnchanged(0), 1);
  EXPECT_EQ(ERROR_OF(keep("text")).kind(), "TypeError");
  EXPECT_EQ(TypeTraits<UnchangedOr<int64_t>>::TypeStr(), "UnchangedOr<int>");
}

TEST(StructuralMap, MapsInBothOrders) {
  auto text = [](const Any &value) { return Function::GetGlobalRequired("ffi.ReprPrint")(value).cast<String>(); };
  auto wrap = [](int64_t number) -> Expected<Any> {
    if (number > 3) return Unchanged();
    return Array<Any>{number + 1};
  };
  Array<Any> root{Map<String, Any>{{"a", 3}}, List<Any>{5}};
  EXPECT_EQ(text(StructuralMap<WalkOrder::kPostOrder>(root, wrap)), "({\"a\": (4,)}, [5])");
  EXPECT_EQ(text(StructuralMap<WalkOrder::kPreOrder>(Array<Any>{2}, wrap)), "(((4,),),)")
      << "a callback's result is mapped too";
  EXPECT_EQ(text(root), "({\"a\": 3}, [5])");
  EXPECT_EQ(StructuralMap<WalkOrder::kPostOrder>(3, Increment).cast<int>(), 4);
}

TEST(StructuralMap, ReturnsUnchangedValues) {
  Pair root(Array<Any>{1, "text"}, Dict<Any, Any>{{1, 2}});
  auto keep = [](int64_t) -> Expected<UnchangedOr<int64_t>> { return Unchanged(); };
  auto same = [](int64_t number) { return number; };
  EXPECT_TRUE(StructuralMap<WalkOrder::kPreOrder>(root, keep).same_as(root));
  EXPECT_TRUE(StructuralMap<WalkOrder::kPostOrder>(root, same).same_as(root));
  EXPECT_TRUE(StructuralMap<WalkOrder::kPostOrder>(nullptr, keep) == nullptr);
}

TEST(StructuralMap, CopiesOnlyThePathToChanges) {
  Array<Any> kept{"text"}, changed{1};
  Pair root(kept, changed);
  Pair mapped = StructuralMap<WalkOrder::kPostOrder>(root, Increment).cast<Pair>();
  EXPECT_TRUE(mapped->left.same_as(kept));
  EXPECT_EQ(mapped->right.cast<Array<Any>>()[0].cast<int>(), 2);
  EXPECT_EQ(changed[0].cast<int>(), 1);
}

TEST(StructuralMap, ChangesUnsharedValuesInPlace) {
  Array<Any> inner{1}, shared{1};
  const Object *inner_address = inner.get(), *shared_address = shared.get();
  Array<Any> root{Any(std::move(inner)), shared};
  const Object *root_address = root.get();
  Array<Any> mapped = StructuralMap<WalkOrder::kPostOrder>(std::move(root), Increment).cast<Array<Any>>();
  EXPECT_EQ(mapped.get(), root_address);
  EXPECT_EQ(mapped[0].as<ArrayObj>(), inner_address);
  EXPECT_NE(mapped[1].as<ArrayObj>(), shared_address);
  EXPECT_EQ(shared[0].cast<int>(), 1);
}

TEST(StructuralMap, FollowsTheHooksOfTypes) {
  Box box(Array<Any>{1});
  Box copy = StructuralMap<WalkOrder::kPostOrder>(box, Increment).cast<Box>();
  EXPECT_FALSE(copy.same_as(box));
  EXPECT_EQ(box->content[0].cast<int>(), 1);
  EXPECT_EQ(copy->content[0].cast<int>(), 2);
  const Object *address = box.get();
  Box same = StructuralMap<WalkOrder::kPostOrder>(std::move(box), Increment).cast<Box>();
  EXPECT_EQ(same.get(), address);
  EXPECT_EQ(same->content[0].cast<int>(), 2);
}

TEST(StructuralMap, ReplacesAVariableAtEachUse) {
  Var x("x", Pair(1, nullptr));
  Lambda mapped = StructuralMap<WalkOrder::kPostOrder>(Lambda({x}, Array<Any>{x, x}), Increment).cast<Lambda>();
  Var param = mapped->params[0];
  EXPECT_FALSE(param.same_as(x));
  EXPECT_EQ(param->type.value().as_or_throw<Pair>()->left.cast<int>(), 2);
  for (const Any &use : mapped->body.cast<Array<Any>>()) EXPECT_TRUE(use.same_as(param));
  EXPECT_TRUE(StructuralMap<WalkOrder::kPostOrder>(x, Increment).same_as(x)) << "not defined, so not gone into";
}

TEST(StructuralMap, MapsASharedNodeOnce) {
  Node node(1);
  Pair mapped = StructuralMap<WalkOrder::kPostOrder>(Pair(node, node), Increment).cast<Pair>();
  EXPECT_EQ(mapped->left.as<NodeObj>()->child.cast<int>(), 2);
  EXPECT_TRUE(mapped->left.same_as(mapped->right));
}

TEST(StructuralMap, TakesAnyKindOfResult) {
  auto kind = [](auto callback) {
    Expected<Any> result = StructuralMapExpected<WalkOrder::kPreOrder>(Array<Any>{1}, callback);
    return result.is_err() ? result.error().kind() : result.value().cast<Array<Any>>()[0].GetTypeKey();
  };
  EXPECT_EQ(kind([](int64_t) { return 1.5; }), "float");
  EXPECT_EQ(kind([](int64_t) { return UnchangedOr<double>(1.5); }), "float");
  EXPECT_EQ(kind([](int64_t) { return Unchanged(); }), "int");
  EXPECT_EQ(kind([](int64_t) { return Expected<double>(1.5); }), "float");
  EXPECT_EQ(kind([](int64_t) { return Error("KeyError", "", ""); }), "KeyError");
  EXPECT_EQ(kind([](int64_t) { return Unexpected(Error("KeyError", "", "")); }), "KeyError");
  EXPECT_EQ(kind([](int64_t) { return Any(Error("KeyError", "", "")); }), "KeyError");
}

/* Expects this error, with the objects of `noted` in its context, the innermost first. */
void ExpectNoted(const Error &error, const char *text, const std::vector<Any> &noted) {
  EXPECT_EQ(TextOf(error), text);
  Optional<VisitErrorContext> context = VisitErrorContext::TryGetFromError(error);
  ASSERT_TRUE(context.has_value());
  const List<ObjectRef> &objects = context.value()->reverse_visit_pattern;
  ASSERT_EQ(objects.size(), noted.size());
  for (size_t i = 0; i < noted.size(); ++i) EXPECT_TRUE(noted[i].same_as(objects[static_cast<int64_t>(i)]));
}

TEST(StructuralMap, ReturnsAnyExceptionOfACallbackWithWhereItCameUp) {
  Array<Any> items{1, -1};
  Box box(items);
  Pair pair(box, 1);
  Map<String, Any> root{{"key", pair}};
  ExpectNoted(StructuralMapExpected<WalkOrder::kPostOrder>(root, NegativeThrows).error(),
              "RuntimeError: negative [std::runtime_error]", {items, box, pair, root});
  ExpectNoted(StructuralMapExpected<WalkOrder::kPreOrder>(root, NegativeThrows).error(),
              "RuntimeError: negative [std::runtime_error]", {items, box, pair, root});
  EXPECT_EQ(items[0].cast<int>(), 1);
  EXPECT_EQ(TextOf(ERROR_OF(StructuralMap<WalkOrder::kPostOrder>(-1, NegativeThrows))),
            "RuntimeError: negative [std::runtime_error]");
  EXPECT_EQ(StructuralMapExpected<WalkOrder::kPreOrder>(Array<Any>{1}, [](int64_t) -> Any { throw 42; }).error().kind(),
            "RuntimeError");
}

TEST(StructuralMap, ReturnsTheErrorsOfImmutableValues) {
  ObjectRef bad(make_object<BadMutateObj>());
  Array<Any> root{bad};
  ExpectNoted(StructuralMapExpected<WalkOrder::kPostOrder>(root, Increment).error(),
              "TypeError: __s_mutate__ must be a direct hook pointer or ffi.Function", {bad, root});
  Odd odd(1);
  Error error = StructuralMapExpected<WalkOrder::kPreOrder>(odd, Increment).error();
  ExpectNoted(error, (error.kind() + ": " + error.message()).c_str(), {odd});
  EXPECT_EQ(error.kind(), "TypeError") << "it has no copy";
}

TEST(StructuralMap, RefusesValuesTooDeepForTheStack) {
  auto map = [](Any root) {
    Expected<Any> result = StructuralMapExpected<WalkOrder::kPostOrder>(std::move(root), Increment);
    return result.is_ok() ? "mapped" : result.error().kind();
  };
  EXPECT_EQ(map(NestedArrays(kDeep)), "mapped");
  EXPECT_EQ(map(NestedPairs(kDeep)), "mapped");
  Any shared = NestedArrays(kDeep);
  EXPECT_EQ(map(shared), "mapped");
  Cycle cycle;
  EXPECT_EQ(map(cycle.list), "ValueError");
  EXPECT_EQ(map(Pair(1, cycle.list)), "ValueError");
}

/* A layer with states for callbacks, which counts the descents. */
class CountingLayer : public StructuralMapEngineBase {
public:
  using MutatorObjType = CountingLayer;
  using StateTupleType = std::tuple<const int &>;
  explicit CountingLayer(const StructuralMutatorVTable *table) : StructuralMapEngineBase(table) {}
  Expected<UnchangedOr<Any>> DefaultMutateExpected(AnyView value, InplaceMode mode) noexcept {
    ++n_descents;
    return StructuralMapEngineBase::DefaultMutateExpected(value, mode);
  }
  int n_descents = 0;

protected:
  StateTupleType StateTuple() const noexcept { return StateTupleType(n_descents); }
};

TEST(StructuralMap, LetsAParentAddStatesAndChangeTheDescent) {
  std::vector<int> seen;
  auto callback = [&](int64_t number, const int &n_descents, TVMFFIDefRegionKind) -> Expected<Any> {
    seen.push_back(n_descents);
    return number + 1;
  };
  auto engine = make_object<StructuralMapEngine<CountingLayer, WalkOrder::kPostOrder, decltype(callback)>>(callback);
  Array<Any> root{1, 2};
  EXPECT_FALSE(engine->Mutate(root).IsUnchanged());
  EXPECT_EQ(seen, (std::vector<int>{2, 3}));
  EXPECT_EQ(engine->n_descents, 3);
}

TEST(StructuralMap, RemembersReplacements) {
  auto callback = [](int64_t number, const int &) -> Expected<Any> { return number; };
  auto engine = make_object<StructuralMapEngine<CountingLayer, WalkOrder::kPreOrder, decltype(callback)>>(callback);
  {
    Var x("x");
    EXPECT_TRUE(engine->VarRemapGetExpected(x).value() == nullptr);
    EXPECT_TRUE(engine->VarRemapSetExpected(x, 1).is_ok());
    EXPECT_TRUE(engine->VarRemapSetExpected(x, Array<Any>{x}).is_ok());
    EXPECT_TRUE(engine->VarRemapGetExpected(x).value().cast<Array<Any>>()[0].same_as(x));
    EXPECT_EQ(x.use_count(), 3) << "it is the key and in the Array";
  }
  EXPECT_EQ(engine->VarRemapGetExpected(1).error().kind(), "TypeError");
  EXPECT_EQ(engine->VarRemapSetExpected(nullptr, 1).error().kind(), "TypeError");
}

TEST(StructuralMapDynEngine, FindsCallbacksByTypeAtRunTime) {
  using Entry = Tuple<int32_t, Function>;
  std::string met;
  auto note = [&](const char *name) {
    return Function::FromTyped([&met, name](AnyView value) -> Any {
      met += std::string(name) + " ";
      if (value.as<VarObj>() != nullptr) TVM_FFI_THROW(KeyError) << "a variable";
      return Unchanged();
    });
  };
  Array<Entry> plain{Entry(kTVMFFIStr, note("text")), Entry(kTVMFFIArray, note("array"))};
  Array<Entry> wide{
      Entry(kTVMFFIObject, Function::FromTyped([&](AnyView value, int) -> Any { return note("object")(value); })),
      Entry(kTVMFFIAny, Function::FromTyped([&](AnyView, int) -> Any {
              met += "any ";
              return Unchanged();
            }))};
  using Engine = StructuralMapDynEngine<StructuralMapEngineBase, WalkOrder::kPreOrder>;
  StructuralMutator mutator(make_object<Engine>(plain, wide));
  EXPECT_TRUE(mutator->Mutate(Array<Any>{"short", "a text that is not short", Pair(1, 2)}).IsUnchanged());
  EXPECT_EQ(met, "array text text object any any ");
  EXPECT_EQ(mutator->MutateExpected(Array<Any>{Var("x")}).error().message(), "a variable");
}

TEST(StructuralMutate, LetsCallbacksChooseTheMutatedValues) {
  Pair root(1, Array<Any>{2, Lambda({}, 3)});
  Pair mutated = StructuralMutate(
                     root,
                     [](const Pair &pair, StructuralMutatorObj *mutator) -> Expected<UnchangedOr<Pair>> {
                       TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN(UnchangedOr<Any>, right, mutator->MutateExpected(pair->right));
                       return Pair(pair->left, std::move(right).ValueOrUnchanged(pair->right));
                     },
                     [](const LambdaObj *, StructuralMutatorObj *) { return Unchanged(); },
                     [](int64_t number, StructuralMutatorObj *) { return number + 1; })
                     .cast<Pair>();
  EXPECT_EQ(mutated->left.cast<int>(), 1);
  Array<Any> items = mutated->right.cast<Array<Any>>();
  EXPECT_EQ(items[0].cast<int>(), 3);
  EXPECT_EQ(items[1].as<LambdaObj>()->body.cast<int>(), 3);
}

TEST(StructuralMutate, TellsCallbacksWhetherAValueMayChangeInPlace) {
  auto allowed = [](Any root) {
    std::string text;
    StructuralMutate(std::move(root), [&](AnyView value, StructuralMutatorObj *mutator, InplaceMode mode) {
      text += mode == InplaceMode::kAllow ? "y" : "n";
      return mutator->DefaultMutateExpected(value, mode);
    });
    return text;
  };
  Array<Any> shared{NestedArrays(1)};
  Any nested = NestedArrays(2), mixed = Array<Any>{shared, NestedArrays(1)};
  EXPECT_EQ(allowed(std::move(nested)), "yyn");
  EXPECT_EQ(allowed(shared), "nnn");
  EXPECT_EQ(allowed(std::move(mixed)), "ynnnyn");
}

TEST(StructuralMutate, ReturnsTheErrorsOfCallbacks) {
  Pair pair(-1, 2);
  Array<Any> root{pair};
  auto mutate = [](int64_t number, StructuralMutatorObj *) { return NegativeThrows(number); };
  ExpectNoted(StructuralMutateExpected(root, mutate).error(), "RuntimeError: negative [std::runtime_error]",
              {pair, root});
  Error wrong_type = StructuralMutateExpected(Box(Array<Any>{1}), [](const Array<Any> &, StructuralMutatorObj *) {
                       return String("no Array");
                     }).error();
  EXPECT_EQ(wrong_type.kind(), "TypeError");
  Cycle cycle;
  EXPECT_EQ(StructuralMutateExpected(cycle.list, mutate).error().kind(), "ValueError");
}

TEST(StructuralMutate, WorksWithAMutatorOfTheCore) {
  using Entry = Tuple<int32_t, Function, bool>;
  Function mutate = Function::GetGlobalRequired("ffi.StructuralMutate");
  Array<Entry> callbacks{Entry(PairObj::RuntimeTypeIndex(),
                               Function::FromTyped([](const Pair &pair, const StructuralMutator &mutator) {
                                 Any right = mutator->Mutate(pair->right).ValueOrUnchanged(AnyView(pair->right));
                                 return Pair(pair->left, right);
                               }),
                               false),
                         Entry(kTVMFFIInt, Function::FromTyped([](int64_t number, const StructuralMutator &, int) {
                                 return NegativeThrows(number).value();
                               }),
                               true)};
  Pair mutated = mutate(Pair(1, Box(Array<Any>{2})), callbacks).cast<Pair>();
  EXPECT_EQ(mutated->left.cast<int>(), 1);
  EXPECT_EQ(mutated->right.as<BoxObj>()->content[0].cast<int>(), 3);
  Pair root(1, Box(Array<Any>{-2}));
  Error error = ERROR_OF(mutate(root, callbacks));
  EXPECT_EQ(TextOf(error), "RuntimeError: negative [std::runtime_error]");
  EXPECT_TRUE(VisitErrorContext::TryGetFromError(error).value()->reverse_visit_pattern.back().same_as(root));
}

TEST(StructuralMutate, MacrosUnwrapResults) {
  auto half = [](Expected<Any> result) -> Expected<int64_t> {
    TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN(int64_t, number, std::move(result));
    return number / 2;
  };
  auto same = [](Expected<Any> result) -> Expected<String> {
    TVM_FFI_UNSAFE_S_MUTATE_ASSIGN_OR_RETURN(String, text, std::move(result));
    return text;
  };
  auto check = [](const Expected<void> &result) -> Expected<bool> {
    TVM_FFI_S_MUTATE_MAYBE_EARLY_RETURN(result);
    return true;
  };
  EXPECT_EQ(half(Any(4)).value(), 2);
  EXPECT_EQ(half(Any("four")).error().kind(), "TypeError");
  EXPECT_EQ(half(Error("KeyError", "", "")).error().kind(), "KeyError");
  EXPECT_EQ(same(Any("text")).value(), "text");
  EXPECT_EQ(same(Error("KeyError", "", "")).error().kind(), "KeyError");
  EXPECT_TRUE(check(Expected<void>()).value());
  EXPECT_EQ(check(Error("KeyError", "", "")).error().kind(), "KeyError");
}

} // namespace
