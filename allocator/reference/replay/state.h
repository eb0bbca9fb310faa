// The state of an allocator in the form of a request stream: named statistics, a hash over all chunks, lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "allocator/reference/replay/request_stream.h"

namespace hbmscope::allocator {

// Everything that needs a walk over the chunks, computed in one walk.
struct WalkedState {
  Statistics statistics;
  std::uint64_t chunks = 0, free_chunks = 0, free_bytes = 0;
  std::uint64_t hash = 0;  // FNV-1a over region, offset, bytes and in-use bit (0 or 1) of each chunk; regions by base.
  std::vector<ChunkRow> rows;  // By address; only if requested.
};
WalkedState compute_state(const xla_gpu::Bfc& allocator, bool with_rows);

// The number with that name in a stream; no value for an unknown name.
std::optional<std::uint64_t> find_number(const WalkedState& state, std::string_view name);

}  // namespace hbmscope::allocator
