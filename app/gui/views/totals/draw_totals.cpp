#include "app/gui/views/totals/draw_totals.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <implot.h>

#include "analysis/answers/series.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/draw_table.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

std::string last_part(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

int bytes_label(double value, char* buffer, int size, void*) {
  const std::string label = text_from_bytes(static_cast<std::int64_t>(std::llround(value)));
  const auto length = std::min(label.size(), static_cast<std::size_t>(std::max(1, size)) - 1);
  std::copy_n(label.begin(), length, buffer);
  buffer[length] = '\0';
  return static_cast<int>(length);
}

// Ticks at 1, 2, 4, 8, ...: the largest such step that gives at least three ticks.
double tick_step(double largest) {
  double step = 1;
  while (largest / step > 6) step *= 2;
  return step;
}

void set_up_axes(const std::vector<SeriesPoint>& series, double largest) {
  const auto count = static_cast<double>(series.size());
  const bool timed =
      std::all_of(series.begin(), series.end(), [](const SeriesPoint& point) { return point.time_ns != 0; });
  ImPlot::SetupAxis(ImAxis_X1,
                    timed ? "file, ordered by time" : "file, in the order of opening (these files have no time)",
                    ImPlotAxisFlags_NoGridLines | ImPlotAxisFlags_Lock);
  ImPlot::SetupAxis(ImAxis_Y1, nullptr, ImPlotAxisFlags_Lock);
  ImPlot::SetupAxisLimits(ImAxis_X1, 0.4, count + 0.6, ImPlotCond_Always);
  ImPlot::SetupAxisLimits(ImAxis_Y1, 0, largest > 0 ? largest * 1.08 : 1, ImPlotCond_Always);
  ImPlot::SetupAxisFormat(ImAxis_Y1, bytes_label);
  std::vector<double> ticks;
  const double step = tick_step(largest);
  for (int i = 0; i <= static_cast<int>(largest * 1.08 / step); ++i) ticks.push_back(i * step);
  ImPlot::SetupAxisTicks(ImAxis_Y1, ticks.data(), static_cast<int>(ticks.size()));
  const std::size_t every = 1 + series.size() / 20;
  std::vector<double> places;
  for (std::size_t i = 0; i < series.size(); i += every) places.push_back(static_cast<double>(i) + 1);
  ImPlot::SetupAxisFormat(ImAxis_X1, "%.0f");
  ImPlot::SetupAxisTicks(ImAxis_X1, places.data(), static_cast<int>(places.size()));
}

void select_file(const AppState& state, const SeriesPoint& point, CommandQueue& commands) {
  for (const Source& source : state.sources)
    if (source.profile && !source.profile->files.empty() && source.profile->files.front() == point.file)
      return commands.push(command::show_source_file, source.id);
}

void draw_plot(const AppState& state, const Look& look, const std::vector<SeriesPoint>& series,
               CommandQueue& commands) {
  std::vector<double> x, y;
  for (std::size_t i = 0; i < series.size(); ++i) {
    x.push_back(static_cast<double>(i) + 1);
    y.push_back(static_cast<double>(series[i].total.bytes));
  }
  const double largest = y.empty() ? 0 : *std::max_element(y.begin(), y.end());
  const float height = std::max(look.px(120), ImGui::GetContentRegionAvail().y * 0.5F);
  constexpr ImPlotFlags flags =
      ImPlotFlags_NoLegend | ImPlotFlags_NoMenus | ImPlotFlags_NoBoxSelect | ImPlotFlags_NoMouseText;
  if (!ImPlot::BeginPlot("##totals", {-1, height}, flags)) return;
  set_up_axes(series, largest);
  ImPlotSpec bars;
  bars.FillColor = look.vec(Role::parameters, 0.6F);
  bars.LineColor = look.vec(Role::parameters);
  ImPlot::PlotBars("bytes", x.data(), y.data(), static_cast<int>(x.size()), 0.6, bars);
  if (ImPlot::IsPlotHovered()) {
    const double at = std::round(ImPlot::GetPlotMousePos().x) - 1;
    if (at >= 0 && at < static_cast<double>(series.size())) {
      const SeriesPoint& point = series[static_cast<std::size_t>(at)];
      ImGui::BeginTooltip();
      bold_text(last_part(point.file));
      text(text_from_bytes(point.total.bytes) + " (" + exact_text_from_bytes(point.total.bytes) + "), count " +
           text_from_count(point.total.count));
      if (point.time_ns != 0) dim_text(text_from_unix_ns(point.time_ns) + " UTC");
      ImGui::EndTooltip();
      if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) select_file(state, point, commands);
    }
  }
  ImPlot::EndPlot();
}

}  // namespace

void draw_totals(const AppState& state, TotalsState& totals, CommandQueue& commands) {
  if (!draw_answer_state(state, state.answers().series, "the totals")) return;
  const auto answer = state.answers().series.value;
  const std::vector<SeriesPoint>& series = *answer;
  if (totals.of != answer) totals.table = describe_totals(series, "bytes");
  totals.of = answer;
  const Look look(state);
  ImGui::AlignTextToFramePadding();
  text(text_from_count(static_cast<std::int64_t>(series.size())) + " files");
  ImGui::SameLine();
  dim_text("total of each file");
  tooltip("Click a bar or a row to bring its file to the front.");
  draw_copy_menu(ViewKind::totals, commands);
  draw_plot(state, look, series, commands);
  TableRequest request{.id = "files", .find = state.position().find};
  const Source* front = state.source();
  request.is_selected = [&](std::size_t row) {
    return front != nullptr && front->profile && !front->profile->files.empty() &&
           front->profile->files.front() == series[row].file;
  };
  request.click = [&](std::size_t row) { select_file(state, series[row], commands); };
  const Table shown = with_texts(totals.table, totals.table.columns.size() - 1, last_part);
  draw_table(state, look, shown, answer, totals.rows, request, commands);
  if (take_copy(state, ViewKind::totals, totals.copy_seen)) copy_table(state, totals.table, totals.rows.rows, commands);
}

std::unique_ptr<DrawnView> make_totals() {
  return make_view(draw_totals);
}

}  // namespace hbmscope::gui
