#include "app/gui/sources/accounting.h"

#include <algorithm>

#include "analysis/model/device_name.h"
#include "analysis/query/groups.h"

namespace hbmscope::gui {
namespace {

// There are many samples but few label sets, so samples are first added up by label set.
std::vector<Weight> weights_by_label_set(const ProfileView& view) {
  std::vector<Weight> weights(view.profile->label_set_count());
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    const std::uint32_t sample = view.sample(i);
    weights[row(view.profile->label_set[sample])] += view.weight(sample);
  }
  return weights;
}

bool is_nothing(const Weight& weight) {
  return weight == Weight{};
}

KindAmount& kind_of(DeviceAccount& account, const std::optional<std::string>& kind) {
  const auto found = std::find_if(account.kinds.begin(), account.kinds.end(),
                                  [&](const KindAmount& amount) { return amount.kind == kind; });
  if (found != account.kinds.end()) return *found;
  return account.kinds.emplace_back(KindAmount{kind, {}});
}

}  // namespace

std::vector<DeviceAccount> compute_accounts(const ProfileView& view) {
  std::vector<DeviceAccount> accounts;
  for (const GroupRow& group : compute_groups(view, "device")) {
    DeviceAccount account;
    account.device = group.name;
    account.short_name = group.name ? parse_device_name(*group.name).short_text() : "unknown device";
    account.total = group.weight;
    accounts.push_back(std::move(account));
  }
  const std::vector<Weight> weights = weights_by_label_set(view);
  for (std::size_t set = 0; set < weights.size(); ++set) {
    if (is_nothing(weights[set])) continue;
    const auto index = static_cast<LabelSetIndex>(set);
    const auto device = find_label_text(*view.profile, index, "device");
    const auto account = std::find_if(accounts.begin(), accounts.end(),
                                      [&](const DeviceAccount& candidate) { return candidate.device == device; });
    if (account == accounts.end()) continue;
    kind_of(*account, find_label_text(*view.profile, index, "kind")).weight += weights[set];
  }
  for (DeviceAccount& account : accounts)
    std::stable_sort(account.kinds.begin(), account.kinds.end(),
                     [](const KindAmount& a, const KindAmount& b) { return a.weight.bytes > b.weight.bytes; });
  return accounts;
}

}  // namespace hbmscope::gui
