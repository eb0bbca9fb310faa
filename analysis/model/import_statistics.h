// What happened during an import: how much was read, and every irregularity. `hbmscope check` prints the table, the
// window shows it in the tab Import with a badge, and --json carries it as "import".
//
// Nothing is dropped silently: whatever a reader leaves out or repairs has a row here that says what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hbmscope {

enum class Severity {
  info,     // How much was read; needs no attention.
  notice,   // Intended by the producer, yet worth knowing: executables of unknown size.
  warning,  // Repaired or left out; the figures hold for the rest.
  loss,     // Figures are lower than the true ones.
};
std::string_view text_from_severity(Severity severity);

struct ImportStatistic {
  std::string name;  // snake_case, stable: "samples", "unknown_size", "missing_location".
  Severity severity = Severity::info;
  std::int64_t count = 0;
  std::string remedy;   // What it means and what to do, a sentence or two. Empty for info.
  std::string example;  // The first occurrence, e.g. "location 17 at byte 9,211"; may be empty.
};

class ImportStatistics {
 public:
  // Adds `count` to the row of that name; the first call creates the row.
  void add(std::string_view name, Severity severity, std::int64_t count, std::string_view remedy = {},
           std::string_view example = {});
  // The same if the count is not 0: what was found of a kind of trouble. Counts are limited to 2^62.
  void add_if_any(std::string_view name, Severity severity, std::uint64_t count, std::string_view remedy,
                  std::string_view example = {});
  std::int64_t count_of(std::string_view name) const;  // 0 if there is no such row.
  Severity worst() const;                              // info if there are no rows.
  const std::vector<ImportStatistic>& rows() const { return rows_; }

 private:
  std::vector<ImportStatistic> rows_;  // In order of first appearance.
};

}  // namespace hbmscope
