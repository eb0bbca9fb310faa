#include "allocator/jax/settings.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hbmscope::allocator {
namespace {

using Refusal = tl::unexpected<std::string>;

constexpr std::uint64_t granularity_of_2026 = std::uint64_t{2} << 20;
constexpr std::uint64_t granularity_of_cuda_malloc = 512;
constexpr std::string_view create_options = "JAX_PJRT_CLIENT_CREATE_OPTIONS";
constexpr std::string_view falls_back =
    "; JAX logs it, goes on without the GPU, and is on the CPU unless JAX_PLATFORMS=cuda";

constexpr std::string_view known_settings[] = {
    "XLA_PYTHON_CLIENT_ALLOCATOR",
    "XLA_CLIENT_MEM_FRACTION",
    "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "XLA_PYTHON_CLIENT_PREALLOCATE",
    "XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB",
    "XLA_PYTHON_CLIENT_ABORT_COLLECTIVES_ON_FAILURE",
    "XLA_PYTHON_CLIENT_USE_TFRT_GPU_CLIENT",
    "TF_FORCE_UNIFIED_MEMORY",
    "XLA_FLAGS",
    create_options,
};

const JaxlibRules& jaxlib_of(xla_gpu::Version version) {
  const auto all = all_jaxlib_rules();
  return version == xla_gpu::Version::classic || version == xla_gpu::Version::classic_align ? all[all.size() - 2]
                                                                                            : all.back();
}

// JAX_PJRT_CLIENT_CREATE_OPTIONS: "key:value;key:value", all of it text, over what the option function said. The plugin
// takes text for texts only.
tl::expected<void, std::string> take_create_options(std::string_view text, PluginOptions& options) {
  constexpr std::string_view not_texts[] = {"memory_fraction",
                                            "preallocate",
                                            "collective_memory_size",
                                            "abort_collectives_on_failure",
                                            "use_tfrt_gpu_client",
                                            "num_nodes",
                                            "node_id",
                                            "visible_devices",
                                            "should_stage_host_to_device_transfers"};
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const std::size_t colon = item.find(':');
    if (colon == item.npos || item.find(':', colon + 1) != item.npos)
      return Refusal(
          fmt::format("{}: '{}' is not key:value, which ends JAX with a RuntimeError", create_options, item));
    const std::string_view key = item.substr(0, colon), value = item.substr(colon + 1);
    if (key == "allocator")
      options.allocator = value;
    else if (std::find(std::begin(not_texts), std::end(not_texts), key) != std::end(not_texts))
      return Refusal(fmt::format("{}: {} is no text, and all that is given here is: the plugin refuses it{}",
                                 create_options, key, falls_back));
    else if (key != "platform_name")
      return Refusal(fmt::format("{}: the plugin knows no '{}' and refuses it{}", create_options, key, falls_back));
  }
  return {};
}

// As tsl::ReadBoolFromEnvVar: what it can't read is logged, and counts as false.
bool is_unified(std::span<const Setting> settings, std::vector<std::string>& notes) {
  std::string value(find_setting(settings, "TF_FORCE_UNIFIED_MEMORY").value_or("0"));
  for (char& c : value) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (value == "1" || value == "true") return true;
  if (value != "0" && value != "false")
    notes.push_back(fmt::format("TF_FORCE_UNIFIED_MEMORY={} is none of 0, 1, false, true, and counts as false", value));
  return false;
}

// Of several of one flag the last counts.
tl::expected<bool, std::string> is_partitioned(std::span<const Setting> settings) {
  const auto flags = find_setting(settings, "XLA_FLAGS");
  if (!flags) return true;
  const std::size_t at = flags->rfind(jax_partitioning_flag);
  if (at == flags->npos)
    return Refusal("of XLA_FLAGS only " + std::string(jax_partitioning_flag) + "... is known here");
  const std::string_view value = flags->substr(at + jax_partitioning_flag.size());
  return !value.starts_with("false") && !value.starts_with("0");
}

tl::expected<double, std::string> fraction_of(const PluginOptions& plugin, bool unified) {
  if (!plugin.memory_fraction) return 0.75;
  // What crosses the C interface is a float32: .9 is 0.899999976...
  const auto fraction = static_cast<double>(static_cast<float>(*plugin.memory_fraction));
  if (!(fraction > 0) || std::isinf(fraction)) return Refusal(fmt::format("a fraction of {} leaves no pool", fraction));
  if (fraction > 1 && !unified)
    return Refusal(
        fmt::format("a fraction of {} is more than the device has: that needs TF_FORCE_UNIFIED_MEMORY=1", fraction));
  if (fraction > 1024) return Refusal(fmt::format("a fraction of {} is beyond reason", fraction));
  return fraction;
}

