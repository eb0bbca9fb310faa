// A replay as a trace, so that every question and every view can be asked of what would have been: one heap with its
// regions and blocks, driver refusals and out-of-memories, event by event; with the times, stacks and tags of the trace
// that the requests were taken from, where there is one.
#pragma once

#include <string>
#include <unordered_map>

#include "allocator/replay/player.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope {

class ReplayRecorder final : public allocator::Watcher {
 public:
  // `file`: what is replayed, as the person named it. `source`: what the stream's origins are numbers of; null: it has
  // none. All must outlive the recorder.
  ReplayRecorder(const std::string& file, const allocator::AllocatorOptions& options, const std::string& allocator_name,
                 const allocator::RequestStream& stream, const Definitions* source);

  void on_operation(std::uint64_t number) override;
  void on_allocated(const allocator::Allocator& allocator, const allocator::ReplayBlock& block) override;
  void on_freed(const allocator::Allocator& allocator, const allocator::ReplayBlock& block) override;
  void on_refused(const allocator::Allocator& allocator, const allocator::Request& request) override;
  void on_region_claimed(const allocator::Claim& claim) override;
  void on_region_released(const allocator::Claim& claim) override;
  void on_claim_refused(std::uint64_t asked_bytes) override;

  // All that was replayed; called once, at the end.
  const Trace& close();

 private:
  std::uint32_t stack_of(std::uint32_t source_stack);  // Defined here as it was there.
  std::uint32_t frame_of(std::uint32_t source_frame);

  TraceWriter writer_;
  const allocator::RequestStream& stream_;
  const Definitions* source_;
  allocator::Origin origin_;                                          // Of the operation at hand.
  std::unordered_map<std::uint32_t, std::uint32_t> stacks_, frames_;  // By their numbers in the source.
  std::uint32_t heap_ = 0;
  std::uint32_t region_flags_ = 0;
};

}  // namespace hbmscope
