#include "analysis/answers/what_if.h"

#include <algorithm>

#include <fmt/format.h>

#include "allocator/emulated/gpus/gpus.h"
#include "allocator/reference/replay/verdict.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/diagnose/growth.h"
#include "analysis/diagnose/proof.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

using allocator::ReplayFailure;

// Absent: the source has no times.
std::optional<std::int64_t> since_start_ns(const WhatIfSource& source, std::uint64_t operation) {
  const auto& origins = source.requests.stream.origins;
  if (operation >= origins.size() || !source.zero_ns) return std::nullopt;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(origins[operation].time_ns) -
                                   static_cast<std::uint64_t>(*source.zero_ns));
}

// "3.00 GiB, event 26, 490.999 ms": as the window names a failure.
std::string failure_text(const WhatIfSource& source, const ReplayFailure& failure) {
  const auto& positions = source.requests.positions;
  const bool has_event = failure.operation < positions.size() && positions[failure.operation] > 0;
  std::string text = fmt::format("{}, {} {}", text_from_bytes(failure.request.bytes), has_event ? "event" : "operation",
                                 text_from_count(has_event ? positions[failure.operation] - 1 : failure.operation + 1));
  if (const auto ns = since_start_ns(source, failure.operation)) text += ", " + text_from_moment_ns(*ns);
  return text;
}

// What a user can paste. Empty: it is the job's own, or another release of jaxlib.
std::string words_to_copy(const WhatIfRow& row) {
  if (row.scenario.is_own || row.scenario.group == "version") return {};
  const bool has_value = row.scenario.name.find('=') != std::string::npos;
  return row.scenario.group == "device" && !has_value ? "device=" + row.scenario.name : row.scenario.name;
}

std::string details_text(const WhatIfRow& row) {
  const allocator::ReplayResult& result = row.result;
  std::string words = fmt::format("{}{}\n{} served, {} refused; {} from the driver", row.scenario.name,
                                  row.verdict == WhatIfVerdict::not_reproduced ? "\nnot reproduced" : "",
                                  text_from_count_of(result.allocations, "request"), text_from_count(result.refused),
                                  text_from_count_of(result.driver_claims, "allocation"));
  if (const auto& failure = result.first_failure)
    words += fmt::format("\nfirst failure: {} requested, {} free in the pool, the largest block {}",
                         text_from_bytes(failure->request.bytes), text_from_bytes(failure->free_bytes),
                         text_from_bytes(failure->largest_usable_bytes));
  switch (row.confidence) {
    case Confidence::exact: words += "\nexact: the allocator's rules were compared with the original"; break;
    case Confidence::checked: words += "\nchecked: this recording replays address for address"; break;
    case Confidence::approximate: words += "\napproximate: the figures may be off"; break;
  }
  return words + (words_to_copy(row).empty() ? "" : "\nA click copies the setting.");
}

std::vector<Value> failure_cells(const WhatIfSource& source, const std::optional<ReplayFailure>& failure) {
  constexpr std::size_t count = 12;
  if (!failure) return std::vector<Value>(count);
  const auto cause = cause_from(verdict_of(*failure));
  const bool is_left_known = failure->driver_left_bytes != allocator::no_limit;
  return {failure->operation + 1,
          value_of(since_start_ns(source, failure->operation)),
          failure->request.bytes,
          failure->rounded_bytes,
          failure->free_bytes,
          failure->largest_usable_bytes,
          failure->statistics.pool_bytes,
          is_left_known ? Value(failure->driver_left_bytes) : Value(),
          std::string(allocator::text_from_verdict(verdict_of(*failure))),
          cause ? Value(std::string(row_of(*cause).key)) : Value(),
          cause ? Value(std::string(row_of(*cause).title)) : Value(),
          failure_text(source, *failure)};
}

// "3 of 8 settings serve every request; as recorded, not all were served."
std::string summary_text(const WhatIfSource& source, const std::vector<WhatIfRow>& rows) {
  if (const std::string missing = text_from_missing(source, rows); !missing.empty()) return missing;
  if (rows.empty()) return {};
  const auto fitting = std::count_if(rows.begin() + 1, rows.end(), [](const WhatIfRow& one) { return one.fits(); });
  return fmt::format("{} of {} settings serve every request; as recorded, {}.", text_from_count(fitting),
                     text_from_count(rows.size() - 1), rows.front().fits() ? "all were served" : "not all were");
}

