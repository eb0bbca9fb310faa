#include "app/cli/what_if.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "allocator/emulated/gpus/gpus.h"
#include "allocator/reference/replay/verdict.h"
#include "analysis/diagnose/site_change.h"
#include "analysis/judge/gate.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/whatif/what_if.h"
#include "analysis/write/json.h"
#include "analysis/write/json_optional.h"
#include "app/cli/cli.h"
#include "app/cli/device_size.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/replay.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

using allocator::ReplayFailure;
using Json = nlohmann::ordered_json;

struct WhatIfReport {
  std::string file;
  const WhatIfSource& source;
  const std::vector<WhatIfRow>& rows;

  const allocator::RequestStream& stream() const { return source.requests.stream; }
  // Absent: the source has no times.
  std::optional<std::int64_t> since_start_ns(std::uint64_t operation) const {
    const auto& origins = stream().origins;
    if (operation >= origins.size() || origins.front().time_ns == origins.back().time_ns) return std::nullopt;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(origins[operation].time_ns) -
                                     static_cast<std::uint64_t>(origins.front().time_ns));
  }
};

std::string head_text(const WhatIfReport& report, const Terminal& terminal) {
  const WhatIfSource& source = report.source;
  const auto requests = std::count_if(report.stream().operations.begin(), report.stream().operations.end(),
                                      [](const auto& operation) { return !operation.is_free; });
  std::string text = terminal.paint(
      fmt::format("{}: {}{}", printable(report.file),
                  text_from_count_of(static_cast<std::uint64_t>(requests), "request"),
                  source.requests.device ? fmt::format(" to device {}", *source.requests.device) : std::string()),
      Ink::bold);
  text += "\n" + printable(text_from_own_settings(source.own)) + ".\n";
  text += printable(text_from_check(source)) + "\n";
  if (!source.requests.failures.empty())
    text += fmt::format(
        "{} in the recording. What the job would have requested otherwise is unknown; what follows the failure is what "
        "it did after it.\n",
        source.requests.failures.size() == 1 ? "One request failed"
                                             : text_from_count(source.requests.failures.size()) + " requests failed");
  if (const std::string missing = text_from_missing(source, report.rows); !missing.empty())
    text += terminal.paint(printable(missing), Ink::bad) + "\n";
  return text;
}

std::string failure_text(const WhatIfReport& report, const WhatIfRow& row) {
  if (!row.result.first_failure) return {};
  const ReplayFailure& failure = *row.result.first_failure;
  std::string text =
      fmt::format("{}, operation {}", text_from_bytes(failure.request.bytes), text_from_count(failure.operation + 1));
  if (const auto ns = report.since_start_ns(failure.operation)) text += ", " + seconds_text(*ns);
  return text;
}

std::string table_text(const WhatIfReport& report, const Terminal& terminal) {
  std::vector<std::vector<std::string>> cells;
  for (const WhatIfRow& row : report.rows) {
    const allocator::ReplayResult& result = row.result;
    cells.push_back({terminal.paint(std::string(text_from_fits(row)), row.fits() ? Ink::good : Ink::bad),
                     text_from_bytes(result.peak_in_use_bytes), text_from_bytes(result.statistics.peak_pool_bytes),
                     row.fragmentation_at_peak ? fmt::format("{:.1f} %", 100 * *row.fragmentation_at_peak) : "–",
                     text_from_count(result.driver_claims + result.driver_releases + result.driver_refusals),
                     std::string(text_from_confidence(row.confidence)), printable(row.scenario.name),
                     failure_text(report, row)});
  }
  return text_from_columns({{"fits", false},
                            {"peak in use", true},
                            {"peak pool", true},
                            {"fragmented", true},
                            {"driver calls", true},
                            {"figures", false},
                            {"setting", false},
                            {"first failure", false}},
                           cells, terminal.style());
}

std::string notes_text(const WhatIfReport& report) {
  std::string text;
  const auto note = [&](const std::string& words) { text += "- " + printable(words) + "\n"; };
  for (const std::string& words : report.source.own.notes) note(words);
  const DeviceRequests& requests = report.source.requests;
  if (requests.lived_before > 0)
    note(text_from_count_of(requests.lived_before, "block") +
         " from before the first event are requested first, by address, from an empty pool");
  if (requests.unknown_requests > 0)
    note(fmt::format("the requested size of {} is unknown; the block's size is requested instead",
                     text_from_count_of(requests.unknown_requests, "block")));
  if (requests.other_devices > 0)
    note(text_from_count_of(requests.other_devices, "other device") + " had requests, which are left out");
  return text.empty() ? text : "\nAssumed\n" + text;
}

