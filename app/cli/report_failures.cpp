#include "app/cli/report_failures.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/failure_facts.h"
#include "analysis/query/pending_requests.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
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

}  // namespace

std::string text_from_failure_facts(const Trace& trace, std::size_t stream, std::size_t failure,
                                    const Terminal& terminal) {
  const FailureFacts facts = compute_failure_facts(trace.streams[stream], failure);
  std::string text = "  " + sentence_of(facts) + "\n";
  if (const std::string unknowns = unknowns_of(facts); !unknowns.empty())
    text += terminal.paint("  " + unknowns, Ink::dim) + "\n";
  if (facts.last_fit) {
    text += "  Last time the request would have fit: ";
    if (facts.last_fit_since_start_ns) text += seconds_text(*facts.last_fit_since_start_ns) + ", ";
    text += fmt::format("after {}\n", text_from_count_of(*facts.last_fit, "event"));
  }
  if (facts.place) text += place_text(trace.streams[stream].definitions(), *facts.place);
  return text;
}

void add_failure_facts(nlohmann::ordered_json& failures, const Trace& trace) {
  std::size_t row = 0;
  for (const Stream& stream : trace.streams) {
    for (std::size_t i = 0; i < stream.failures().size(); ++i) {
      if (!stream.failures()[i].is_out_of_memory) continue;
      Json& json = failures[row++];
      const bool has_facts = i + failures_with_facts >= stream.failures().size();
      const FailureFacts facts = has_facts ? compute_failure_facts(stream, i) : FailureFacts{};
      json["verdict"] = has_facts ? Json(text_from_verdict(facts.verdict)) : Json(nullptr);
      json["sentence"] = has_facts ? Json(sentence_of(facts)) : Json(nullptr);
      json["free_pieces"] = or_null(facts.free_blocks);
      json["last_fit_events"] = or_null(facts.last_fit);
      json["last_fit_since_start_ns"] = or_null(facts.last_fit_since_start_ns);
      json["cheapest_place"] = json_from_place(stream.definitions(), facts.place);
    }
  }
}

void add_pending(nlohmann::ordered_json& failures, const Trace& trace) {
  std::vector<FailureRow> rows = compute_pending_rows(trace);
  std::erase_if(rows, [](const FailureRow& row) { return !row.is_pending; });
  for (Json& json : json_from_failure_rows(rows)) {
    for (const char* key :
         {"verdict", "sentence", "free_pieces", "last_fit_events", "last_fit_since_start_ns", "cheapest_place"})
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
    text += row.is_pending ? ". No retry has followed yet, so it is not counted as a failure.\n"
                           : ", and no retry followed before the job ended.\n";
  }
  return text;
}

}  // namespace hbmscope::cli
