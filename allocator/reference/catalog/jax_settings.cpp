#include "allocator/reference/catalog/jax_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace hbmscope::allocator {
namespace {

using Refusal = tl::unexpected<std::string>;

constexpr std::uint64_t granularity_of_2026 = std::uint64_t{2} << 20;
constexpr std::uint64_t granularity_of_cuda_malloc = 512;
constexpr std::string_view host_limit = "XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB";
constexpr std::string_view host_preallocate = "XLA_PJRT_GPU_HOST_MEMORY_PREALLOCATE";
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
    host_limit,
    host_preallocate,
    "XLA_FLAGS",
    create_options,
};

const JaxlibRules& jaxlib_of(xla_gpu::Version version) {
  const auto all = all_jaxlib_rules();
  return version == xla_gpu::Version::classic || version == xla_gpu::Version::classic_align ? all[all.size() - 2]
                                                                                            : all.back();
}

// JAX_PJRT_CLIENT_CREATE_OPTIONS: "key:value;key:value", overrides the option function. All values are strings, and the
// plugin accepts strings only for string options.
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

// Like tsl::ReadBoolFromEnvVar: a value that it can't parse is logged and counts as false.
bool read_bool(std::span<const Setting> settings, std::string_view name, std::vector<std::string>& notes) {
  std::string value(find_setting(settings, name).value_or("0"));
  for (char& c : value) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (value == "1" || value == "true") return true;
  if (value != "0" && value != "false")
    notes.push_back(fmt::format("{}={} is none of 0, 1, false, true, and counts as false", name, value));
  return false;
}

// If the flag occurs more than once, the last one counts.
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
  // The C interface passes a float32: .9 becomes 0.899999976...
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
      return Refusal(fmt::format("unknown setting {}", setting.name));
  Front front;
  const auto plugin = plugin_options(settings, rules);
  if (!plugin) return Refusal(fmt::format("jaxlib raises a ValueError (\"{}\"){}", plugin.error(), falls_back));
  front.plugin = *plugin;
  if (const auto text = find_setting(settings, create_options))
    if (const auto taken = take_create_options(*text, front.plugin); !taken) return Refusal(taken.error());
  front.unified = read_bool(settings, "TF_FORCE_UNIFIED_MEMORY", notes);
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

// Whether one region serves both memory spaces, from its two ends.
bool has_two_ends(const Front& front, xla_gpu::Version version) {
  return xla_gpu::rules_of(version).is_spatial && front.plugin.preallocate.value_or(true) && front.partitioned;
}

// JAX's separate pool of collective memory.
void take_collective(const Front& front, std::uint64_t device_bytes, JaxMemory& memory) {
  const std::int64_t collective_bytes = front.plugin.collective_memory_bytes.value_or(0);
  memory.is_collective_preallocated = collective_bytes > 0;
  memory.collective_limit_bytes =
      collective_bytes > 0
          ? static_cast<std::uint64_t>(collective_bytes)
          : static_cast<std::uint64_t>(static_cast<double>(device_bytes) * std::max(0.0, 1.0 - front.fraction));
}

