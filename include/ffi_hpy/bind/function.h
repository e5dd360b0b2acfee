/* function.h - C++ functions as Functions of the ABI. Programs include ffi_hpy/bind.h.
 *
 * For each function the compiler makes a thunk, which reads the arguments with casters, and a constant text with the
 * types. The core does everything else: names, defaults, overloads, messages. */
#ifndef FFI_HPY_BIND_FUNCTION_H_
#define FFI_HPY_BIND_FUNCTION_H_

#include <ffi_hpy/bind/type_casters.h>
#include <ffi_hpy/bind/type_text.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/* ---- Extras: the further arguments of def ---- */

/** Reads the arguments of a call, calls the function, and converts its result. Returns 0, kEmptyResult, or the number
 * of the parameter that refuses its argument, from 1 on. */
using thunk_body = int(const ffi_hpy_overload *self, const TVMFFIAny *args, uint32_t flags, TVMFFIAny *result,
                       cleanup_list *cleanup);
/** The words of a capture for the callable. The last word has the address of the thunk's body. */
enum : size_t { kCallableWords = FFI_HPY_CAPTURE_WORDS - 1 };
/** A body returns this number if the result could not be converted, or is empty. */
enum : int { kEmptyResult = -1 };
/** Runs the body of an overload. WithObjects: whether the body may use the cleanup_list. */
template <bool WithObjects>
int run_thunk(const ffi_hpy_overload *self, const TVMFFIAny *args, uint32_t flags, TVMFFIAny *result) noexcept;

/** The types of a signature. Definitions share them, and one address leads to them, because an address in a constant
 * takes 32 bytes of the library, with its relocation. */
template <size_t N, size_t NParams, typename... Ts> struct signature_constants {
  const std::type_info *infos[sizeof...(Ts) + 1]; /**< the last one is NULL */
  uint8_t flags[NParams + 1];
  descr<N, Ts...> text; /**< as type_text() reads it */
};
template <size_t N, typename... Ts, typename... Flags>
constexpr signature_constants<N, sizeof...(Flags), Ts...> with_flags(const descr<N, Ts...> &text, Flags... flags) {
  return {{&typeid(Ts)..., nullptr}, {flags..., 0}, text};
}

/** The parts of a definition that are constants. */
struct function_constants {
  thunk_body *body;
  const std::type_info *const *types; /**< the beginning of the signature_constants */
  uint16_t n_params, flags;           /**< flags: kFfiHpyFunction* */
  bool has_objects;                   /**< the body may use the cleanup_list */
};

/** Whether a parameter of any object refuses None without arg().none(), as nanobind's do. */
#if !defined(FFI_HPY_BIND_REFUSES_NONE)
#define FFI_HPY_BIND_REFUSES_NONE 0
#endif

/** A function that is defined: the struct for the core. `types` is NULL until define() has it. */
struct function_record : ffi_hpy_function_spec {
  const char *text; /**< the types, as type_text() reads them */
  const std::type_info *const *infos;
  ffi_hpy_param *next_param;
};

FFI_HPY_NOINLINE inline void start_in_module(function_record *record, const function_constants *constants,
                                             const char *name, ffi_hpy_param *params) {
  static_cast<ffi_hpy_function_spec &>(*record) = ffi_hpy_function_spec{};
  record->name = name;
  record->params = record->next_param = params;
  record->n_params = constants->n_params;
  record->n_positional = UINT32_MAX;
  record->flags = constants->flags;
  if (FFI_HPY_BIND_REFUSES_NONE) record->flags |= kFfiHpyFunctionRefusesNone;
  record->call = constants->has_objects ? run_thunk<true> : run_thunk<false>;
  record->capture[kCallableWords] = reinterpret_cast<void *>(constants->body);
  const std::type_info *const *end = record->infos = constants->types;
  while (*end != nullptr) ++end;
  record->type_flags = reinterpret_cast<const uint8_t *>(end + 1);
  record->text = reinterpret_cast<const char *>(record->type_flags) + record->n_params + 1;
}

