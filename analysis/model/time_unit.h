// The units of durations that people type, directly after the number: "10ms".
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace hbmscope {

// Returns the length of the unit in nanoseconds.
inline std::optional<double> find_time_unit_ns(std::string_view name) {
  struct TimeUnit {
    std::string_view name;
    double ns;
  };
  constexpr std::array<TimeUnit, 9> units = {{{"ns", 1},
                                              {"us", 1e3},
                                              {"µs", 1e3},
                                              {"ms", 1e6},
                                              {"s", 1e9},
                                              {"m", 60e9},
                                              {"min", 60e9},
                                              {"h", 3600e9},
                                              {"d", 86400e9}}};
  for (const TimeUnit& unit : units)
    if (unit.name == name) return unit.ns;
  return std::nullopt;
}

}  // namespace hbmscope
