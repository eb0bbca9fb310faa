// What can be done with one block: the data of its context menu.
#pragma once

#include <optional>
#include <string>

#include "analysis/trace/trace.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct BlockActions {
  std::string code;                      // Your code, or why it is unknown: "(no stack was recorded)".
  std::string size, address;             // As text.
  PlaceToSelect place;                   // Selects it.
  std::optional<MomentName> allocation;  // Just after it. Nothing means before the trace.
  std::string of_line, of_tag, of_size;  // Filter terms. Empty if there is no line, no tag.
};
BlockActions actions_of(const Trace& trace, HeapKey heap, const LiveBlock& block);

}  // namespace hbmscope::gui