inline void apply(function_record *record, const char *doc) { record->doc = doc; }
inline void apply(function_record *, std::nullptr_t) {}
inline void apply(function_record *, scope) {}
inline void apply(function_record *record, rv_policy policy) { record->policy = static_cast<uint32_t>(policy); }
inline void apply(function_record *record, sig text) { record->signature = text.value; }
inline void apply(function_record *record, name text) { record->name = text.value; }
inline void apply(function_record *record, is_method) { record->flags |= kFfiHpyFunctionIsMethod; }
inline void apply(function_record *record, is_operator) { record->flags |= kFfiHpyFunctionIsOperator; }
inline void apply(function_record *record, lock_self) { record->flags |= kFfiHpyFunctionLocksSelf; }
inline void apply(function_record *record, kw_only) { record->n_positional = record->n_named; }
FFI_HPY_NOINLINE inline void apply(function_record *record, const arg &param) {
  *record->next_param++ = ffi_hpy_param{param.name_, nullptr, none_value(), param.flags_};
  ++record->n_named;
}
FFI_HPY_NOINLINE inline void apply(function_record *record, const arg_v &param) {
  *record->next_param++ =
      ffi_hpy_param{param.name, param.signature, param.value.any(), param.flags | kFfiHpyParamHasDefault};
  ++record->n_named;
}
template <typename... Guards> void apply(function_record *record, call_guard<Guards...>) {
  if ((std::is_same_v<Guards, gil_scoped_release> || ...)) record->flags |= kFfiHpyFunctionReleasesGil;
}
template <size_t Nurse, size_t Patient> void apply(function_record *, keep_alive<Nurse, Patient>) {}
template <typename Policy> void apply(function_record *, call_policy<Policy>) {}

template <typename T>
inline constexpr bool is_locked_v = std::is_same_v<T, arg_locked> || std::is_same_v<T, arg_locked_v>;
template <typename T>
inline constexpr bool is_param_v = std::is_same_v<T, arg> || std::is_same_v<T, arg_v> || is_locked_v<T>;

/** The extras that change the thunk. */
template <typename...> struct call_extras {};
template <typename T> inline constexpr bool is_call_extra_v = is_locked_v<T> || std::is_same_v<T, lock_self>;
template <typename... Guards> inline constexpr bool is_call_extra_v<call_guard<Guards...>> = true;
template <size_t N, size_t P> inline constexpr bool is_call_extra_v<keep_alive<N, P>> = true;
template <typename Policy> inline constexpr bool is_call_extra_v<call_policy<Policy>> = true;

template <typename Chosen, typename... Extra> struct choose_extras {
  using type = Chosen;
};
template <typename... Chosen, typename First, typename... Extra>
struct choose_extras<call_extras<Chosen...>, First, Extra...>
    : choose_extras<std::conditional_t<is_call_extra_v<First>, call_extras<Chosen..., First>, call_extras<Chosen...>>,
                    Extra...> {};

/** Objects that live while a function runs. The last of them begins first, as in nanobind. */
template <typename... Guards> struct guard_list {};
template <typename First, typename... Others> struct guard_list<First, Others...> {
  guard_list<Others...> others;
  First first;
};
template <typename T> struct guards_of {
  using type = guard_list<>;
};
/** The guards that the thunk makes. A gil_scoped_release does nothing where the caller has released the GIL: for a
 * function all of whose overloads release it, and none of which gets Python objects. */
template <typename... Guards> struct guards_of<call_guard<Guards...>> {
  using type = guard_list<Guards...>;
};

/** Locks the object of a method, and the arguments whose parameters say so. */
class call_locks : ft_object2_guard {
public:
  call_locks(const ffi_hpy_overload *self, const TVMFFIAny *args, bool with_self)
      : ft_object2_guard(with_self ? handle(args[0]) : locked(self, args, 0), locked(self, args, with_self ? 0 : 1)) {}

private:
  /* The argument of the parameter with that number among the locked ones. */
  static handle locked(const ffi_hpy_overload *self, const TVMFFIAny *args, uint32_t number) {
    for (uint32_t i = 0; i < self->n_params; ++i) {
      if ((self->params[i].flags & kFfiHpyParamLocked) != 0 && number-- == 0) return handle(args[i]);
    }
    return handle();
  }
};
struct no_locks {
  no_locks(const ffi_hpy_overload *, const TVMFFIAny *, bool) {}
};
template <typename... Extras>
using locks_of =
    std::conditional_t<((is_locked_v<Extras> || std::is_same_v<Extras, lock_self>) || ...), call_locks, no_locks>;

/** Lets the patient live at least as long as the nurse. An object of a bound class owns it; another object of Python
 * needs a weak reference. */
inline void keep_alive_object(handle nurse, handle patient) { in_module->keep_alive_object(nurse, patient); }
FFI_HPY_NOINLINE inline void keep_alive_object_in_module(handle nurse, handle patient) {
  if (!nurse.is_valid() || nurse.is_none() || !is_object(patient.any())) return;
  if (ffi_hpy_instance *owner = api->instance_of(&nurse.any())) {
    check(api->instance_keep(owner, patient.any().v_obj));
  } else if (int_of(ask_python("keep_alive", nurse, patient)) == 0) {
    throw builtin_exception("RuntimeError",
                            FFI_HPY_BIND_TEXT "::detail::keep_alive_py(): could not create a weak reference!");
  }
}
template <typename T> inline constexpr bool changes_args_v = false;
template <typename Policy> inline constexpr bool changes_args_v<call_policy<Policy>> = true;

