#include "analysis/whatif/what_if.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "allocator/reference/interface/fragmentation.h"
#include "allocator/reference/replay/check_places.h"
#include "analysis/query/log_headline.h"
#include "analysis/units/ascii.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

using allocator::Certainty;

// How fragmented the pool was when its use reached its highest peak.
class PeakWatcher final : public allocator::Watcher {
 public:
  void on_allocated(const allocator::Allocator& allocator, const allocator::ReplayBlock& block) override {
    in_use_ += block.bytes;
    if (in_use_ <= peak_) return;
    peak_ = in_use_;
    const allocator::Statistics now = allocator.statistics();
    const std::uint64_t free = now.pool_bytes - std::min(now.pool_bytes, now.in_use_bytes);
    fragmentation = external_fragmentation_of(free, std::min(free, now.largest_free_bytes));
  }
  void on_freed(const allocator::Allocator&, const allocator::ReplayBlock& block) override { in_use_ -= block.bytes; }

  std::optional<double> fragmentation;

 private:
  std::uint64_t in_use_ = 0, peak_ = 0;
};

// A block's end says which memory space was requested, by the rules of the version.
void set_spaces(WhatIfSource& source) {
  const auto version = allocator::xla_gpu::find_version(source.own.version);
  if (!version || !source.requests.has_two_ends) return;
  const auto& rules = allocator::xla_gpu::rules_of(*version);
  const bool is_default_upper = rules.default_memory.end == allocator::xla_gpu::Tag::upper;
  auto& operations = source.requests.stream.operations;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const bool is_recorded = source.requests.places.addresses[i] != 0;
    const bool is_default = !rules.is_spatial || !is_recorded || source.requests.at_upper_end[i] == is_default_upper;
    operations[i].request.space = is_default ? allocator::Space::default_memory : allocator::Space::collective;
  }
}

// Why the recording does not replay address for address under its own settings. Empty if it does.
std::string find_check_fault(WhatIfSource& source) {
  set_spaces(source);
  source.checked_requests = 0;
  source.differs = false;
  const Scenario own = own_scenario(source.own).value();
  const allocator::RequestStream& stream = source.requests.stream;
  const allocator::RecordedPlaces& places = source.requests.places;
  if (std::all_of(places.addresses.begin(), places.addresses.end(), [](std::uint64_t one) { return one == 0; }))
    return "it has no addresses";
  tl::expected<allocator::CheckResult, std::string> checked =
      tl::unexpected<std::string>(fmt::format("{} has no recorded addresses", allocator::name_of(own.options)));
  if (const auto* xla = std::get_if<allocator::xla_gpu::Options>(&own.options))
    checked = allocator::check_places(stream, places, *xla);
  else if (const auto* torch = std::get_if<allocator::pytorch::Options>(&own.options))
    checked = allocator::check_places(stream, places, *torch);
  if (!checked) return checked.error();
  source.checked_requests = checked->answers;
  source.differs = checked->difference.has_value();
  if (checked->difference)
    return fmt::format("{} is {} in the recording and {} in the replay", checked->difference->what,
                       checked->difference->recorded, checked->difference->replayed);
  return checked->answers == 0 ? "it has no addresses" : std::string();
}

// The version under which the recording replays address for address, if there is one.
void find_version(WhatIfSource& source) {
  const std::string assumed = source.own.version;
  for (const allocator::xla_gpu::VersionRules& rules : allocator::xla_gpu::all_versions()) {
    source.own.version = rules.name;
    source.check_fault = find_check_fault(source);
    if (!source.is_checked()) continue;
    source.own.notes.push_back(
        fmt::format("the version of XLA's allocator, {}, is the first that makes the same decisions", rules.name));
    return;
  }
  source.own.version = assumed;
  source.check_fault = find_check_fault(source);
}

Confidence confidence_of(const WhatIfSource& source, const Scenario& scenario) {
  const Certainty certainty = allocator::certainty_of(scenario.options);
  const bool is_compared = certainty == Certainty::exact || certainty == Certainty::checked;
  const DeviceRequests& requests = source.requests;
  // A replay begins with an empty pool.
  if (!is_compared || requests.lived_before > 0 || source.is_text) return Confidence::approximate;
  // What else takes memory of another device is assumed, and of this one perhaps not known.
  const bool is_room_known = scenario.is_own || scenario.group == "program" ||
                             (source.own.is_outside_known && scenario.device_bytes == source.own.device_bytes);
  if (!is_room_known) return Confidence::approximate;
  const bool is_same_kind = scenario.options.index() == own_scenario(source.own)->options.index();
  if (is_same_kind && source.is_checked()) return Confidence::checked;
  const bool is_known = !source.differs && requests.unknown_requests == 0;
  return certainty == Certainty::exact && is_known ? Confidence::exact : Confidence::approximate;
}

