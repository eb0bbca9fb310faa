// Records a replay as a trace, so that all queries and views work on it: one heap with its regions and blocks, driver
// refusals and out-of-memories, event by event. If the requests come from another trace, it keeps that trace's times,
// stacks and tags.
#pragma once

#include <string>
#include <unordered_map>

#include "allocator/reference/replay/player.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope {

class ReplayRecorder final : public allocator::Watcher {
 public:
  // `file`: the replayed file, as the user named it. `source`: the definitions that the stream's origins refer to;
  // null: no origins. All must outlive the recorder.
  ReplayRecorder(const std::string& file, const allocator::AllocatorOptions& options, const std::string& allocator_name,
                 const allocator::RequestStream& stream, const Definitions* source);

  void on_operation(std::uint64_t number) override;
  void on_allocated(const allocator::Allocator& allocator, const allocator::ReplayBlock& block) override;
  void on_freed(const allocator::Allocator& allocator, const allocator::ReplayBlock& block) override;
  void on_refused(const allocator::Allocator& allocator, const allocator::Request& request) override;
  void on_region_claimed(const allocator::Claim& claim) override;
  void on_region_released(const allocator::Claim& claim) override;
  void on_claim_refused(std::uint64_t requested_bytes) override;

  // The whole replay; call once, at the end.
  const Trace& close();

 private:
  std::uint32_t stack_of(std::uint32_t source_stack);  // Defined here as in the source.
  std::uint32_t frame_of(std::uint32_t source_frame);

  TraceWriter writer_;
  const allocator::RequestStream& stream_;
  const Definitions* source_;
  allocator::Origin origin_;                                          // The origin of the current operation.
  std::unordered_map<std::uint32_t, std::uint32_t> stacks_, frames_;  // By their ids in the source.
  std::uint32_t heap_ = 0;
  std::uint32_t region_flags_ = 0;
};

}  // namespace hbmscope
