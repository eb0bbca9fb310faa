#include "allocator/emulated/tpu/plugin/settings.h"

#include <cstdlib>
#include <cstring>

namespace hbmscope::allocator::tpu::plugin {
namespace {

std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}
std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != 0 ? std::strtoull(value, nullptr, 10) : otherwise;
}

}  // namespace

const Settings& settings() {
  static const Settings read = [] {
    Settings found;
    found.library = text_of("HBMSCOPE_TPU_LIBRARY");
    found.topology = text_of("HBMSCOPE_TPU_TOPOLOGY");
    found.hbm_bytes = number_of("HBMSCOPE_TPU_HBM_BYTES", 0);
    found.compiler_flags = text_of("LIBTPU_INIT_ARGS") + "\n" + text_of("XLA_FLAGS");
    found.report = text_of("HBMSCOPE_DEVICE_REPORT");
    found.cache = text_of("HBMSCOPE_TPU_CACHE");
    found.plans = text_of("HBMSCOPE_TPU_PLANS");
    found.defragments = number_of("HBMSCOPE_TPU_DEFRAGMENT", 1) != 0;
    found.runs_ahead = number_of("HBMSCOPE_TPU_RUNS_AHEAD", 0);
    found.host_bytes = number_of("HBMSCOPE_TPU_HOST_BYTES", found.host_bytes);
    return found;
  }();
  return read;
}

}  // namespace hbmscope::allocator::tpu::plugin
