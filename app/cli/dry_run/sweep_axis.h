// What a sweep varies: placeholders of the command, and their values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

std::vector<std::string> split(const std::string& text, char separator);  // "a,,b" has three parts.
std::optional<std::int64_t> number_from(const std::string& text);         // A whole number, and nothing else.

// The values of one placeholder, in their order.
struct SweepAxis {
  std::string name;
  std::vector<std::string> values;  // A range 4..64, which only --largest takes, has its two ends.
  bool is_range = false;
};
// "batch=4,8,16" or "batch=1..64". Errors: no name, no value, an empty value, the same value twice, or a range that
// does not go from a whole number to a larger one.
Result<SweepAxis> sweep_axis_from(const std::string& text);

// The command with each {NAME} replaced by its value. Errors: no word of the command has {NAME}.
struct SweepValue {
  std::string name, value;
};
Result<std::vector<std::string>> command_with(const std::vector<std::string>& command,
                                              const std::vector<SweepValue>& values);

}  // namespace hbmscope::cli
