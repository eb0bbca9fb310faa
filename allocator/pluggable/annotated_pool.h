// Reports a device's pool as a heap to hbmscope (collector/annotate/hbmscope.h): regions, blocks with their streams,
// frees that wait for a stream, and failures.
#pragma once

#include <cstdint>
#include <string>

#include "allocator/stream_order/stream_ordered.h"
#include "collector/annotate/hbmscope.h"

namespace hbmscope::allocator {

class AnnotatedPool final : private Sink {
 public:
  // `pool` must outlive it. XLA's pool has XLA's name: "GPU_0_bfc".
  AnnotatedPool(const AllocatorOptions& options, int device, StreamOrdered& pool);
  ~AnnotatedPool() override;
  AnnotatedPool(const AnnotatedPool&) = delete;
  AnnotatedPool& operator=(const AnnotatedPool&) = delete;

  void report_allocated(const Allocation& block, std::uint64_t requested_bytes, std::uint32_t stream);
  void report_free_requested(std::uint64_t address);
  void report_out_of_memory(std::uint64_t requested_bytes);
  const std::string& name() const { return name_; }

 private:
  void enumerate(const hbmscope_listing& listing);
  void on_region_claimed(std::uint32_t number, const Claim& claim, std::uint64_t requested_bytes) override;
  void on_claim_refused(std::uint64_t) override {}
  void on_region_released(std::uint32_t number, const Claim& claim) override;

  const std::string name_;
  StreamOrdered& pool_;
  std::uint32_t flags_ = 0;  // Of all blocks: the end of the pool that serves default memory.
  hbmscope_heap heap_{};
};

}  // namespace hbmscope::allocator
