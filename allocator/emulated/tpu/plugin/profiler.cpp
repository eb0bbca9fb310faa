// The profiler of a device on which nothing runs. Older JAX (seen in 0.7.2 and 0.9.0) calls it without asking whether
// there is one. Source: xla/backends/profiler/plugin/profiler_c_api.h.
#include "allocator/emulated/tpu/plugin/functions.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

struct ProfilerArguments {  // Create.
  std::size_t struct_bytes;
  const char* options;
  std::size_t options_bytes;
  void* profiler;
};
struct ProfileArguments {  // CollectData
  std::size_t struct_bytes;
  void* profiler;
  std::uint8_t* bytes;
  std::size_t size;
};
using ProfilerFunction = void* (*)(void* arguments);  // Returns an error, or null.
struct ProfilerApi {
  std::size_t struct_bytes;
  void* extension;
  ProfilerFunction error_destroy, error_message, error_code;
  ProfilerFunction create, destroy, start, stop, collect;
};

void* succeed(void*) {
  return nullptr;
}

void* create(void* given) {
  static int profiler;
  static_cast<ProfilerArguments*>(given)->profiler = &profiler;
  return nullptr;
}

void* collect(void* given) {
  static_cast<ProfileArguments*>(given)->size = 0;
  return nullptr;
}

ProfilerApi api = {sizeof(ProfilerApi), nullptr, succeed, succeed, succeed, create, succeed, succeed, succeed, collect};

}  // namespace

void* profiler_api() {
  return &api;
}

}  // namespace hbmscope::allocator::tpu::plugin
