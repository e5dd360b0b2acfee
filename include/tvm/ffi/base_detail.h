/* base_detail.h - compiler macros, code that runs when a library is loaded, and stable hashes. All headers use it. */
#ifndef TVM_FFI_BASE_DETAIL_H_
#define TVM_FFI_BASE_DETAIL_H_

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/endian.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <type_traits>
#include <utility>

/* ---- Compilers ---- */
#if defined(_MSC_VER) && !defined(__clang__)
#define TVM_FFI_INLINE [[msvc::forceinline]] inline
#define TVM_FFI_NO_INLINE [[msvc::noinline]]
#define TVM_FFI_COLD_CODE
#define TVM_FFI_UNREACHABLE() __assume(false)
#define TVM_FFI_PREDICT_TRUE(cond) (cond)
#define TVM_FFI_PREDICT_FALSE(cond) (cond)
#define TVM_FFI_UNSAFE_ASSUME(cond) __assume(cond)
#define TVM_FFI_FUNC_SIG __FUNCSIG__
#else
/** Asks the compiler to inline the function at every call. */
#define TVM_FFI_INLINE [[gnu::always_inline]] inline
/** Forbids inlining of the function. */
#define TVM_FFI_NO_INLINE [[gnu::noinline]]
/** Marks a function that rarely runs, so that the compiler keeps it away from hot code. */
#define TVM_FFI_COLD_CODE [[gnu::cold]]
/** Marks a place that control never reaches; reaching it is undefined behaviour. */
#define TVM_FFI_UNREACHABLE() __builtin_unreachable()
/** The condition; the compiler expects it to be true. */
#define TVM_FFI_PREDICT_TRUE(cond) (__builtin_expect(static_cast<bool>(cond), 1))
/** The condition; the compiler expects it to be false. */
#define TVM_FFI_PREDICT_FALSE(cond) (__builtin_expect(static_cast<bool>(cond), 0))
/** Lets the compiler assume that the condition holds; undefined behaviour if it does not. */
#define TVM_FFI_UNSAFE_ASSUME(cond)       \
  do {                                    \
    if (!(cond)) __builtin_unreachable(); \
  } while (0)
/** The signature of the current function, a string. */
#define TVM_FFI_FUNC_SIG __PRETTY_FUNCTION__
#endif

/** Keeps a function or variable of a header to the library that is compiled: the library exports it to no other one. */
#if defined(__GNUC__) && !defined(_WIN32)
#define TVM_FFI_HIDDEN [[gnu::visibility("hidden")]]
#else
#define TVM_FFI_HIDDEN
#endif

#define TVM_FFI_STR_CONCAT_(a, b) a##b
/** Joins two tokens after macro expansion. */
#define TVM_FFI_STR_CONCAT(a, b) TVM_FFI_STR_CONCAT_(a, b)

/** Clears the payload before a write of a pointer that does not fill its 8 bytes. Does nothing on 64-bit systems, the
 * only ones that these headers support. */
#define TVM_FFI_CLEAR_PTR_PADDING_IN_FFI_ANY(result) \
  if constexpr (sizeof(void *) != sizeof(int64_t)) { \
    (result)->v_int64 = 0;                           \
  }

/** For a class that declares a destructor: declares the four copy and move members, because the compiler would leave
 * out the move members. */
#define TVM_FFI_DEFINE_DEFAULT_COPY_MOVE_AND_ASSIGN(TypeName) \
  TypeName(const TypeName &) = default;                       \
  TypeName(TypeName &&) noexcept = default;                   \
  TypeName &operator=(const TypeName &) = default;            \
  TypeName &operator=(TypeName &&) noexcept = default;

/* ---- When a library is loaded ----
 *
 * TVM_FFI_STATIC_INIT_BLOCK() { ... } runs its body once, while the library is loaded, with libtvm_ffi ready for use.
 * An exception that leaves the body makes the load fail if the core loads the library as a module. In any other case
 * the exception cannot be caught and the process ends. TVM_FFI_LOG_EXCEPTION_CALL_BEGIN() and END(Name) around such
 * code print the message of a std::exception on stderr and end the process.
 *
 * The body runs as the initialiser of a variable. A constructor function would run before all variables of its file,
 * and so before the classes that are declared above the block have their type indices. */
#define TVM_FFI_STATIC_INIT_BLOCK_NAMED_(name)                                                                        \
  static void name();                                                                                                 \
  [[maybe_unused]] static const bool TVM_FFI_STR_CONCAT(name, Done) = (::tvm::ffi::detail::RunInitBlock(name), true); \
  static void name()
