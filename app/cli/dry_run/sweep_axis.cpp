#include "app/cli/dry_run/sweep_axis.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "analysis/units/utf8.h"

namespace hbmscope::cli {
namespace {

constexpr std::int64_t range_end_max = 1'000'000'000'000'000;

}  // namespace

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<std::int64_t> number_from(const std::string& text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<SweepAxis> sweep_axis_from(const std::string& text) {
  const std::size_t equals = text.find('=');
  const auto wrong = [&](const std::string& what) {
    return Failure(refusal(fmt::format("--sweep '{}': {}", printable(text), what),
                           "Write e.g. --sweep batch=4,8,16, or with --largest batch: --sweep batch=1..64."));
  };
  if (equals == std::string::npos || equals == 0) return wrong("it has no name");
  SweepAxis axis{text.substr(0, equals), {}, false};
  const std::string values = text.substr(equals + 1);
  const std::size_t dots = values.find("..");  // Paths have them, too: ../data
  const auto first = number_from(values.substr(0, dots));
  const auto last = dots == std::string::npos ? std::nullopt : number_from(values.substr(dots + 2));
  if (first && last) {
    if (*first >= *last) return wrong("a range goes from a whole number to a larger one");
    if (*first < -range_end_max || *last > range_end_max) return wrong("the range is too large");
    return SweepAxis{axis.name, {values.substr(0, dots), values.substr(dots + 2)}, true};
  }
  axis.values = split(values, ',');
  for (auto value = axis.values.begin(); value != axis.values.end(); ++value) {
    if (value->empty()) return wrong("a value is empty");
    if (std::find(axis.values.begin(), value, *value) != value) return wrong(printable(*value) + " is listed twice");
  }
  return axis;
}

Result<std::vector<std::string>> command_with(const std::vector<std::string>& command,
                                              const std::vector<SweepValue>& values) {
  std::vector<std::string> words = command;
  for (const SweepValue& value : values) {
    const std::string placeholder = "{" + value.name + "}";
    bool is_found = false;
    for (std::string& word : words)
      for (std::size_t at = 0; (at = word.find(placeholder, at)) != std::string::npos; at += value.value.size()) {
        word.replace(at, placeholder.size(), value.value);
        is_found = true;
      }
    if (!is_found)
      return Failure(refusal(
          fmt::format("the command has no {}, so all values of --sweep would be the same run", printable(placeholder)),
          fmt::format("Write it where the value belongs: -- python train.py --{} {}.", value.name, placeholder)));
  }
  return words;
}

}  // namespace hbmscope::cli
