/* Modules that derive from C++ classes, used from C++ and from libtvm_ffi. */
#include <gtest/gtest.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/module.h>

namespace {

using namespace tvm::ffi;

/* A module with one function, "answer", which returns a number. */
class AnswerObj : public ModuleObj {
public:
  explicit AnswerObj(int number) : number_(number) { ++n_alive; }
  ~AnswerObj() { --n_alive; }
  const char *kind() const override { return "answer"; }
  int GetPropertyMask() const override { return Module::kRunnable; }
  using ModuleObj::GetFunction;
  Optional<Function> GetFunction(const String &name) override {
    if (name != "answer") return std::nullopt;
    ObjectPtr<Object> self = detail::ObjectUnsafe::ObjectPtrFromUnowned<Object>(static_cast<Object *>(this));
    return Function::FromTyped([self, number = number_] { return number; });
  }
  using ModuleObj::GetFunctionDoc;
  Optional<String> GetFunctionDoc(const String &name) override {
    return name == "answer" ? Optional<String>(String("To everything, and more.")) : std::nullopt;
  }
  static inline int n_alive = 0;

private:
  int number_;
};

Module Make(int number) { return Module(make_object<AnswerObj>(number)); }

template <typename... Args> Any Ask(const char *name, const Args &...args) {
  return Function::GetGlobalRequired(name)(args...);
}

TEST(Module, KindsThatCppDerivesAnswerEverybody) {
  {
    Module module = Make(42);
    EXPECT_EQ(module->kind(), std::string("answer"));
    EXPECT_EQ(module->GetFunction("answer").value()().cast<int>(), 42);
    EXPECT_FALSE(module->GetFunction("question").has_value());
    EXPECT_TRUE(module->ImplementsFunction("answer") && !module->ImplementsFunction("question"));
    EXPECT_EQ(module->GetFunctionDoc("answer").value(), "To everything, and more.");
    EXPECT_FALSE(module->GetFunctionMetadata("answer").has_value());
    EXPECT_EQ(module->InspectSource("c"), "");
    EXPECT_EQ(module->GetWriteFormats().size(), 0U);
    EXPECT_THROW(module->SaveToBytes(), Error);
    EXPECT_THROW(module->WriteToFile("a", "b"), Error);
    EXPECT_EQ(Ask("ffi.ModuleGetKind", module).cast<String>(), "answer");
    EXPECT_EQ(Ask("ffi.ModuleGetPropertyMask", module).cast<int>(), 2);
    EXPECT_EQ(Ask("ffi.ModuleGetFunction", module, "answer", false).cast<Function>()().cast<int>(), 42);
    EXPECT_EQ(module.type_index(), kTVMFFIModule);
  }
  EXPECT_EQ(AnswerObj::n_alive, 0);
}

TEST(Module, ImportsAreAskedWhereThereIsNoAnswer) {
  class EmptyObj : public ModuleObj {
  public:
    const char *kind() const override { return "empty"; }
    Optional<Function> GetFunction(const String &) override { return std::nullopt; }
  };
  {
    Module empty = Module(make_object<EmptyObj>()), module = Make(7);
    ModuleObj *asked = empty.operator->();
    EXPECT_FALSE(asked->GetFunction("answer", true).has_value());
    asked->ImportModule(module);
    EXPECT_EQ(asked->imports().size(), 1U);
    EXPECT_FALSE(asked->GetFunction("answer", false).has_value());
    EXPECT_EQ(asked->GetFunction("answer", true).value()().cast<int>(), 7);
    EXPECT_TRUE(asked->ImplementsFunction("answer", true) && !asked->ImplementsFunction("answer", false));
    EXPECT_EQ(asked->GetFunctionDoc("answer", true).value(), "To everything, and more.");
    EXPECT_FALSE(asked->GetFunctionMetadata("answer", true).has_value());
    EXPECT_THROW(module->ImportModule(empty), Error); /* the module would import itself */
    asked->ClearImports();
    EXPECT_EQ(asked->imports().size(), 0U);
  }
  EXPECT_EQ(AnswerObj::n_alive, 0);
}

TEST(Module, FilesThatAreNoneAreAnError) {
  EXPECT_THROW(Module::LoadFromFile("no_such_file.so"), Error);
  EXPECT_THROW(Module::LoadFromFile("what.unknown_extension"), Error);
  EXPECT_THROW(Module(ObjectPtr<ModuleObj>()), Error);
}

TEST(Module, ContextSymbolsAreVisited) {
  static int place;
  ASSERT_EQ(TVMFFIEnvModRegisterContextSymbol("test_cpp_module_symbol", &place), 0);
  int n_found = 0;
  Module::VisitContextSymbols(
      [&n_found](String name, void *address) { n_found += name == "test_cpp_module_symbol" && address == &place; });
  EXPECT_EQ(n_found, 1);
}

} // namespace
