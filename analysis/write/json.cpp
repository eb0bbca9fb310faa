#include "analysis/write/json.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

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

Json json_from_weight(const Weight& weight) {
  return {{"bytes", weight.bytes}, {"count", weight.count}, {"unknown_count", weight.unknown}};
}

void add_frame(Json& json, const Frame& frame) {
  json["name"] = frame.function;
  json["file"] = text_or_null(frame.file);
  json["line"] = number_or_null(frame.line);
}

Json json_from_top_row(const ProfileView& view, const TopRow& top) {
  Json json;
  add_frame(json, view.frames[row(top.frame)]);
  json["flat_bytes"] = top.flat.bytes;
  json["cum_bytes"] = top.cum.bytes;
  json["flat_count"] = top.flat.count;
  json["cum_count"] = top.cum.count;
  json["flat_unknown_count"] = top.flat.unknown;
  json["cum_unknown_count"] = top.cum.unknown;
  return json;
}

// The totals of each value type over everything that passes the filter. A stack that is 0 in the chosen values has no
// row, but counts in the totals of the others.
Json json_from_totals(const ProfileView& view) {
  const Profile& profile = *view.profile;
  std::optional<ProfileView> with_zeros;
  if (view.is_filtered && !view.request.keep_zeros && profile.value_types.size() > 2) {
    ViewRequest request = view.request;
    request.keep_zeros = true;
    if (auto made = make_view(view.profile, request)) with_zeros = std::move(*made);
  }
  const ProfileView& counted = with_zeros ? *with_zeros : view;
  const std::size_t samples = view.is_filtered ? counted.sample_count() : profile.sample_count();
  Json totals = Json::array();
  for (std::size_t type = 0; type < profile.value_types.size(); ++type) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      const std::uint32_t sample = view.is_filtered ? counted.sample(i) : static_cast<std::uint32_t>(i);
      if (!view.unknown_size.empty() && view.unknown_size[sample]) continue;
      sum += profile.values[type][sample];
    }
    totals.push_back({{"type", profile.text(profile.value_types[type].type)},
                      {"unit", profile.text(profile.value_types[type].unit)},
                      {"value", sum}});
  }
  return totals;
}

}  // namespace

Json json_from_view(const ProfileView& view) {
  const Profile& profile = *view.profile;
  const ProfileSummary summary = compute_summary(view);
  Json json;
  json["schema"] = json_schema;
  json["format"] = "pprof";
  json["files"] = profile.files;
  json["producer"] = summary.producer;
  json["headline"] = summary.headline;
  json["unit"] = summary.unit;
  json["time_unix_ns"] = number_or_null(profile.time_ns);
  json["totals"] = json_from_totals(view);
  json["filtered"] = view.is_filtered;
  json["total_before_filter"] = json_from_weight(view.total);
  json["by_device"] = json_from_groups(summary.by_device, "device");
  json["by_kind"] = json_from_groups(summary.by_kind, "kind");
  json["unknown_size"] = {{"count", view.selected.unknown}};
  json["notes"] = summary.notes;
  json["import"] = json_from_import(profile.import);
  return json;
}

Json json_from_groups(const std::vector<GroupRow>& rows, std::string_view name_key) {
  Json list = Json::array();
  for (const GroupRow& group : rows) {
    Json json;
    json[std::string(name_key)] = group.name ? Json(*group.name) : Json(nullptr);
    json.update(json_from_weight(group.weight));
    list.push_back(std::move(json));
  }
  return list;
}

Json json_from_group_rows(const std::vector<GroupRow>& rows) {
  Json list = Json::array();
  for (const GroupRow& group : rows) {
    const Weight& w = group.weight;
    list.push_back({{"name", group.name ? Json(*group.name) : Json(nullptr)},
                    {"file", nullptr},
                    {"line", nullptr},
                    {"flat_bytes", w.bytes},
                    {"cum_bytes", w.bytes},
                    {"flat_count", w.count},
                    {"cum_count", w.count},
                    {"flat_unknown_count", w.unknown},
                    {"cum_unknown_count", w.unknown}});
  }
  return list;
}

Json json_from_neighbours(const ProfileView& view, const Neighbours& neighbours) {
  Json json = json_from_top_row(view, neighbours.self);
  const auto list = [&](const std::vector<TopRow>& rows) {
    Json out = Json::array();
    for (const TopRow& top : rows) {
      Json edge;
      add_frame(edge, view.frames[row(top.frame)]);
      edge.update(json_from_weight(top.cum));
      out.push_back(std::move(edge));
    }
    return out;
  };
  json["callers"] = list(neighbours.callers);
  json["callees"] = list(neighbours.callees);
  return json;
}

// A flat list in depth-first order: nested objects would make JSON readers recurse as deep as the stacks.
Json json_from_call_tree(const ProfileView& view, const CallTree& tree) {
  Json list = Json::array();
  std::vector<std::uint32_t> todo = {0};
  while (!todo.empty()) {
    const std::uint32_t number = todo.back();
    todo.pop_back();
    const TreeNode& node = tree.nodes[number];
    Json json = {{"node", number}, {"parent", number == 0 ? Json(nullptr) : Json(node.parent)}, {"depth", node.depth}};
    if (number == 0) {
      json["name"] = "root";
      json["file"] = nullptr;
      json["line"] = nullptr;
    } else {
      add_frame(json, view.frames[row(node.frame)]);
    }
    json["flat_bytes"] = node.flat.bytes;
    json["cum_bytes"] = node.cum.bytes;
    json["flat_count"] = node.flat.count;
    json["cum_count"] = node.cum.count;
    list.push_back(std::move(json));
    const std::size_t first = todo.size();
    for (std::uint32_t child = node.first_child; child != no_node; child = tree.nodes[child].next_sibling)
      todo.push_back(child);
    std::reverse(todo.begin() + static_cast<std::ptrdiff_t>(first), todo.end());
  }
  return list;
}

Json json_from_import(const ImportStatistics& import) {
  Json list = Json::array();
  for (const ImportStatistic& statistic : import.rows())
    list.push_back({{"name", statistic.name},
                    {"severity", text_from_severity(statistic.severity)},
                    {"count", statistic.count},
                    {"remedy", text_or_null(statistic.remedy)},
                    {"example", text_or_null(statistic.example)}});
  return list;
}

Json json_from_series(const std::vector<SeriesPoint>& points) {
  Json list = Json::array();
  for (const SeriesPoint& point : points) {
    Json json = {{"file", point.file}, {"time_unix_ns", number_or_null(point.time_ns)}};
    json.update(json_from_weight(point.total));
    json["by_device"] = json_from_groups(point.by_device, "device");
    list.push_back(std::move(json));
  }
  return list;
}

std::string text_from_json(const Json& json) {
  return json_with_escaped_controls(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string line_from_json(const Json& json) {
  return json_with_escaped_controls(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace hbmscope
