// A trace that grows block by block, from a file that is being read or a running job.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/trace/trace.h"

namespace hbmscope {

class GrowingTrace {
 public:
  explicit GrowingTrace(const std::string& name);

  // Limits the memory of events. Beyond it, new blocks go to an unnamed temporary file and are read back when needed,
  // so nothing is dropped. What still grows is small (definitions, curves, an occasional keyframe), plus the live
  // blocks. 0: no limit.
  void set_memory_max(std::uint64_t bytes) { memory_max_ = bytes; }
  std::uint64_t file_bytes() const { return file_ ? file_->bytes() : 0; }  // The size of that file.
  // Its fault: it can't be created, is full, or could not be read. Empty: none.
  std::string file_fault() const;
  // Keyframes then follow skipped events (collector/link/link.h), not missing blocks.
  void expect_skips() { keyframe_gap_ = Stream::Gap::skipped; }

  // Call before the first block: the streams keep only what Stream::Keeps::curves keeps.
  void keep_curves_only() { keeps_ = Stream::Keeps::curves; }

  bool needs_everything() const { return hbmscope::needs_everything(trace_); }

  void take(const wire::SharedBlock& block);
  std::uint64_t events() const { return events_; }  // Added so far.
  // Increases whenever something visible changes: an event, or a skipped range.
  std::uint64_t changes() const { return events_ + keyframes_; }
  // Invalid blocks that were left out; fault() is the first one's.
  std::uint64_t bad_blocks() const { return bad_blocks_; }
  const std::string& fault() const { return fault_; }
  std::int64_t last_time_ns() const { return last_time_ns_; }  // The newest event's, or 0 before the first one.

  // The current contents, for readers on other threads; shares whatever is sealed.
  std::shared_ptr<const Trace> version() const;
  // The job has ended, not only the connection to it (Stream::end_refusals).
  void end_job();
  // The whole trace; no blocks may be added afterwards.
  Trace finish();

 private:
  Trace trace_;
  std::uint64_t events_ = 0, keyframes_ = 0, bad_blocks_ = 0;
  std::int64_t last_time_ns_ = 0;
  wire::SharedBlock put_away(const wire::SharedBlock& block);

  std::string fault_, file_fault_;
  std::uint64_t memory_max_ = 0;
  Stream::Gap keyframe_gap_ = Stream::Gap::lost;
  Stream::Keeps keeps_ = Stream::Keeps::everything;
  std::shared_ptr<wire::PayloadFile> file_;
};

}  // namespace hbmscope
