// The options of the commands about files, as plain structs (app/cli/parser fills them).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/diff.h"
#include "analysis/query/profile_view.h"
#include "app/cli/used_options.h"

namespace hbmscope::cli {

// Which samples are counted, and at which time of a trace.
struct ViewOptions {
  ViewRequest request;
  bool relative = false;  // Percentages are of what the filter leaves.
  std::string max_size = "4GiB";
  std::string at;                    // A time of the trace; empty: its end.
  std::vector<std::string> what_if;  // KEY=VALUE: changes to a TPU workload.
};

struct BlockReportOptions {
  std::optional<std::size_t> rows;  // --blocks N; 0: all.
  std::string order = "size";
  bool is_ascending = false;
  std::string address;  // --address; empty: not given.
};

struct ReportOptions {
  std::vector<std::string> files;
  UsedOptions used;
  ViewOptions view;
  std::string by = "function";
  std::size_t top = 20, own = 5;
  bool cumulative = false, by_count = false, json = false;
  std::string fail_if;
  std::string from;                                         // With it: what changed since that time.
  std::map<std::string, std::string, std::less<>> section;  // The value of a section's flag: "--peek" -> "adam".
  BlockReportOptions blocks;
};

struct DiffOptions {
  std::vector<std::string> files;
  UsedOptions used;
  ViewOptions view;
  std::string match = "function", fail_if;
  std::string from;  // The time of the baseline; empty: the same as of now.
  std::string same;  // Of two traces instead of `from`: "time" or "requests", as now.
  std::string heap;  // By name: whose figures are compared, of traces; empty: the one that stands out.
  std::size_t top = 15, frames = 4;
  bool json = false;
};

struct CheckOptions {
  std::vector<std::string> files;
  std::string max_size = "4GiB";
  bool json = false;
};

struct ConvertOptions {
  std::string file, output;
  std::string max_size = "4GiB";
  bool strip_paths = false;
};

struct ReplayOptions {
  std::string file;
  std::string allocator;  // Empty: as JAX's settings choose it.
  std::string version;    // Empty: the one that the stream was made with.
  std::string max_size = "4GiB";
  UsedOptions used;
  std::vector<std::string> settings;  // NAME=VALUE
  std::string device_bytes, device;   // The device, of a trace: empty, the one with the most requests.
  bool check = false, json = false, time = false;
  bool with_hang = false;                                  // As before 2026-08-14.
  std::string oom_log, memory_dump, trace_events, output;  // Files to write; empty: none.
  std::string allocator_name;                              // Empty: GPU_0_bfc, or of others GPU_0_ and their name.
};

struct ExportOptions {
  std::vector<std::string> files;
  UsedOptions used;
  ViewOptions view;
  std::string to, output;
  std::string what;                // Of a trace as CSV or Parquet: events or blocks; empty: the top table.
  std::string step;                // Of counters for Perfetto, in bytes; empty: by the peak.
  std::string python = "python3";  // That has pyarrow, for Parquet.
};

// Each returns the exit code.
int run_report(const ReportOptions& options);
int run_diff(const DiffOptions& options);
int run_check(const CheckOptions& options);
int run_export(const ExportOptions& options);
int run_convert(const ConvertOptions& options);
int run_replay(const ReplayOptions& options);

// What is wrong with a number of rows; empty: nothing.
std::string find_count_fault(const std::string& text);
// A duration in seconds: "60", "60s", "500ms", "5m", "1.5h". Nothing: it is not one.
std::optional<double> parse_seconds(std::string_view text);
// "device", "label:K": what rows are grouped by when it isn't a kind of frame. Empty text: it is a kind of frame.
std::string label_key_of(const std::string& by);
Result<FrameBy> parse_frame_by(const std::string& by);

}  // namespace hbmscope::cli
