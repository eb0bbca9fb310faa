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
  // Which of the candidates, blocks freed during the recording of a private pool, complete together with `done`
  // although their streams are not done. PyTorch keeps the streams that were named during a recording by the heap
  // address of the block object, also when the object is deleted. If the heap puts another block object there, these
  // streams count as its own (pending_frees.h). Candidates wait only for streams that deleted blocks left behind so.
  virtual std::vector<std::uint64_t> completing_with_recording(const std::vector<std::uint64_t>& /*done*/,
                                                               const std::vector<std::uint64_t>& /*candidates*/) {
    return {};
  }
};

}  // namespace hbmscope::allocator::pytorch
