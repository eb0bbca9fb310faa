// hbmscope replay: recorded requests through an allocator that decides as an original does.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/read/file_bytes.h"
#include "analysis/read/requests/read_requests.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/replay.h"
#include "app/cli/replay_reports.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

using allocator::RequestStream;
namespace xla_gpu = allocator::xla_gpu;

Result<ReadRequests> read_stream(const ReplayOptions& options) {
  const auto limit = parse_bytes(options.max_size);
  if (!limit) return Failure(limit.error());
  const auto max_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *limit));
  ReadControl control;
  const ProgressLine progress(options.file, control);
  const auto bytes = read_file(options.file, max_bytes, &control);
  if (!bytes) return Failure(bytes.error());
  const std::string name = options.file == "-" ? "standard input" : options.file;
  if (!looks_like_requests(bytes->bytes()))
    return Failure(Error{"it is no stream of requests: its first line is no {\"config\": ...}",
                         "Give a file of JSON lines, plain or in zstd, that begins with the allocator's configuration.",
                         name,
                         {},
                         false});
  return read_requests(bytes->bytes(), name, max_bytes);
}

Result<xla_gpu::Options> options_for(const ReplayOptions& asked, const RequestStream& stream) {
  xla_gpu::Version version = allocator::version_of(stream.config);
  if (!asked.version.empty()) {
    const auto found = xla_gpu::find_version(asked.version);
    if (!found) {
      std::string known;
      for (const xla_gpu::VersionRules& rules : xla_gpu::all_versions())
        known += fmt::format("{}{}", known.empty() ? "" : ", ", rules.name);
      return Failure(Error{
          fmt::format("there is no version '{}'", asked.version), fmt::format("Known: {}.", known), {}, {}, false});
    }
    version = *found;
  }
  xla_gpu::Options options = allocator::options_of(stream.config, version);
  options.hangs_on_small_refusal = asked.with_hang;
  if (const char* fault = xla_gpu::find_fault_of(options))
    return Failure(Error{fmt::format("{} can't run this: {}", xla_gpu::rules_of(version).name, fault),
                         "Choose another --version.",
                         {},
                         {},
                         false});
  return options;
}

void note_unknown_config(const ReadRequests& read) {
  for (const std::string& key : read.unknown_config)
    fmt::print(stderr, "hbmscope: the configuration's '{}' is not known here and has no effect\n", printable(key));
}

}  // namespace

int run_replay(const ReplayOptions& options) {
  if (options.check)
    if (auto allowed = options.given.refuse({"--oom-log", "--memory-dump", "--traceme"}, "does not go with --check");
        !allowed)
      return fail(allowed.error());
  const auto read = read_stream(options);
  if (!read) return fail(read.error());
  note_unknown_config(*read);
  const auto chosen = options_for(options, read->stream);
  if (!chosen) return fail(chosen.error());
  ReplayAnswers answers;
  answers.file = options.file == "-" ? "standard input" : options.file;
  answers.config = read->stream.config;
  answers.options = *chosen;
  if (options.check) {
    if (!read->stream.has_answers())
      return fail({"the file has no answers to check against", "Leave out --check.", options.file, {}, false});
    answers.check = allocator::check(read->stream, *chosen);
  } else {
    ReplayReports reports;
    if (auto opened = reports.open(options); !opened) return fail(opened.error());
    answers.result = allocator::play(read->stream, *chosen, &reports);
    if (auto closed = reports.close(); !closed) return fail(closed.error());
  }
  if (options.time) answers.speed = allocator::measure_speed(read->stream, *chosen);
  const std::string text =
      options.json ? text_from_json(json_from_replay(answers)) : text_from_replay(answers, Terminal::of_stdout());
  if (!print_to_stdout(text)) return exit_unreadable;
  return answers.check && answers.check->difference ? exit_gate_failed : exit_ok;
}

}  // namespace hbmscope::cli
