#include "app/cli/options.h"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "analysis/model/time_unit.h"

namespace hbmscope::cli {
namespace {

struct Name {
  std::string_view text;
  FrameBy by;
};
constexpr std::array<Name, 5> frame_names = {{{"function", FrameBy::function},
                                              {"line", FrameBy::line},
                                              {"file", FrameBy::file},
                                              {"package", FrameBy::package},
                                              {"address", FrameBy::address}}};

}  // namespace

std::string find_count_fault(const std::string& text) {
  const bool is_count = !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
  return is_count ? std::string() : fmt::format("'{}' is not a whole number of 0 or more", text);
}

std::optional<double> parse_seconds(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  if (stop == end) return number;
  const auto unit_ns = find_time_unit_ns({stop, static_cast<std::size_t>(end - stop)});
  return unit_ns ? std::optional(number * *unit_ns / 1e9) : std::nullopt;
}

std::string label_key_of(const std::string& by) {
  if (by == "device" || by == "kind") return by;
  if (by.starts_with("label:")) return by.substr(6);
  return {};
}

Result<FrameBy> parse_frame_by(const std::string& by) {
  for (const Name& known : frame_names)
    if (known.text == by) return known.by;
  return Failure(refusal(fmt::format("cannot group rows by '{}'", by),
                         "Use function, line, file, package, address, device, kind or label:KEY."));
}

}  // namespace hbmscope::cli
