// What jaxlib makes of the environment when the first device is used: the option function of jaxlib/xla_client.py
// (generate_pjrt_gpu_plugin_options), answer for answer, the texts of its errors included.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace hbmscope::allocator {

struct Setting {
  std::string name, value;  // "XLA_CLIENT_MEM_FRACTION", ".9"
};
// As os.getenv: nothing where it is not set. Of several of one name the last counts.
std::optional<std::string_view> find_setting(std::span<const Setting> settings, std::string_view name);

// What differs between versions of jaxlib.
struct JaxlibRules {
  std::string_view since;        // The first version that was looked at, "0.4.30"; it may be older.
  bool has_client_mem_fraction;  // XLA_CLIENT_MEM_FRACTION beside its older name.
  bool has_vmm, has_address;     // Names of allocators.
  bool has_collective_abort;     // abort_collectives_on_failure and use_tfrt_gpu_client are answered.
};
std::span<const JaxlibRules> all_jaxlib_rules();  // From the oldest.

// The dictionary that it returns, less platform_name, which is "cuda" always. Absent: not in it, and the plugin's own
// default holds.
struct PluginOptions {
  std::string allocator;
  std::optional<double> memory_fraction;
  std::optional<bool> preallocate;
  std::optional<std::int64_t> collective_memory_bytes;  // collective_memory_size
  std::optional<bool> abort_collectives_on_failure, use_tfrt_gpu_client;

  friend bool operator==(const PluginOptions&, const PluginOptions&) = default;
};
// Error: the text of Python's ValueError. JAX catches it, logs it, and goes on without the GPU.
tl::expected<PluginOptions, std::string> plugin_options(std::span<const Setting> settings, const JaxlibRules& rules);

}  // namespace hbmscope::allocator
