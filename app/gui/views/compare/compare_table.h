// The comparison of two times of one trace, as sentences and as the table that Compare shows and copies.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "analysis/query/block_diff.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

struct NamedChange {
  std::string_view name;   // "new", "gone", ...
  std::string_view words;  // What it means, as a sentence.
  BlockChange BlockChanges::*part;
};
extern const std::array<NamedChange, 6> named_changes;

// Live blocks and handles: now - pinned.
std::string compare_sentence(const CompareAnswer& answer);
std::string own_line_text(const BlockDiffRow& row);
TextTable table_from_compare(const CompareAnswer& answer);

}  // namespace hbmscope::gui
