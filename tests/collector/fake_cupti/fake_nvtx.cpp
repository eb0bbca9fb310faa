// The fake CUPTI as the library that a program's NVTX loads: it stores no ranges, returns its own handles, and reports
// to its listeners after each call.
#include <cstring>

#include "collector/abi/nvtx.h"
#include "tests/collector/fake_cupti/fake_cupti.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using namespace hbmscope;
using Handle = std::uint64_t;

Handle new_handle() {
  static std::atomic<Handle> last{0x9000};
  return last += 16;
}

template <class Result, class... Parameters>
Result call(cupti::CallbackId id, Result result, Parameters... parameters) {
  unsigned char bytes[64] = {};
  std::size_t used = 0;
  [[maybe_unused]] const auto put = [&](const auto& value) {
    std::memcpy(bytes + used, &value, sizeof(value));
    used += sizeof(value);  // Each is of eight bytes.
  };
  (put(parameters), ...);
  const cupti::NvtxData data{"", bytes, &result};
  notify_listeners(cupti::Domain::nvtx, id, &data);
  return result;
}

// A function with those parameters and CUPTI's number, which returns what `give` gives.
template <cupti::CallbackId id, class Result, Result (*give)(), class... Parameters>
Result function(Parameters... parameters) {
  return call(id, give(), parameters...);
}
int no_level() {
  return 0;
}
Handle nothing() {
  return 0;
}

using Text = const void*;

}  // namespace

EXPORTED int InitializeInjectionNvtx2(nvtx::GetExportTable get_export_table) {
  const auto* callbacks = static_cast<const nvtx::Callbacks*>(get_export_table(nvtx::callbacks_table));
  nvtx::Function** slots = nullptr;
  unsigned size = 0;
  const auto put = [&](unsigned place, auto* handler) { *slots[place] = reinterpret_cast<nvtx::Function>(handler); };
  callbacks->get_table(nvtx::Module::core, &slots, &size);
  put(nvtx::core::mark_a, function<1, Handle, nothing, Text>);
  put(nvtx::core::mark_w, function<2, Handle, nothing, Text>);
  put(nvtx::core::mark_ex, function<3, Handle, nothing, Text>);
  put(nvtx::core::start_a, function<4, Handle, new_handle, Text>);
  put(nvtx::core::start_w, function<5, Handle, new_handle, Text>);
  put(nvtx::core::start_ex, function<6, Handle, new_handle, Text>);
  put(nvtx::core::end, function<7, Handle, nothing, Handle>);
  put(nvtx::core::push_a, function<8, int, no_level, Text>);
  put(nvtx::core::push_w, function<9, int, no_level, Text>);
  put(nvtx::core::push_ex, function<10, int, no_level, Text>);
  put(nvtx::core::pop, function<11, int, no_level>);
  callbacks->get_table(nvtx::Module::core2, &slots, &size);
  put(nvtx::core2::mark_ex, function<30, Handle, nothing, Handle, Text>);
  put(nvtx::core2::start_ex, function<31, Handle, new_handle, Handle, Text>);
  put(nvtx::core2::end, function<32, Handle, nothing, Handle, Handle>);
  put(nvtx::core2::push_ex, function<33, int, no_level, Handle, Text>);
  put(nvtx::core2::pop, function<34, int, no_level, Handle>);
  put(nvtx::core2::register_a, function<39, Handle, new_handle, Handle, Text>);
  put(nvtx::core2::register_w, function<40, Handle, new_handle, Handle, Text>);
  put(nvtx::core2::create_a, function<41, Handle, new_handle, Text>);
  put(nvtx::core2::create_w, function<42, Handle, new_handle, Text>);
  return 1;
}
