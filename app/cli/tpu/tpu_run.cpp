#include "app/cli/tpu/tpu_run.h"

#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/workload.h"
#include "analysis/judge/fit.h"
#include "analysis/read/source/formats.h"
#include "analysis/read/source/read_source.h"
#include "analysis/read/tpu_workload/open_workload.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/recording.h"
#include "app/cli/answer_text.h"
#include "app/cli/cli.h"
#include "app/cli/export/output_file.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/open.h"
#include "app/cli/terminal.h"

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

Result<void> write_outputs(const OpenedWorkload& run, const TpuRunOptions& options) {
  if (!options.oom_log.empty())
    if (auto written = write_oom_log(run.now->emulation, options.oom_log); !written) return written;
  if (options.record.empty()) return {};
  const auto written = write_recording(*run.trace, options.record);
  if (!written) return Failure(written.error());
  std::uint64_t events = 0;
  for (const Stream& stream : run.trace->streams) events += stream.end_position();
  fmt::print(stderr, "{}: {} events in {}; hbmscope open {}\n", printable(options.record), text_from_count(events),
             text_from_bytes(*written), printable(options.record));
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
  // A what-if is compared with the file on the same generation, which is none.
  const std::size_t kept = options.generation.empty() ? 0 : 1;
  SourceOptions read;
  read.max_inflated_bytes = static_cast<std::uint64_t>(*max_size);
  read.what_if = {changes->begin(), changes->begin() + static_cast<std::ptrdiff_t>(kept)};
  read.is_timed = options.timed;
  const auto source = read_source(options.file, read);
  if (!source || !source->workload) {
    if (const auto other = find_other_format_of(options.file, read.max_inflated_bytes)) return fail(*other);
    return fail(source ? refusal("this is not a TPU workload", "samples/tpu has workloads.", options.file)
                       : source.error());
  }
  const OpenedWorkload& written = *source->workload;
  const Result<OpenedWorkload> changed =
      changes->size() > kept ? change_workload(written, *changes) : Result<OpenedWorkload>(written);
  if (!changed) return fail(changed.error());
  const EmulatedWorkload& run = *changed->now;
  const EmulatedWorkload* unmodified = changes->size() > kept ? written.now.get() : nullptr;
  if (auto saved = write_outputs(*changed, options); !saved) return fail(saved.error());
  Document document = describe_workload(run, unmodified);
  if (unmodified == nullptr) {
    document.add(Absent{"as_written"});
  } else {
    Document written_document = describe_workload(*unmodified, nullptr);
    written_document.key = "as_written";
    written_document.audience = Audience::programs;
    document.add(std::move(written_document));
  }
  const Result<std::string> text = options.json
                                       ? text_from_answer(document, {{"file", valid_utf8(written.parsed.name())}}, 0)
                                       : text_from_document(document, Terminal::of_stdout().style());
  if (!text) return fail(text.error());
  std::vector<GateSubject> subjects;
  const tpu::Generation* generation = run.workload.generation;
  add_fit_subjects({fit_row_of(compute_workload_verdict(run), {std::string(generation->name), generation, {}})}, {},
                   subjects);
  return print_with_gate(*text, options.gate, find_gate_failure(options.gate.condition, fit_gate_fields(), subjects));
}

int open_tpu_workload(const TpuRunOptions& options, const OpenWindow& open_window) {
  if (!options.record.empty() || !options.oom_log.empty() || options.timed || options.json ||
      !options.gate.condition.empty())
    return fail(refusal("--window shows what --record, --oom-log, --timed, --json and --fail-if write",
                        "Leave out one of them."));
  const auto changes = changes_of(options);
  if (!changes) return fail(changes.error());
  OpenRequest request;
  request.files = {options.file};
  request.view = "tpu";
  for (const WorkloadChange& change : *changes) request.what_if.push_back(text_from_workload_change(change));
  return open_window_or_say(request, open_window);
}

}  // namespace hbmscope::cli