#if defined(FFI_HPY_BIND_PY_OBJECT)
/** The arguments of a call for a policy that expects them as pointers. */
template <size_t N> struct argument_pointers {
  PyObject *pointers[N + 1];
  explicit argument_pointers(const TVMFFIAny *args) {
    for (size_t i = 0; i < N; ++i) pointers[i] = pointer_of(args[i]);
    pointers[N] = nullptr;
  }
  void store(TVMFFIAny *args) const {
    for (size_t i = 0; i < N; ++i) args[i] = value_of(pointers[i]);
  }
};
template <typename Policy, typename N, typename = void> inline constexpr bool takes_pointers_v = false;
template <typename Policy, typename N>
inline constexpr bool takes_pointers_v<
    Policy, N,
    std::void_t<decltype(Policy::precall(std::declval<PyObject **>(), N(), std::declval<cleanup_list *>()))>> = true;
#endif

template <typename T, typename N> void before_call(T *, TVMFFIAny *, N, cleanup_list *) {}
template <typename Policy, typename N>
void before_call(call_policy<Policy> *, TVMFFIAny *args, N n, cleanup_list *cleanup) {
#if defined(FFI_HPY_BIND_PY_OBJECT)
  if constexpr (takes_pointers_v<Policy, N>) {
    argument_pointers<N::value> all(args);
    Policy::precall(all.pointers, n, cleanup);
    return all.store(args);
  } else
#endif
    Policy::precall(reinterpret_cast<handle *>(args), n, cleanup);
}
template <typename T> inline constexpr bool keeps_alive_v = false;
template <size_t N, size_t P> inline constexpr bool keeps_alive_v<keep_alive<N, P>> = true;

/** The object that an argument was read from: after an implicit conversion, the converted one. */
template <typename Caster> handle source_of(Caster *caster, handle given, cleanup_list *cleanup) {
  if constexpr (is_base_caster_v<Caster>) {
    if (caster->value == nullptr) return given;
    object found = find_instance(class_of<typename Caster::Value>::get(), caster->value);
    if (!found.is_valid() || found.is(given)) return given;
    handle kept = found.release();
    cleanup->append(kept);
    return kept;
  } else {
    return given;
  }
}

/** Whether an extra acts after the call: without one, the thunk needs no code that releases the result. */
template <typename T> inline constexpr bool acts_after_v = keeps_alive_v<T> || changes_args_v<T>;
/** Whether the result is converted while a guard of the author is alive, who may have released the GIL. */
template <typename T> inline constexpr bool is_guard_v = false;
template <typename... Guards> inline constexpr bool is_guard_v<call_guard<Guards...>> = true;
template <typename T, typename N> void after_call(T *, const TVMFFIAny *, N, handle) {}
template <size_t Nurse, size_t Patient, typename N>
void after_call(keep_alive<Nurse, Patient> *, const TVMFFIAny *args, N n, handle result) {
  static_assert(Nurse != Patient, "keep_alive: the nurse and the patient are one argument");
  if (Nurse > n || Patient > n) return;
  keep_alive_object(Nurse == 0 ? result : handle(args[Nurse == 0 ? 0 : Nurse - 1]),
                    Patient == 0 ? result : handle(args[Patient == 0 ? 0 : Patient - 1]));
}
template <typename Policy, typename N>
void after_call(call_policy<Policy> *, const TVMFFIAny *args, N n, handle result) {
#if defined(FFI_HPY_BIND_PY_OBJECT)
  if constexpr (takes_pointers_v<Policy, N>) {
    argument_pointers<N::value> all(args);
    Policy::postcall(all.pointers, n, result);
  } else
#endif
    Policy::postcall(const_cast<handle *>(reinterpret_cast<const handle *>(args)), n, result);
}

/* ---- Thunks ---- */

/** The end of a call whose result is an empty object. An error is pending if the result could not be converted, or if
 * the function has set one. */
FFI_HPY_COLD inline int without_result() {
  python_error error;
  if (error.kind().empty()) {
    api->raise("TypeError", "a function returned an empty object, which cannot be converted, and set no error");
  } else {
    error.restore();
  }
  return -1;
}

