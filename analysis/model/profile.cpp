#include "analysis/model/profile.h"

#include <fmt/format.h>

namespace hbmscope {
namespace {

// "inuse_space" -> "inuse", "space" -> "": the key that pairs a column of bytes with its column of counts.
std::string_view stem_of(std::string_view type) {
  const std::size_t underscore = type.rfind('_');
  return underscore == std::string_view::npos ? std::string_view{} : type.substr(0, underscore);
}

}  // namespace

std::optional<std::size_t> find_value_type(const Profile& profile, std::string_view name) {
  std::optional<std::size_t> of_pair;
  for (std::size_t i = 0; i < profile.value_types.size(); ++i) {
    const std::string_view type = profile.text(profile.value_types[i].type);
    if (type == name) return i;
    if (!of_pair && !name.empty() && stem_of(type) == name) of_pair = i;
  }
  return of_pair;
}

MemoryValues find_memory_values(const Profile& profile, std::string_view preferred_type) {
  MemoryValues found;
  if (profile.value_types.empty()) return found;
  std::optional<std::size_t> start = preferred_type.empty() ? std::nullopt : find_value_type(profile, preferred_type);
  if (!start) start = profile.default_value_type;
  if (!start) start = profile.value_types.size() - 1;

  const auto unit = [&](std::size_t i) { return profile.text(profile.value_types[i].unit); };
  const std::string_view stem = stem_of(profile.text(profile.value_types[*start].type));
  const auto is_partner = [&](std::size_t i) { return stem_of(profile.text(profile.value_types[i].type)) == stem; };
  for (std::size_t i = 0; i < profile.value_types.size(); ++i) {
    if (!is_partner(i)) continue;
    if (unit(i) == "bytes" && !found.bytes) found.bytes = i;
    if (unit(i) == "count" && !found.count) found.count = i;
  }
  if (unit(*start) == "bytes") found.bytes = *start;
  found.primary = found.bytes.value_or(*start);
  return found;
}

std::string label_text(const Profile& profile, const Label& label) {
  if (!label.is_number) return std::string(profile.text(label.text));
  const std::string_view unit = profile.text(label.number_unit);
  return unit.empty() ? fmt::format("{}", label.number) : fmt::format("{} {}", label.number, unit);
}

std::optional<std::string> find_label_text(const Profile& profile, LabelSetIndex set, std::string_view key) {
  for (const Label& label : profile.label_set_labels(set))
    if (profile.text(label.key) == key) return label_text(profile, label);
  return std::nullopt;
}

bool is_device_memory_profile(const Profile& profile) {
  if (profile.value_types.size() != 2 || !profile.producer.empty()) return false;
  const auto is = [&](std::size_t i, std::string_view type, std::string_view unit) {
    return profile.text(profile.value_types[i].type) == type && profile.text(profile.value_types[i].unit) == unit;
  };
  return is(0, "allocations", "count") && is(1, "space", "bytes");
}

}  // namespace hbmscope
