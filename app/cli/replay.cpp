// hbmscope replay: recorded requests through an allocator that decides as an original does.
#include <algorithm>
#include <array>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "allocator/jax/settings.h"
#include "analysis/query/device_requests.h"
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

std::string name_of(const ReplayOptions& options) {
  return options.file == "-" ? "standard input" : options.file;
}

// What is played, and by which rules.
struct Plan {
  RequestStream stream;
  xla_gpu::Options options;
  std::vector<std::string> notes;      // For stderr.
  std::shared_ptr<const Trace> trace;  // That the requests were taken from; null: a stream of requests.
  std::size_t trace_stream = 0;
};

Result<xla_gpu::Version> version_from(const std::string& name, xla_gpu::Version usual) {
  if (name.empty()) return usual;
  if (const auto found = xla_gpu::find_version(name)) return *found;
  std::string known;
  for (const xla_gpu::VersionRules& rules : xla_gpu::all_versions())
    known += fmt::format("{}{}", known.empty() ? "" : ", ", rules.name);
  return Failure(Error{fmt::format("there is no version '{}'", name), fmt::format("Known: {}.", known), {}, {}, false});
}

// A stream of requests brings its configuration.
Result<Plan> plan_from_stream(const ReplayOptions& asked, std::span<const std::uint8_t> bytes,
                              std::uint64_t max_bytes) {
  if (auto allowed = asked.given.refuse({"--set", "--device-bytes", "--device"},
                                        "does not apply to a stream of requests, which brings its configuration");
      !allowed)
    return Failure(allowed.error());
  auto read = read_requests(bytes, name_of(asked), max_bytes);
  if (!read) return Failure(read.error());
  Plan plan;
  plan.stream = std::move(read->stream);
  for (const std::string& key : read->unknown_config)
    plan.notes.push_back(fmt::format("the configuration's '{}' is not known here and has no effect", printable(key)));
  const auto version = version_from(asked.version, allocator::version_of(plan.stream.config));
  if (!version) return Failure(version.error());
  plan.options = allocator::options_of(plan.stream.config, *version);
  if (const char* fault = xla_gpu::find_fault_of(plan.options))
    return Failure(Error{fmt::format("{} can't run this: {}", xla_gpu::rules_of(*version).name, fault),
                         "Choose another --version.",
                         {},
                         {},
                         false});
  return plan;
}

Result<std::vector<allocator::Setting>> settings_from(const std::vector<std::string>& texts) {
  std::vector<allocator::Setting> settings;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
      return Failure(Error{fmt::format("'{}' is no setting", text), "Write NAME=VALUE.", {}, {}, false});
    settings.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return settings;
}

Result<allocator::JaxPool> pool_for(const ReplayOptions& asked, std::uint64_t device_bytes) {
  const auto settings = settings_from(asked.settings);
  if (!settings) return Failure(settings.error());
  const auto version = version_from(asked.version, xla_gpu::Version::spatial_v1);
  if (!version) return Failure(version.error());
  auto pool = allocator::pool_from_settings(*settings, device_bytes, *version);
  if (!pool) return Failure(Error{pool.error(), "allocator/jax/README.md lists the settings.", {}, {}, false});
  return *pool;
}

void note_what_was_taken(const DeviceRequests& requests, Plan& plan) {
  if (requests.other_devices > 0)
    plan.notes.push_back(fmt::format("these are the requests of {}{}{}; {} more had some: --device names one",
                                     requests.device ? fmt::format("device {}", *requests.device) : "an unknown device",
                                     requests.file.empty() ? "" : " in ", printable(requests.file),
                                     requests.other_devices));
  if (requests.lived_before > 0)
    plan.notes.push_back(fmt::format("{} blocks lived before the first event; they are asked for first, by address",
                                     text_from_count(requests.lived_before)));
  if (requests.unknown_requests > 0)
    plan.notes.push_back(fmt::format("of {} blocks the request is not told; what they took is asked for",
                                     text_from_count(requests.unknown_requests)));
}

