// What held the memory at a given time: the lines of code, or the categories, with the most bytes in a heap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/block_labels.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/trace/lent_stacks.h"
#include "analysis/trace/stream_state.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct Holder {
  std::string name;  // "forward  model.py:54"; a category or a tag where no block has a stack.
  std::uint64_t bytes = 0, blocks = 0;
  std::optional<std::int64_t> oldest_ns;  // The age of its oldest block, as far as it is known.
};

// As a part of a sentence: "forward model.py:54".
std::string text_from_holder(const Holder& holder);

struct Holders {
  enum class By : std::uint8_t { code, category, tag, size };
  By by = By::code;
  std::uint64_t bytes = 0;   // All of the heap in use.
  std::vector<Holder> rows;  // The largest first.
};

std::string_view text_from_by(Holders::By by);  // "code", "category", "tag", "size"

// What one heap holds at the time of `states`, one per stream of the trace; all must outlive it.
class HolderFinder {
 public:
  HolderFinder(const Trace& trace, const std::vector<StreamState>& states, HeapKey heap);

  // By the innermost lines of your code, with stacks from other files of the job (trace/lent_stacks.h); where most
  // bytes have no stack, by category, by tag, or by size, whichever says the most. Only of blocks that were allocated
  // at the event `since` or later.
  Holders find(std::uint64_t since = 0) const;

 private:
  const Trace& trace_;
  const StreamState& state_;
  HeapKey heap_;
  std::vector<LentStack> lent_;
  BlockLabels labels_;
};

}  // namespace hbmscope
