#include "analysis/query/driver_pools.h"

#include <map>
#include <string>
#include <string_view>

#include "analysis/model/clamped.h"
#include "collector/wire/reported_names.h"

namespace hbmscope {

std::optional<DriverPools> find_driver_pools(const Stream& stream, std::uint32_t heap, std::uint64_t position) {
  std::map<std::string, DriverPools, std::less<>> pools;  // By their names, "memory pool 1".
  for (const auto& [key, series] : stream.counters().series()) {
    if (key.second != heap) continue;
    const std::string_view name = stream.definitions().text(key.first);
    if (!name.starts_with(wire::pool_counter)) continue;
    const auto sample = series.at(position);
    if (!sample || sample->value < 0) continue;
    const auto bytes = static_cast<std::uint64_t>(sample->value);
    const auto of_pool = [&](std::string_view ending) -> DriverPools& {
      return pools[std::string(name.substr(0, name.size() - ending.size()))];
    };
    if (name.ends_with(wire::pool_reserved_ending))
      of_pool(wire::pool_reserved_ending).reserved_bytes = bytes;
    else if (name.ends_with(wire::pool_used_ending))
      of_pool(wire::pool_used_ending).used_bytes = bytes;
  }
  if (pools.empty()) return std::nullopt;
  DriverPools sum;
  for (const auto& [name, pool] : pools) {
    sum.reserved_bytes = clamped_sum(sum.reserved_bytes, pool.reserved_bytes);
    sum.used_bytes = clamped_sum(sum.used_bytes, pool.used_bytes);
    if (pool.reserved_bytes > pool.used_bytes)
      sum.kept_bytes = clamped_sum(sum.kept_bytes, pool.reserved_bytes - pool.used_bytes);
  }
  return sum;
}

}  // namespace hbmscope
