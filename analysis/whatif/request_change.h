// A job that does one thing otherwise with some of its blocks: it frees them earlier, or donates them.
//
// `x = step(x)` holds the old x until the new one is there. Freed earlier, the old one goes first: `del x` before the
// call, or a smaller scope. Donated, the new one takes the memory of the old one, as in JAX with donate_argnums, and is
// never requested.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "allocator/replay/player.h"

namespace hbmscope {

struct RequestChange {
  // Null: those of the recording. Numbers of operations are the same; what is no longer requested is a free of nothing.
  std::shared_ptr<const allocator::RequestStream> requests;
  std::vector<allocator::EarlyFree> early_frees;
  std::uint64_t changed = 0;  // Blocks that are freed earlier, or donated.
};

// `is_chosen`: by operation, whether it requests one of these blocks. Before such a request, all chosen blocks that are
// there are freed, except those since the last request of another kind: they are made together.
RequestChange free_before_next(const allocator::RequestStream& requests, const std::vector<bool>& is_chosen);

// Each chosen block is donated to the first later request of the same size that outlives it. `failed`: operations whose
// requests failed in the recording; their blocks would have outlived all that were there.
RequestChange donate(const allocator::RequestStream& requests, const std::vector<bool>& is_chosen,
                     std::span<const std::uint64_t> failed = {});

}  // namespace hbmscope
