// A program that allocates GPU memory through one of hbmscope's allocators over the CUDA driver, on two streams:
//
//     samples/cuda_streams [xla_gpu | platform | cuda_async | pytorch | naive]
//
// The streams are the default stream and the thread's own, which every program has. No kernel runs: comments mark where
// one would. Without a driver the program reports that and ends. Not yet tested on a GPU; the tests run it on a
// simulated driver.
#include <cinttypes>
#include <cstdio>
#include <string>

#include "allocator/reference/catalog/setup.h"
#include "allocator/reference/interface/cuda_memory.h"
#include "allocator/reference/stream_order/cuda_streams.h"
#include "allocator/reference/stream_order/stream_ordered.h"

namespace ours = hbmscope::allocator;

namespace {

constexpr std::uint64_t mib = 1 << 20;

std::uint64_t take(ours::StreamOrdered& pool, std::uint64_t bytes, ours::Stream stream, const char* what) {
  const ours::Allocation got = pool.allocate({.bytes = bytes}, stream);
  if (got.outcome != ours::Outcome::allocated) {
    std::printf("%s: out of memory\n", what);
    return 0;
  }
  std::printf("%-34s %10" PRIu64 " B at 0x%" PRIx64 "\n", what, got.bytes, got.address);
  return got.address;
}

void run(ours::StreamOrdered& pool) {
  ours::Stream const computes = nullptr, copies = reinterpret_cast<ours::Stream>(2);  // CU_STREAM_PER_THREAD
  const std::uint64_t weights = take(pool, 48 * mib, computes, "weights");
  const std::uint64_t batch = take(pool, 20 * mib, copies, "a batch, copied");
  pool.record_stream(batch, computes);  // The other stream computes with it, too.
  pool.free(batch, copies);
  // While the device still works on the first batch, the next one gets another place. Nothing runs here, so it gets
  // the same place.
  take(pool, 20 * mib, copies, "the next batch");
  const std::uint64_t temporary = take(pool, 30 * mib, computes, "a temporary");
  pool.free(temporary, computes);
  take(pool, 30 * mib, computes, "the next, in the same place at once");
  pool.free(weights, computes);
}

}  // namespace

int main(int argc, char** argv) {
  const auto device = ours::cuda::open_device(0);
  if (!device) {
    std::printf("%s\n", device.error().c_str());
    return 0;
  }
  const auto setup = ours::set_up({argc > 1 ? argv[1] : "", {}, {}, device->total_bytes});
  if (!setup) {
    std::fprintf(stderr, "%s\n", setup.error().c_str());
    return 1;
  }
  ours::CudaMemory memory(*device, setup->upstream.granularity);
  ours::CudaStreams streams(*device);
  ours::StreamOrdered pool(setup->options, memory, streams);
  run(pool);
  const ours::Statistics now = pool.allocator().statistics();
  std::printf("in use %" PRIu64 " B of a pool of %" PRIu64 " B\n", now.in_use_bytes, now.pool_bytes);
}