Document describe_own(const OwnSettings& own) {
  Document part{.key = "own", .audience = Audience::programs};
  part.add(Figures{{{"allocator", std::string(own.is_pytorch ? "pytorch" : "xla_gpu")},
                    {"version", value_of(own.version)},
                    {"package", value_of(own.package)}}});
  Texts settings{.key = "settings", .is_object = true};
  for (const allocator::Setting& one : own.settings) settings.texts.emplace_back(one.name, one.value);
  part.add(std::move(settings));
  part.add(Figures{{{"device_bytes", own.device_bytes, Unit::bytes},
                    {"outside_bytes", own.outside_bytes, Unit::bytes},
                    {"is_outside_known", own.is_outside_known}}});
  return part;
}

Document describe_assumptions(const WhatIfSource& source) {
  Document part{.title = "Assumed", .audience = Audience::readers};
  const auto add = [&](const std::string& words) { part.add(Sentence{.text = sentence_from_note(words)}); };
  for (const std::string& note : source.own.notes) add(note);
  const DeviceRequests& requests = source.requests;
  if (requests.lived_before > 0)
    add(text_from_count_of(requests.lived_before, "block") +
        " from before the first event are requested first, by address, from an empty pool");
  if (requests.unknown_requests > 0)
    add(fmt::format("the requested size of {} is unknown; the block's size is requested instead",
                    text_from_count_of(requests.unknown_requests, "block")));
  if (requests.other_devices > 0)
    add(text_from_count_of(requests.other_devices, "other device") + " had requests, which are left out");
  return part;
}

}  // namespace

Table describe_what_if_rows(const WhatIfSource& source, const std::vector<WhatIfRow>& rows) {
  Table table{
      .key = "rows",
      .columns = {{.title = "Fits", .is_short = true},
                  {.key = "setting", .title = "Setting", .is_whole = true, .width = 260},
                  {.key = "group", .is_detail = true},
                  {.key = "is_own", .unit = Unit::flag},
                  {.key = "allocator", .is_detail = true},
                  {.key = "device_bytes", .unit = Unit::bytes, .is_detail = true},
                  {.key = "verdict"},
                  {.key = "fits", .unit = Unit::flag},
                  {.key = "peak_in_use_bytes", .title = "Peak in use", .unit = Unit::bytes, .rank = 2},
                  {.key = "peak_requested_bytes", .unit = Unit::bytes, .is_detail = true},
                  {.key = "peak_pool_bytes", .title = "Peak pool", .unit = Unit::bytes, .share = 1},
                  {.unit = Unit::share},
                  {.key = "fragmentation_at_peak",
                   .title = "Fragmented",
                   .unit = Unit::share,
                   .meaning = "External fragmentation when the most was in use.",
                   .rank = 3,
                   .is_detail = true},
                  {.key = "refused", .unit = Unit::count, .is_detail = true},
                  {.title = "Driver calls", .unit = Unit::count, .rank = 4},
                  {.key = "allocated", .unit = Unit::count, .within = "driver_calls", .is_detail = true},
                  {.key = "refused", .unit = Unit::count, .within = "driver_calls", .is_detail = true},
                  {.key = "released", .unit = Unit::count, .within = "driver_calls", .is_detail = true},
                  {.key = "figures",
                   .title = "Figures",
                   .meaning = "How sure they are: exact, checked or approximate.",
                   .rank = 1,
                   .is_short = true},
                  {.key = "operation", .unit = Unit::count, .within = "first_failure", .is_detail = true},
                  {.key = "since_start_ns", .unit = Unit::time, .within = "first_failure", .is_detail = true},
                  {.key = "asked_bytes", .unit = Unit::bytes, .within = "first_failure", .is_detail = true},
                  {.key = "rounded_bytes", .unit = Unit::bytes, .within = "first_failure", .is_detail = true},
                  {.key = "total_free_bytes", .unit = Unit::bytes, .within = "first_failure", .is_detail = true},
                  {.key = "largest_free_bytes", .unit = Unit::bytes, .within = "first_failure", .is_detail = true},
                  {.key = "pool_bytes", .unit = Unit::bytes, .within = "first_failure", .is_detail = true},
                  {.key = "driver_left_bytes", .unit = Unit::bytes, .within = "first_failure", .is_detail = true},
                  {.key = "verdict", .within = "first_failure", .is_detail = true},
                  {.key = "cause", .within = "first_failure", .is_detail = true},
                  {.key = "cause_title", .within = "first_failure", .is_detail = true},
                  {.title = "First failure", .rank = 1, .width = 220}},
      .shown = rows.size()};
  std::uint64_t most = 1;
  for (const WhatIfRow& row : rows) most = std::max(most, row.result.statistics.peak_pool_bytes);
  std::vector<std::vector<Value>> cells;
  std::vector<std::string> settings, meanings;
  std::vector<Tone> tones;
  for (const WhatIfRow& row : rows) {
    const allocator::ReplayResult& result = row.result;
    const std::uint64_t pool = result.statistics.peak_pool_bytes;
    auto& one = cells.emplace_back(
        std::vector<Value>{std::string(text_from_fits(row)), row.scenario.name, std::string(row.scenario.group),
                           row.scenario.is_own, std::string(allocator::name_of(row.scenario.options)),
                           row.scenario.device_bytes, std::string(text_from_verdict(row.verdict)),
                           row.verdict == WhatIfVerdict::not_reproduced ? Value() : Value(row.fits()),
                           result.peak_in_use_bytes, result.peak_requested_bytes, pool, share_value(pool, most),
                           value_of(row.fragmentation_at_peak), std::uint64_t{result.refused},
                           std::uint64_t{result.driver_claims} + result.driver_releases + result.driver_refusals,
                           std::uint64_t{result.driver_claims}, std::uint64_t{result.driver_refusals},
                           std::uint64_t{result.driver_releases}, std::string(text_from_confidence(row.confidence))});
    for (Value& value : failure_cells(source, result.first_failure)) one.push_back(std::move(value));
    settings.push_back(words_to_copy(row));
    meanings.push_back(details_text(row));
    tones.push_back(row.fits() ? Tone::good : Tone::bad);
  }
  table.rows = std::move(cells);
  table.action = [settings](std::size_t row) {
    return settings[row].empty() ? Action{} : Action{.kind = Action::Kind::copy, .text = settings[row]};
  };
  table.tone = [tones](std::size_t row) { return tones[row]; };
  table.row_meaning = [meanings](std::size_t row) { return meanings[row]; };
  return table;
}

