// Functions that take and return types of the standard library, and containers of ours.
#include <tvm/ffi/extra/chrono.h>
#include <tvm/ffi/extra/complex.h>
#include <tvm/ffi/extra/filesystem.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/extra/stl.h>
#include <tvm/ffi/reflection/overload.h>
#include <tvm/ffi/tvm_ffi.h>

namespace {

using namespace tvm::ffi;
namespace refl = tvm::ffi::reflection;

class NodeObj : public Object {
public:
  int64_t value = 0;
  std::vector<double> weights;
  std::shared_ptr<NodeObj> next;
  static inline int64_t n_alive = 0;
  explicit NodeObj(int64_t value) : value(value) { ++n_alive; }
  ~NodeObj() { --n_alive; }
  int64_t Take(const std::vector<int64_t> &values) { return static_cast<int64_t>(values.size()); }
  int64_t TakeTensor(Tensor) { return -1; }
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("stl_types.Node", NodeObj, Object);
};

class Node : public ObjectRef {
public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Node, ObjectRef, NodeObj);
};

enum class Color : uint8_t { kRed, kBlue };

std::shared_ptr<NodeObj> kept;

template <typename T> T Echo(T value) { return value; }

TVM_FFI_STATIC_INIT_BLOCK() {
  auto name = refl::arg("value");
  refl::GlobalDef()
      .def("stl_types.vector", Echo<std::vector<double>>, name)
      .def("stl_types.ints", Echo<std::vector<int64_t>>, name)
      .def("stl_types.unnamed", Echo<std::vector<std::string>>)
      .def("stl_types.nested", Echo<std::vector<std::vector<double>>>, name)
      .def("stl_types.array", Echo<std::array<int64_t, 3>>, name)
      .def("stl_types.list", Echo<std::list<int64_t>>, name)
      .def("stl_types.deque", Echo<std::deque<std::string>>, name)
      .def("stl_types.forward_list", Echo<std::forward_list<int64_t>>, name)
      .def("stl_types.pair", Echo<std::pair<int64_t, std::string>>, name)
      .def("stl_types.tuple", Echo<std::tuple<int64_t, std::string, bool>>, name)
      .def("stl_types.set", Echo<std::set<int64_t>>, name)
      .def("stl_types.unordered_set", Echo<std::unordered_set<std::string>>, name)
      .def("stl_types.unordered_ints", Echo<std::unordered_set<int64_t>>, name)
      .def("stl_types.set_of_sets", Echo<std::set<std::set<int64_t>>>, name)
      .def("stl_types.floats", Echo<std::set<double>>, name)
      .def("stl_types.unordered_floats", Echo<std::unordered_set<double>>, name)
      .def("stl_types.multiset", Echo<std::multiset<int64_t>>, name)
      .def("stl_types.map", Echo<std::map<std::string, int64_t>>, name)
      .def("stl_types.float_keys", Echo<std::map<float, int64_t>>, name)
      .def("stl_types.unordered_map", Echo<std::unordered_map<int64_t, std::vector<double>>>, name)
      .def("stl_types.Array", Echo<Array<int64_t>>, name)
      .def("stl_types.List", Echo<List<int64_t>>, name)
      .def("stl_types.Bytes", Echo<Array<Bytes>>, name)
      .def("stl_types.Map", Echo<Map<String, int64_t>>, name)
      .def("stl_types.Dict", Echo<Dict<String, int64_t>>, name)
      .def("stl_types.Tuple", Echo<Tuple<int64_t, String>>, name)
      .def("stl_types.optional", Echo<std::optional<std::vector<int64_t>>>, name)
      .def("stl_types.variant", Echo<std::variant<std::monostate, int64_t, std::string, std::vector<double>>>, name)
      .def("stl_types.shape", Echo<Shape>, name)
      .def("stl_types.tensor", Echo<Tensor>, name)
      .def("stl_types.function", Echo<Function>, name)
      .def(
          "stl_types.axes", [](TensorView tensor) { return tensor.ndim(); }, refl::arg("tensor"))
      .def("stl_types.node", Echo<Node>, name)
      .def("stl_types.any", Echo<Any>, name)
      .def("stl_types.nothing", [] {})
      .def("stl_types.color", Echo<Color>, name)
      .def("stl_types.bytes", Echo<Bytes>, name)
      .def("stl_types.dtype", Echo<DLDataType>, name)
      .def("stl_types.device", Echo<DLDevice>, name)
      .def("stl_types.module", Echo<Module>, name)
      .def("stl_types.error", Echo<Error>, name)
      .def("stl_types.string", Echo<std::string>, name)
      .def("stl_types.string_view", Echo<std::string_view>, name)
      .def("stl_types.wstring", Echo<std::wstring>, name)
      .def("stl_types.u16string", Echo<std::u16string>, name)
      .def("stl_types.monostate", Echo<std::monostate>, name)
      .def("stl_types.complex", Echo<std::complex<double>>, name)
      .def("stl_types.complexes", Echo<std::vector<std::complex<float>>>, name)
      .def("stl_types.small_complex", Echo<std::complex<float>>, name)
      .def("stl_types.large_complex", [](double factor) { return std::complex<long double>(1, 1e300L * factor); })
      .def("stl_types.large", [](double factor) { return 1e300L * factor; })
      .def("stl_types.path", Echo<std::filesystem::path>, name)
      .def("stl_types.duration", Echo<std::chrono::milliseconds>, name)
      .def("stl_types.seconds", Echo<std::chrono::duration<double>>, name)
      .def("stl_types.nanoseconds", Echo<std::chrono::nanoseconds>, name)
      .def("stl_types.hours", Echo<std::chrono::duration<uint8_t, std::ratio<3600>>>, name)
      .def("stl_types.frames", Echo<std::chrono::duration<int64_t, std::ratio<1, 24>>>, name)
      .def("stl_types.durations", Echo<std::vector<std::chrono::milliseconds>>, name)
      .def("stl_types.moment", Echo<std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>>, name)
      .def(
          "stl_types.unit",
          [](const std::variant<std::chrono::seconds, std::chrono::microseconds> &value) { return value.index(); },
          name)
      .def("stl_types.most_hours", [] { return std::chrono::hours::max(); })
      .def("stl_types.most_ticks", [] { return std::chrono::duration<uint64_t, std::ratio<1>>(UINT64_MAX); })
      .def("stl_types.endless", [] { return std::chrono::duration<double>(std::numeric_limits<double>::infinity()); })
      .def("stl_types.system_time", Echo<std::chrono::system_clock::time_point>, name)
      .def("stl_types.steady_time", Echo<std::chrono::steady_clock::time_point>, name)
      .def(
          "stl_types.is_tensor", [](Variant<Array<double>, Tensor> value) { return value.as<Tensor>().has_value(); },
          name)
      .def(
          "stl_types.narrow", [](AnyView value) { return value.try_cast<Array<Any>>().has_value(); }, name)
      .def(
          "stl_types.call", [](const TypedFunction<std::vector<int64_t>()> &f) { return f().size(); }, refl::arg("f"))
      .def("stl_types.map_by", [](const std::function<std::set<int64_t>(std::vector<int64_t>)> &f,
                                  const std::vector<int64_t> &values) { return f(values); })
      .def("stl_types.shared", Echo<std::shared_ptr<NodeObj>>, name)
      .def(
          "stl_types.make_shared", [](int64_t value) { return kept = std::make_shared<NodeObj>(value); }, name)
      .def(
          "stl_types.make_unique", [](int64_t value) { return std::make_unique<NodeObj>(value); }, name)
      .def("stl_types.get_kept", [] { return kept; })
      .def("stl_types.drop_kept", [] { kept.reset(); })
      .def("stl_types.n_alive", [] { return NodeObj::n_alive; });
#if __cplusplus >= 202002L
  refl::GlobalDef()
      .def("stl_types.date", Echo<std::chrono::year_month_day>, name)
      .def("stl_types.dates", Echo<std::vector<std::chrono::year_month_day>>, name)
      .def("stl_types.time", Echo<std::chrono::hh_mm_ss<std::chrono::microseconds>>, name)
      .def("stl_types.minute", Echo<std::chrono::hh_mm_ss<std::chrono::minutes>>, name)
      .def("stl_types.late", [] { return std::chrono::hh_mm_ss(std::chrono::hours(25)); });
#endif
  refl::OverloadObjectDef<NodeObj>()
      .def(refl::init<int64_t>())
      .def_rw("value", &NodeObj::value)
      .def_rw("weights", &NodeObj::weights)
      .def_rw("next", &NodeObj::next)
      .def("take", &NodeObj::Take)
      .def("take", &NodeObj::TakeTensor);
}

} // namespace
