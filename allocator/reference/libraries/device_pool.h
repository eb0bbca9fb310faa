// The pool of one GPU: an allocator over the driver's memory that respects the order of streams and reports to
// hbmscope. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "allocator/reference/catalog/setup.h"
#include "allocator/reference/interface/cuda_memory.h"
#include "allocator/reference/stream_order/cuda_streams.h"
#include "allocator/reference/stream_order/stream_ordered.h"
#include "collector/annotate/hbmscope.h"

namespace hbmscope::allocator {

// Reports a device's pool as a heap to hbmscope (collector/annotate/hbmscope.h): regions, blocks with their streams,
// frees that wait for a stream, and failures.
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
  std::uint32_t flags_ = 0;  // All blocks have them: the end of the pool that serves default memory.
  hbmscope_heap heap_{};
};

// The allocator's name and settings, from the environment of the process.
struct PoolWords {
  std::string allocator;          // HBMSCOPE_ALLOCATOR: a name from catalog.h. If it is empty, JAX's variables choose.
  std::string version;            // HBMSCOPE_ALLOCATOR_VERSION, for xla_gpu.
  std::vector<Setting> settings;  // JAX's variables, or PyTorch's single one.
};
PoolWords pool_words_from_environment();

class DevicePool {
 public:
  // Error: no driver, no such device, or invalid settings; a sentence without a full stop.
  static tl::expected<std::unique_ptr<DevicePool>, std::string> open(int device, const PoolWords& words);

  // Error: out of memory with sizes, or the stream is being captured; a sentence without a full stop.
  tl::expected<std::uint64_t, std::string> allocate(std::uint64_t bytes, Stream stream);
  bool free(std::uint64_t address, Stream stream);           // False: no block at this address.
  bool record_stream(std::uint64_t address, Stream stream);  // False: no block at this address.
  bool empty_cache();  // Returns unused segments to the driver. False: this allocator has no cache.

 private:
  DevicePool(const cuda::OpenDevice& device, const Setup& setup);
  std::string out_of_memory_text(std::uint64_t bytes, const Allocation& answer);

  std::mutex mutex_;
  const int device_;
  CudaMemory memory_;
  CudaStreams streams_;
  StreamOrdered pool_;
  AnnotatedPool heap_;
};

}  // namespace hbmscope::allocator
