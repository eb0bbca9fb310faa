// Counters for heaps whose source reports totals instead of single blocks. The figures of a failure come from these
// counters if the heap's blocks are unknown.
#pragma once

#include <string_view>

#include "collector/wire/reported_names.h"

namespace hbmscope::reported_figure {

inline constexpr std::string_view used = "used_bytes", free = "free_bytes", largest_free = "largest_free_bytes",
                                  limit = wire::reported_limit, reserved = "reserved_bytes";
// A failed request as its allocator rounded it.
inline constexpr std::string_view rounded_request = "rounded_request_bytes";
// Figures of a bin of a BFC allocator: "bfc_bin_256_bytes". They are shown as bins (query/bfc_bins.h), not as counters.
inline constexpr std::string_view bin = "bfc_bin_", bin_chunks = "_chunks", bin_chunks_in_use = "_chunks_in_use",
                                  bin_bytes = "_bytes", bin_in_use = "_in_use_bytes",
                                  bin_requested = "_requested_bytes";
// The device's whole memory.
inline constexpr std::string_view device = wire::reported_device;
// The pool size under the name that PyTorch's profiler uses.
inline constexpr std::string_view pool = wire::reported_pool;

// Of an engine's account: free on the device before it and after it; layers of the model on the GPUs and in all; the
// length of the context. The last three are no bytes.
inline constexpr std::string_view free_before = "free_before_bytes", free_after = "free_after_bytes",
                                  layers_on_gpu = "layers_on_gpu", layers = "layers", context_tokens = "context_tokens";

// Figures of a compiled program: counters without a heap.
inline constexpr std::string_view program_argument = "program_argument_bytes", program_output = "program_output_bytes",
                                  program_alias = "program_alias_bytes", program_temp = "program_temp_bytes",
                                  program_replayed_temp = "program_replayed_temp_bytes",
                                  program_donatable = "program_donatable_bytes", program_code = "program_code_bytes";
// For a program without a buffer assignment: the most bytes of temporaries that are live at once, by their shapes.
inline constexpr std::string_view program_live_temp = "program_live_temp_bytes";
// All memory that the program occupies in a heap.
inline constexpr std::string_view program_space = "program_bytes";

// Facts about a replay (read/requests/replay_recorder.h): the allocator that it was played into, in bytes where
// numbers.
inline constexpr std::string_view replayed_version = "xla_gpu.version", replayed_limit = "xla_gpu.limit_bytes",
                                  replayed_preallocation = "xla_gpu.preallocate",
                                  replayed_device = "replay.device_bytes";

}  // namespace hbmscope::reported_figure