// Like tsl::ReadInt64FromEnvVar: a value that it can't parse is logged, and the default applies.
std::int64_t read_gib(std::span<const Setting> settings, std::int64_t usual, std::vector<std::string>& notes) {
  const auto text = find_setting(settings, host_limit);
  if (!text || text->empty()) return usual;
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), value);
  if (parsed.ec == std::errc() && parsed.ptr == text->data() + text->size()) return value;
  notes.push_back(fmt::format("{}={} is not a whole number, and counts as {}", host_limit, *text, usual));
  return usual;
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
  // Since memory is mapped in units of 2 MiB (June 2026), limit and regions are multiples of that.
  memory.granularity = version == xla_gpu::Version::classic ? 1 : granularity_of_2026;
  memory.is_unified = front->unified;
  const auto total = static_cast<double>(device_bytes);
  const double share = front->unified ? std::max(1.0, front->fraction) : front->fraction;
  const std::uint64_t limit = rounded_limit(total * share, memory.granularity);

  const std::string& name = front->plugin.allocator;
  if (name == "vmm") {
    // The fraction of the total memory, not rounded and never claimed at once.
    memory.options = vmm::Options{static_cast<std::uint64_t>(total * front->fraction), granularity_of_2026};
    return memory;
  }
  if (name == "platform" || name == "address") {
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
    take_collective(*front, device_bytes, memory);
    return memory;
  }
  if (name != "default" && name != "bfc")
    return Refusal(fmt::format("allocator '{}' is not supported by the plugin{}", name, falls_back));

  const bool two_ends = has_two_ends(*front, version);
  if (xla_gpu::rules_of(version).is_spatial && !two_ends) version = xla_gpu::Version::classic_align;
  xla_gpu::Options options;
  options.version = version;
  options.allow_growth = !preallocates;
  options.limit_bytes = limit;
  if (const char* fault = find_fault_of(options)) return Refusal(fault);
  memory.options = options;
  if (!two_ends)
    take_collective(*front, device_bytes, memory);
  else if (front->plugin.collective_memory_bytes.value_or(0) != 0)
    memory.notes.push_back(
        "XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB has no effect: collective memory is the upper end");
  return memory;
}

tl::expected<JaxMemory, std::string> collective_memory_from_settings(std::span<const Setting> settings,
                                                                     std::uint64_t device_bytes,
                                                                     xla_gpu::Version version) {
  auto memory = memory_from_settings(settings, device_bytes, version);
  if (!memory) return memory;
  const auto* xla = std::get_if<xla_gpu::Options>(&memory->options);
  if (xla != nullptr && xla_gpu::rules_of(xla->version).is_spatial)
    return Refusal(fmt::format(
        "with two ends collective memory is the upper end of the one pool, which xla_gpu is; it has a pool of its own "
        "with XLA_PYTHON_CLIENT_PREALLOCATE=false or XLA_FLAGS={}false",
        jax_partitioning_flag));
  if (xla == nullptr && !std::holds_alternative<cuda_async::Options>(memory->options))
    return Refusal("with platform and vmm JAX has no pool for collective memory");
  xla_gpu::Options options;
  options.pool = xla_gpu::Pool::collective;
  options.version = xla_gpu::rules_of(version).is_spatial ? xla_gpu::Version::classic_align : version;
  options.allow_growth = !memory->is_collective_preallocated;
  options.limit_bytes = memory->collective_limit_bytes;
  if (const char* fault = find_fault_of(options)) return Refusal(fault);
  memory->options = options;
  memory->collective_limit_bytes = 0;
  memory->notes.push_back("what the pool for default memory takes of the device is not taken here");
  return memory;
}

tl::expected<JaxMemory, std::string> pinned_memory_from_settings(std::span<const Setting> settings,
                                                                 std::uint64_t device_bytes, xla_gpu::Version version) {
  auto memory = memory_from_settings(settings, device_bytes, version);
  if (!memory) return memory;
  xla_gpu::Options options;
  options.pool = xla_gpu::Pool::pinned_host;
  options.version = xla_gpu::rules_of(version).is_spatial ? xla_gpu::Version::classic_align : version;
  const bool preallocates = read_bool(settings, host_preallocate, memory->notes);
  const std::int64_t gib = read_gib(settings, preallocates ? 16 : 64, memory->notes);
  if (gib <= 0 || gib > (std::int64_t{1} << 30)) return Refusal(fmt::format("{}={} leaves no pool", host_limit, gib));
  options.allow_growth = !preallocates;
  options.limit_bytes = static_cast<std::uint64_t>(gib) << 30;
  memory->options = options;
  memory->granularity = 1;
  memory->is_unified = true;  // The device's size is not a limit.
  memory->collective_limit_bytes = 0;
  return memory;
}

}  // namespace hbmscope::allocator
