// A replay as a trace, so that every question and every view can be asked of what would have been: one heap with its
// regions and blocks, driver refusals and out-of-memories. Event by event, without times and without stacks.
#pragma once

#include <string>

#include "allocator/replay/player.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope {

class ReplayRecorder final : public allocator::Watcher {
 public:
  // `file`: what is replayed, as the person named it.
  ReplayRecorder(const std::string& file, const allocator::xla_gpu::Options& options,
                 const std::string& allocator_name);

  void on_allocated(const allocator::xla_gpu::Bfc& allocator, const allocator::xla_gpu::Chunk& block) override;
  void on_freed(const allocator::xla_gpu::Bfc& allocator, const allocator::xla_gpu::Chunk& block) override;
  void on_refused(const allocator::xla_gpu::Bfc& allocator, const allocator::xla_gpu::Request& request) override;
  void on_region_claimed(const allocator::Claim& claim) override;
  void on_region_released(const allocator::Claim& claim) override;
  void on_claim_refused(std::uint64_t asked_bytes) override;

  // All that was replayed; called once, at the end.
  const Trace& close();

 private:
  TraceWriter writer_;
  std::uint32_t heap_ = 0;
};

}  // namespace hbmscope
