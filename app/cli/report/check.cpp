// hbmscope check: was this file read completely, and was anything unusual in it?
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/summary.h"
#include "analysis/document/json.h"
#include "analysis/query/heap_rows.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

std::string head_text(const Source& source) {
  const Profile& profile = *source.profile;
  const std::string name = printable(profile.files.front());
  const std::string size = text_from_bytes(static_cast<std::int64_t>(profile.file_bytes));
  if (source.trace)
    return fmt::format("{}: {}, {} on disk, {} events", name, source.trace->format, size,
                       text_from_count(static_cast<std::int64_t>(compute_event_counts(*source.trace).total)));
  return fmt::format("{}: pprof, {} on disk, {} inflated", name, size,
                     text_from_bytes(static_cast<std::int64_t>(profile.inflated_bytes)));
}

std::string check_text(const Source& source, const Terminal& terminal) {
  const Profile& profile = *source.profile;
  std::string text = terminal.paint(head_text(source), Ink::bold) + "\n";
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
  SkippedFiles skipped;
  for (const NamedFile& file : *files) {
    const auto sources = load_sources({file.path}, {options.max_size, {}, {}});
    if (!sources && is_skipped(file, sources.error(), skipped)) continue;
    if (!sources) {
      // Check the other files too, so that all errors are shown.
      code = fail(sources.error());
      json["files"].push_back({{"file", file.path}, {"error", sources.error().text()}, {"import", nullptr}});
      continue;
    }
    const Source& source = sources->front();
    const Profile& profile = *source.profile;
    text += (text.empty() ? "" : "\n") + check_text(source, terminal);
    json["files"].push_back({{"file", file.path},
                             {"format", source.trace ? source.trace->format : "pprof"},
                             {"file_bytes", profile.file_bytes},
                             {"inflated_bytes", profile.inflated_bytes},
                             {"error", nullptr},
                             {"import", json_from_table(describe_import(profile.import))}});
  }
  if (json["files"].empty() && !skipped.empty()) return fail(skipped.nothing_opens());
  print_skipped(skipped);
  if (!print_to_stdout(options.json ? text_from_json(json) : text)) return exit_unreadable;
  return code;
}

}  // namespace hbmscope::cli
