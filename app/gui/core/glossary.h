// The words that the screens use without explaining them, for the help and for tooltips.
#pragma once

#include <span>
#include <string_view>

namespace hbmscope::gui {

struct Term {
  std::string_view term, meaning;
};

std::span<const Term> glossary();                    // In alphabetical order.
std::string_view meaning_of(std::string_view term);  // Empty if it is not in the glossary.

}  // namespace hbmscope::gui
