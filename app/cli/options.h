// The options of the commands for files, as plain structs. app/cli/parser fills them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/diff.h"
#include "analysis/query/profile_view.h"
#include "app/cli/gate.h"
#include "app/cli/dry_run/program_files.h"
#include "app/cli/used_options.h"

namespace hbmscope::cli {

// Which samples are counted, and at which time of a trace.
struct ViewOptions {
  ViewRequest request;
  bool relative = false;  // Percentages refer to the filtered total.
  std::string max_size = "4GiB";
  std::string at;                    // A time of the trace. Empty means its end.
  std::vector<std::string> what_if;  // KEY=VALUE: changes to a TPU workload.
};

struct BlockReportOptions {
  std::optional<std::size_t> rows;  // --blocks N. 0 means all.
  std::string order = "size";
  bool is_ascending = false;
  std::string address;  // --address. Empty if not given.
};

struct ReportOptions {
  std::vector<std::string> files;
  UsedOptions used;
  ViewOptions view;
  std::string by = "function";
  std::size_t top = 20, own = 5;
  bool cumulative = false, by_count = false, json = false;
  GateOptions gate;
  std::string from;                                         // With `at`: reports the changes since this time.
  std::map<std::string, std::string, std::less<>> values;   // Of flags of answers: "--peek" -> "adam".
  std::vector<std::string> only;                            // Names of answers; empty: the usual ones.
  std::size_t brief = 0;                                    // As of explain.
  BlockReportOptions blocks;
};

struct ExplainOptions {
  std::vector<std::string> files;
  std::string max_size = "4GiB", failure = "first";
  GateOptions gate;  // Empty: no condition.
  bool json = false, html = false;
  std::size_t brief = 0;  // So many characters of JSON at most. 0 means all of it.
};

struct DiffOptions {
  std::vector<std::string> files;
  UsedOptions used;
  ViewOptions view;
  std::string match = "function";
  GateOptions gate;
  std::string from;  // The time of the baseline. Empty means the same time as now.
  std::string same;  // For two traces, instead of `from`: "time" or "requests", the same as now.
  std::string heap;  // For traces, the name of the heap to compare. Empty means the most relevant one.
  std::size_t top = 15, frames = 4, brief = 0;
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

struct DigestOptions {
  std::vector<std::string> files;
  std::string store;   // A folder.
  std::string run;     // Empty: the name of the folder of the first file.
  std::string layout;  // "tp=8,dp=160,pp=8". Empty means that the coordinates are unknown.
  std::string max_size = "4GiB";
  unsigned jobs = 0;                      // Files that are read at once. 0 means as many as there are processors.
  std::string python = default_python();  // One with DuckDB.
};

struct FleetOptions {
  std::string store, run, baseline;  // A folder, and names of runs. Empty means the newest run, and none.
  std::size_t top = 20;              // Rows of each table. 0 means all.
  bool json = false;
  std::string python = default_python();
};

struct LedgerOptions {
  std::string store;
  std::size_t top = 20;  // The last runs. 0 means all.
  bool json = false;
  std::string python = default_python();
};

struct BisectOptions {
  std::string good, bad;                         // Commits.
  std::string repository, more, emulate, store;  // Empty if not given.
  bool json = false;
  std::string python = default_python();
  std::vector<std::string> command;
};

struct McpOptions {
  bool may_run = false;                             // Agents may start dry runs.
  bool lists_answers = false;                       // Instead of serving.
  std::string fleet_python, time_limit, run_limit;  // Empty if not given.
  std::string python = default_python();
};

struct ReplayOptions {
  std::string file;
  std::string allocator;  // Empty: chosen by JAX's settings.
  std::string version;    // Empty: the one that the stream was made with.
  std::string max_size = "4GiB";
  UsedOptions used;
  std::vector<std::string> settings;  // NAME=VALUE
  std::string device_bytes, device;   // For a trace. Empty `device`: the one with the most requests.
  bool check = false, json = false, time = false;
  bool with_hang = false;                                  // As in XLA before 2026-08-14.
  std::string oom_log, memory_dump, trace_events, output;  // Files to write. Empty if there is none.
  // Empty: GPU_0_bfc; for other allocators GPU_0_ and their name.
  std::string allocator_name;
};

struct ExportOptions {
  std::vector<std::string> files;
  UsedOptions used;
  ViewOptions view;
  std::string to, output;
  bool viewer = false;  // As HTML: the page for browsers with the files in it.
  std::string what;     // For a trace as CSV or Parquet: events or blocks. Empty means the top table.
  std::string step;     // For counters for Perfetto, in bytes. Empty means that it depends on the peak.
  std::string python = default_python();  // A Python with pyarrow, for Parquet.
};

// Each returns the exit code.
int run_report(const ReportOptions& options);
int run_explain(const ExplainOptions& options);
int run_diff(const DiffOptions& options);
int run_check(const CheckOptions& options);
int run_export(const ExportOptions& options);
int run_convert(const ConvertOptions& options);
int run_digest(const DigestOptions& options);
int run_fleet(const FleetOptions& options);
int run_ledger(const LedgerOptions& options);
int run_bisect(const BisectOptions& options);
int run_mcp(const McpOptions& options);
int run_replay(const ReplayOptions& options);

// The fault of a number of rows. Empty if it is valid.
std::string find_count_fault(const std::string& text);
// A duration in seconds: "60", "60s", "500ms", "5m", "1.5h". Nothing if it is not a duration.
std::optional<double> parse_seconds(std::string_view text);
// "device", "label:K": the label that rows are grouped by. Empty if they are grouped by a kind of frame.
std::string label_key_of(const std::string& by);
Result<FrameBy> parse_frame_by(const std::string& by);

}  // namespace hbmscope::cli
