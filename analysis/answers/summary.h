// What a profile is, its totals by device and kind, and what its import found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/answers/top.h"
#include "analysis/document/document.h"
#include "analysis/model/import_statistics.h"
#include "analysis/query/groups.h"
#include "analysis/query/summary.h"

namespace hbmscope {

// `headline`: in place of its own, if not empty.
Document describe_summary(const ProfileView& view, const std::string& headline = {});
// `key` is that of the names, and with `title` and s that of the rows: "device", "Device".
Table describe_groups(const std::vector<GroupRow>& rows, std::string_view key, std::string_view title,
                      std::string_view amount_unit, const TopBase& base);
Table describe_import(const ImportStatistics& import);  // With the key "import".

}  // namespace hbmscope
