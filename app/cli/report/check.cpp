// hbmscope check: was this file read completely, and was anything unusual in it?
#include <algorithm>

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
    return fmt::format("{}: {}, {} on disk, {}", name, source.trace->format, size,
                       text_from_count_of(compute_event_counts(*source.trace).total, "event"));
  return fmt::format("{}: pprof, {} on disk, {} inflated", name, size,
                     text_from_bytes(static_cast<std::int64_t>(profile.inflated_bytes)));
}

// The first of the worst; null if nothing was repaired, left out or lost.
const ImportStatistic* worst_of(const ImportStatistics& import) {
  const auto& rows = import.rows();
  const auto worst =
      std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.severity < b.severity; });
  return worst == rows.end() || worst->severity < Severity::warning ? nullptr : &*worst;
}

Sentence sentence_of(const ImportStatistic* worst) {
  if (worst == nullptr) return {.text = "Complete.", .tone = Tone::good};
  return {.text = fmt::format("Incomplete: {}", worst->remedy.empty() ? worst->name : worst->remedy),
          .tone = Tone::bad};
}

}  // namespace

int run_check(const CheckOptions& options) {
  const auto files = expand_files(options.files);
  if (!files) return fail(files.error());
  const TextStyle style = Terminal::of_stdout().style();
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
    const ImportStatistic* worst = worst_of(profile.import);
    if (worst != nullptr && code == exit_ok) code = exit_gate_failed;
    text +=
        (text.empty() ? "" : "\n") +
        text_from_document(
            Document{.title = head_text(source)}.add(sentence_of(worst)).add(describe_import(profile.import)), style);
    json["files"].push_back({{"file", file.path},
                             {"format", source.trace ? source.trace->format : "pprof"},
                             {"file_bytes", profile.file_bytes},
                             {"inflated_bytes", profile.inflated_bytes},
                             {"error", nullptr},
                             {"complete", worst == nullptr},
                             {"import", json_from_table(describe_import(profile.import))}});
  }
  if (json["files"].empty() && !skipped.empty()) return fail(skipped.nothing_opens());
  print_skipped(skipped);
  if (!print_to_stdout(options.json ? text_from_json(json) : text)) return exit_unreadable;
  return code;
}

}  // namespace hbmscope::cli