/** Flags of a parameter that follow from its type. */
template <typename A> constexpr uint8_t type_flags() {
  using T = intrinsic_t<A>;
  uint8_t flags = 0;
  if (std::is_same_v<T, args>) flags |= kFfiHpyTypeArgs;
  if (std::is_same_v<T, kwargs>) flags |= kFfiHpyTypeKwargs;
  if (has_arg_defaults<T>::value) flags |= kFfiHpyTypeAcceptsNone;
  if (takes_python_v<T>) flags |= kFfiHpyTypeTakesPython;
  if (is_enum_caster_v<make_caster<A>>) flags |= kFfiHpyTypeEnum;
  if constexpr (is_plain_v<T> && std::is_arithmetic_v<T>) { /* an author's caster may accept other values */
    if (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (std::is_unsigned_v<T>) flags |= kFfiHpyTypeUnsigned;
      flags |= (sizeof(T) == 1 ? 1 : sizeof(T) == 2 ? 2 : sizeof(T) == 4 ? 3 : 4) << FFI_HPY_TYPE_SIZE_SHIFT;
    }
    if (std::is_floating_point_v<T>) flags |= (sizeof(T) < 8 ? 5 : 6) << FFI_HPY_TYPE_SIZE_SHIFT;
  }
  return flags;
}

/* ---- Why an argument does not fit ---- */

/** A value that does not fit, and where it is; or, without a value, the whole reason. */
struct mismatch {
  std::string place;
  object value;
  uint8_t type_flags = 0;
  std::string items; /**< the bytes of the int64_t of ffi_hpy_reason.items */

  /** Notes that the value is in an item. Returns true. */
  FFI_HPY_COLD bool in_item(size_t i) {
    int64_t index = static_cast<int64_t>(i);
    items.insert(0, reinterpret_cast<const char *>(&index), sizeof(index));
    return true;
  }
};
/** Whether a caster says why a value does not fit: `static bool explain(handle source, uint32_t flags, mismatch *)`,
 * which returns false if it knows no reason. Only calls that have failed ask for it. */
template <typename T, typename = void> inline constexpr bool explains_v = false;
template <typename T> inline constexpr bool explains_v<T, std::void_t<decltype(&make_caster<T>::explain)>> = true;

/** The int of an object with __index__; another value itself; an empty object with a pending error if there is none. */
FFI_HPY_COLD inline object index_of(const handle &source) {
  if (source.any().type_index != kTVMFFIOpaquePyObject) return borrow(source);
  return steal(guarded([&] { return ask_python("index", source); }));
}
/** The int of an object with __index__, if T is a type of numbers and the int is outside its range; otherwise the value
 * itself. */
template <typename T> FFI_HPY_COLD object number_outside(const handle &source) {
  if constexpr ((type_flags<T>() >> FFI_HPY_TYPE_SIZE_SHIFT) != 0) {
    object number = index_of(source);
    make_caster<T> caster;
    cleanup_list cleanup;
    if (number.is_valid() && !number.is_none() && !caster.from_python(number, cast_flags::convert, &cleanup)) {
      return number;
    }
  }
  return borrow(source);
}

/** Whether a value inside of an argument does not fit. */
template <typename T> FFI_HPY_COLD bool explain_inner(const handle &source, uint32_t flags, mismatch *found) {
  {
    make_caster<T> caster;
    cleanup_list cleanup;
    if (read_inner<T>(&caster, source, flags, &cleanup)) return false;
  }
  if constexpr (explains_v<T>) {
    if (make_caster<T>::explain(source, flags_for_local_caster<T>(flags), found)) return true;
  }
  found->value = number_outside<T>(source);
  found->type_flags = type_flags<T>();
  return true;
}

/** As explain_inner, for a number outside the range of T: the message has the class of any other value already. */
template <typename T> FFI_HPY_COLD bool explain_number(const handle &source, uint32_t flags, mismatch *found) {
  object number = number_outside<T>(source);
  int32_t kind = number.any().type_index;
  bool is_int = kind == kTVMFFIInt || kind == kTVMFFIBigInt;
  bool is_number = std::is_floating_point_v<T> ? is_int || kind == kTVMFFIFloat
                                               : is_int && (type_flags<T>() >> FFI_HPY_TYPE_SIZE_SHIFT) != 0;
  return is_number && explain_inner<T>(number, flags, found);
}