Result<Plan> plan_from_trace(const ReplayOptions& asked) {
  if (auto allowed = asked.given.refuse({"--check"}, "is for streams of requests, which have recorded answers");
      !allowed)
    return Failure(allowed.error());
  const auto sources = load_sources({asked.file}, {asked.max_size, {}, {}});
  if (!sources) return Failure(sources.error());
  const Source& source = sources->front();
  if (!source.trace)
    return Failure(Error{"a profile has no requests in it, only what lived",
                         "Give a snapshot, a log, a profiler's trace, a recording or a stream of requests.",
                         name_of(asked),
                         {},
                         false});
  if (asked.device_bytes.empty())
    return Failure(
        Error{"how much memory the device has is not told", "Give it: --device-bytes 80GiB.", {}, {}, false});
  const auto device_bytes = parse_bytes(asked.device_bytes);
  if (!device_bytes || *device_bytes <= 0)
    return Failure(
        Error{fmt::format("'{}' is no size of a device", asked.device_bytes), "Write e.g. 80GiB.", {}, {}, false});
  const auto pool = pool_for(asked, static_cast<std::uint64_t>(*device_bytes));
  if (!pool) return Failure(pool.error());
  std::optional<std::uint32_t> device;
  if (!asked.device.empty()) device = static_cast<std::uint32_t>(std::min(std::stoull(asked.device), 0xffffffffULL));
  auto requests = find_device_requests(*source.trace, device);
  if (!requests) return Failure(requests.error());
  Plan plan;
  note_what_was_taken(*requests, plan);
  plan.stream = std::move(requests->stream);
  plan.trace = source.trace;
  plan.trace_stream = requests->trace_stream;
  plan.options = pool->options;
  plan.stream.config.total_bytes = pool->options.limit_bytes;
  plan.stream.config.upstream.device_bytes = static_cast<std::uint64_t>(*device_bytes);
  plan.stream.config.upstream.granularity = pool->granularity;
  return plan;
}

// By its first bytes. Standard input can be read once: it is a stream of requests.
bool is_stream_of_requests(const std::string& file) {
  if (file == "-") return true;
  std::array<char, 64> beginning{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(beginning.data(), beginning.size());
  return looks_like_requests(
      {reinterpret_cast<const std::uint8_t*>(beginning.data()), static_cast<std::size_t>(stream.gcount())});
}

Result<Plan> make_plan(const ReplayOptions& asked) {
  if (!is_stream_of_requests(asked.file)) return plan_from_trace(asked);
  const auto limit = parse_bytes(asked.max_size);
  if (!limit) return Failure(limit.error());
  const auto max_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *limit));
  ReadControl control;
  const ProgressLine progress(asked.file, control);
  const auto bytes = read_file(asked.file, max_bytes, &control);
  if (!bytes) return Failure(bytes.error());
  return plan_from_stream(asked, bytes->bytes(), max_bytes);
}

}  // namespace

int run_replay(const ReplayOptions& options) {
  if (options.check)
    if (auto allowed =
            options.given.refuse({"--oom-log", "--memory-dump", "--traceme", "--output"}, "does not go with --check");
        !allowed)
      return fail(allowed.error());
  auto plan = make_plan(options);
  if (!plan) return fail(plan.error());
  plan->options.hangs_on_small_refusal = options.with_hang;
  for (const std::string& note : plan->notes) fmt::print(stderr, "hbmscope: {}\n", note);
  ReplayAnswers answers;
  answers.file = name_of(options);
  answers.config = plan->stream.config;
  answers.options = plan->options;
  if (options.check) {
    if (!plan->stream.has_answers())
      return fail({"the file has no answers to check against", "Leave out --check.", options.file, {}, false});
    answers.check = allocator::check(plan->stream, plan->options);
  } else {
    ReplayReports reports;
    const Definitions* source = plan->trace ? &plan->trace->streams[plan->trace_stream].definitions() : nullptr;
    if (auto opened = reports.open(options, plan->options, plan->stream, source); !opened) return fail(opened.error());
    answers.result = allocator::play(plan->stream, plan->options, &reports);
    if (auto closed = reports.close(); !closed) return fail(closed.error());
  }
  if (options.time) answers.speed = allocator::measure_speed(plan->stream, plan->options);
  const std::string text =
      options.json ? text_from_json(json_from_replay(answers)) : text_from_replay(answers, Terminal::of_stdout());
  if (!print_to_stdout(text)) return exit_unreadable;
  return answers.check && answers.check->difference ? exit_gate_failed : exit_ok;
}

}  // namespace hbmscope::cli
