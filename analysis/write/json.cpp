#include "analysis/write/json.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/answers/summary.h"
#include "analysis/document/json.h"
#include "analysis/model/clamped.h"
#include "analysis/write/json_text.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}
Json number_or_null(std::int64_t number) {
  return number == 0 ? Json(nullptr) : Json(number);
}

void add_frame(Json& json, const Frame& frame) {
  json["name"] = frame.function;
  json["file"] = text_or_null(frame.file);
  json["line"] = number_or_null(frame.line);
}

Json json_from_stack(const std::vector<Frame>& table, const std::vector<FrameIndex>& stack) {
  Json frames = Json::array();
  for (const FrameIndex frame : stack) add_frame(frames.emplace_back(Json::object()), table[row(frame)]);
  return frames;
}

Json json_from_change(const Weight& baseline, const Weight& now) {
  return {{"baseline_bytes", baseline.bytes},
          {"now_bytes", now.bytes},
          {"delta_bytes", clamped_difference(now.bytes, baseline.bytes)},
          {"baseline_count", baseline.count},
          {"now_count", now.count},
          {"delta_count", clamped_difference(now.count, baseline.count)}};
}

Json json_from_group_changes(const std::vector<GroupDiffRow>& rows, const char* key) {
  Json list = Json::array();
  for (const GroupDiffRow& group : rows) {
    Json json = {{key, group.name ? Json(*group.name) : Json(nullptr)}};
    json.update(json_from_change(group.baseline, group.now));
    list.push_back(std::move(json));
  }
  return list;
}

std::size_t at_most(std::size_t count, std::size_t limit) {
  return limit == 0 ? count : std::min(count, limit);
}

}  // namespace

Json json_from_view(const ProfileView& view) {
  Json json = {{"schema", json_schema}};
  json.update(json_from_document(describe_summary(view)));
  json["import"] = json_from_table(describe_import(view.profile->import));
  return json;
}

Json json_from_diff(const ProfileDiff& diff, std::size_t limit) {
  Json json;
  json["schema"] = json_schema;
  json["format"] = "pprof";
  json["baseline"] = diff.baseline_name;
  json["now"] = diff.now_name;
  json["match"] = diff.match == StackMatch::line ? "line" : "function";
  json["files_match_by"] = diff.is_by_file_name ? "name" : "tail";
  json["unit"] = diff.unit;
  json["total"] = json_from_change(diff.baseline, diff.now);
  json["unknown_size"] = {{"baseline_count", diff.baseline.unknown}, {"now_count", diff.now.unknown}};
  json["unmatched_bytes"] = diff.unmatched_bytes;
  json["compared_bytes"] = diff.compared_bytes;
  json["by_device"] = json_from_group_changes(diff.devices, "device");
  json["by_kind"] = json_from_group_changes(diff.kinds, "kind");
  Json stacks = Json::array();
  for (std::size_t i = 0; i < at_most(diff.stacks.size(), limit); ++i) {
    const DiffRow& stack = diff.stacks[i];
    Json entry = {{"change", text_from_change(stack.change)}};
    entry.update(json_from_change(stack.baseline, stack.now));
    entry["stack"] = json_from_stack(diff.frame_table, stack.stack);
    stacks.push_back(std::move(entry));
  }
  json["stacks"] = std::move(stacks);
  Json frames = Json::array();
  for (std::size_t i = 0; i < at_most(diff.frames.size(), limit); ++i) {
    const FrameDiffRow& frame = diff.frames[i];
    Json entry = {{"change", text_from_change(frame.change)}};
    add_frame(entry, frame.frame);
    entry["baseline_flat_bytes"] = frame.baseline_flat.bytes;
    entry["now_flat_bytes"] = frame.now_flat.bytes;
    entry["delta_flat_bytes"] = clamped_difference(frame.now_flat.bytes, frame.baseline_flat.bytes);
    entry["baseline_cum_bytes"] = frame.baseline_cum.bytes;
    entry["now_cum_bytes"] = frame.now_cum.bytes;
    entry["delta_cum_bytes"] = clamped_difference(frame.now_cum.bytes, frame.baseline_cum.bytes);
    frames.push_back(std::move(entry));
  }
  json["frames"] = std::move(frames);
  return json;
}

std::string text_from_json(const Json& json) {
  return json_with_escaped_controls(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string line_from_json(const Json& json) {
  return json_with_escaped_controls(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace hbmscope