FFI_HPY_COLD inline int explain_argument_in_module(explain_function explain, const TVMFFIAny *arg, uint32_t flags,
                                                   ffi_hpy_reason *out) noexcept {
  try {
    mismatch found;
    if (explain == nullptr || !explain(handle(*arg), flags, &found)) return 0;
    object place = str_of(found.place);
    object items = bytes_object(found.items);
    if (out->has_value == FFI_HPY_REASON_TAKES_ITEMS) out->items = items.release().any();
    out->place = place.release().any();
    out->has_value = found.value.is_valid();
    if (found.value.is_valid()) out->value = found.value.release().any();
    out->type_flags = found.type_flags;
    return 1;
  } catch (...) {
    if (translate_exception() == -1) python_error dropped;
    return 0;
  }
}
template <typename... A> struct explanations {
  template <typename T> static constexpr explain_function of() {
    if constexpr (explains_v<T>) {
      return &make_caster<T>::explain;
    } else {
      return nullptr;
    }
  }
  static int explain(uint32_t param, const TVMFFIAny *arg, uint32_t flags, ffi_hpy_reason *out) {
    static constexpr explain_function all[] = {of<A>()...};
    return in_module->explain_argument(all[param], arg, flags, out);
  }
};

/* ---- Calls ---- */

/** Whether an argument for an enum may be a member. Python passes members themselves to a parameter that refuses
 * conversions, so an int or a str is a member only as the default. */
inline bool is_itself(const TVMFFIAny &any, const TVMFFIAny &default_value) {
  if (any.type_index != kTVMFFIInt && any.type_index != kTVMFFISmallStr && any.type_index != kTVMFFIStr) return true;
  return any.type_index == default_value.type_index && any.v_int64 == default_value.v_int64;
}

template <typename A>
bool load_argument(make_caster<A> *caster, const TVMFFIAny &any, const ffi_hpy_param &param, uint32_t call_flags,
                   cleanup_list *cleanup) {
  uint32_t flags = param.flags & call_flags;
  if constexpr (is_enum_caster_v<make_caster<A>>) {
    if ((param.flags & kFfiHpyCastConvert) == 0 && !is_itself(any, param.default_value)) return false;
  }
  if constexpr (loads_class_v<make_caster<A>>) {
    return caster->template load<std::is_pointer_v<std::remove_reference_t<A>>>(&any, flags, cleanup);
  } else if constexpr (loads_in_place_v<make_caster<A>>) {
    return caster->load(&any, flags, cleanup) && caster->template can_cast<A>();
  }
  if (any.type_index == kTVMFFINone && (flags & kFfiHpyParamRefusesNone) != 0) return false;
  return caster->from_python(handle(any), flags, cleanup) && caster->template can_cast<A>();
}

/** The callable of an overload: in the words of the overload itself, or behind a pointer in them. */
template <typename F>
inline constexpr bool is_inline_v = sizeof(F) <= kCallableWords * sizeof(void *) && alignof(F) <= alignof(void *) &&
                                    std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F>;
inline void *callable_place(const ffi_hpy_overload *overload, bool is_inline) {
  return is_inline ? static_cast<void *>(const_cast<void **>(overload->capture)) : overload->capture[0];
}

/** The cleanup_list of a call. Nearly every call leaves it empty, so a destructor would cost more than the list. */
union call_cleanup {
  cleanup_list list;
  explicit call_cleanup(const TVMFFIAny *args) : list(args) {}
  ~call_cleanup() {}
};

/** Ends a call whose body has used the list, or has returned another number than 0. */
FFI_HPY_NOINLINE inline int end_thunk(call_cleanup *cleanup, int rc) noexcept {
  int refusal = rc > 0 ? cleanup->list.refuse(static_cast<size_t>(rc)) : 0;
  cleanup->list.~cleanup_list();
  return rc == kEmptyResult ? without_result() : refusal;
}
/** Ends a call whose body has thrown, in the handler of the exception. */
FFI_HPY_COLD inline int end_thrown(call_cleanup *cleanup, const std::exception *thrown) noexcept {
  if (cleanup != nullptr) cleanup->list.~cleanup_list();
  return translate_exception(thrown);
}

/* Two functions serve all thunks, because compilers take long for code that each thunk repeats: this one, and one for
 * thunks that make no objects for the call. */
template <bool WithObjects>
FFI_HPY_NOINLINE int run_thunk(const ffi_hpy_overload *self, const TVMFFIAny *args, uint32_t flags,
                               TVMFFIAny *result) noexcept {
  auto *body = reinterpret_cast<thunk_body *>(self->capture[kCallableWords]);
  if constexpr (WithObjects) {
    call_cleanup cleanup(args);
    try {
      int rc = body(self, args, flags, result, &cleanup.list);
      if (rc == 0 && !cleanup.list.used()) return 0;
      return end_thunk(&cleanup, rc);
    } catch (const std::exception &thrown) {
      return end_thrown(&cleanup, &thrown);
    } catch (...) {
      return end_thrown(&cleanup, nullptr);
    }
  } else {
    try {
      int rc = body(self, args, flags, result, cleanup_list::none());
      if (rc > 0) return cleanup_list::refuse_without_list(static_cast<size_t>(rc));
      return rc == 0 ? 0 : without_result();
    } catch (const std::exception &thrown) {
      return end_thrown(nullptr, &thrown);
    } catch (...) {
      return end_thrown(nullptr, nullptr);
    }
  }
}

