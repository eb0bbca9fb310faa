#include "allocator/reference/pytorch/pending_frees.h"

#include <algorithm>
#include <utility>

namespace hbmscope::allocator::pytorch {
namespace {

template <class Blocks>
std::vector<std::uint64_t> addresses_of(const Blocks& blocks) {
  std::vector<std::uint64_t> addresses;
  addresses.reserve(blocks.size());
  for (const Block* block : blocks) addresses.push_back(block->address);
  return addresses;
}

}  // namespace

void PendingFrees::note_use(Block* block, std::uint32_t stream, bool is_recording) {
  if (progress_ == nullptr) return;
  block->other_streams.insert(stream);
  if (is_recording) named_in_recordings_[block].insert(stream);
}

void PendingFrees::record_events(Block* block) {
  for (const std::uint32_t stream : std::exchange(block->other_streams, {})) {
    events_[stream].push_back({progress_->record(stream), block});
    ++block->pending_events;
  }
}

bool PendingFrees::add(Block* block, bool is_recording) {
  if (block->other_streams.empty()) return false;
  if (is_recording)
    deferred_.push_back(block);
  else
    record_events(block);
  return true;
}

void PendingFrees::end_deferral(std::vector<Block*>& completed) {
  for (Block* block : std::exchange(deferred_, {})) {
    if (const auto named = named_in_recordings_.find(block); named != named_in_recordings_.end()) {
      for (const std::uint32_t stream : named->second) block->other_streams.erase(stream);
      named_in_recordings_.erase(named);
    }
    record_events(block);
    deferred_before_.insert(block);
    ++block->pending_events;  // The end of the recording itself.
    count_done(block, completed);
  }
}

// The last event counts until the block is freed, so that no neighbour takes the block over before.
void PendingFrees::count_done(Block* block, std::vector<Block*>& completed) {
  if (block->pending_events > 1) {
    --block->pending_events;
    return;
  }
  deferred_before_.erase(block);
  completed.push_back(block);
}

void PendingFrees::forget(const Block* block) {
  const auto named = named_in_recordings_.find(block);
  if (named == named_in_recordings_.end()) return;
  left_behind_.merge(named->second);
  named_in_recordings_.erase(named);
}

void PendingFrees::complete_with_recording(std::vector<Block*>& completed) {
  if (deferred_before_.empty()) return;
  std::set<Block*> candidates = deferred_before_;
  for (const auto& [stream, pending] : events_)
    if (left_behind_.count(stream) == 0)
      for (const Pending& event : pending) candidates.erase(event.block);
  if (candidates.empty()) return;
  const auto complete = progress_->completing_with_recording(addresses_of(completed), addresses_of(candidates));
  for (Block* block : candidates) {
    if (std::find(complete.begin(), complete.end(), block->address) == complete.end()) continue;
    drop_events(block);
    deferred_before_.erase(block);
    completed.push_back(block);
  }
}

void PendingFrees::drop_events(Block* block) {
  for (auto& [stream, pending] : events_)
    std::erase_if(pending, [&](const Pending& event) { return event.block == block; });
  block->pending_events = 1;
}

std::vector<Block*> PendingFrees::sorted(std::vector<Block*> completed) {
  if (completed.size() < 2) return completed;
  std::unordered_map<std::uint64_t, Block*> by_address;
  for (Block* block : completed) by_address[block->address] = block;
  std::vector<std::uint64_t> addresses = addresses_of(completed);
  progress_->sort_completed(addresses);
  completed.clear();
  for (const std::uint64_t address : addresses) completed.push_back(by_address.at(address));
  return completed;
}

std::vector<Block*> PendingFrees::take_done() {
  std::vector<Block*> completed;
  end_deferral(completed);
  for (auto line = events_.begin(); line != events_.end();) {
    std::deque<Pending>& pending = line->second;
    for (; !pending.empty() && progress_->is_done(pending.front().event); pending.pop_front())
      count_done(pending.front().block, completed);
    line = pending.empty() ? events_.erase(line) : std::next(line);
  }
  complete_with_recording(completed);
  return sorted(std::move(completed));
}

std::vector<Block*> PendingFrees::wait_for_all(const PrivatePool* pool) {
  std::vector<Block*> completed;
  end_deferral(completed);
  for (auto line = events_.begin(); line != events_.end();) {
    std::deque<Pending> kept;
    for (const Pending& pending : line->second) {
      if (pool != nullptr && pending.block->pool->owner != pool) {
        kept.push_back(pending);
        continue;
      }
      progress_->wait(pending.event);
      count_done(pending.block, completed);
    }
    line->second = std::move(kept);
    line = line->second.empty() ? events_.erase(line) : std::next(line);
  }
  complete_with_recording(completed);
  return sorted(std::move(completed));
}

}  // namespace hbmscope::allocator::pytorch
