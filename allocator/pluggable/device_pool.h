// The pool of one GPU: an allocator over the driver's memory that respects the order of streams and reports to
// hbmscope. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "allocator/pluggable/annotated_pool.h"
#include "allocator/setup/setup.h"
#include "allocator/stream_order/cuda_streams.h"
#include "allocator/stream_order/stream_ordered.h"
#include "allocator/upstream/cuda_memory.h"

namespace hbmscope::allocator {

// The allocator's name and settings, from the environment of the process.
struct PoolWords {
  std::string allocator;          // HBMSCOPE_ALLOCATOR: a name from catalog.h; empty: chosen by JAX's variables.
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
