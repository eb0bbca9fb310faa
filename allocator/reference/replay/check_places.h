// Compares the addresses and regions that a trace recorded with those of the model of its allocator: PyTorch's, or
// XLA's. The model's driver grants and refuses what the real one granted and refused. Every address, and every region
// that comes or goes, is compared. The model of PyTorch's allocator starts in the state at the beginning of the trace;
// XLA's has no other state than an empty one, because where it would put the next block depends on all that came
// before.
//
// Blocks keep the requests of the trace. If the trace lacks block sizes, they are derived from the requests, so sizes
// are not compared: a wrong size shows up in the addresses after it. A trace does not say why segments were released
// (the driver refused, or torch.cuda.empty_cache() was called); both release the same segments.
#pragma once

#include "allocator/reference/pytorch/caching_allocator.h"
#include "allocator/reference/replay/check.h"
#include "allocator/reference/xla_gpu/bfc.h"

namespace hbmscope::allocator {

// Error: the trace begins with expandable segments, whose reserved addresses no trace contains; a sentence without a
// full stop.
tl::expected<CheckResult, std::string> check_places(const RequestStream& stream, const RecordedPlaces& places,
                                                    const pytorch::Options& options);
// Error: the trace begins with blocks or regions.
tl::expected<CheckResult, std::string> check_places(const RequestStream& stream, const RecordedPlaces& places,
                                                    const xla_gpu::Options& options);

}  // namespace hbmscope::allocator
