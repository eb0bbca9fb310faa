// hbmscope check: is this file whole, and what did the import meet?
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

std::string check_text(const Profile& profile, const Terminal& terminal) {
  std::string text = terminal.paint(fmt::format("{}: pprof, {} on disk, {} inflated", printable(profile.files.front()),
                                                text_from_bytes(static_cast<std::int64_t>(profile.file_bytes)),
                                                text_from_bytes(static_cast<std::int64_t>(profile.inflated_bytes))),
                                    Ink::bold) +
                     "\n";
  std::size_t width = 4;
  for (const ImportStatistic& statistic : profile.import.rows()) width = std::max(width, statistic.name.size());
  text += terminal.paint(fmt::format("{}  {:>8}  {:>12}  what it means", pad_right("name", width), "severity", "count"),
                         Ink::dim) +
          "\n";
  for (const ImportStatistic& statistic : profile.import.rows()) {
    const Ink ink = statistic.severity >= Severity::warning ? Ink::bad : Ink::plain;
    std::string line = fmt::format("{}  {}  {:>12}", pad_right(statistic.name, width),
                                   terminal.paint(pad_left(text_from_severity(statistic.severity), 8), ink),
                                   text_from_count(statistic.count));
    if (!statistic.remedy.empty()) line += "  " + statistic.remedy;
    if (!statistic.example.empty()) line += fmt::format(" First: {}.", printable(statistic.example));
    text += line + "\n";
  }
  return text;
}

}  // namespace

int run_check(const CheckOptions& options) {
  const auto files = expand_files(options.files);
  if (!files) return fail(files.error());
  const Terminal terminal = Terminal::of_stdout();
  nlohmann::ordered_json json = {{"schema", json_schema}, {"files", nlohmann::ordered_json::array()}};
  std::string text;
  int code = exit_ok;
  for (const std::string& file : *files) {
    const auto profiles = load_profiles({file}, options.max_size);
    if (!profiles) {
      // The others are still checked: the point is to hear about all of them.
      code = fail(profiles.error());
      json["files"].push_back({{"file", file}, {"error", profiles.error().text()}, {"import", nullptr}});
      continue;
    }
    const Profile& profile = *profiles->front();
    text += (text.empty() ? "" : "\n") + check_text(profile, terminal);
    json["files"].push_back({{"file", file},
                             {"format", "pprof"},
                             {"file_bytes", profile.file_bytes},
                             {"inflated_bytes", profile.inflated_bytes},
                             {"error", nullptr},
                             {"import", json_from_import(profile.import)}});
  }
  if (!print_to_stdout(options.json ? text_from_json(json) : text)) return exit_unreadable;
  return code;
}

}  // namespace hbmscope::cli
