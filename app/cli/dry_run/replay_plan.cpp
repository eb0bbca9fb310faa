#include "app/cli/dry_run/replay_plan.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "allocator/reference/catalog/setup.h"
#include "analysis/query/device_requests.h"
#include "analysis/read/file_bytes.h"
#include "analysis/read/requests/read_requests.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/dry_run/device_size.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

using allocator::Kind;
using allocator::Setting;
using allocator::StreamConfig;
namespace xla_gpu = allocator::xla_gpu;

constexpr std::string_view pytorch_conf = "PYTORCH_CUDA_ALLOC_CONF";
constexpr const char* how_to_set =
    "allocator/README.md lists allocators and versions, allocator/reference/catalog/README.md settings.";

Failure usage(std::string what, std::string remedy) {
  return Failure(refusal(std::move(what), std::move(remedy)));
}

// From the settings, for a device of the given size.
Result<void> plan_for_device(const ReplayOptions& options, ReplayPlan& plan) {
  const auto device_bytes = device_bytes_from(options.device_bytes);
  if (!device_bytes) return Failure(device_bytes.error());
  const auto settings = settings_from(options.settings);
  if (!settings) return Failure(settings.error());
  auto setup = allocator::set_up({options.allocator, options.version, *settings, *device_bytes});
  if (!setup) return usage(setup.error(), how_to_set);
  const allocator::Placement placement = plan.stream.config.upstream.placement;
  plan.options = std::move(setup->options);
  plan.stream.config.upstream = setup->upstream;
  plan.stream.config.upstream.placement = placement;
  plan.notes.insert(plan.notes.end(), setup->notes.begin(), setup->notes.end());
  if (const auto* xla = std::get_if<xla_gpu::Options>(&plan.options)) plan.stream.config.total_bytes = xla->limit_bytes;
  const bool has_collective =
      std::any_of(plan.stream.operations.begin(), plan.stream.operations.end(),
                  [](const auto& operation) { return operation.request.space == allocator::Space::collective; });
  if (setup->collective_limit_bytes > 0 && has_collective)
    plan.notes.push_back(
        fmt::format("JAX has a separate pool for collective memory, {} {}; this replay uses one pool for both",
                    setup->is_collective_preallocated ? "preallocated:" : "which grows up to",
                    text_from_bytes(setup->collective_limit_bytes)));
  return {};
}

// From the configuration of a stream; its limit is all the memory there is.
Result<void> plan_by_configuration(const ReplayOptions& options, Kind kind, ReplayPlan& plan) {
  StreamConfig& config = plan.stream.config;
  const allocator::AllocatorRow& row = allocator::row_of(kind);
  if (kind != Kind::xla_gpu && row.options_from_size == nullptr)
    return usage(fmt::format("{} gets its size from JAX's settings", options.allocator),
                 "Add --device-bytes, and --set if needed.");
  const auto version = allocator::version_named(options.version, allocator::version_of(config));
  if (!version) return usage(version.error(), how_to_set);
  if (kind == Kind::xla_gpu) {
    const xla_gpu::Options xla = allocator::options_of(config, *version);
    if (const char* fault = xla_gpu::find_fault_of(xla))
      return usage(fmt::format("{} can't replay this: {}", xla_gpu::rules_of(*version).name, fault),
                   "Use another --version.");
    plan.options = xla;
    return {};
  }
  if (!config.upstream.device_bytes) config.upstream.device_bytes = config.total_bytes;
  plan.options = row.options_from_size({config.total_bytes, *config.upstream.device_bytes, config.allow_growth});
  return {};
}

Result<ReplayPlan> plan_from_stream(const ReplayOptions& options, std::optional<Kind> kind,
                                    std::span<const std::uint8_t> bytes, std::uint64_t max_bytes) {
  if (!options.device.empty())
    if (auto allowed = options.used.refuse({"--device"}, "with a number needs a trace"); !allowed)
      return Failure(allowed.error());
  const bool has_device = !options.device_bytes.empty();
  if (!has_device)
    if (auto allowed = options.used.refuse(
            {"--set"}, "needs --device-bytes; without it the configuration of the stream of requests is used");
        !allowed)
      return Failure(allowed.error());
  if (options.check && (has_device || kind.value_or(Kind::xla_gpu) != Kind::xla_gpu))
    return usage("--check needs xla_gpu with the configuration of the stream, which its recorded addresses come from",
                 "Remove --check, or --allocator and --device-bytes.");
  auto read = read_requests(bytes, file_name_of(options), max_bytes);
  if (!read) return Failure(read.error());
  ReplayPlan plan;
  plan.stream = std::move(read->stream);
  for (const std::string& key : read->unknown_config)
    plan.notes.push_back(fmt::format("the configuration's '{}' is unknown and ignored", printable(key)));
  const auto planned =
      has_device ? plan_for_device(options, plan) : plan_by_configuration(options, kind.value_or(Kind::xla_gpu), plan);
  if (!planned) return Failure(planned.error());
  return plan;
}

