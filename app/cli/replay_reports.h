// The files that `replay` writes beside its answer: what XLA itself would have logged, dumped and traced, and a
// recording of what happened.
#pragma once

#include <fstream>
#include <optional>
#include <string>

#include "allocator/replay/player.h"
#include "analysis/model/result.h"
#include "analysis/read/requests/replay_recorder.h"
#include "app/cli/options.h"

namespace hbmscope::cli {

class ReplayReports final : public allocator::Watcher {
 public:
  // Opens the files that are asked for. Errors: one can't be written, or is the one that is read.
  // `source`: what the stream's origins are numbers of, or null. Both must outlive this.
  Result<void> open(const ReplayOptions& options, const allocator::xla_gpu::Options& rules,
                    const allocator::RequestStream& stream, const Definitions* source);

  void on_operation(std::uint64_t number) override;
  void on_allocated(const allocator::xla_gpu::Bfc& allocator, const allocator::xla_gpu::Chunk& block) override;
  void on_freed(const allocator::xla_gpu::Bfc& allocator, const allocator::xla_gpu::Chunk& block) override;
  void on_refused(const allocator::xla_gpu::Bfc& allocator, const allocator::xla_gpu::Request& request) override;

  void on_region_claimed(const allocator::Claim& claim) override;
  void on_region_released(const allocator::Claim& claim) override;
  void on_claim_refused(std::uint64_t asked_bytes) override;

  // After the last operation. Errors: the disk is full, or nothing failed of which there would be a dump.
  Result<void> close();

 private:
  struct File {
    std::string name;
    std::ofstream stream;
  };
  void trace(std::string_view event, const allocator::xla_gpu::Bfc& allocator, const allocator::xla_gpu::Chunk& block);

  std::string allocator_name_, output_;
  std::optional<ReplayRecorder> recorder_;
  File oom_log_, memory_dump_, trace_events_;
  int failures_ = 0;
};

}  // namespace hbmscope::cli