/** The casters of a call, by the number of the parameter; compilers take several times as long for a std::tuple. */
template <size_t I, typename Caster> struct numbered_caster {
  Caster caster{};
};
template <typename Indices, typename... Casters> struct caster_pack;
template <size_t... I, typename... Casters>
struct caster_pack<std::index_sequence<I...>, Casters...> : numbered_caster<I, Casters>... {};
template <size_t I, typename Caster> Caster &caster_at(numbered_caster<I, Caster> &in) { return in.caster; }

template <typename F, typename Extras, typename Indices, typename R, typename... A> struct thunk;
template <typename F, typename... Extras, size_t... I, typename R, typename... A>
struct thunk<F, call_extras<Extras...>, std::index_sequence<I...>, R, A...> {
  /* Whether a conversion or an extra may use the cleanup_list. */
  static constexpr bool has_objects =
      sizeof...(Extras) != 0 || !((std::is_void_v<R> || is_plain_v<R>) && ... && is_plain_v<A>);

  /* Whether neither a conversion nor an extra keeps an argument. */
  static constexpr bool borrows = (is_guard_v<Extras> && ... && (borrows_v<make_caster<A>> && ...));

  static int body(const ffi_hpy_overload *self, [[maybe_unused]] const TVMFFIAny *args, [[maybe_unused]] uint32_t flags,
                  TVMFFIAny *result, [[maybe_unused]] cleanup_list *cleanup) {
    constexpr std::integral_constant<size_t, sizeof...(A)> n{};
    constexpr bool locks_self = (std::is_same_v<Extras, lock_self> || ...);
    if constexpr (n == 0 && has_objects) cleanup->end_self();
    [[maybe_unused]] locks_of<Extras...> locks(self, args, locks_self && n != 0);
    [[maybe_unused]] caster_pack<std::index_sequence<I...>, make_caster<A>...> in;
    [[maybe_unused]] TVMFFIAny changed[n + 1];
    if constexpr ((changes_args_v<Extras> || ...)) {
      for (size_t i = 0; i < n; ++i) changed[i] = args[i];
      (before_call(static_cast<Extras *>(nullptr), changed, n, cleanup), ...);
      args = changed;
    }
    [[maybe_unused]] size_t refused = 0; /* the number of the parameter that refuses its argument, from 1 on */
    if (!((load_argument<A>(&caster_at<I>(in), args[I], self->params[I], flags, cleanup) || (refused = I + 1, false)) &&
          ...)) {
      return static_cast<int>(refused);
    }
    if constexpr ((keeps_alive_v<Extras> || ...)) {
      ((changed[I] = source_of(&caster_at<I>(in), handle(args[I]), cleanup).any()), ...);
      args = changed;
    }
    F &f = *static_cast<F *>(callable_place(self, is_inline_v<F>));
    handle made(none_value());
    if constexpr (std::is_void_v<R>) {
      [[maybe_unused]] guard_list<typename guards_of<Extras>::type...> guards;
      f(static_cast<A>(caster_at<I>(in).operator cast_t<A>())...);
    } else {
      [[maybe_unused]] guard_list<typename guards_of<Extras>::type...> guards;
      constexpr bool may_make_python = !((acts_after_v<Extras> || is_guard_v<Extras>) || ...);
      made =
          make_value<R>(f(static_cast<A>(caster_at<I>(in).operator cast_t<A>())...),
                        static_cast<rv_policy>(self->policy), cleanup, may_make_python ? values_for(*result) : nullptr);
      if (!made.is_valid()) {
        if constexpr ((changes_args_v<Extras> || ...)) {
          error_scope pending; /* of the result; the policies may ask Python */
          (after_call(static_cast<Extras *>(nullptr), args, n, handle()), ...);
        }
        return kEmptyResult;
      }
    }
    if constexpr ((acts_after_v<Extras> || ...)) {
      object kept = steal(made);
      (after_call(static_cast<Extras *>(nullptr), args, n, kept), ...);
      made = kept.release();
    }
    *result = made.any();
    return 0;
  }
};

