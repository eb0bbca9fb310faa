#include "analysis/write/json_blocks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/query/trace_user_code.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_optional.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::uint64_t address) {
  return fmt::format("0x{:x}", address);
}

Json json_from_frame(const Definitions& definitions, const TraceFrame& frame) {
  return {{"name", definitions.text(frame.function)},
          {"file", or_null(std::string(definitions.text(frame.file)))},
          {"line", frame.line == 0 ? Json(nullptr) : Json(frame.line)}};
}

Json json_from_stack(const Definitions& definitions, std::uint32_t stack) {
  constexpr std::size_t frames_max = 4096;  // A damaged file may contain stacks of any length.
  Json frames = Json::array();
  for (; stack != 0 && frames.size() < frames_max; stack = definitions.stack(stack).parent)
    frames.push_back(json_from_frame(definitions, definitions.frame(definitions.stack(stack).frame)));
  return frames;
}

Json json_from_own_line(const Definitions& definitions, std::uint32_t stack) {
  const auto frame = find_own_frame(definitions, stack);
  return frame ? json_from_frame(definitions, *frame) : Json(nullptr);
}

std::optional<std::int64_t> since_start(const Stream& stream, const std::optional<std::int64_t>& time_ns) {
  if (!time_ns) return std::nullopt;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(*time_ns) -
                                   static_cast<std::uint64_t>(stream.first_time_ns()));
}

}  // namespace

std::string_view text_from_held_end(HeldEnd how) {
  constexpr std::array<std::string_view, 5> names{"lives", "freed", "moved", "heap_gone", "not_listed"};
  return names[static_cast<std::size_t>(how)];
}

Json json_from_block(const Trace& trace, const std::vector<StreamState>& states,
                     const std::vector<BlockLabels>& all_labels, const LiveRow& row) {
  const BlockFacts facts = facts_of(trace, states, row);
  const Definitions& definitions = trace.streams[row.stream].definitions();
  const bool is_old = facts.block.event == wire::before_the_stream;
  const BlockLabels& labels = all_labels[row.stream];
  const Category category = labels.category(facts.block);
  return {{"stream", facts.stream},
          {"heap", name_of_heap(*facts.heap)},
          {"device", facts.heap->device == wire::no_device ? Json(nullptr) : Json(facts.heap->device)},
          {"address", facts.address ? Json(hex(*facts.address)) : Json(nullptr)},
          {"size_bytes", facts.block.size},
          {"requested_bytes", or_null(facts.requested)},
          {"waste_bytes", or_null(facts.waste)},
          {"state", facts.block.is_pending() ? "pending" : "live"},
          {"allocation_event", is_old ? Json(nullptr) : Json(facts.block.event)},
          {"allocated_since_start_ns", or_null(facts.allocated_since_start_ns)},
          {"age_events", or_null(facts.age_events)},
          {"age_ns", or_null(facts.age_ns)},
          {"end_event", or_null(facts.end_event)},
          {"end_since_start_ns", or_null(facts.end_since_start_ns)},
          {"lifetime_ns", or_null(facts.lifetime_ns)},
          {"device_stream", facts.block.stream},
          {"tag", or_null(std::string(definitions.text(facts.block.tag)))},
          {"category", category == Category::unknown ? Json(nullptr) : Json(text_from_category(category))},
          {"name", or_null(std::string(labels.name(facts.block.event)))},
          {"held_by", or_null(std::string(labels.holder(facts.block.event)))},
          {"array", or_null(std::string(labels.array(facts.block.event)))},
          {"own_line", json_from_own_line(definitions, facts.block.stack)},
          {"stack", json_from_stack(definitions, facts.block.stack)}};
}

Json json_from_block_list(const Trace& trace, const std::vector<StreamState>& states, const LiveRows& live,
                          const BlockList& list, std::size_t limit) {
  Json rows = Json::array();
  const std::vector<BlockLabels> labels = labels_of(trace);
  for (std::size_t i = 0; i < std::min(limit, list.rows.size()); ++i)
    rows.push_back(json_from_block(trace, states, labels, live.rows[list.rows[i]]));
  return {{"count", list.rows.size()},    {"bytes", list.bytes},         {"waste_bytes", list.waste_bytes},
          {"all_count", list.all_blocks}, {"all_bytes", list.all_bytes}, {"rows", std::move(rows)}};
}

Json json_from_address_history(const Stream& stream, const AddressHistory& history, std::size_t limit) {
  const Definitions& definitions = stream.definitions();
  Json rows = Json::array();
  for (std::size_t i = history.rows.size() - std::min(limit, history.rows.size()); i < history.rows.size(); ++i) {
    const HeldRow& row = history.rows[i];
    const bool ends = row.how != HeldEnd::lives;
    rows.push_back({{"event", row.event == HeldRow::no_event ? Json(nullptr) : Json(row.event)},
                    {"since_start_ns", or_null(since_start(stream, row.begin_ns))},
                    {"address", hex(row.address)},
                    {"size_bytes", row.size},
                    {"requested_bytes", row.requested == wire::unknown_bytes ? Json(nullptr) : Json(row.requested)},
                    {"end", text_from_held_end(row.how)},
                    {"end_event", ends ? Json(row.end_event) : Json(nullptr)},
                    {"end_since_start_ns", or_null(since_start(stream, row.end_ns))},
                    {"is_now", history.now == i},
                    {"tag", or_null(std::string(definitions.text(row.tag)))},
                    {"own_line", json_from_own_line(definitions, row.stack)}});
  }
  return rows;
}

}  // namespace hbmscope