void note_what_was_taken(const DeviceRequests& requests, bool is_checked, ReplayPlan& plan) {
  if (requests.other_devices > 0)
    plan.notes.push_back(
        fmt::format("these are the requests of {}{}{}; {} more devices have requests (--device chooses one)",
                    requests.device ? fmt::format("device {}", *requests.device) : "an unknown device",
                    requests.file.empty() ? "" : " in ", printable(requests.file), requests.other_devices));
  if (requests.lived_before > 0 && !is_checked)
    plan.notes.push_back(fmt::format("{} blocks were live before the first event; they are requested first, by address",
                                     text_from_count(requests.lived_before)));
  if (requests.unknown_requests > 0)
    plan.notes.push_back(
        fmt::format("the requested size of {} blocks is unknown; their allocated size is requested instead",
                    text_from_count(requests.unknown_requests)));
}

Result<ReplayPlan> plan_from_trace(const ReplayOptions& options, std::optional<Kind> kind) {
  if (kind != Kind::pytorch)
    if (auto allowed =
            options.used.refuse({"--check"}, "needs a stream of requests, or a trace with --allocator pytorch");
        !allowed)
      return Failure(allowed.error());
  const auto loaded = load_merged({options.file}, {options.max_size, {}, {}});
  if (!loaded) return Failure(loaded.error());
  const Source& source = *loaded;
  if (!source.trace)
    return Failure(refusal("a profile has no requests, only live arrays",
                           "Use a snapshot, a log, a profiler's trace, a recording or a stream of requests.",
                           file_name_of(options)));
  // A check does not need the size: the driver behaves as recorded, and the amount reserved at a time does not matter.
  if (options.device_bytes.empty() && !options.check)
    return usage("the memory of the device is unknown", "Add it: --device-bytes 80GiB.");
  std::optional<std::uint32_t> device;
  if (!options.device.empty())
    device = static_cast<std::uint32_t>(std::min(std::stoull(options.device), 0xffffffffULL));
  auto requests = find_device_requests(*source.trace, device);
  if (!requests) return Failure(requests.error());
  ReplayPlan plan;
  note_what_was_taken(*requests, options.check, plan);
  plan.stream = std::move(requests->stream);
  plan.trace = source.trace;
  plan.trace_stream = requests->trace_stream;
  plan.places = std::move(requests->places);
  ReplayOptions on_device = options;
  if (options.device_bytes.empty()) on_device.device_bytes = "80GiB";
  // PyTorch's allocator as configured in the program, unless --set is used.
  const Definitions& definitions = plan.trace->streams[plan.trace_stream].definitions();
  if (kind == Kind::pytorch && options.settings.empty() &&
      definitions.job_fact("torch.allocator.expandable_segments") == "True") {
    on_device.settings.push_back(fmt::format("{}=expandable_segments:True", pytorch_conf));
    plan.notes.push_back("using expandable segments, as the program did; --set overrides it");
  }
  if (auto planned = plan_for_device(on_device, plan); !planned) return Failure(planned.error());
  if (options.device_bytes.empty()) plan.stream.config.upstream.device_bytes.reset();  // Unknown, so not shown.
  return plan;
}

// By its first bytes. Standard input can be read only once, so it is always a stream of requests.
bool is_stream_of_requests(const std::string& file) {
  if (file == "-") return true;
  std::array<char, 64> beginning{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(beginning.data(), beginning.size());
  return looks_like_requests(
      {reinterpret_cast<const std::uint8_t*>(beginning.data()), static_cast<std::size_t>(stream.gcount())});
}

}  // namespace

Result<std::vector<Setting>> settings_from(const std::vector<std::string>& texts) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return usage(fmt::format("'{}' is not a setting", text), "Write NAME=VALUE.");
    settings.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return settings;
}

std::string file_name_of(const ReplayOptions& options) {
  return options.file == "-" ? "standard input" : options.file;
}

Result<ReplayPlan> make_replay_plan(const ReplayOptions& given) {
  ReplayOptions options = given;
  if (is_device_name(options.device)) {
    if (!options.device_bytes.empty())
      return usage("--device already gives the size of the device", "Remove --device or --device-bytes.");
    options.device_bytes = std::exchange(options.device, {});
  }
  const auto kind = allocator::kind_named(options.allocator);
  if (!kind) return usage(kind.error(), how_to_set);
  if (*kind && !allocator::row_of(**kind).is_of_jax)
    if (auto allowed = options.used.refuse({"--version"}, "needs one of JAX's allocators"); !allowed)
      return Failure(allowed.error());
  if (!is_stream_of_requests(options.file)) return plan_from_trace(options, *kind);
  const auto limit = parse_bytes(options.max_size);
  if (!limit) return Failure(limit.error());
  const auto max_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *limit));
  ReadControl control;
  const ProgressLine progress(options.file, control);
  const auto bytes = read_file(options.file, max_bytes, &control);
  if (!bytes) return Failure(bytes.error());
  return plan_from_stream(options, *kind, bytes->bytes(), max_bytes);
}

}  // namespace hbmscope::cli
