// Converts the live blocks at one time of a trace into a profile: blocks with the same stack, heap, state, tag and size
// become one sample; blocks without a stack take that of another file of the job, if it is certain (lent_stacks.h).
// All queries on pprof profiles (top, flame graph, diff, folded stacks) thereby work on traces, and
// a filter by size filters blocks.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/model/profile.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

enum class ProfileValues : std::uint8_t {
  live,                // live_blocks (count), live_space (bytes): what is live at that time.
  live_and_allocated,  // Also allocated_blocks, allocated_space: everything allocated up to that time.
};

// The labels of samples, where known.
inline constexpr std::array<std::string_view, 4> trace_label_keys = {"kind", "device", "heap", "tag"};

// Bytes are the sizes of blocks, including rounding, in the heaps that count (layers.h), so nothing is counted twice.
// Labels: device and heap (stream_names.h; a private pool of PyTorch belongs to its device), tag, and kind. Kinds:
// block; pending for blocks that the program has freed but a device stream may still use; handle for physical memory
// without a block, as from cuMemCreate. Allocated samples are block or handle. Live values are the default. Allocated
// values take one pass over the streams; returns nothing if that was cancelled.
std::optional<Profile> profile_from_trace(const Trace& trace, const std::vector<StreamState>& states,
                                          ProfileValues values, PassControl* control = nullptr);
Profile profile_from_trace(const Trace& trace, const std::vector<StreamState>& states);

// The same, with blocks that pass a filter in other samples than those that don't, and without blocks that are left
// out. `places`: by stream. `kept`: by sample of the result, whether its blocks pass.
enum class BlockPlace : std::uint8_t { left_out, fails, passes };
struct BlockPlaces {
  std::vector<BlockPlace> by_slot;
  std::vector<BlockPlace> of_handles;  // By heap: of its physical memory without a block.
};
Profile profile_from_trace(const Trace& trace, const std::vector<StreamState>& states,
                           const std::vector<BlockPlaces>& places, std::vector<bool>& kept);

}  // namespace hbmscope