/** Begins a block that runs once when the library is loaded; libtvm_ffi is ready for use then. */
#define TVM_FFI_STATIC_INIT_BLOCK() \
  TVM_FFI_STATIC_INIT_BLOCK_NAMED_(TVM_FFI_STR_CONCAT(__TVMFFIStaticInitFunc, __COUNTER__))

/** Put this and TVM_FFI_LOG_EXCEPTION_CALL_END around code whose exceptions cannot be caught. */
#define TVM_FFI_LOG_EXCEPTION_CALL_BEGIN() \
  try {                                    \
  (void)0
/** Prints the message of a std::exception on stderr and ends the process. Name is the place that the message shows. */
#define TVM_FFI_LOG_EXCEPTION_CALL_END(Name)                           \
  }                                                                    \
  catch (const std::exception &error) {                                \
    std::fprintf(stderr, "Uncaught in " #Name ": %s\n", error.what()); \
    std::exit(-1);                                                     \
  }

namespace tvm::ffi {
namespace detail {

/** If the core is loading a library on this thread, makes that load fail with `reason` and returns true. Returns false
 * otherwise, and if the core has no such function. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline bool FailLoad(const char *reason) {
  static constexpr char kName[] = "ffi_hpy.fail_load"; /* only in the core of ffi_hpy */
  TVMFFIByteArray name{kName, sizeof(kName) - 1};
  TVMFFIObjectHandle fail = nullptr;
  TVMFFIAny arg{}, result{};
  arg.type_index = kTVMFFIRawStr;
  arg.v_c_str = reason;
  if (TVMFFIFunctionGetGlobal(&name, &fail) != 0 || fail == nullptr) return false;
  bool is_told = TVMFFIFunctionCall(fail, &arg, 1, &result) == 0 && result.v_int64 != 0;
  TVMFFIObjectDecRef(fail);
  return is_told;
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void RunInitBlock(void (*block)()) {
  try {
    block();
  } catch (const std::exception &error) {
    if (!FailLoad(error.what())) throw;
  } catch (...) {
    if (!FailLoad("an exception that is not a std::exception")) throw;
  }
}

/** Calls f(i, arg_i) for each argument, in order. */
template <typename F, typename... Args, size_t... I>
void for_each_indexed(std::index_sequence<I...>, const F &f, Args &&...args) {
  (f(I, std::forward<Args>(args)), ...);
}
template <typename F, typename... Args> void for_each(const F &f, Args &&...args) {
  for_each_indexed(std::index_sequence_for<Args...>{}, f, std::forward<Args>(args)...);
}

/* ---- Stable hashes ----
 *
 * Every library compiles its own copy of this code and uses it on maps that other libraries filled. So the hashes are
 * part of the ABI: the same on every machine and in every version. */

template <typename T, std::enable_if_t<std::is_convertible_v<T, uint64_t>, bool> = true>
TVM_FFI_INLINE uint64_t StableHashCombine(uint64_t key, const T &value) {
  return key ^ (static_cast<uint64_t>(value) + 0x9e3779b9U + (key << 6) + (key >> 2));
}

/** The first `size` (at most 8) bytes as a little-endian number. */
TVM_FFI_INLINE uint64_t LoadWord(const char *bytes, size_t size) {
  uint64_t word = 0;
  if constexpr (TVM_FFI_IO_NO_ENDIAN_SWAP) {
    std::memcpy(&word, bytes, size);
  } else {
    for (size_t i = size; i-- > 0;) word = word << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return word;
}

constexpr uint64_t kStableHashModulus = 2147483647U;

/** The hash of `size` bytes: a polynomial over little-endian words of 8 bytes, modulo a prime. The last word is padded
 * with zeros. */
inline uint64_t StableHashBytes(const void *data, size_t size) {
  constexpr uint64_t kFactor = 1099511628211ULL;
  const char *bytes = static_cast<const char *>(data);
  uint64_t hash = 0;
  for (; size >= 8; size -= 8, bytes += 8) hash = (hash * kFactor + LoadWord(bytes, 8)) % kStableHashModulus;
  if (size > 0) hash = (hash * kFactor + LoadWord(bytes, size)) % kStableHashModulus;
  return hash;
}

/** StableHashBytes of a small string or small bytes. Unused bytes of the payload are 0, so one word is enough. */
TVM_FFI_INLINE uint64_t StableHashSmallStrBytes(const TVMFFIAny *value) {
  return LoadWord(value->v_bytes, 8) % kStableHashModulus;
}

/** The type schema of a C++ type, as JSON; function_detail.h has the definition. */
template <typename T> struct TypeSchemaImpl;
template <typename T> using TypeSchema = TypeSchemaImpl<std::remove_const_t<std::remove_reference_t<T>>>;

} // namespace detail
namespace details = detail; /**< the older name */
} // namespace tvm::ffi

#endif /* TVM_FFI_BASE_DETAIL_H_ */
