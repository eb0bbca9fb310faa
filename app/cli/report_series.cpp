#include "app/cli/report_series.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/series.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/query/summary.h"
#include "analysis/query/trace_series.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_trace.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

constexpr std::size_t curve_characters = 40;

std::string head_of(const TraceSeriesPoint& point) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const auto add_count = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) add(fmt::format("{} {}", text_from_count(count), what));
  };
  constexpr std::uint64_t ns_per_ms = 1'000'000, ms_max = std::numeric_limits<std::int64_t>::max() / ns_per_ms;
  if (point.begun_ms != 0) add(text_from_unix_ns(signed_from(std::min(point.begun_ms, ms_max) * ns_per_ms)));
  if (point.duration_ns) add(text_from_value(*point.duration_ns, "nanoseconds"));
  add(fmt::format("{} events", text_from_count(point.events.total)));
  add_count(point.events.out_of_memory, "out of memory");
  add_count(point.events.driver_refusals, "refused by the driver");
  add_count(point.events.lost, "lost");
  if (!point.is_finished) add("incomplete");
  return text;
}

std::string text_from_trace_series(const std::vector<TraceSeriesPoint>& points, const Terminal& terminal) {
  std::string text = terminal.paint(fmt::format("{:>10}  {:>10}  heap", "peak", "end"), Ink::dim) + "\n";
  for (const TraceSeriesPoint& point : points) {
    text += fmt::format("{}  {}\n", terminal.paint(printable(point.file), Ink::bold), head_of(point));
    for (const SeriesHeap& heap : point.heaps) {
      const std::string curve = terminal.curve(heap.curve, heap.peak_in_use_bytes);
      text += fmt::format(
          "{:>10}  {:>10}  {}{}{}\n", text_from_bytes(heap.peak_in_use_bytes), text_from_bytes(heap.in_use_bytes),
          printable(heap.label),
          heap.is_peak_inexact ? " (inexact: events were lost or contradict each other, or sizes are not certain)" : "",
          curve.empty() ? "" : "  " + curve);
    }
    if (point.heaps.empty()) text += "  no memory was ever in use\n";
  }
  return text;
}

int print_series(const ReportOptions& options, std::string_view format, const nlohmann::ordered_json& series,
                 const std::string& text) {
  if (!options.json) return print_to_stdout(text) ? exit_ok : exit_unreadable;
  const nlohmann::ordered_json json = {{"schema", json_schema}, {"format", format}, {"series", series}};
  return print_to_stdout(text_from_json(json)) ? exit_ok : exit_unreadable;
}

// One file at a time, since a series can be larger than the memory.
Result<std::vector<SeriesPoint>> load_points(const std::vector<NamedFile>& files, const ReportOptions& options,
                                             const ViewRequest& request, std::string& unit) {
  std::vector<SeriesPoint> points;
  SkippedFiles skipped;
  for (const NamedFile& file : files) {
    const auto source = load_merged({file.path}, load_options(options.view));
    if (!source && is_skipped(file, source.error(), skipped)) continue;
    if (!source) return Failure(source.error());
    std::vector<ProfileView> views;
    auto view = make_view(source->profile, request);
    if (!view) return Failure(view.error());
    unit = compute_summary(*view).unit;
    views.push_back(std::move(*view));
    points.push_back(compute_series(views).front());
  }
  if (points.empty() && !skipped.empty()) return Failure(skipped.nothing_opens());
  print_skipped(skipped);
  sort_series(points);
  return points;
}

// Nothing if one of them is not a trace, or can be read only once.
Result<std::optional<std::vector<TraceSeriesPoint>>> load_trace_points(const std::vector<NamedFile>& files,
                                                                       const ReportOptions& options) {
  std::vector<TraceSeriesPoint> points;
  SkippedFiles skipped;
  const auto can_be_read_twice = [](const NamedFile& file) {
    std::error_code error;
    return file.path != "-" &&
           (std::filesystem::is_regular_file(file.path, error) || !std::filesystem::exists(file.path, error));
  };
  if (!std::all_of(files.begin(), files.end(), can_be_read_twice))
    return std::optional<std::vector<TraceSeriesPoint>>();
  for (const NamedFile& file : files) {
    const auto trace = load_curves(file.path, load_options(options.view));
    if (!trace && is_skipped(file, trace.error(), skipped)) continue;
    if (!trace) return Failure(trace.error());
    if (*trace == nullptr) return std::optional<std::vector<TraceSeriesPoint>>();
    points.push_back(compute_trace_series_point(**trace, curve_characters));
  }
  if (points.empty() && !skipped.empty()) return Failure(skipped.nothing_opens());
  print_skipped(skipped);
  sort_trace_series(points);
  return std::optional(std::move(points));
}

}  // namespace

int run_report_series(const ReportOptions& options, const ViewRequest& request) {
  const auto files = expand_files(options.files);
  if (!files) return fail(files.error());
  const Terminal terminal = Terminal::of_stdout();
  const bool has_request = request != ViewRequest{} || !options.view.at.empty() || !options.view.what_if.empty();
  if (!has_request) {
    const auto points = load_trace_points(*files, options);
    if (!points) return fail(points.error());
    if (*points)
      return print_series(options, "trace", json_from_trace_series(**points),
                          text_from_trace_series(**points, terminal));
  }
  std::string unit;
  const auto points = load_points(*files, options, request, unit);
  if (!points) return fail(points.error());
  Document series;
  series.add(describe_series(*points));
  return print_series(options, "pprof", json_from_document(series)["series"],
                      text_from_table(describe_totals(*points, unit), terminal.style()));
}

}  // namespace hbmscope::cli
