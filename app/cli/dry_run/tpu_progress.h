// Says what a dry run on TPUs waits for: large programs take libtpu's compiler minutes.
#pragma once

#include <chrono>
#include <string>
#include <utility>

namespace hbmscope::cli {

class TpuProgress {
 public:
  // `folder`: with the accounts of the job's processes.
  explicit TpuProgress(std::string folder) : folder_(std::move(folder)) {}

  // Call it often. Prints a line when a program has been compiled for ten seconds, and then once a minute.
  void look();

 private:
  using Clock = std::chrono::steady_clock;

  std::string folder_, program_;
  Clock::time_point looked_at_, since_, said_at_;
  bool is_said_ = false;
};

}  // namespace hbmscope::cli
