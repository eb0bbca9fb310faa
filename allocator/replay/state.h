// The state of an allocator as a request stream has it: statistics by their names, a hash over all chunks, lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "allocator/replay/request_stream.h"

namespace hbmscope::allocator {

// All that needs a walk over the chunks, made in one.
struct WalkedState {
  Statistics statistics;
  std::uint64_t chunks = 0, free_chunks = 0, free_bytes = 0;
  std::uint64_t hash = 0;      // FNV-1a over region, offset, bytes and 1 if in use of each, regions by base.
  std::vector<ChunkRow> rows;  // By address; only if asked for.
};
WalkedState compute_state(const xla_gpu::Bfc& allocator, bool with_rows);

// The number that a stream calls so; nothing where there is none of that name.
std::optional<std::uint64_t> find_number(const WalkedState& state, std::string_view name);

}  // namespace hbmscope::allocator
