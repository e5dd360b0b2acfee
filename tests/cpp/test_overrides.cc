/* Methods that other languages override: without Python, with tables made by hand. */
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/extra/overrides.h>

namespace {

using namespace test;
namespace refl = tvm::ffi::reflection;

class PetObj : public Object, public Overrides {
public:
  int64_t age = 1;

  int64_t Weight(int64_t meals) const { return CallOverride("weight", &PetObj::DoWeight, meals); }
  String Name() const { return CallOverride("name", &PetObj::DoName); }
  void Eat(int32_t n) { CallOverride("eat", &PetObj::DoEat, n); }
  /* a function that needs more than CallOverride */
  bool HasVoice() const { return static_cast<bool>(FindOverride(this, "voice")); }

  virtual int64_t DoWeight(int64_t meals) const { return meals; }
  virtual String DoName() const { return "pet"; }
  virtual void DoEat(int32_t n) { age += n; }
  virtual String DoVoice() const { ThrowPureVirtual(this, "voice"); }

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("test.cpp.Pet", PetObj, Object);
};

class DogObj : public PetObj {
public:
  int64_t DoWeight(int64_t meals) const override { return 10 * meals; }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Dog", DogObj, PetObj);
};

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<PetObj>()
      .def("weight", &PetObj::DoWeight, refl::overridable(), "In kg.")
      .def("name", &PetObj::DoName, refl::overridable())
      .def("eat", &PetObj::DoEat, refl::overridable())
      .def("voice", &PetObj::DoVoice, refl::overridable());
  refl::ObjectDef<DogObj>();
}

/* A class of another language that overrides `weight` and `eat`. */
struct Language {
  Array<Function> functions;
  Any table;
  explicit Language(int32_t type_index)
      : functions(Any(refl::TypeAttrColumn("__ffi_overrides__")[type_index]).cast<Array<Function>>()) {
    Function weight = Function::FromTyped([](const PetObj *self, int64_t meals) { return self->age + meals; });
    Function eat = Function::FromTyped([](PetObj *self, int32_t n) { self->age = -n; });
    table = functions[0]("Cat", Array<String>{"weight", "eat", "name"}, Array<Function>{weight, eat, weight});
    Mark(0, true);
    Mark(1, true);
  }
  void Mark(int i, bool is_overridden) const { functions[1](table, i, is_overridden); }
  void Connect(const ObjectPtr<PetObj> &pet) const { functions[2](pet, table); }
};

TEST(Overrides, AnObjectWithoutTableHasTheMethodsOfItsClass) {
  auto pet = make_object<PetObj>();
  EXPECT_EQ(pet->Weight(2), 2);
  EXPECT_EQ(make_object<DogObj>()->Weight(2), 20);
  EXPECT_EQ(pet->Name(), "pet");
  EXPECT_FALSE(pet->HasVoice());
  EXPECT_EQ(ERROR_OF(pet->DoVoice()).message(), "`test.cpp.Pet` does not implement the pure virtual method `voice`");
  EXPECT_EQ(ERROR_OF(pet->DoVoice()).kind(), "NotImplementedError");
  EXPECT_EQ(sizeof(PetObj), sizeof(void *) + sizeof(Object) + sizeof(int64_t) + sizeof(Overrides));
  EXPECT_EQ(sizeof(Overrides), sizeof(void *));
}

TEST(Overrides, ATableReplacesTheMethodsThatAreMarked) {
  Language language(PetObj::RuntimeTypeIndex());
  auto pet = make_object<PetObj>(), dog = ObjectPtr<PetObj>(make_object<DogObj>());
  language.Connect(pet);
  Language(DogObj::RuntimeTypeIndex()).Connect(dog);
  EXPECT_EQ(pet->Weight(2), 3);
  EXPECT_EQ(dog->Weight(2), 3);
  EXPECT_EQ(pet->DoWeight(2), 2);
  pet->Eat(5);
  EXPECT_EQ(pet->age, -5);
  EXPECT_EQ(pet->Name(), "pet");
  language.Mark(0, false);
  EXPECT_EQ(pet->Weight(2), 2);
  EXPECT_EQ(dog->Weight(2), 3);
}

TEST(Overrides, ACopyHasNoTable) {
  auto pet = make_object<PetObj>();
  Language(PetObj::RuntimeTypeIndex()).Connect(pet);
  auto copy = make_object<PetObj>(*pet);
  EXPECT_EQ(copy->Weight(2), 2);
  *pet = *copy;
  EXPECT_EQ(pet->Weight(2), 3);
}

TEST(Overrides, EachErrorNamesClassAndMethod) {
  Language language(PetObj::RuntimeTypeIndex());
  auto pet = make_object<PetObj>();
  language.Connect(pet);
  Error undeclared = ERROR_OF(pet->HasVoice());
  EXPECT_EQ(undeclared.message(), "`test.cpp.Pet.voice` is not registered as overridable");
  EXPECT_EQ(ERROR_OF(pet->DoVoice()).message(), "`Cat` does not implement the pure virtual method `voice`");
  Any table =
      language.functions[0]("Cat", Array<String>{"weight"},
                            Array<Function>{Function::FromTyped([](const Object *, int64_t) { return "much"; })});
  language.functions[1](table, 0, true);
  auto other = make_object<PetObj>();
  language.functions[2](other, table);
  Error wrong = ERROR_OF(other->Weight(2));
  EXPECT_EQ(wrong.kind(), "TypeError");
  EXPECT_EQ(wrong.message(),
            "Mismatched type on return value when calling: `Cat.weight`. Expected `int` but got `str`");
}

TEST(Overrides, AnOverrideMayReleaseTheObject) {
  auto pet = make_object<PetObj>();
  PetObj *raw = pet.get();
  Language language(PetObj::RuntimeTypeIndex());
  Any table = language.functions[0]("Cat", Array<String>{"weight"},
                                    Array<Function>{Function::FromTyped([&pet](const Object *, int64_t) {
                                      pet.reset();
                                      return 7;
                                    })});
  language.functions[1](table, 0, true);
  language.functions[2](pet, table);
  table.reset();
  EXPECT_EQ(raw->Weight(2), 7);
}

} // namespace
