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

namespace {

Json json_from_change(const BlockChange& change) {
  return {{"count", change.count},
          {"baseline_bytes", change.baseline_bytes},
          {"now_bytes", change.now_bytes},
          {"delta_bytes", change.delta_bytes()}};
}

void add_changes(Json& json, const BlockChanges& changes) {
  json["delta_bytes"] = changes.delta_bytes();
  json["new"] = json_from_change(changes.added);
  json["gone"] = json_from_change(changes.gone);
  json["grown"] = json_from_change(changes.grown);
  json["shrunk"] = json_from_change(changes.shrunk);
  json["moved"] = json_from_change(changes.moved);
  json["unchanged"] = json_from_change(changes.unchanged);
}

}  // namespace

Json json_from_settings(const std::vector<SettingChange>& settings) {
  Json list = Json::array();
  for (const SettingChange& setting : settings)
    list.push_back({{"key", setting.key}, {"baseline", or_null(setting.baseline)}, {"now", or_null(setting.now)}});
  return list;
}

Json json_from_block_diff(const BlockDiff& diff, std::size_t limit) {
  Json json = {{"matched_by", diff.is_by_id ? "id" : "stack and size"}};
  add_changes(json, diff.changes);
  Json rows = Json::array();
  for (const BlockDiffRow& row : diff.user_code) {
    if (limit != 0 && rows.size() == limit) break;
    Json entry = {{"name", or_null(row.function)},
                  {"file", or_null(row.file)},
                  {"line", row.line == 0 ? Json(nullptr) : Json(row.line)},
                  {"thread", row.is_autograd_thread ? Json("autograd") : Json(nullptr)}};
    add_changes(entry, row.changes);
    rows.push_back(std::move(entry));
  }
  json["own_code"] = std::move(rows);
  return json;
}

}  // namespace hbmscope
