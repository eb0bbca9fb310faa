#include "app/cli/report/report_series.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include <nlohmann/json.hpp>

#include "analysis/answers/series.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/query/summary.h"
#include "analysis/query/trace_series.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

constexpr std::size_t curve_characters = 40;

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
    if (*points) {
      const Document series =
          describe_trace_series(**points, [&](std::span<const std::uint64_t> curve, std::uint64_t highest) {
            return terminal.without_colors().curve(curve, highest);
          });
      return print_series(options, "trace", json_from_document(series)["series"],
                          text_from_document(series, terminal.style()));
    }
  }
  std::string unit;
  const auto points = load_points(*files, options, request, unit);
  if (!points) return fail(points.error());
  Document series;
  series.add(describe_series(*points));
  Document shown;
  const std::string headline = headline_of_series(*points, compute_series_growth(*points), unit);
  if (!headline.empty()) shown.add(Sentence{.text = headline + ".", .tone = Tone::strong});
  shown.add(describe_totals(*points, unit));
  return print_series(options, "pprof", json_from_document(series)["series"],
                      text_from_document(shown, terminal.style()));
}

}  // namespace hbmscope::cli