/** The types of a signature, as constants. */
template <typename R, typename... A> struct function_types {
  template <typename F, typename Extras> using thunk_of = thunk<F, Extras, std::index_sequence_for<A...>, R, A...>;
  static constexpr size_t n = sizeof...(A);
  static constexpr bool is_bindable = true;
  /* The result and the parameters, one a line. */
  static constexpr auto text = [] {
    if constexpr (n == 0) {
      return result_caster<R>::Name;
    } else {
      return result_caster<R>::Name + ((const_name("\n") + make_caster<A>::Name) + ...);
    }
  }();
  static constexpr auto constants = with_flags(text, type_flags<A>()...);
  static constexpr auto explain = [] {
    int (*function)(uint32_t, const TVMFFIAny *, uint32_t, ffi_hpy_reason *) = nullptr;
    if constexpr ((explains_v<A> || ...)) function = &explanations<A...>::explain;
    return function;
  }();
};

/** The types of a callable. */
template <typename F, typename = int> struct signature_of {
  struct types : function_types<void> { /* of no function; `description` refuses it */
    static constexpr bool is_bindable = false;
    template <typename, typename Extras> using thunk_of = thunk<void (*)(), Extras, std::index_sequence<>, void>;
  };
};
template <typename F>
struct signature_of<F, decltype((void)&F::operator(), 0)> : signature_of<decltype(&F::operator())> {};
template <typename R, typename... A> struct signature_of<R (*)(A...)> {
  using types = function_types<R, A...>;
};
template <typename R, typename... A> struct signature_of<R (*)(A...) noexcept> : signature_of<R (*)(A...)> {};
template <typename C, typename R, typename... A> struct signature_of<R (C::*)(A...)> : signature_of<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct signature_of<R (C::*)(A...) const> : signature_of<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct signature_of<R (C::*)(A...) noexcept> : signature_of<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct signature_of<R (C::*)(A...) const noexcept> : signature_of<R (*)(A...)> {};

/** Whether Class, which may be a union, is C or derives from it. */
template <typename Class, typename C>
inline constexpr bool has_members_of_v = std::is_same_v<C, Class> || std::is_base_of_v<C, Class>;
/** Refuses a member of another class, and returns false for it. */
template <typename Class, typename C> constexpr std::bool_constant<has_members_of_v<Class, C>> require_member() {
  static_assert(has_members_of_v<Class, C>, "this is a member of another class, which is not a base of the bound one");
  return {};
}

/** The callable of a method; one that does nothing for a method of another class, which is refused. */
template <typename Class, typename R, typename... A, typename Method> auto with_object(Method method, std::true_type) {
  return [method](Class &self, A... args) -> R { return (self.*method)(static_cast<A &&>(args)...); };
}
template <typename Class, typename R, typename... A, typename Method> auto with_object(Method, std::false_type) {
  return [](Class &) {};
}

/** A method of Class or of a base of it as a callable with the object as its first parameter; other callables
 * unchanged. */
template <typename Class, typename F> auto with_self(F &&f) { return std::decay_t<F>(std::forward<F>(f)); }
template <typename Class, typename C, typename R, typename... A> auto with_self(R (C::*method)(A...)) {
  return with_object<Class, R, A...>(method, require_member<Class, C>());
}
template <typename Class, typename C, typename R, typename... A> auto with_self(R (C::*method)(A...) const) {
  return with_object<const Class, R, A...>(method, require_member<Class, C>());
}
template <typename Class, typename C, typename R, typename... A> auto with_self(R (C::*method)(A...) noexcept) {
  return with_object<Class, R, A...>(method, require_member<Class, C>());
}
template <typename Class, typename C, typename R, typename... A> auto with_self(R (C::*method)(A...) const noexcept) {
  return with_object<const Class, R, A...>(method, require_member<Class, C>());
}

/** A Function that was defined, with its metadata (JSON). */
struct defined_function {
  object function, metadata;
};

/** Makes a Function, or adds an overload to the Function `known`. */
inline defined_function define(function_record *record, handle known) {
  std::string types;
  if (record->types == nullptr) {
    types = type_text(record->text, record->infos, true);
    record->types = types.c_str();
  }
  item_list<object> texts(record->n_named); /* of defaults; a short text is in its object */
  for (uint32_t i = 0; i < record->n_named; ++i) {
    auto *param = const_cast<ffi_hpy_param *>(&record->params[i]);
    if ((param->flags & kFfiHpyParamHasDefault) == 0 || param->shown != nullptr) continue;
    std::string_view text;
    texts.add(repr(handle(param->default_value)));
    (void)read_text(texts.last().any(), false, &text);
    param->shown = text.data();
  }
  TVMFFIObjectHandle made = nullptr;
  TVMFFIAny metadata = none_value();
  check(api->function_define(record, known.is_valid() && !known.is_none() ? known.any().v_obj : nullptr, &made,
                             &metadata));
  return {take_object(made), take(metadata)};
}

