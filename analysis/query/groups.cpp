#include "analysis/query/groups.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/model/device_name.h"

namespace hbmscope {

std::vector<GroupRow> compute_groups(const ProfileView& view, std::string_view label_key) {
  const Profile& profile = *view.profile;
  // Sums samples by label set, because there are few; texts are looked at once per set.
  std::vector<Weight> sums(profile.label_set_count());
  std::vector<bool> used(sums.size());
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    const std::uint32_t sample = view.sample(i);
    const std::size_t set = row(profile.label_set[sample]);
    sums[set] += view.weight(sample);
    used[set] = true;
  }
  std::vector<GroupRow> rows;
  std::unordered_map<std::string, std::size_t> row_of;
  std::optional<GroupRow> without;
  for (std::size_t set = 0; set < sums.size(); ++set) {
    if (!used[set]) continue;
    const auto name = find_label_text(profile, static_cast<LabelSetIndex>(set), label_key);
    if (!name || name->empty()) {  // Old versions of JAX write devices without a name.
      if (!without) without = GroupRow{};
      without->weight += sums[set];
      continue;
    }
    const auto [found, is_new] = row_of.try_emplace(*name, rows.size());
    if (is_new) rows.push_back({*name, {}});
    rows[found->second].weight += sums[set];
  }
  if (label_key == "device") {
    sort_by_device(rows);
  } else {
    std::sort(rows.begin(), rows.end(), [](const GroupRow& a, const GroupRow& b) {
      return a.weight.bytes != b.weight.bytes ? a.weight.bytes > b.weight.bytes : *a.name < *b.name;
    });
  }
  if (without) rows.push_back(std::move(*without));
  return rows;
}

std::vector<std::string> label_keys(const Profile& profile) {
  std::vector<std::string> keys;
  std::unordered_set<std::string_view> seen;
  for (const Label& label : profile.labels)
    if (const std::string_view key = profile.text(label.key); seen.insert(key).second) keys.emplace_back(key);
  return keys;
}

}  // namespace hbmscope
