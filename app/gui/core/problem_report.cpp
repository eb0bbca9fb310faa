#include "app/gui/core/problem_report.h"

#include <filesystem>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {
namespace {

std::string line_of(const Source& source) {
  const std::string kind =
      source.live ? "running job" : "file " + std::filesystem::path(source.path).extension().string();
  if (source.state == AnswerState::failed) return kind + ", can't be read: " + source.error.what;
  if (source.state == AnswerState::pending) return kind + ", being read";
  if (!source.trace)
    return fmt::format("{}, {} samples", kind,
                       text_from_count(static_cast<std::int64_t>(source.profile->sample_count())));
  std::uint64_t events = 0, heaps = 0, failures = 0;
  for (const Stream& stream : source.trace->streams) {
    events += stream.counts().total;
    heaps += stream.definitions().heaps().size() - 1;
    failures += stream.failures().size();
  }
  return fmt::format("{}, {} events in {} streams, {} heaps, {} failures", kind, events, source.trace->streams.size(),
                     heaps, failures);
}

}  // namespace

std::string problem_report(const AppState& state) {
  std::string text =
      fmt::format("{}\nsystem: {}\ntheme: {}, text {:.0f} %\n", state.about.empty() ? "hbmscope" : state.about,
                  state.graphics.empty() ? "unknown" : state.graphics, text_from_theme(state.settings.theme),
                  state.settings.text_scale * 100);
  text += fmt::format("view: {}{}{}\n", row_of(state.position().view).key, state.is_split() ? ", side by side" : "",
                      state.window.maximised ? ", maximised" : "");
  for (const Source& source : state.sources) text += "open: " + line_of(source) + "\n";
  return text + "What I did, what I expected, what happened instead:\n";
}

}  // namespace hbmscope::gui
