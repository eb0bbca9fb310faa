#include "app/gui/core/block_actions.h"

#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/span_text.h"

namespace hbmscope::gui {

BlockActions actions_of(const Trace& trace, HeapKey heap, const LiveBlock& block) {
  const Definitions& definitions = trace.streams[heap.stream].definitions();
  BlockActions actions;
  actions.code = user_code_text(definitions, block.stack);
  actions.size = text_from_bytes(block.size);
  actions.address = address_text(block.address);
  actions.place = {block.address, frame_of_stack(definitions, block.stack), heap};
  if (block.event != wire::before_the_stream) actions.allocation = MomentName(trace, heap.stream, block.event + 1);
  if (!actions.code.starts_with('(')) actions.of_line = "own=" + where_quote(actions.code);
  if (block.tag != 0) actions.of_tag = "tag=" + where_quote(definitions.text(block.tag));
  actions.of_size = "size=" + std::to_string(block.size);
  return actions;
}

}  // namespace hbmscope::gui
