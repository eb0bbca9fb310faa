// A report as text: what the file is, totals by device and kind, then rows.
#pragma once

#include <string>
#include <vector>

#include "analysis/query/call_tree.h"
#include "analysis/query/groups.h"
#include "analysis/query/summary.h"
#include "analysis/query/top.h"
#include "analysis/query/user_code.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

struct ReportStyle {
  const Terminal& terminal;
  std::int64_t whole = 0;  // The base of percentages,
  std::string whole_text;  // as text: "11.8 GiB total".
  std::string unit;        // Unit of the values.
  std::size_t top = 20;    // 0: all rows.
};

std::string text_from_summary(const ProfileSummary& summary, const ProfileView& view, const ReportStyle& style);
std::string text_from_groups(const std::vector<GroupRow>& rows, std::string_view head, const ReportStyle& style);
std::string text_from_tree(const ProfileView& view, const CallTree& tree, const ReportStyle& style);
std::string text_from_neighbours(const ProfileView& view, const Neighbours& neighbours, const ReportStyle& style);
// The import summary: one line per statistic above the level of information.
std::string text_from_import_badge(const ImportStatistics& import, const Terminal& terminal);

// "train_step  train.py:41"; the file is cut on its left to fit.
std::string text_from_frame(const Frame& frame, const Terminal& terminal, std::size_t width = 0);

}  // namespace hbmscope::cli
