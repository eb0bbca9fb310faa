#include "app/gui/views/heap_map/legend_filter.h"

#include <algorithm>

#include "analysis/query/block_find.h"
#include "app/gui/core/copy_as_command.h"

namespace hbmscope::gui {
namespace {

// The form in which where_of_both() writes the second part.
std::string as_second(std::string_view part) {
  return ") (" + std::string(part) + ")";
}

std::string without_part(std::string_view where, std::string_view part) {
  if (where == part) return {};
  const std::string second = as_second(part);
  return std::string(where.substr(1, where.size() - 1 - second.size()));
}

}  // namespace

std::vector<std::string> parts_of_legend(const Trace& trace, HeapKey heap, const HeapSpans& spans) {
  std::string of_heap;
  if (heaps_of(trace).size() > 1)
    of_heap = "heap=" + where_quote(trace.streams[heap.stream].definitions().heap(heap.heap).name) + " ";
  // With several streams, event numbers are ambiguous, because each stream counts its own events.
  const bool has_words = spans.coloring != HeapColoring::age || trace.streams.size() == 1;
  std::vector<std::string> parts;
  for (const ShadeEntry& entry : spans.legend)
    parts.push_back(has_words && !entry.where.empty() ? of_heap + entry.where : std::string());
  return parts;
}

bool has_part(std::string_view where, std::string_view part) {
  return !part.empty() && (where == part || (where.starts_with('(') && where.ends_with(as_second(part))));
}

std::string toggle_part(std::string_view where, std::span<const std::string> parts, std::string_view part) {
  const bool was_there = has_part(where, part);
  const auto chosen = std::find_if(parts.begin(), parts.end(), [&](const auto& one) { return has_part(where, one); });
  const std::string typed = chosen == parts.end() ? std::string(where) : without_part(where, *chosen);
  return was_there ? typed : where_of_both(where_from_find(typed), part);
}

}  // namespace hbmscope::gui
