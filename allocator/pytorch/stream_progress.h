// How far the streams of the device have got, which decides when a block that other streams used can be reused. A
// device answers with its events; a replay answers with the recorded times.
#pragma once

#include <cstdint>
#include <vector>

namespace hbmscope::allocator::pytorch {

class StreamProgress {
 public:
  using Event = std::uint64_t;
  virtual ~StreamProgress() = default;
  // Records an event behind all work enqueued on the stream so far.
  virtual Event record(std::uint32_t stream) = 0;
  virtual bool is_done(Event event) = 0;
  virtual void wait(Event event) = 0;
  virtual void wait_for_stream(std::uint32_t stream) = 0;
  // Puts blocks whose frees complete together, given by address, into the order in which they are freed. PyTorch visits
  // them in the order of its hash tables, whose keys are streams and heap addresses. The order decides no address.
  virtual void sort_completed(std::vector<std::uint64_t>& /*addresses*/) {}
  // Whether the block, freed during the recording of a private pool, completes now although its streams are not done.
  // PyTorch keeps the streams that were named during a recording by the heap address of its block object, also when the
  // object is deleted. If the heap puts another block object there, these streams count as its own (pending_frees.h).
  // Called only where that is possible: for streams that a deleted block left behind.
  virtual bool completes_with_recording(std::uint64_t /*address*/) { return false; }
};

}  // namespace hbmscope::allocator::pytorch
