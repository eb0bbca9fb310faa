// A device's streams, tracked with events of the CUDA driver. Callable from any thread, one at a time, whatever context
// is current.
#pragma once

#include <vector>

#include "allocator/reference/interface/cuda_driver.h"
#include "allocator/reference/stream_order/streams.h"

namespace hbmscope::allocator {

class CudaStreams final : public Streams {
 public:
  explicit CudaStreams(const cuda::OpenDevice& device) : device_(device) {}
  ~CudaStreams() override;
  CudaStreams(const CudaStreams&) = delete;
  CudaStreams& operator=(const CudaStreams&) = delete;

  // If no event can be recorded, waits for the device and returns null.
  Event record(Stream stream) override;
  bool is_done(Event event) override;
  void wait(Event event) override;
  void forget(Event event) override;
  bool is_capturing(Stream stream) override;

 private:
  const cuda::OpenDevice device_;
  std::vector<Event> spare_;  // Events are reused: creating one costs more than recording it.
};

}  // namespace hbmscope::allocator
