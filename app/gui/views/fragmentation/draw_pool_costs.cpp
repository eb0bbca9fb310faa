#include "app/gui/views/fragmentation/draw_pool_costs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/legend_line.h"

namespace hbmscope::gui {
namespace {

Role role_of(PoolCost cost) {
  switch (cost) {
    case PoolCost::kept: return Role::same;
    case PoolCost::pending: return Role::not_identified;
    case PoolCost::private_pools: return Role::collectives;
    case PoolCost::other_streams: return Role::inputs_outputs;
    case PoolCost::wrong_end: return Role::temporaries;
    case PoolCost::unsplit: return Role::code_constants;
    case PoolCost::rounding: return Role::rounding;
    case PoolCost::fragmentation: return Role::failure;
  }
  return Role::unexplained;
}

// At the selected time; of a running job that is followed, the last ones known. Null while they are computed.
const PoolCosts* find_shown(const AppState& state, const PoolCostsAnswer& course, std::uint64_t position) {
  const auto& here = state.answers().pool_costs_here;
  if (here.value && !here.value->times.empty() && here.value->heap == course.heap &&
      here.value->times.front().position == position)
    return &here.value->times.front();
  const bool follows = state.source() != nullptr && state.source()->live && state.position().is_at_end();
  return follows ? &course.times.back() : nullptr;
}

// Over time like the timeline; over events if the source has no times.
struct Plot {
  ImVec2 from, to;
  bool has_times = false;
  std::int64_t end = 1;    // The last time or event,
  std::uint64_t most = 1;  // and the largest pool.