/** Whether T can be the type of a further argument. */
template <typename T>
inline constexpr bool is_extra_v = (std::is_class_v<T> && !std::is_same_v<T, std::string>) || std::is_enum_v<T> ||
                                   std::is_array_v<T> || std::is_pointer_v<T> || std::is_null_pointer_v<T>;
/** Whether a function with N parameters has the arguments that an option counts. */
template <size_t N, typename T> inline constexpr bool has_arguments_v = true;
template <size_t N, size_t Nurse, size_t Patient>
inline constexpr bool has_arguments_v<N, keep_alive<Nurse, Patient>> = Nurse <= N && Patient <= N;

/** The definition of a callable of type F. `Flags`: kFfiHpyFunction*. */
template <uint32_t Flags, typename F, typename... Extra> struct description : function_record {
  using types = typename signature_of<F>::types;
  static constexpr size_t n_named = (size_t{is_param_v<Extra>} + ... + 0);
  static constexpr bool has_self = (Flags & kFfiHpyFunctionIsMethod) != 0 || (std::is_same_v<Extra, is_method> || ...);
  using chosen = typename choose_extras<call_extras<>, Extra...>::type;
  using thunk = typename types::template thunk_of<F, chosen>;
  static constexpr function_constants constants{
      &thunk::body, types::constants.infos, static_cast<uint16_t>(types::n),
      static_cast<uint16_t>(Flags | (thunk::borrows ? kFfiHpyFunctionBorrows : 0) |
                            (types::explain != nullptr ? kFfiHpyFunctionExplains : 0)),
      thunk::has_objects};

  template <typename Given> description(const char *label, Given &&f, const Extra &...extra) {
    /* Here, because clang adds errors for an assertion that fails outside of a function. */
    static_assert(types::is_bindable,
                  "this cannot be bound: bind a function, a member function, or an object with one operator() that is "
                  "not a template");
    static_assert((is_extra_v<Extra> && ...),
                  "a further argument is neither a text (const char *) nor an option of bind.h");
    static_assert((has_arguments_v<types::n, Extra> && ...),
                  "keep_alive: an index is larger than the number of arguments");
    static_assert((int{std::is_same_v<Extra, kw_only>} + ... + 0) <= (n_named != 0 ? 1 : 0),
                  "kw_only() is given once, between the names of parameters");
    static_assert(n_named == 0 || n_named == types::n || (has_self && n_named + 1 == types::n),
                  "name all parameters of the function or none: the number of arg(...) is another one");
    in_module->start(this, &constants, label, list);
    if constexpr (types::explain != nullptr) explain = types::explain;
    if constexpr ((is_extra_v<Extra> && ...)) (apply(static_cast<function_record *>(this), extra), ...);
    if constexpr (is_inline_v<F>) {
      new (static_cast<void *>(capture)) F(static_cast<Given &&>(f));
    } else {
      capture[0] = new F(static_cast<Given &&>(f));
      free_capture = [](void **words) { delete static_cast<F *>(words[0]); };
    }
  }
  description(const description &) = delete;
  description &operator=(const description &) = delete;

  ffi_hpy_param list[n_named + 1];
};

} // namespace detail

namespace detail {
FFI_HPY_NOINLINE inline object define_loose_in_module(function_record *record) {
  defined_function made = define(record, handle());
  return ask_python("loose_function", made.function, made.metadata, str_of(record->name),
                    str_of(record->doc != nullptr ? record->doc : ""),
                    handle(word(kTVMFFIBool, (record->flags & kFfiHpyFunctionIsMethod) != 0)));
}
} // namespace detail

namespace detail {
/** The scope among further arguments. */
inline void find_scope(handle *found, scope in) { *found = in.value; }
template <typename T> void find_scope(handle *, const T &) {}
} // namespace detail

/** A Function that is not an attribute of a module or of a class, unless a further argument is a scope. */
template <typename F, typename... Extra> object cpp_function(F &&f, const Extra &...extra) {
  detail::description<0, std::decay_t<F>, Extra...> made("function", static_cast<F &&>(f), extra...);
  object function = detail::in_module->define_loose(&made);
  handle in;
  (detail::find_scope(&in, extra), ...);
  if (in.is_valid()) detail::ask_python(kFfiHpyRunSetAttr, in, detail::str_of(made.name), function);
  return function;
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_FUNCTION_H_ */
