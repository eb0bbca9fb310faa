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

  // Once the events take so much memory, what comes is put into a file without a name and read again when it is asked
  // for: nothing is let go. What is left to grow is small (definitions, curves, a keyframe now and then), and what
  // lives. 0: no limit.
  void set_memory_max(std::uint64_t bytes) { memory_max_ = bytes; }
  std::uint64_t file_bytes() const { return file_ ? file_->bytes() : 0; }  // So much is in that file.
  // What is wrong with it: it can't be had, is full, or could not be read. Empty: nothing.
  std::string file_fault() const;
  // Keyframes come where somebody wished to skip something (collector/link/link.h), not where blocks are missing.
  void expect_skips() { keyframe_gap_ = Stream::Gap::skipped; }

  // Before anything is taken in: of its streams only what Stream::Keeps::curves has is wanted.
  void keep_curves_only() { keeps_ = Stream::Keeps::curves; }

  bool needs_everything() const { return hbmscope::needs_everything(trace_); }

  void take(const wire::SharedBlock& block);
  std::uint64_t events() const { return events_; }  // Taken in so far.
  // More than before where something has changed in what can be seen: an event, or a stretch that was skipped.
  std::uint64_t changes() const { return events_ + keyframes_; }
  // Blocks that make no sense were left out; the first one's fault.
  std::uint64_t bad_blocks() const { return bad_blocks_; }
  const std::string& fault() const { return fault_; }
  std::int64_t last_time_ns() const { return last_time_ns_; }  // Of the newest event; 0: none has come.

  // What is there so far, for readers on other threads; it shares what is sealed.
  std::shared_ptr<const Trace> version() const;
  // All of it; nothing may be taken in after that.
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
