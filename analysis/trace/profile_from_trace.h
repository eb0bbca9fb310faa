// What lives at a moment of a trace, as a profile: blocks with the same stack, heap, state, tag and size are one
// sample. Every question that can be asked of a pprof profile (top, flame graph, diff, folded stacks) can so be asked
// of a trace, and a filter by size is a filter of blocks.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "analysis/model/profile.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

enum class ProfileValues : std::uint8_t {
  live,                // live_blocks (count), live_space (bytes): what lives at the moment.
  live_and_allocated,  // And allocated_blocks, allocated_space: all that was allocated from the first event to then.
};

// What samples are labelled with, where it is told.
inline constexpr std::array<std::string_view, 4> trace_label_keys = {"kind", "device", "heap", "tag"};

// Bytes are what blocks take, rounding included, of the heaps that count (layers.h): nothing is in it twice. Labels:
// device and heap (stream_names.h; a private pool of PyTorch's is its device's), tag, and kind (block; pending for what
// the program has freed and a device stream may still use; handle for physical memory that is owned without a block, as
// by cuMemCreate; what was allocated is block or handle). Live values are the default ones. What was allocated takes
// one pass over the streams; nothing where that was cancelled.
std::optional<Profile> profile_from_trace(const Trace& trace, const std::vector<StreamState>& states,
                                          ProfileValues values, PassControl* control = nullptr);
Profile profile_from_trace(const Trace& trace, const std::vector<StreamState>& states);

}  // namespace hbmscope
