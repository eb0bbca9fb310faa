// What the filter line offers while someone types a filter (analysis/query/where.h): the fields, the values that the
// file has, and earlier filters.
//
//   si|                size  ...
//   size>1GiB tag:op|  tag:optimizer  4.21 GiB,  tag:other_opt  12.0 MiB
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/where.h"
#include "app/gui/core/filter_values.h"

namespace hbmscope::gui {

struct FilterOffer {
  std::string title;                  // "tag", "optimizer"
  std::string help;                   // What the field is. Empty for values and filters.
  std::optional<std::int64_t> bytes;  // That have the value.
  std::string text;                   // The whole filter after taking the offer, with the cursor at `cursor`.
  std::size_t cursor = 0;
  bool is_complete = false;  // An earlier filter.

  bool is_last() const { return is_complete || bytes; }  // The values of a field follow its name.
};

// Nothing is offered inside a number or a regular expression. `earlier`: the newest first; all of them are offered for
// an empty text.
std::vector<FilterOffer> find_filter_offers(std::string_view text, std::size_t cursor,
                                            std::span<const WhereField> fields, const FilterValues& values,
                                            const std::vector<std::string>& earlier);

}  // namespace hbmscope::gui
