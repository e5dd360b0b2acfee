/* vocab.cc - words and their numbers: a function and a class with strings. */
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/object.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/ffi/string.h>

#include <cstdint>

namespace vocab {

namespace ffi = tvm::ffi;

/* Returns the words of a string, in order. */
static ffi::Array<ffi::String> Split(const ffi::String &text) {
  ffi::Array<ffi::String> words;
  const char *end = text.data() + text.size();
  for (const char *at = text.data(); at != end;) {
    const char *start = at;
    while (at != end && *at != ' ') at++;
    if (at != start) words.push_back(ffi::String(start, static_cast<size_t>(at - start)));
    while (at != end && *at == ' ') at++;
  }
  return words;
}

class VocabularyObj : public ffi::Object {
public:
  ffi::Array<ffi::String> words;

  int64_t Add(const ffi::String &word) {
    if (word.size() == 0) TVM_FFI_THROW(ValueError) << "a word must not be empty";
    auto known = numbers.find(word);
    if (known != numbers.end()) return (*known).second;
    int64_t number = static_cast<int64_t>(words.size());
    words.push_back(word);
    numbers.Set(word, number);
    return number;
  }

  ffi::Optional<int64_t> Find(const ffi::String &word) const {
    auto known = numbers.find(word);
    if (known == numbers.end()) return std::nullopt;
    return (*known).second;
  }

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("vocab.Vocabulary", VocabularyObj, ffi::Object);

private:
  ffi::Map<ffi::String, int64_t> numbers; /* not registered, so not visible in Python */
};

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = tvm::ffi::reflection;
  refl::GlobalDef().def("vocab.split", Split, "The words of a text, which spaces separate.");
  refl::ObjectDef<VocabularyObj>()
      .def(refl::init<>())
      .def_ro("words", &VocabularyObj::words, "each word, at the place of its number")
      .def("add", &VocabularyObj::Add, "The number of a word, a new one if it has none.")
      .def("find", &VocabularyObj::Find, "The number of a word, None if it has none.");
}

} // namespace vocab
