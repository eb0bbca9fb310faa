// A trace that grows block by block: of a file that is being read, of a job that runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/trace/trace.h"

namespace hbmscope {

class GrowingTrace {
 public:
  explicit GrowingTrace(const std::string& name);

  void take(const wire::SharedBlock& block);
  std::uint64_t events() const { return events_; }  // Taken in so far.
  // Blocks that make no sense were left out; the first one's fault.
  std::uint64_t bad_blocks() const { return bad_blocks_; }
  const std::string& fault() const { return fault_; }

  // What is there so far, for readers on other threads; it shares what is sealed.
  std::shared_ptr<const Trace> version() const;
  // All of it; nothing may be taken in after that.
  Trace finish();

 private:
  Trace trace_;
  std::uint64_t events_ = 0, bad_blocks_ = 0;
  std::string fault_;
};

}  // namespace hbmscope
