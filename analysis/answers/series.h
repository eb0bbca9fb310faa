// Many files one after the other: totals of profiles, peaks and curves of traces.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/query/summary.h"
#include "analysis/query/trace_series.h"

namespace hbmscope {

// What a line shows of bytes over time, its height that of the peak; empty where there is no terminal.
using CurveText = std::function<std::string(std::span<const std::uint64_t> curve, std::uint64_t highest)>;
// Of traces: the events, and the peak and curve of each heap. With the key "series".
Document describe_trace_series(const std::vector<TraceSeriesPoint>& points, const CurveText& curve_text);

Documents describe_series(const std::vector<SeriesPoint>& points);  // For programs, with the key "series".
// "5 profiles: +95.0 MiB, remember_activations train.py:77, 512 KiB a step". `unit`: of the totals. Empty for one file.
std::string headline_of_series(const std::vector<SeriesPoint>& points, const SeriesGrowth& growth,
                               std::string_view unit);
// For readers; the change is since the file before. `unit`: of the totals.
Table describe_totals(const std::vector<SeriesPoint>& points, std::string_view unit);

}  // namespace hbmscope
