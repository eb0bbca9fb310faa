// How jaxlib reads the environment when the first device is used. Reproduces generate_pjrt_gpu_plugin_options in
// jaxlib/xla_client.py answer for answer, including the texts of its errors.
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
  friend bool operator==(const Setting&, const Setting&) = default;
};
// Like os.getenv: no value if the variable is not set. If a name occurs more than once, the last one counts.
std::optional<std::string_view> find_setting(std::span<const Setting> settings, std::string_view name);

// What differs between versions of jaxlib.
struct JaxlibRules {
  std::string_view since;        // The first version that was checked, "0.4.30"; the rules may be older.
  bool has_client_mem_fraction;  // XLA_CLIENT_MEM_FRACTION in addition to its older name.
  bool has_vmm, has_address;     // Names of allocators.
  bool has_collective_abort;     // Returns abort_collectives_on_failure and use_tfrt_gpu_client.
};
std::span<const JaxlibRules> all_jaxlib_rules();  // Oldest first.

// The dictionary that it returns, without platform_name, which is always "cuda". A missing value is not in the
// dictionary, and the plugin's default applies.
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
