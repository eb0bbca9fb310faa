// Compares the addresses and segments that a PyTorch trace recorded with those of the model of PyTorch's allocator. The
// model starts in the state at the beginning of the trace, and its driver grants and refuses what the real one granted
// and refused. Every address, and every segment that comes or goes, is compared.
//
// Blocks keep the requests of the trace. If the trace lacks block sizes, they are derived from the requests, so sizes
// are not compared: a wrong size shows up in the addresses after it. A trace does not say why segments were released
// (the driver refused, or torch.cuda.empty_cache() was called); both release the same segments.
#pragma once

#include "allocator/pytorch/caching_allocator.h"
#include "allocator/replay/check.h"

namespace hbmscope::allocator {

// Error: the trace begins with expandable segments, whose reserved addresses no trace contains; a sentence without a
// full stop.
tl::expected<CheckResult, std::string> check_places(const RequestStream& stream, const RecordedPlaces& places,
                                                    const pytorch::Options& options);

}  // namespace hbmscope::allocator