struct Front {
  PluginOptions plugin;
  bool unified = false, partitioned = true;
  double fraction = 0.75;
};

tl::expected<Front, std::string> read_front(std::span<const Setting> settings, const JaxlibRules& rules,
                                            std::vector<std::string>& notes) {
  for (const Setting& setting : settings)
    if (std::find(std::begin(known_settings), std::end(known_settings), setting.name) == std::end(known_settings))
      return Refusal(fmt::format("{} is not known here", setting.name));
  Front front;
  const auto plugin = plugin_options(settings, rules);
  if (!plugin) return Refusal(fmt::format("jaxlib raises a ValueError (\"{}\"){}", plugin.error(), falls_back));
  front.plugin = *plugin;
  if (const auto text = find_setting(settings, create_options))
    if (const auto taken = take_create_options(*text, front.plugin); !taken) return Refusal(taken.error());
  front.unified = is_unified(settings, notes);
  const auto partitioned = is_partitioned(settings);
  if (!partitioned) return Refusal(partitioned.error());
  front.partitioned = *partitioned;
  const auto fraction = fraction_of(front.plugin, front.unified);
  if (!fraction) return Refusal(fraction.error());
  front.fraction = *fraction;
  return front;
}

std::uint64_t rounded_limit(double bytes, std::uint64_t granularity) {
  const auto limit = static_cast<std::uint64_t>(bytes);
  return (limit + granularity - 1) / granularity * granularity;
}

}  // namespace

std::span<const std::string_view> jax_setting_names() {
  return known_settings;
}

tl::expected<JaxMemory, std::string> memory_from_settings(std::span<const Setting> settings, std::uint64_t device_bytes,
                                                          xla_gpu::Version version) {
  JaxMemory memory;
  const auto front = read_front(settings, jaxlib_of(version), memory.notes);
  if (!front) return Refusal(front.error());
  const bool preallocates = front->plugin.preallocate.value_or(true);
  // Since memory is mapped in pieces of 2 MiB (June 2026), limit and regions are multiples of that.
  memory.granularity = version == xla_gpu::Version::classic ? 1 : granularity_of_2026;
  memory.is_unified = front->unified;
  const auto total = static_cast<double>(device_bytes);
  const double share = front->unified ? std::max(1.0, front->fraction) : front->fraction;
  const std::uint64_t limit = rounded_limit(total * share, memory.granularity);

  const std::string& name = front->plugin.allocator;
  if (name == "platform" || name == "address" || name == "vmm") {
    if (name == "vmm") memory.notes.push_back("vmm is taken for platform: memory of its own for each buffer");
    platform::Options options;
    options.granularity_bytes = version == xla_gpu::Version::classic ? granularity_of_cuda_malloc : granularity_of_2026;
    memory.options = options;
    return memory;
  }
  if (name == "cuda_async") {
    cuda_async::Options options;
    options.release_threshold_bytes = limit;
    options.reserved_bytes = preallocates ? limit : 0;
    memory.options = options;
    return memory;
  }
  if (name != "default" && name != "bfc")
    return Refusal(fmt::format("allocator '{}' is not supported by the plugin{}", name, falls_back));

  const bool has_two_ends = xla_gpu::rules_of(version).is_spatial && preallocates && front->partitioned;
  if (xla_gpu::rules_of(version).is_spatial && !has_two_ends) version = xla_gpu::Version::classic_align;
  xla_gpu::Options options;
  options.version = version;
  options.allow_growth = !preallocates;
  options.limit_bytes = limit;
  if (const char* fault = find_fault_of(options)) return Refusal(fault);
  memory.options = options;
  const std::int64_t collective = front->plugin.collective_memory_bytes.value_or(0);
  if (has_two_ends) {
    if (collective != 0)
      memory.notes.push_back(
          "XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB has no effect: collective memory is the upper end");
  } else {
    memory.is_collective_preallocated = collective > 0;
    memory.collective_limit_bytes = collective > 0 ? static_cast<std::uint64_t>(collective)
                                                   : rounded_limit(total * std::max(0.0, 1.0 - front->fraction), 1);
  }
  return memory;
}

}  // namespace hbmscope::allocator
