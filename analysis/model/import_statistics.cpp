#include "analysis/model/import_statistics.h"

#include <algorithm>

namespace hbmscope {

std::string_view text_from_severity(Severity severity) {
  switch (severity) {
    case Severity::info: return "info";
    case Severity::notice: return "notice";
    case Severity::warning: return "warning";
    case Severity::loss: return "loss";
  }
  return "info";
}

void ImportStatistics::add(std::string_view name, Severity severity, std::int64_t count, std::string_view remedy,
                           std::string_view example) {
  for (ImportStatistic& statistic : rows_) {
    if (statistic.name != name) continue;
    statistic.count += count;
    return;
  }
  rows_.push_back({std::string(name), severity, count, std::string(remedy), std::string(example)});
}

void ImportStatistics::add_if_any(std::string_view name, Severity severity, std::uint64_t count,
                                  std::string_view remedy, std::string_view example) {
  constexpr std::uint64_t count_max = std::uint64_t{1} << 62;
  if (count > 0) add(name, severity, static_cast<std::int64_t>(std::min(count, count_max)), remedy, example);
}

std::int64_t ImportStatistics::count_of(std::string_view name) const {
  for (const ImportStatistic& statistic : rows_)
    if (statistic.name == name) return statistic.count;
  return 0;
}

Severity ImportStatistics::worst() const {
  Severity worst = Severity::info;
  for (const ImportStatistic& statistic : rows_) worst = std::max(worst, statistic.severity);
  return worst;
}

}  // namespace hbmscope