  Plot(const std::vector<const PoolCosts*>& times, ImVec2 top_left, ImVec2 bottom_right)
      : from(top_left), to(bottom_right) {
    has_times = times.back()->since_start_ns.value_or(0) > 0;
    end = std::max<std::int64_t>(1, value_of(*times.back()));
    for (const PoolCosts* one : times) most = std::max(most, one->pool_bytes);
  }
  std::int64_t value_of(const PoolCosts& costs) const {
    return has_times ? costs.since_start_ns.value_or(0) : static_cast<std::int64_t>(costs.position);
  }
  // On whole pixels, so that neighbours have no seam.
  float x(std::int64_t value) const {
    const double share = std::clamp(static_cast<double>(value) / static_cast<double>(end), 0.0, 1.0);
    return std::floor(from.x + (to.x - from.x) * static_cast<float>(share));
  }
  float x(const PoolCosts& costs) const { return x(value_of(costs)); }
  float y(double bytes) const {
    return to.y - (to.y - from.y) * static_cast<float>(std::clamp(bytes / static_cast<double>(most), 0.0, 1.0));
  }
  // The last one at or before this x.
  const PoolCosts& at(const std::vector<const PoolCosts*>& times, float wanted) const {
    const auto after = std::upper_bound(times.begin(), times.end(), wanted,
                                        [&](float at, const PoolCosts* one) { return at < x(*one); });
    return after == times.begin() ? *times.front() : **(after - 1);
  }
};

// From what was requested, at the bottom, to the pool. A part below 0 has no band.
void draw_column(ImDrawList& draw, const Look& look, const Plot& plot, const PoolCosts& costs, float left,
                 float right) {
  double sum = 0;
  const auto band = [&](double bytes, ImU32 ink) {
    if (bytes <= 0) return;
    draw.AddRectFilled({left, plot.y(sum + bytes)}, {right, plot.y(sum)}, ink);
    sum += bytes;
  };
  band(static_cast<double>(costs.requested_bytes), look.role(Role::parameters));
  // Small parts are next to what was requested; what is merely kept is on top.
  for (auto part = costs.parts.rbegin(); part != costs.parts.rend(); ++part)
    band(static_cast<double>(part->bytes), look.role(role_of(part->cost)));
}

std::vector<LegendEntry> entries_of(const Look& look, const PoolCosts& costs, bool has_figures = true) {
  std::vector<LegendEntry> entries;
  const double pool = std::max(1.0, static_cast<double>(costs.pool_bytes));
  entries.push_back({"requested", has_figures ? "requested  " + text_from_bytes(costs.requested_bytes) : "requested",
                     "What the program requested and has not freed", look.role(Role::parameters),
                     static_cast<double>(costs.requested_bytes) / pool, Swatch::full, false});
  for (const PoolCostPart& part : costs.parts) {
    if (part.bytes == 0 && part.alone_bytes == 0) continue;
    std::string tip(explanation_of(part.cost));
    if (part.cost != PoolCost::fragmentation)
      tip += fmt::format(" Lifted alone, this rule saves {}.", text_from_bytes(part.alone_bytes));
    entries.push_back({std::string(name_from_pool_cost(part.cost)),
                       has_figures ? fmt::format("{}  {}", text_from_pool_cost(part.cost), text_from_bytes(part.bytes))
                                   : std::string(text_from_pool_cost(part.cost)),
                       std::move(tip), look.role(role_of(part.cost)),
                       static_cast<double>(std::max<std::int64_t>(0, part.bytes)) / pool, Swatch::full, false});
  }
  return entries;
}

// `is_here`: these are the figures at the selected time, which is `since_start_ns`.
void draw_figures(const PoolCosts& costs, bool is_here, const std::optional<std::int64_t>& since_start_ns) {
  const TextPair sizes =
      texts_from_bytes(static_cast<std::int64_t>(costs.pool_bytes), static_cast<std::int64_t>(costs.requested_bytes));
  std::string words =
      fmt::format("{}: {}, {} requested", when_text(costs.position, since_start_ns), sizes.first, sizes.second);
  if (costs.recorded_pool_bytes && *costs.recorded_pool_bytes != costs.pool_bytes)
    words += fmt::format(" in a replay; recorded: {}", text_from_bytes(*costs.recorded_pool_bytes));
  else if (costs.confidence != Confidence::checked)
    words += " (approximate)";
  if (!is_here) words += " (Space holds the picture and computes those of that time)";
  dim_text(words);
  if (costs.confidence != Confidence::checked)
    tooltip("Figures of a replay that is not certain to be what the job did");
}

// `exact`: those at the selected time; null if they aren't known.
void draw_plot(const Look& look, const PoolCostsAnswer& answer, const PoolCosts* exact, const TraceMoment& now,
               CommandQueue& commands) {
  std::vector<const PoolCosts*> times;
  times.reserve(answer.times.size() + 1);
  for (const PoolCosts& one : answer.times) times.push_back(&one);
  const auto after =
      std::upper_bound(times.begin(), times.end(), now.position(answer.heap),
                       [](std::uint64_t position, const PoolCosts* one) { return position < one->position; });
  if (exact != nullptr) times.insert(after, exact);
  const float width = ImGui::GetContentRegionAvail().x - look.px(14), height = ImGui::GetFontSize() * 6;
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const Plot plot(times, from, {from.x + width, from.y + height});
  const bool is_clicked = ImGui::InvisibleButton("pool costs", {width, height});
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(plot.from, plot.to, look.role(Role::no_memory));
  for (std::size_t i = 0; i < times.size(); ++i)
    draw_column(draw, look, plot, *times[i], plot.x(*times[i]),
                i + 1 < times.size() ? plot.x(*times[i + 1]) : plot.to.x);
  const std::int64_t since_start_ns = now.stream(answer.heap).since_start_ns(now.time_ns(answer.heap));
  const float here = plot.x(plot.has_times ? since_start_ns : static_cast<std::int64_t>(now.position(answer.heap)));
  draw.AddLine({here, plot.from.y}, {here, plot.to.y}, look.role(Role::text), look.px(1.5F));
  draw.AddRect(plot.from, plot.to, look.role(Role::dim_text));
  if (!ImGui::IsItemHovered()) return;
  const PoolCosts& under = plot.at(times, ImGui::GetMousePos().x);
  std::string words = when_text(under.position, under.since_start_ns) + ": pool " + text_from_bytes(under.pool_bytes);
  for (const LegendEntry& entry : entries_of(look, under)) words += "\n" + entry.words;
  tooltip(words);
  if (is_clicked) commands.push(command::set_moment, {*answer.trace, answer.heap.stream, under.position});
}

}  // namespace

void draw_pool_costs(const AppState& state, const Look& look, const TraceMoment& now, CommandQueue& commands) {
  const auto& asked = state.answers().pool_costs;
  ImGui::Spacing();
  bold_text("Why the pool is larger than what was requested");
  tooltip(
      "A replay of all requests to the device, with the allocator's rules lifted one after another: each part is what "
      "the pool shrinks by. The rest is true fragmentation.");
  if (asked.pending()) draw_pending("the replays", asked.pending_since, asked.work.get());
  if (asked.is_stopped)
    draw_stopped(asked.value != nullptr);
  else if (asked.failed())
    draw_error(state, asked.error);
  if (!asked.value) return;
  if (asked.value->times.empty()) return dim_text("unknown: " + asked.value->unknown);
  const std::uint64_t position = now.position(asked.value->heap);
  const PoolCosts* costs = find_shown(state, *asked.value, position);
  ImGui::SameLine(0, ImGui::GetFontSize());
  if (costs != nullptr) {
    const Stream& stream = now.stream(asked.value->heap);
    const bool is_here = costs->position == position;
    const auto time = is_here && stream.has_times()
                          ? std::optional(stream.since_start_ns(now.time_ns(asked.value->heap)))
                          : costs->since_start_ns;
    draw_figures(*costs, is_here, time);
    draw_legend_line(look, entries_of(look, *costs));
  } else {
    const auto& here = state.answers().pool_costs_here;
    here.failed() ? dim_text(here.error.what) : dim_text("computing the figures at the selected time ...");
    draw_legend_line(look, entries_of(look, asked.value->times.back(), false));
  }
  draw_plot(look, *asked.value, costs != nullptr && costs->position == position ? costs : nullptr, now, commands);
}

}  // namespace hbmscope::gui
