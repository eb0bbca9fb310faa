#include "analysis/judge/dry_run_holders.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "analysis/query/user_code.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {

std::vector<DryRunHolder> find_holders(const Source& at_peak) {
  constexpr std::size_t holders_max = 5;
  std::vector<DryRunHolder> holders;
  const auto view = make_view(at_peak.profile, {});
  if (!view) return holders;
  for (const UserCodeRow& row : compute_user_code(*view)) {
    if (row.has_no_user_code() || row.weight.bytes <= 0) continue;
    std::string line =
        fmt::format("{} {}:{}", printable(row.frame.function),
                    printable(std::filesystem::path(row.frame.file).filename().string()), row.frame.line);
    // A line may have called several functions.
    const auto known =
        std::find_if(holders.begin(), holders.end(), [&](const DryRunHolder& holder) { return holder.line == line; });
    if (known != holders.end())
      known->bytes += static_cast<std::uint64_t>(row.weight.bytes);
    else
      holders.push_back({std::move(line), static_cast<std::uint64_t>(row.weight.bytes)});
  }
  std::stable_sort(holders.begin(), holders.end(),
                   [](const DryRunHolder& a, const DryRunHolder& b) { return a.bytes > b.bytes; });
  holders.resize(std::min(holders.size(), holders_max));
  return holders;
}

std::string text_from_holders(std::span<const DryRunHolder> holders, std::uint64_t total_bytes) {
  constexpr std::size_t shown_max = 3, hundredth = 100;
  std::string text;
  for (const DryRunHolder& holder : holders.first(std::min(shown_max, holders.size())))
    if (holder.bytes >= total_bytes / hundredth)
      text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", text_from_bytes(holder.bytes), holder.line);
  return text;
}

}  // namespace hbmscope