std::string growth_of_failure(const Trace& trace) {
  const auto failures = find_failed_requests(trace);
  if (failures.empty()) return {};
  const Diagnosis found = diagnose(trace, failures.front(), Depth::without_replays);
  return found.cause.cause == Cause::leak && found.growth ? text_from_growth(*found.growth) : std::string();
}

Document describe_what_if(const std::string& file, const WhatIfSource& source, const std::vector<WhatIfRow>& rows,
                          const std::string& growth) {
  const auto& operations = source.requests.stream.operations;
  const auto requests =
      std::count_if(operations.begin(), operations.end(), [](const auto& one) { return !one.is_free; });
  const auto& device = source.requests.device;
  Document document{.title = fmt::format("{}: {}{}", file,
                                         text_from_count_of(static_cast<std::uint64_t>(requests), "request"),
                                         device ? fmt::format(" to device {}", *device) : std::string())};
  const std::size_t failures = source.requests.failures.size();
  const std::string missing = find_missing(source, rows);
  document.add(Figures{{{"file", file},
                        {"device", device ? Value(std::uint64_t{*device}) : Value(), Unit::count},
                        {"operations", std::uint64_t{operations.size()}, Unit::count},
                        {"recorded_failures", std::uint64_t{failures}, Unit::count}}});
  document.add(Sentence{
      .key = "summary", .text = summary_text(source, rows), .tone = missing.empty() ? Tone::plain : Tone::bad});
  document.add(Sentence{.key = "growth",
                        .text = growth.empty()
                                    ? ""
                                    : fmt::format("A leak: {}. A setting that fits only delays the failure; hbmscope "
                                                  "explain says what to stop keeping.",
                                                  growth),
                        .tone = Tone::bad});
  document.add(Sentence{.text = text_from_own_settings(source.own) + ".", .audience = Audience::readers});
  document.add(Sentence{.text = text_from_check(source), .audience = Audience::readers});
  if (failures > 0)
    document.add(Sentence{
        .text = fmt::format("{} in the recording. Later requests are those that the job made after failing: where a "
                            "setting serves it, the job goes on, and may need more than the peaks here.",
                            failures == 1 ? "One request failed" : text_from_count(failures) + " requests failed"),
        .audience = Audience::readers});
  document.add(describe_own(source.own));
  document.add(Figures{{{"is_checked", source.is_checked()},
                        {"checked_requests", source.checked_requests, Unit::count},
                        {"check_fault", source.is_checked() ? Value() : Value(source.check_fault)},
                        {"is_reproduced", failures > 0 ? Value(missing.empty()) : Value()},
                        {"not_reproduced_because", value_of(missing)}}});
  document.add(texts_from("notes", source.own.notes));
  document.add(Document{.title = "Settings"}.add(describe_what_if_rows(source, rows)));
  document.add(describe_assumptions(source));
  return document;
}

}  // namespace hbmscope
