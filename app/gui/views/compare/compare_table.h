// Two times of one trace, in words and as the table that Compare shows and copies.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "app/gui/core/app_state.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

struct NamedChange {
  std::string_view name;   // "new", "gone", ...
  std::string_view words;  // What it means, a sentence.
  BlockChange BlockChanges::*part;
};
extern const std::array<NamedChange, 6> named_changes;

// Of live blocks and handles: now - pinned.
std::string compare_sentence(const CompareAnswer& answer);
std::string own_line_text(const BlockDiffRow& row);
TextTable table_from_compare(const CompareAnswer& answer);

}  // namespace hbmscope::gui
