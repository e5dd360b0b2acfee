/* Enumerations and access paths. */
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/reflection/access_path.h>
#include <tvm/ffi/reflection/enum_def.h>

namespace {

using namespace test;
namespace refl = tvm::ffi::reflection;

class ColorObj : public EnumObj {
public:
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Color", ColorObj, EnumObj);
};
class LevelObj : public IntEnumObj {
public:
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Level", LevelObj, IntEnumObj);
};

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<ColorObj>(refl::init(false));
  refl::ObjectDef<LevelObj>(refl::init(false));
  refl::EnumDef<ColorObj>("red").set_attr("rgb", 0xff0000);
  refl::EnumDef<ColorObj>("green").set_attr("rgb", 0x00ff00);
  refl::EnumDef<LevelObj>("high", 10);
}

TEST(Enum, InstancesByNumberAndName) {
  Enum red = EnumObj::_GetByStrIndex<ColorObj>("red");
  EXPECT_TRUE(red.same_as(EnumObj::_GetByIntIndex<ColorObj>(0)));
  EXPECT_TRUE(red->IsInstance<ColorObj>());
  EXPECT_EQ(EnumObj::_GetByStrIndex<LevelObj>("high")->_int_index, 10);
  EXPECT_EQ(EnumObj::_GetByIntIndex(ColorObj::RuntimeTypeIndex(), 1)->_str_index, "green");
  Error error = ERROR_OF(EnumObj::_GetByStrIndex<ColorObj>("blue"));
  EXPECT_EQ(error.kind(), "ValueError");
  EXPECT_EQ(error.message(), "Enum `test.cpp.Color` has no instance with index blue");
  EXPECT_TRUE(refl::EnumDef<ColorObj>::IsDefined("green"));
  EXPECT_FALSE(refl::EnumDef<ColorObj>::IsDefined("blue"));
  EXPECT_EQ(ERROR_OF(refl::EnumDef<ColorObj>("red")).kind(), "ValueError");
  EXPECT_EQ(ERROR_OF(refl::EnumDef<LevelObj>("low", 10)).kind(), "ValueError");
}

TEST(Enum, OtherProperties) {
  EnumState state =
      *type_attr::kEnumState.ValueFrom(refl::TypeAttrColumn(type_attr::kEnumState)[ColorObj::RuntimeTypeIndex()]);
  EXPECT_EQ(state->entries.size(), 2U);
  EXPECT_EQ(state->attrs["rgb"][state->entries[1]].cast<int>(), 0x00ff00);
}

TEST(AccessPath, StepsAndPrefixes) {
  refl::AccessPath root = refl::AccessPath::Root();
  refl::AccessPath path = root->Attr("body")->ArrayItem(3)->MapItem("key");
  EXPECT_EQ(path->depth, 3);
  EXPECT_TRUE(path->PathEqual(refl::AccessPath::FromSteps(path->ToSteps())));
  EXPECT_FALSE(path->PathEqual(root->Attr("body")->ArrayItem(4)->MapItem("key")));
  EXPECT_FALSE(path->PathEqual(root));
  EXPECT_TRUE(root->IsPrefixOf(path));
  EXPECT_TRUE(root->Attr("body")->IsPrefixOf(path));
  EXPECT_FALSE(root->Attr("other")->IsPrefixOf(path));
  EXPECT_FALSE(path->IsPrefixOf(root));
  EXPECT_TRUE(path->GetParent().value()->PathEqual(root->Attr("body")->ArrayItem(3)));
  EXPECT_FALSE(root->GetParent().has_value());
  EXPECT_EQ(root->MapItemMissing(nullptr)->step.value()->kind, refl::AccessKind::kMapItemMissing);
}

/* The core's own functions read objects that were made here. */
TEST(AccessPath, TheCoreKnowsTheLayout) {
  refl::AccessPath path = refl::AccessPath::Root()->Attr("body")->ArrayItem(3);
  String text = Function::GetGlobalRequired("ffi.ReprPrint")(path).cast<String>();
  EXPECT_NE(text.find("body"), String::npos) << text;
}

} // namespace