const WhatIfRow* find_own(const std::vector<WhatIfRow>& rows) {
  const auto own = std::find_if(rows.begin(), rows.end(), [](const WhatIfRow& row) { return row.scenario.is_own; });
  return own == rows.end() ? nullptr : &*own;
}

// Whether the replay under the job's own settings refuses what failed in the recording, and nothing before that. Only
// of the first operations.
bool reproduces(const WhatIfSource& source, const WhatIfRow& own, std::uint64_t operations) {
  const auto& failures = source.requests.failures;
  const auto end =
      std::find_if(failures.begin(), failures.end(), [&](const auto& failure) { return failure.first >= operations; });
  if (end == failures.begin()) return true;
  const auto& first = own.result.first_failure;
  return first && first->operation == failures.front().first &&
         own.result.refused >= static_cast<std::uint64_t>(end - failures.begin());
}

struct Extent {
  std::uint64_t operations = 0;
  const std::atomic<bool>& cancelled;
};
WhatIfRow run(const WhatIfSource& source, Scenario scenario, const Extent& extent) {
  WhatIfRow row;
  PeakWatcher watcher;
  allocator::Watcher* watchers[] = {&watcher};
  const allocator::RequestStream& requests =
      scenario.change.requests ? *scenario.change.requests : source.requests.stream;
  row.result = allocator::play(requests, scenario.options,
                               {.upstream = scenario.upstream,
                                .watchers = watchers,
                                .operations_max = extent.operations,
                                .early_frees = scenario.change.early_frees,
                                .cancelled = &extent.cancelled});
  row.fragmentation_at_peak = watcher.fragmentation;
  row.confidence = confidence_of(source, scenario);
  row.scenario = std::move(scenario);
  return row;
}

}  // namespace

std::string_view text_from_verdict(WhatIfVerdict verdict) {
  switch (verdict) {
    case WhatIfVerdict::fits: return "fits";
    case WhatIfVerdict::does_not_fit: return "does_not_fit";
    case WhatIfVerdict::not_reproduced: break;
  }
  return "not_reproduced";
}

std::string_view text_from_fits(const WhatIfRow& row) {
  if (row.verdict == WhatIfVerdict::not_reproduced) return "not reproduced";
  return row.fits() ? "yes" : "no";
}

void put_fitting_first(std::vector<WhatIfRow>& rows) {
  std::stable_partition(rows.begin(), rows.end(),
                        [](const WhatIfRow& row) { return row.scenario.is_own || row.fits(); });
  std::stable_partition(rows.begin(), rows.end(), [](const WhatIfRow& row) { return row.scenario.is_own; });
}

std::string_view text_from_confidence(Confidence confidence) {
  switch (confidence) {
    case Confidence::exact: return "exact";
    case Confidence::checked: return "checked";
    case Confidence::approximate: return "approximate";
  }
  return "approximate";
}

std::string text_from_own_settings(const OwnSettings& own) {
  std::string text = own.is_pytorch ? "PyTorch's allocator" : fmt::format("XLA's allocator ({})", own.version);
  if (!own.package.empty()) text += fmt::format(", {}", own.package);
  text += fmt::format(", on a device of {}{}", own.is_device_at_least ? "at least " : "",
                      text_from_bytes(own.device_bytes));
  if (own.outside_bytes > 0)
    text += fmt::format(", of which {} {}outside the pool", text_from_bytes(own.outside_bytes),
                        own.is_outside_known ? "was " : "or more was ");
  for (const allocator::Setting& setting : own.settings) text += fmt::format("; {}={}", setting.name, setting.value);
  return text;
}

std::string text_from_check(const WhatIfSource& source) {
  if (source.is_checked())
    return fmt::format("Under these settings, the recording replays address for address ({} compared).",
                       text_from_count_of(source.checked_requests, "request"));
  return fmt::format("{}: {}.",
                     source.differs ? "The replay differs from the recording, so its figures are approximate"
                                    : "The replay could not be compared with the recording",
                     source.check_fault);
}

std::string sentence_from_note(std::string_view note) {
  const std::string text = capitalised(note);
  return text.ends_with('.') ? text : text + ".";
}

WhatIfChoice choice_of_heap(const Trace& trace, HeapKey heap) {
  const std::uint32_t device = trace.streams[heap.stream].definitions().heap(heap.heap).device;
  return {device == wire::no_device ? std::nullopt : std::optional(device), heap.stream, std::nullopt, 0};
}

