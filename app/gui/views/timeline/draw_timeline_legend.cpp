#include "app/gui/views/timeline/draw_timeline_legend.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/legend_line.h"
#include "app/gui/views/heap_map/legend_filter.h"

namespace hbmscope::gui {
namespace {

// The filters of the heap map's legend, while both have one coloring.
struct MapParts {
  const HeapSpans* spans = nullptr;
  std::vector<std::string> parts;

  std::string part_of(const std::string& name) const {
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (spans->legend[i].name == name) return parts[i];
    return {};
  }
};
MapParts parts_of_map(const AppState& state, const StackedBands& bands) {
  const auto& map = state.answers().heap_map.value;
  if (map == nullptr || map->spans.coloring != bands.course().query().coloring) return {};
  if (!(map->heap == bands.course().query().heap)) return {};
  return {&map->spans, parts_of_legend(*map->moment->trace, map->heap, map->spans)};
}

// More than any band: a line is a few words, and nothing else says what it is.
constexpr double always = std::numeric_limits<double>::max();

void add_lines(const Look& look, const TimelinePicture& picture, const TimelineOverlay* overlay,
               std::vector<LegendEntry>& entries) {
  const TimelineColumns& source = picture.source;
  if (has_pool_line(picture))
    entries.push_back({"##pool", "pool",
                       "The size of the pool, at most " + text_from_bytes(source.pool_most) + " here.",
                       look.role(Role::text, 0.8F), always, Swatch::line, false});
  if (source.knows_requested)
    entries.push_back({"##requested", "requested",
                       "What the program requested: what is in use without rounding, at the most of each pixel.",
                       look.role(Role::rounding), always, Swatch::line, false});
  if (std::any_of(picture.pixels.begin(), picture.pixels.end(),
                  [](const TimelineColumn& one) { return one.is_inexact || one.is_skipped; }))
    entries.push_back({"##lost", "events lost", "Hatched: the figures are those from before the loss.",
                       look.role(Role::dim_text), 1, Swatch::hatch, false});
  if (overlay != nullptr)
    entries.push_back({"##overlay", overlay->what.words,
                       "In use there" +
                           std::string(overlay->what.is_by_requests ? ", after the same number of requests" : "") +
                           ": at most " + text_from_bytes(overlay->columns->in_use_most) + " here.",
                       look.role(Role::text), always, Swatch::line, false});
}

}  // namespace

std::optional<Shade> draw_timeline_legend(const AppState& state, const Look& look, const TimelinePicture& picture,
                                          const StackedBands* bands, const TimelineOverlay* overlay,
                                          const std::string& more, CommandQueue& commands) {
  std::vector<LegendEntry> entries;
  std::vector<Shade> shades;
  const MapParts map = bands != nullptr ? parts_of_map(state, *bands) : MapParts();
  const std::string& where = state.position().request.where;
  for (const Shade shade : bands != nullptr ? bands->order() : std::vector<Shade>()) {
    std::uint64_t most = 0;
    for (const Composition& column : bands->pixels()) most = std::max(most, column.bytes[shade]);
    if (most == 0) continue;
    const std::string name = bands->name_of(shade), part = map.part_of(name);
    const bool is_chosen = name == state.position().lit || has_part(where, part);
    entries.push_back({name, name,
                       name + ": at most " + text_from_bytes(most) + " here" +
                           (part.empty() ? "" : "\nClick to show only these in all views (" + part + ")"),
                       look.color(color_of_shade(look.theme, bands->course().query().coloring, shade)),
                       static_cast<double>(most), Swatch::full, is_chosen});
    shades.push_back(shade);
  }
  add_lines(look, picture, overlay, entries);
  const float room = ImGui::GetContentRegionAvail().x;
  const float behind =
      more.empty() ? 0 : std::min(room / 3, ImGui::CalcTextSize(more.c_str()).x + ImGui::GetFontSize());
  const LegendPick pick = draw_legend_line(look, entries, behind);
  if (!more.empty()) draw_rest_of_line(more, 0);
  if (!more.empty()) tooltip(more);
  const auto is_band = [&](const std::optional<std::size_t>& picked) { return picked && *picked < shades.size(); };
  if (is_band(pick.clicked)) {
    const std::string& name = entries[*pick.clicked].id;
    const std::string part = map.part_of(name);
    if (part.empty())
      commands.push(command::set_lit, name);
    else
      commands.push(command::set_filter, toggle_part(where, map.parts, part));
  }
  return is_band(pick.hovered) ? std::optional(shades[*pick.hovered]) : std::nullopt;
}

}  // namespace hbmscope::gui
