// The files that `replay` can write: what XLA would have logged, dumped and traced.
#pragma once

#include <fstream>
#include <string>

#include "allocator/reference/replay/player.h"
#include "analysis/model/result.h"
#include "app/cli/options.h"

namespace hbmscope::cli {

class ReplayReports final : public allocator::Watcher {
 public:
  // Opens the files named by the options; xla_gpu only. Errors: a file can't be written, or it is the input.
  Result<void> open(const ReplayOptions& options);

  void on_allocated(const allocator::Allocator& allocator, const allocator::ReplayBlock& block) override;
  void on_freed(const allocator::Allocator& allocator, const allocator::ReplayBlock& block) override;
  void on_refused(const allocator::Allocator& allocator, const allocator::Request& request) override;

  // Call it after the last operation. Errors: the disk is full, or a dump was requested but nothing failed.
  Result<void> close();

 private:
  struct File {
    std::string name;
    std::ofstream stream;
  };
  void trace(std::string_view event, const allocator::Allocator& allocator, const allocator::ReplayBlock& block);

  std::string allocator_name_;
  File oom_log_, memory_dump_, trace_events_;
  int failures_ = 0;
};

}  // namespace hbmscope::cli
