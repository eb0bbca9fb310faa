// The addresses and segments that a trace of PyTorch recorded beside those that PyTorch's allocator as modelled here
// gives: the model is put into the state that the trace begins with, the driver gives and refuses what it gave and
// refused then, and every address, and every segment that comes or goes, is compared.
//
// Blocks keep the requests of the trace; if the trace lacks their sizes, these are derived from the requests, so
// sizes are not compared: a wrong one shows in the addresses after it. A trace does not say why segments went (the
// driver refused, or torch.cuda.empty_cache() was called), and it need not: both give back the same.
#pragma once

#include "allocator/pytorch/caching_allocator.h"
#include "allocator/replay/check.h"

namespace hbmscope::allocator {

// Error: it begins with expandable segments, whose reserved addresses are in no trace; a sentence without a full stop.
tl::expected<CheckResult, std::string> check_places(const RequestStream& stream, const RecordedPlaces& places,
                                                    const pytorch::Options& options);

}  // namespace hbmscope::allocator