std::string text_from_what_if(const WhatIfReport& report, const Terminal& terminal) {
  return head_text(report, terminal) + "\n" + table_text(report, terminal) + notes_text(report);
}

Json json_from_failure(const WhatIfReport& report, const ReplayFailure& failure) {
  const bool is_left_known = failure.driver_left_bytes != allocator::no_limit;
  Json json = {{"operation", failure.operation + 1},
               {"since_start_ns", or_null(report.since_start_ns(failure.operation))},
               {"asked_bytes", failure.request.bytes},
               {"rounded_bytes", failure.rounded_bytes},
               {"total_free_bytes", failure.free_bytes},
               {"largest_free_bytes", failure.largest_usable_bytes},
               {"pool_bytes", failure.statistics.pool_bytes},
               {"driver_left_bytes", is_left_known ? Json(failure.driver_left_bytes) : Json()},
               {"verdict", allocator::text_from_verdict(verdict_of(failure))}};
  add_cause(failure, json);
  return json;
}

Json json_from_row(const WhatIfReport& report, const WhatIfRow& row) {
  const allocator::ReplayResult& result = row.result;
  return {{"setting", row.scenario.name},
          {"group", row.scenario.group},
          {"is_own", row.scenario.is_own},
          {"allocator", allocator::name_of(row.scenario.options)},
          {"device_bytes", row.scenario.device_bytes},
          {"figures", text_from_confidence(row.confidence)},
          {"verdict", text_from_verdict(row.verdict)},
          {"fits", row.verdict == WhatIfVerdict::not_reproduced ? Json() : Json(row.fits())},
          {"peak_in_use_bytes", result.peak_in_use_bytes},
          {"peak_requested_bytes", result.peak_requested_bytes},
          {"peak_pool_bytes", result.statistics.peak_pool_bytes},
          {"fragmentation_at_peak", or_null(row.fragmentation_at_peak)},
          {"refused", result.refused},
          {"driver_calls",
           {{"allocated", result.driver_claims},
            {"refused", result.driver_refusals},
            {"released", result.driver_releases}}},
          {"first_failure", result.first_failure ? json_from_failure(report, *result.first_failure) : Json()}};
}

Json json_from_what_if(const WhatIfReport& report) {
  const OwnSettings& own = report.source.own;
  Json settings = Json::object();
  for (const allocator::Setting& setting : own.settings) settings[setting.name] = setting.value;
  const std::string missing = find_missing(report.source, report.rows);
  const bool has_failures = !report.source.requests.failures.empty();
  Json json{{"schema", json_schema},
            {"file", report.file},
            {"device", or_null(report.source.requests.device)},
            {"operations", report.stream().operations.size()},
            {"recorded_failures", report.source.requests.failures.size()},
            {"own",
             {{"allocator", own.is_pytorch ? "pytorch" : "xla_gpu"},
              {"version", own.version.empty() ? Json() : Json(own.version)},
              {"package", own.package.empty() ? Json() : Json(own.package)},
              {"settings", std::move(settings)},
              {"device_bytes", own.device_bytes},
              {"outside_bytes", own.outside_bytes},
              {"is_outside_known", own.is_outside_known}}},
            {"is_checked", report.source.is_checked()},
            {"checked_requests", report.source.checked_requests},
            {"check_fault", report.source.is_checked() ? Json() : Json(report.source.check_fault)},
            {"is_reproduced", has_failures ? Json(missing.empty()) : Json()},
            {"not_reproduced_because", or_null(missing)},
            {"notes", own.notes},
            {"rows", Json::array()}};
  for (const WhatIfRow& row : report.rows) json["rows"].push_back(json_from_row(report, row));
  return json;
}

constexpr WhereField what_if_gate_fields[] = {
    {"setting", FieldKind::text, "the row's setting", {}},
    {"group", FieldKind::text, "settings, allocator, version, device or program", {}},
    {"fits", FieldKind::text, "yes or no; unknown where the replay does not reproduce the recorded failure", {}},
    {"figures", FieldKind::text, "exact, checked or approximate", {}},
    {"peak", FieldKind::bytes, "the most bytes in use", {}},
    {"pool", FieldKind::bytes, "the most that the pool had", {}},
    {"fragmentation", FieldKind::percent, "external, at the peak", {}},
    {"refused", FieldKind::count, "requests that were not served", {}}};

