#include "app/gui/views/totals/draw_totals.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <implot.h>

#include "analysis/answers/series.h"
#include "analysis/units/ascii.h"
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

// What tells the names of files apart, "010" of "leak_step_010.pprof.gz": without what all begin and end with, except
// for digits of a number.
std::vector<std::string> short_names(const std::vector<SeriesPoint>& series) {
  std::vector<std::string> names;
  for (const SeriesPoint& point : series) names.push_back(last_part(point.file));
  const std::string any = names.front();
  std::size_t begin = any.size(), end = begin;
  for (const std::string& name : names) {
    std::size_t same = 0;
    while (same < std::min(begin, name.size()) && name[same] == any[same]) ++same;
    begin = same;
    for (same = 0; same < std::min(end, name.size()) && name[name.size() - 1 - same] == any[any.size() - 1 - same];)
      ++same;
    end = same;
  }
  while (begin > 0 && is_digit(any[begin - 1])) --begin;
  while (end > 0 && is_digit(any[any.size() - end])) --end;
  for (std::string& name : names)
    if (name.size() > begin + end) name = name.substr(begin, name.size() - begin - end);
  return names;
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
  // Their names if all have room, else their numbers, which the table has too.
  const float room = ImGui::GetContentRegionAvail().x * 0.6F / static_cast<float>(series.size());
  const std::vector<std::string> names = short_names(series);
  const bool has_room = std::all_of(names.begin(), names.end(),
                                    [&](const auto& name) { return ImGui::CalcTextSize(name.c_str()).x < room; });
  const std::size_t every = has_room ? 1 : 1 + series.size() / 20;
  std::vector<double> places;
  std::vector<const char*> labels;
  for (std::size_t i = 0; i < series.size(); i += every) {
    places.push_back(static_cast<double>(i) + 1);
    labels.push_back(names[i].c_str());
  }
  ImPlot::SetupAxisFormat(ImAxis_X1, "%.0f");
  ImPlot::SetupAxisTicks(ImAxis_X1, places.data(), static_cast<int>(places.size()), has_room ? labels.data() : nullptr);
}

void select_file(const AppState& state, const SeriesPoint& point, CommandQueue& commands) {
  for (const Source& source : state.sources)
    if (source.profile && !source.profile->files.empty() && source.profile->files.front() == point.file)
      return commands.push(command::show_source_file, source.id);
}

// One bar a file, stacked by line of your code, what grows most on top and first in the legend: each layer is drawn
// down to the axis, over the ones above it. Samples without any code are in no line; then the bars are as high as the
// totals.
void draw_bars(const Look& look, const SeriesAnswer& series) {
  std::vector<double> x, top;
  for (const SeriesPoint& point : series.points) {
    x.push_back(static_cast<double>(x.size()) + 1);
    top.push_back(0);
    for (const SeriesGrowth::Line& line : series.growth.lines)
      top.back() += static_cast<double>(line.bytes[x.size() - 1]);
    if (series.growth.lines.empty()) top.back() = static_cast<double>(point.total.bytes);
  }
  const auto plot = [&](const char* name, ImVec4 ink) {
    ImPlotSpec bars;
    bars.FillColor = bars.LineColor = ink;
    ImPlot::PlotBars(name, x.data(), top.data(), static_cast<int>(x.size()), 0.6, bars);
  };
  if (series.growth.lines.empty()) return plot("bytes", look.vec(Role::parameters));
  for (std::size_t i = 0; i < series.growth.lines.size(); ++i) {
    const SeriesGrowth::Line& line = series.growth.lines[i];
    plot(line.name.c_str(), look.vec(role_from_hue(i)));
    for (std::size_t k = 0; k < top.size(); ++k) top[k] -= static_cast<double>(line.bytes[k]);
  }
}

// The line of the layer at a height; nullptr above all of them.
const SeriesGrowth::Line* line_at(const SeriesGrowth& growth, std::size_t file, double height) {
  for (std::size_t i = growth.lines.size(); i-- > 0;) {
    height -= static_cast<double>(growth.lines[i].bytes[file]);
    if (height < 0) return &growth.lines[i];
  }
  return nullptr;
}

void draw_plot(const AppState& state, const Look& look, const SeriesAnswer& answer, CommandQueue& commands) {
  const std::vector<SeriesPoint>& series = answer.points;
  double largest = 0;
  for (const SeriesPoint& point : series) largest = std::max(largest, static_cast<double>(point.total.bytes));
  const float height = std::max(look.px(120), ImGui::GetContentRegionAvail().y * 0.5F);
  constexpr ImPlotFlags flags = ImPlotFlags_NoMenus | ImPlotFlags_NoBoxSelect | ImPlotFlags_NoMouseText;
  if (!ImPlot::BeginPlot("##totals", {-1, height}, flags)) return;
  set_up_axes(series, largest);
  ImPlot::SetupLegend(ImPlotLocation_East, ImPlotLegendFlags_Outside | ImPlotLegendFlags_NoButtons);
  draw_bars(look, answer);
  if (ImPlot::IsPlotHovered()) {
    const double at = std::round(ImPlot::GetPlotMousePos().x) - 1;
    if (at >= 0 && at < static_cast<double>(series.size())) {
      const SeriesPoint& point = series[static_cast<std::size_t>(at)];
      ImGui::BeginTooltip();
      bold_text(last_part(point.file));
      text(text_from_bytes(point.total.bytes) + " (" + exact_text_from_bytes(point.total.bytes) + "), count " +
           text_from_count(point.total.count));
      if (const auto* line = line_at(answer.growth, static_cast<std::size_t>(at), ImPlot::GetPlotMousePos().y))
        text(line->name + " " + text_from_bytes(line->bytes[static_cast<std::size_t>(at)]));
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
  const std::vector<SeriesPoint>& series = answer->points;
  if (totals.of != answer) totals.table = describe_totals(series, "bytes");
  totals.of = answer;
  const Look look(state);
  const std::string unit = state.answers().summary.value ? state.answers().summary.value->summary.unit : "bytes";
  ImGui::AlignTextToFramePadding();
  text(headline_of_series(series, answer->growth, unit));
  ImGui::SameLine();
  dim_text("by line of your code");
  tooltip("Click a bar or a row to bring its file to the front.");
  draw_copy_menu(ViewKind::totals, commands);
  draw_plot(state, look, *answer, commands);
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