Result<WhatIfSource> find_what_if_source(const Trace& trace, const WhatIfChoice& choice) {
  auto requests = find_device_requests(trace, choice.device, choice.stream);
  if (!requests) return Failure(requests.error());
  auto own = find_own_settings(trace, *requests, choice.device_bytes, choice.device_bytes_otherwise);
  if (!own) return Failure(own.error());
  if (const auto valid = own_scenario(*own); !valid) {
    own->notes.push_back(fmt::format("{}; the defaults are assumed", valid.error().what));
    own->settings.clear();
    if (const auto usual = own_scenario(*own); !usual) return Failure(usual.error());
  }
  const bool is_text = is_of_log(trace) || requests->has_only_failures();
  const Stream& stream = trace.streams[requests->trace_stream];
  const auto zero_ns = stream.has_times() ? std::optional(stream.zero_ns()) : std::nullopt;
  WhatIfSource source{std::move(*requests), std::move(*own), {}, 0, false, is_text, zero_ns};
  source.check_fault = find_check_fault(source);
  if (!source.is_checked() && !source.own.is_version_known) find_version(source);
  return source;
}

void run_on_all_cores(std::size_t count, const PassControl& control, const std::function<void(std::size_t)>& work,
                      unsigned threads) {
  std::atomic<std::size_t> next = 0;
  const auto work_on = [&] {
    for (std::size_t i = next++; i < count && !control.cancelled; i = next++) work(i);
  };
  std::vector<std::jthread> workers;
  const std::size_t wanted = threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < std::min(wanted, count); ++i) workers.emplace_back(work_on);
  work_on();
}

std::vector<WhatIfRow> run_what_if(const WhatIfSource& source, std::vector<Scenario> scenarios, PassControl& control,
                                   const WhatIfLimits& limits) {
  const std::uint64_t operations =
      std::min<std::uint64_t>(source.requests.stream.operations.size(), limits.operations_max);
  control.total_events = operations * scenarios.size();
  std::vector<WhatIfRow> rows(scenarios.size());
  const auto play_one = [&](std::size_t i) {
    rows[i] = run(source, std::move(scenarios[i]), {operations, control.cancelled});
    control.done_events += operations;
  };
  run_on_all_cores(scenarios.size(), control, play_one, limits.threads);
  if (control.cancelled) rows.clear();
  const WhatIfRow* own = find_own(rows);
  const bool is_reproduced = own == nullptr || reproduces(source, *own, operations);
  for (WhatIfRow& row : rows)
    row.verdict = !is_reproduced ? WhatIfVerdict::not_reproduced
                  : row.result.refused == 0 && row.result.fault == allocator::Fault::none ? WhatIfVerdict::fits
                                                                                          : WhatIfVerdict::does_not_fit;
  return rows;
}

std::string find_missing(const WhatIfSource& source, const std::vector<WhatIfRow>& rows) {
  const WhatIfRow* own = find_own(rows);
  if (own == nullptr || own->verdict != WhatIfVerdict::not_reproduced) return {};
  constexpr std::string_view record = "record the job: hbmscope run -- COMMAND";
  const DeviceRequests& requests = source.requests;
  if (source.is_text)
    return fmt::format("{}; {}",
                       requests.lived_before > 0
                           ? "a log lists the blocks at the failure, and not the requests before it"
                           : "an error text has no requests to replay",
                       record);
  if (!source.own.is_device_recorded) return "the device's size was given, and the job's may be another one";
  if (requests.lived_before > 0)
    return fmt::format(
        "{} from before the first event, so how the pool came to its state is unknown; {}",
        requests.lived_before == 1 ? "one block is" : text_from_count(requests.lived_before) + " blocks are", record);
  if (!source.own.is_outside_known) return "what else took memory of the device is unknown; give it: --outside SIZE";
  if (!source.own.is_allocator_known) return fmt::format("which allocator the job had is unknown; {}", record);
  return source.is_checked() ? "what made the request fail is not recorded" : source.check_fault;
}

std::string text_from_missing(const WhatIfSource& source, const std::vector<WhatIfRow>& rows) {
  const std::string missing = find_missing(source, rows);
  if (missing.empty()) return {};
  const auto& failed = source.requests.failures;
  const auto& first = find_own(rows)->result.first_failure;
  const std::uint64_t operation = failed.front().first;
  std::string other = "and the replay serves it";
  if (first && first->operation < operation)
    other = fmt::format("and the replay fails before, at operation {}", text_from_count(first->operation + 1));
  if (first && first->operation == operation) other = "and others after it, which the replay serves";
  return fmt::format("Not reproduced: a request of {} failed in the recording, {}. So what fits is unknown: {}.",
                     text_from_bytes(source.requests.stream.operations[operation].request.bytes), other, missing);
}

}  // namespace hbmscope