std::vector<GateSubject> subjects_of(const std::vector<WhatIfRow>& rows) {
  std::vector<GateSubject> subjects;
  for (const WhatIfRow& row : rows) {
    GateSubject& subject = subjects.emplace_back(row.scenario.name);
    subject.set("setting", row.scenario.name);
    subject.set("group", row.scenario.group);
    if (row.verdict != WhatIfVerdict::not_reproduced) subject.set("fits", std::string(text_from_fits(row)));
    subject.set("figures", std::string(text_from_confidence(row.confidence)));
    subject.set("peak", row.result.peak_in_use_bytes);
    subject.set("pool", row.result.statistics.peak_pool_bytes);
    subject.set("fragmentation", 100 * row.fragmentation_at_peak.value_or(0));
    subject.set("refused", row.result.refused);
  }
  return subjects;
}

Result<std::optional<std::uint64_t>> size_from(const std::string& text, bool may_be_device) {
  if (text.empty()) return std::optional<std::uint64_t>();
  const auto bytes = may_be_device ? device_bytes_from(text) : Result<std::uint64_t>(0);
  if (may_be_device) {
    if (!bytes) return Failure(bytes.error());
    return std::optional(*bytes);
  }
  const auto size = parse_bytes(text);
  if (!size) return Failure(size.error());
  return std::optional(static_cast<std::uint64_t>(std::max<std::int64_t>(0, *size)));
}

Result<WhatIfSource> find_source(const WhatIfOptions& options, const Trace& trace) {
  const bool is_name = is_device_name(options.device);
  if (is_name && !options.device_bytes.empty())
    return Failure(refusal("--device already gives the size of the device", "Remove --device or --device-bytes."));
  const auto bytes = size_from(is_name ? options.device : options.device_bytes, true);
  if (!bytes) return Failure(bytes.error());
  const auto outside = size_from(options.outside, false);
  if (!outside) return Failure(outside.error());
  std::optional<std::uint32_t> device;
  if (!is_name && !options.device.empty())
    device = static_cast<std::uint32_t>(std::min(std::stoull(options.device), 0xffffffffULL));
  auto source = find_what_if_source(trace, {device, std::nullopt, *bytes});
  if (source && *outside) {
    source->own.outside_bytes = **outside;
    source->own.is_outside_known = true;
  }
  return source;
}

// The job's own settings first.
Result<std::vector<Scenario>> find_scenarios(const WhatIfOptions& options, const Trace& trace,
                                             const WhatIfSource& source) {
  const OwnSettings& own = source.own;
  if (options.tries.empty()) return usual_scenarios(own);
  std::vector<Scenario> scenarios = {own_scenario(own).value()};
  for (const std::string& words : options.tries) {
    auto scenario = find_scenario(trace, source, words);
    if (!scenario) return Failure(scenario.error());
    scenarios.push_back(std::move(*scenario));
  }
  return scenarios;
}

}  // namespace

int run_what_if(const WhatIfOptions& options) {
  const auto loaded = load_merged(options.files, {options.max_size, {}, {}});
  if (!loaded) return fail(loaded.error());
  if (!loaded->trace)
    return fail(refusal("a profile has no requests, only live arrays",
                        "Use a recording, a PyTorch snapshot with history, a profiler's trace or an RMM log."));
  const auto source = find_source(options, *loaded->trace);
  if (!source) return fail(source.error());
  auto scenarios = find_scenarios(options, *loaded->trace, *source);
  if (!scenarios) return fail(scenarios.error());
  PassControl control;
  std::vector<WhatIfRow> rows;
  {
    const ProgressLine progress("What-if", control);
    rows = hbmscope::run_what_if(*source, std::move(*scenarios), control);
  }
  const WhatIfReport report{options.files.front(), *source, rows};
  const std::string text =
      options.json ? text_from_json(json_from_what_if(report)) : text_from_what_if(report, Terminal::of_stdout());
  return print_with_gate(text, options.gate,
                         find_gate_failure(options.gate.condition, what_if_gate_fields, subjects_of(rows)));
}

}  // namespace hbmscope::cli
