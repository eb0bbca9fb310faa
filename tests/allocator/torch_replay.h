// Plays the operations of a trace of PyTorch's real allocator (torch_trace.h) into the model, and writes the trace that
// the model makes. The two must be equal, line by line.
#pragma once

#include <memory>

#include "allocator/reference/pytorch/caching_allocator.h"
#include "tests/allocator/torch_device.h"
#include "tests/allocator/torch_streams.h"

namespace hbmscope::allocator {

struct TorchComparison {
  std::uint64_t operations = 0;
  std::uint64_t lines = 0;              // Compared. A line that one side lacks counts too.
  std::uint64_t early_completions = 0;  // TorchDevice::early_completions()
  std::uint64_t differences = 0;        // Lines that differ, or that one side lacks.
  std::vector<std::string> first_differences;
};

class TorchReplay final : public pytorch::TraceTracker {
 public:
  TorchReplay(const TorchTrace& trace, const pytorch::Options& options);

  TorchComparison run();
  void on_event(const pytorch::TraceEvent& event) override;

 private:
  void play(const TorchStep& step);
  void allocate(std::uint64_t bytes, std::uint32_t stream);
  void free(std::uint64_t address);
  void play_pool(std::string_view operation, std::string_view pool);
  void write_snapshot();
  void compare(const TorchStep& step);
  std::uint32_t rank_of(std::uint64_t stream) const;
  std::uint32_t stream_of_rank(std::uint32_t rank) const;
  void write(std::string line) { written_.push_back(std::move(line)); }

  const TorchTrace& trace_;
  const std::vector<std::uint32_t> ranks_;  // Of streams, by their number in the trace.
  std::vector<std::string> written_;        // In this step.
  TorchDevice device_;
  pytorch::CachingAllocator allocator_;
  std::map<std::uint64_t, std::uint64_t> block_bytes_;  // Of allocated blocks, by address.
  pytorch::PoolId pool_;                                // The MemPool that exists; the default pool: none.
  TorchComparison result_;
};

}  // namespace hbmscope::allocator
