#include "app/cli/tpu_run.h"

#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/read/file_bytes.h"
#include "analysis/read/gzip.h"
#include "analysis/read/source/formats.h"
#include "analysis/read/tpu_workload/open_workload.h"
#include "analysis/read/tpu_workload/trace_from_emulation.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/recording.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/open.h"
#include "app/cli/output_file.h"

namespace hbmscope::cli {
namespace {

namespace tpu = allocator::tpu;

Result<std::vector<WorkloadChange>> changes_of(const TpuRunOptions& options) {
  std::vector<WorkloadChange> changes;
  if (!options.generation.empty()) changes.push_back({"generation", options.generation});
  for (const std::string& text : options.what_if) {
    auto change = parse_workload_change(text);
    if (!change) return Failure(std::move(change.error()));
    changes.push_back(std::move(*change));
  }
  return changes;
}

Result<void> write_oom_log(const tpu::Emulation& emulation, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  for (const tpu::EmulatedFailure& failure : emulation.failures) file << failure.text << '\n';
  file.flush();
  if (!file)
    return Failure(refusal("cannot write the file", "Check the free space and the permissions of the folder.", path));
  return {};
}

Result<void> write_outputs(const EmulatedWorkload& run, const TpuRunOptions& options, std::size_t file_bytes) {
  if (!options.oom_log.empty())
    if (auto written = write_oom_log(run.emulation, options.oom_log); !written) return written;
  if (options.record.empty()) return {};
  const Trace trace = trace_from_emulation(run.workload, run.emulation, options.file, file_bytes);
  const auto written = write_recording(trace, options.record);
  if (!written) return Failure(written.error());
  fmt::print(stderr, "{}: {} events in {}; hbmscope open {}\n", printable(options.record),
             text_from_count(run.emulation.events.size()), text_from_bytes(*written), printable(options.record));
  return {};
}

// If the file is of a format that hbmscope reads, but no workload: that says more than what is wrong with its JSON.
std::optional<Error> find_other_format_of(const std::string& path, std::uint64_t max_size) {
  if (path == "-") return std::nullopt;
  auto file = InputFile::open(path, max_size, nullptr);
  const Format* format = file ? find_format(*file) : nullptr;
  if (format == nullptr || format->is_workload || format->is_any_text) return std::nullopt;
  return refusal(fmt::format("this is {}, not a TPU workload", format->name),
                 "hbmscope open or report shows it; samples/tpu has workloads.", path);
}

}  // namespace

int run_tpu_workload(const TpuRunOptions& options) {
  for (const std::string& output : {options.record, options.oom_log})
    if (auto allowed = check_output({options.file}, output); !allowed) return fail(allowed.error());
  const auto max_size = parse_bytes(options.max_size);
  if (!max_size || *max_size <= 0)
    return fail(refusal(fmt::format("'{}' is no size", printable(options.max_size)), "Write e.g. 64MiB."));
  const auto changes = changes_of(options);
  if (!changes) return fail(changes.error());
  const auto bytes = read_file(options.file, static_cast<std::uint64_t>(*max_size));
  if (!bytes) return fail(bytes.error());
  const std::string name = options.file == "-" ? "standard input" : options.file;
  ImportStatistics unused;  // The statistics of decompressing are not needed.
  const auto text = unzip(bytes->bytes(), name, static_cast<std::uint64_t>(*max_size), unused);
  if (!text) return fail(text.error());
  const auto run = emulate_workload(text->bytes, name, *changes, options.timed);
  if (!run) {
    const auto other = find_other_format_of(options.file, static_cast<std::uint64_t>(*max_size));
    return fail(other ? *other : text->reported(run.error()));
  }
  std::optional<EmulatedWorkload> unmodified;
  if (!options.what_if.empty()) {
    // The generation is not a what-if, so both emulations use it.
    const bool has_generation = !options.generation.empty();
    const std::vector<WorkloadChange> kept(changes->begin(), changes->begin() + (has_generation ? 1 : 0));
    auto other = emulate_workload(text->bytes, name, kept, options.timed);
    if (!other) return fail(text->reported(other.error()));
    unmodified = std::move(*other);
  }
  if (auto written = write_outputs(*run, options, bytes->bytes().size()); !written) return fail(written.error());
  if (!options.json)
    return print_to_stdout(text_from_emulation(*run, unmodified ? &*unmodified : nullptr, Terminal::of_stdout()))
               ? exit_ok
               : exit_unreadable;
  nlohmann::ordered_json json = {{"schema", json_schema}, {"file", valid_utf8(name)}};
  json.update(json_from_emulation(*run));
  json["as_written"] = unmodified ? json_from_emulation(*unmodified) : nlohmann::ordered_json(nullptr);
  return print_to_stdout(text_from_json(json)) ? exit_ok : exit_unreadable;
}

int open_tpu_workload(const TpuRunOptions& options, const OpenWindow& open_window) {
  if (!options.record.empty() || !options.oom_log.empty() || options.timed || options.json)
    return fail(refusal("--window shows what --record, --oom-log, --timed and --json write", "Leave out one of them."));
  const auto changes = changes_of(options);
  if (!changes) return fail(changes.error());
  OpenRequest request;
  request.files = {options.file};
  request.view = "tpu";
  for (const WorkloadChange& change : *changes) request.what_if.push_back(text_from_workload_change(change));
  return open_window_or_say(request, open_window);
}

}  // namespace hbmscope::cli
