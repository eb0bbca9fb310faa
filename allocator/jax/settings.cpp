#include "allocator/jax/settings.h"

#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace hbmscope::allocator {
namespace {

constexpr std::uint64_t granularity_of_2026 = std::uint64_t{2} << 20;
constexpr std::string_view partitioning_flag = "--xla_gpu_enable_allocator_spatial_partitioning=";

struct Wanted {
  std::optional<double> fraction;
  bool preallocates = true, is_partitioned = true;
};
using Fault = tl::unexpected<std::string>;

// As Python's float(), then as a float32, which is what crosses the C interface: .9 is 0.899999976...
tl::expected<double, std::string> fraction_from(const Setting& setting) {
  double value = 0;
  const char* end = setting.value.data() + setting.value.size();
  const auto parsed = std::from_chars(setting.value.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(value > 0))
    return Fault(fmt::format("{}={} is no fraction; JAX would fall back to the CPU without a word", setting.name,
                             setting.value));
  if (value > 1)
    return Fault(fmt::format("{}={}: more than the device has needs unified memory", setting.name, setting.value));
  return static_cast<double>(static_cast<float>(value));
}

bool take_flags(const std::string& flags, Wanted& wanted) {
  const std::size_t at = flags.rfind(partitioning_flag);
  if (at == std::string::npos) return false;
  const std::string_view value = std::string_view(flags).substr(at + partitioning_flag.size());
  wanted.is_partitioned = !value.starts_with("false") && !value.starts_with("0");
  return true;
}

tl::expected<Wanted, std::string> wanted_from(std::span<const Setting> settings) {
  Wanted wanted;
  for (const Setting& setting : settings) {
    if (setting.name == "XLA_CLIENT_MEM_FRACTION" || setting.name == "XLA_PYTHON_CLIENT_MEM_FRACTION") {
      if (wanted.fraction)
        return Fault(
            "XLA_CLIENT_MEM_FRACTION and its deprecated name XLA_PYTHON_CLIENT_MEM_FRACTION are both set, "
            "which JAX refuses");
      const auto fraction = fraction_from(setting);
      if (!fraction) return Fault(fraction.error());
      wanted.fraction = *fraction;
    } else if (setting.name == "XLA_PYTHON_CLIENT_PREALLOCATE") {
      // Anything else that is not empty is true.
      wanted.preallocates = setting.value != "false" && setting.value != "False" && setting.value != "0";
    } else if (setting.name == "XLA_FLAGS") {
      if (!take_flags(setting.value, wanted))
        return Fault("of XLA_FLAGS only " + std::string(partitioning_flag) + "... is known here");
    } else {
      return Fault(fmt::format("{} is not known here", setting.name));
    }
  }
  return wanted;
}

}  // namespace

tl::expected<JaxPool, std::string> pool_from_settings(std::span<const Setting> settings, std::uint64_t device_bytes,
                                                      xla_gpu::Version version) {
  const auto wanted = wanted_from(settings);
  if (!wanted) return Fault(wanted.error());
  JaxPool pool;
  const bool has_two_ends = xla_gpu::rules_of(version).is_spatial && wanted->preallocates && wanted->is_partitioned;
  if (xla_gpu::rules_of(version).is_spatial && !has_two_ends) version = xla_gpu::Version::classic_align;
  pool.options.version = version;
  pool.options.allow_growth = !wanted->preallocates;
  const double fraction = wanted->fraction.value_or(0.75);
  pool.options.limit_bytes = static_cast<std::uint64_t>(static_cast<double>(device_bytes) * fraction);
  // Since memory is mapped in pieces of 2 MiB (June 2026), limit and regions are multiples of that.
  if (version != xla_gpu::Version::classic) {
    pool.granularity = granularity_of_2026;
    const std::uint64_t rest = pool.options.limit_bytes % granularity_of_2026;
    if (rest != 0) pool.options.limit_bytes += granularity_of_2026 - rest;
  }
  if (const char* fault = find_fault_of(pool.options)) return Fault(fault);
  return pool;
}

}  // namespace hbmscope::allocator
