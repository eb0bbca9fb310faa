#include "app/gui/core/read_so_far.h"

#include <algorithm>

#include "analysis/query/heap_rows.h"
#include "analysis/units/format.h"

namespace hbmscope::gui {
namespace {

bool has_note(const Trace& trace, std::string_view name) {
  const auto& rows = trace.import.rows();
  return std::any_of(rows.begin(), rows.end(), [&](const ImportStatistic& row) { return row.name == name; });
}

// Entries that have an event number but were not recorded as allocation events: markers, counters, attributes, and
// frees that a reader inferred.
std::string marks_of(const Trace& trace, const EventCounts& counts) {
  std::uint64_t places = 0, marks = 0;
  for (const Stream& stream : trace.streams) {
    places += stream.end_position();
    marks += stream.marks().size();
  }
  const std::uint64_t known = counts.total + counts.lost + counts.skipped;
  if (places <= known) return {};
  const std::uint64_t rest = places - known;
  if (rest == marks) return " and " + text_from_count_of(rest, "marker");
  return " and " + text_from_count(rest) + (rest == 1 ? " other entry" : " other entries");
}

}  // namespace

ReadSoFar read_so_far(const Source& source) {
  const Trace& trace = *source.trace;
  const EventCounts counts = compute_event_counts(trace);
  const std::uint64_t damaged = counts.damaged_blocks + counts.missing_blocks;
  ReadSoFar taken;
  if (counts.lost > 0) {
    taken.words = text_from_count(counts.total) + " of " + text_from_count_of(counts.total + counts.lost, "event") +
                  ", " + text_from_count(counts.lost) + " lost";
  } else {
    taken.words = text_from_count_of(counts.total, "event") + marks_of(trace, counts);
  }
  if (counts.skipped > 0) taken.words += ", " + text_from_count(counts.skipped) + " skipped";
  if (damaged > 0) taken.words += ", " + text_from_count_of(damaged, "block") + " damaged";
  const auto& rows = trace.import.rows();
  const auto losses = static_cast<std::uint64_t>(std::count_if(
      rows.begin(), rows.end(), [](const ImportStatistic& row) { return row.severity == Severity::loss; }));
  taken.is_whole =
      counts.lost == 0 && counts.skipped == 0 && damaged == 0 && losses == 0 && !has_note(trace, "stopped_here");
  if (source.is_part())
    taken.words += " so far";
  else if (taken.is_whole)
    taken.words = "all " + taken.words;
  else if (counts.lost == 0 && damaged == 0)
    taken.words += ", incomplete";
  return taken;
}

}  // namespace hbmscope::gui
