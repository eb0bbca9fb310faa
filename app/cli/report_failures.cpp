#include "app/cli/report_failures.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/diagnose/diagnosis.h"
#include "analysis/query/failure_facts.h"
#include "analysis/query/pending_requests.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/trace/failure_details.h"
#include "analysis/trace/layers.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_diagnosis.h"
#include "analysis/write/json_optional.h"
#include "analysis/write/json_trace.h"
#include "app/cli/figure_text.h"

namespace hbmscope::cli {
namespace {

using Json = nlohmann::ordered_json;

// A job that catches its failures may have a million, and each needs a walk over its heap.
constexpr std::size_t failures_with_facts = 32;
constexpr std::size_t blockers_shown = 3;

std::string own_line(const Definitions& definitions, std::uint32_t stack) {
  const auto frame = find_own_frame(definitions, stack);
  if (!frame) return {};
  return fmt::format("{} {}:{}", definitions.text(frame->function), definitions.text(frame->file), frame->line);
}

std::string place_text(const Definitions& definitions, const CheapestPlace& place) {
  const std::size_t count = place.blocks.size();
  std::string text = fmt::format(
      "  Blocking allocations (the smallest set whose release makes room): {}, {} between {:#x} and {:#x}\n",
      text_from_count_of(count, "block"), text_from_bytes(place.in_use_bytes), place.range.begin, place.range.end);
  for (std::size_t i = 0; i < std::min(count, blockers_shown); ++i) {
    const LiveBlock& block = place.blocks[i];
    const std::string line = own_line(definitions, block.stack);
    text += fmt::format("    {:#x}  {:>10}  {}\n", block.address, text_from_bytes(block.size),
                        line.empty() ? std::string(no_user_code_text(definitions, block.stack)) : printable(line));
  }
  if (count > blockers_shown) text += fmt::format("    and {} more\n", count - blockers_shown);
  return text;
}

Json json_from_place(const Definitions& definitions, const std::optional<CheapestPlace>& place) {
  if (!place) return nullptr;
  Json blocks = Json::array();
  for (const LiveBlock& block : place->blocks)
    blocks.push_back({{"address", fmt::format("{:#x}", block.address)},
                      {"size_bytes", block.size},
                      {"allocation_event", block.event == wire::before_the_stream ? Json(nullptr) : Json(block.event)},
                      {"own_line", or_null(own_line(definitions, block.stack))}});
  return {{"begin_address", fmt::format("{:#x}", place->range.begin)},
          {"end_address", fmt::format("{:#x}", place->range.end)},
          {"in_use_bytes", place->in_use_bytes},
          {"blocks", std::move(blocks)}};
}

// Of a log: its own words, and what they say beyond the figures.
std::string told_text(const FailureRow& row, const Terminal& terminal) {
  constexpr std::size_t width = 240;
  std::string text, details;
  if (!row.reason.empty()) {
    const std::string words = printable(std::string_view(row.reason).substr(0, width));
    text += terminal.paint(fmt::format("  \"{}{}\"", words, row.reason.size() > width ? "…" : ""), Ink::dim) + "\n";
  }
  for (const auto& [key, value] : row.details)
    if (key != failure_detail::byte)
      details += fmt::format("{}{}: {}", details.empty() ? "" : "; ", printable(key), printable(value));
  // Without a name of its own, the allocator is that of the framework: "xla:tpu".
  if (row.allocator.find(':') == std::string::npos && !row.allocator.empty())
    details = fmt::format("allocator: {}{}{}", printable(row.allocator), details.empty() ? "" : "; ", details);
  if (!details.empty()) text += "  " + details + "\n";
  return text;
}

std::string row_text(const FailureRow& row, bool is_emulated_gpu, const Terminal& terminal) {
  std::string text =
      terminal.paint(is_emulated_gpu ? "Out of memory in the emulated GPU pool" : "Out of memory", Ink::bad);
  if (row.device && !is_emulated_gpu) text += fmt::format(" on device {}", *row.device);
  if (row.since_start_ns) text += " at " + seconds_text(*row.since_start_ns);
  text += row.line ? fmt::format(" at line {}", text_from_count(*row.line)) : fmt::format(" (event {})", row.event);
  text += ": requested " + text_from_request(row.requested_bytes);
  if (row.total_free_bytes) text += fmt::format(", {} free in the pool", text_from_bytes(*row.total_free_bytes));
  if (row.largest_free_bytes) text += fmt::format(" (largest free block {})", text_from_bytes(*row.largest_free_bytes));
  text += ".\n";
  if (!row.own_line.empty()) text += "  Requested by " + printable(row.own_line) + "\n";
  std::string then;
  const auto add = [&](const char* name, const std::optional<std::uint64_t>& bytes) {
    if (bytes) then += fmt::format("{}{} {}", then.empty() ? "" : ", ", name, text_from_bytes(*bytes));
  };
  add("in use", row.used_bytes);
  add("pool", row.pool_bytes);
  add(row.is_of_driver ? "free on the device" : "free on the device outside the pool", row.available_bytes);
  if (!then.empty()) text += "  At that time: " + then + "\n";
  if (row.line) text += told_text(row, terminal);
  return text;
}

// Why it failed, the last time the request would have fit, and the blocking allocations.
std::string text_from_failure_facts(const Trace& trace, std::size_t stream, std::size_t failure,
                                    const Terminal& terminal) {
  const Diagnosis found = diagnose(trace, {stream, failure}, Depth::brief);
  const FailureFacts& facts = found.facts;
  std::string text = "  " + printable(found.cause.sentence) + "\n";
  if (const std::string& unknowns = found.cause.unknowns; !unknowns.empty())
    text += terminal.paint("  " + unknowns, Ink::dim) + "\n";
  if (facts.last_fit) {
    text += "  Last time the request would have fit: ";
    if (facts.last_fit_since_start_ns) text += seconds_text(*facts.last_fit_since_start_ns) + ", ";
    text += fmt::format("after {}\n", text_from_count_of(*facts.last_fit, "event"));
  }
  if (facts.place) text += place_text(trace.streams[stream].definitions(), *facts.place);
  return text;
}

}  // namespace

std::vector<ShownFailure> find_failures(const Trace& trace) {
  std::vector<ShownFailure> failures;
  for (FailureRow& row : compute_failure_rows(trace)) failures.push_back({std::move(row), 0, 0});
  std::size_t number = 0;
  for (std::size_t stream = 0; stream < trace.streams.size(); ++stream)
    for (std::size_t i = 0; i < trace.streams[stream].failures().size(); ++i) {
      if (!trace.streams[stream].failures()[i].is_out_of_memory) continue;
      failures[number].stream = stream;
      failures[number++].index = i;
    }
  return failures;
}

std::string text_from_failure(const Trace& trace, const ShownFailure& failure, const Terminal& terminal) {
  const Stream& stream = trace.streams[failure.stream];
  return row_text(failure.row, is_of_extra_pool(stream, stream.failures()[failure.index]), terminal) +
         text_from_failure_facts(trace, failure.stream, failure.index, terminal);
}

void add_failure_facts(nlohmann::ordered_json& failures, const Trace& trace) {
  constexpr const char* keys[] = {"verdict",     "sentence",        "evidence",   "unknown",
                                  "how_to_know", "last_fit_events", "holders_by", "holders_bytes",
                                  "holders",     "blockers",        "advice",     "immediate_verdict"};
  std::size_t row = 0;
  const auto requests = find_failed_requests(trace);
  if (requests.empty()) return;
  const Diagnosis first = diagnose(trace, requests.front(), Depth::full);
  std::size_t others = 0;
  for (std::size_t number = 0; number < trace.streams.size(); ++number) {
    const Stream& stream = trace.streams[number];
    for (std::size_t i = 0; i < stream.failures().size(); ++i) {
      if (!stream.failures()[i].is_out_of_memory) continue;
      Json& json = failures[row++];
      const bool has_facts = i + failures_with_facts >= stream.failures().size();
      const bool is_first = requests.front().stream == number && requests.front().index == i;
      const Diagnosis found = is_first    ? first
                              : has_facts ? diagnose(trace, {number, i}, depth_of_other(first, ++others))
                                          : Diagnosis{};
      const FailureFacts& facts = found.facts;
      if (has_facts || is_first)
        json.update(json_from_diagnosis(trace, found));
      else
        for (const char* key : keys) json[key] = nullptr;
      json["free_pieces"] = or_null(facts.free_blocks);
      json["last_fit_since_start_ns"] = or_null(facts.last_fit_since_start_ns);
      json["cheapest_place"] = json_from_place(stream.definitions(), facts.place);
    }
  }
}

void add_pending(nlohmann::ordered_json& failures, const Trace& trace) {
  std::vector<FailureRow> rows = compute_pending_rows(trace);
  std::erase_if(rows, [](const FailureRow& row) { return !row.is_pending; });
  for (Json& json : json_from_failure_rows(rows)) {
    for (const char* key : {"verdict", "sentence", "evidence", "unknown", "how_to_know", "last_fit_events",
                            "holders_by", "holders_bytes", "holders", "blockers", "advice", "immediate_verdict",
                            "free_pieces", "last_fit_since_start_ns", "cheapest_place"})
      json[key] = nullptr;
    failures.push_back(std::move(json));
  }
}

std::string text_from_pending(const Trace& trace) {
  std::string text;
  for (const FailureRow& row : compute_pending_rows(trace)) {
    text += fmt::format("{} (event {}): the driver refused", row.is_pending ? "Pending" : "Refused", row.event);
    if (row.requested_bytes > 0) text += " " + text_from_bytes(row.requested_bytes);
    if (!row.reason.empty()) text += " to " + printable(row.reason);
    if (row.available_bytes) text += fmt::format(" ({} was free on the device)", text_from_bytes(*row.available_bytes));
    text += row.is_pending
                ? ". No retry has followed yet, so it is not counted as a failure.\n"
                : "; no retry followed. The job may have gone on without it, so it is not counted as a failure.\n";
  }
  return text;
}

}  // namespace hbmscope::cli
