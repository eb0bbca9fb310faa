#include "app/cli/options.h"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "analysis/model/time_unit.h"
#include "analysis/units/format.h"
#include "app/cli/moment_option.h"

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
  return is_count ? std::string() : fmt::format("'{}' is no count: write a whole number, 0 or more", text);
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

CLI::Option* add_seconds_option(CLI::App& command, const std::string& name, double& seconds, const std::string& help,
                                SecondsRange range) {
  const auto in_seconds = [range](std::string& text) {
    const auto given = parse_seconds(text);
    if (!given)
      return fmt::format("'{}' is no length of time: write seconds, or a number and ms, s, m or h, as in 90s", text);
    if (*given < range.least || *given > range.most)
      return fmt::format("'{}' is not between {}s and {}s", text, range.least, range.most);
    text = fmt::format("{}", *given);
    return std::string();
  };
  return command.add_option(name, seconds, help)->transform(CLI::Validator(in_seconds, ""))->type_name("TIME");
}

void add_max_size_option(CLI::App& command, std::string& max_size) {
  command.add_option("--max-size", max_size, "Stop a file that inflates beyond this, e.g. 16GiB")
      ->capture_default_str();
}

void add_max_memory_option(CLI::App& command, std::string& max_memory) {
  command
      .add_option("--max-memory", max_memory,
                  "Of a running job: what its events may take of this machine's memory; more goes to a file without a "
                  "name, and is read again when it is asked for; 0: no limit")
      ->capture_default_str()
      ->check([](const std::string& text) {
        const auto bytes = parse_bytes(text);
        if (!bytes) return bytes.error().text();
        return *bytes >= 0 ? std::string() : fmt::format("'{}' is less than nothing: 0 is no limit", text);
      });
}

void add_view_options(CLI::App& command, ViewOptions& options) {
  const auto group = [&](CLI::Option* option, const char* name) { option->group(name); };
  ViewRequest& request = options.request;
  group(command.add_option("--where", request.where, "Filter, e.g. 'size>1GiB stack:adam device:0 -kind:executable'"),
        "Filters");
  group(command.add_option("--focus", request.focus, "Keep stacks with a frame that matches this regular expression"),
        "Filters");
  group(command.add_option("--ignore", request.ignore, "Drop stacks with a frame that matches"), "Filters");
  group(command.add_option("--hide", request.hide, "Remove matching frames from stacks"), "Filters");
  group(command.add_option("--show", request.show, "Remove all other frames from stacks"), "Filters");
  group(command.add_option("--value", request.value_type,
                           "Which values, e.g. alloc_space; of a trace live (default) or allocated, up to the moment"),
        "Filters");
  group(command.add_flag("--keep-dropped-frames", request.keep_dropped_frames,
                         "Keep what the profile's drop_frames drops; of a trace also the Python interpreter's frames"),
        "Filters");
  group(command.add_flag("--relative", options.relative, "Shares of what the filter leaves, not of the whole profile"),
        "Filters");
  add_moment_option(command, "--at", options.at,
                    "The moment of a trace: start, end, peak, oom, 12.5s since the first event, or #EVENT");
  command.add_option("--what-if", options.what_if,
                     "KEY=VALUE, several times: of a TPU workload, emulated with that changed, as in tpu run; of two "
                     "files the second");
  add_max_size_option(command, options.max_size);
}

std::string label_key_of(const std::string& by) {
  if (by == "device" || by == "kind") return by;
  if (by.starts_with("label:")) return by.substr(6);
  return {};
}

Result<FrameBy> parse_frame_by(const std::string& by) {
  for (const Name& known : frame_names)
    if (known.text == by) return known.by;
  return Failure(Error{fmt::format("rows can't be grouped by '{}'", by),
                       "Known: function, line, file, package, address, device, kind, label:KEY.",
                       {},
                       {},
                       false});
}

}  // namespace hbmscope::cli
