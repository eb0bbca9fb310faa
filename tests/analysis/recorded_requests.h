// What a job with given requests and settings would have left behind.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "allocator/reference/catalog/setup.h"
#include "allocator/reference/replay/player.h"
#include "analysis/read/requests/replay_recorder.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// Requests of random sizes, with frees of random earlier ones, until about `most` bytes are live.
inline allocator::RequestStream random_requests(unsigned seed, std::uint64_t most, std::size_t count = 400) {
  std::mt19937_64 random(seed);
  allocator::RequestStream stream;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> live;
  std::uint64_t bytes = 0;
  const auto free_one = [&] {
    const std::size_t at = random() % live.size();
    stream.operations.push_back({true, live[at].first, 0, {}});
    bytes -= live[at].second;
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
  };
  for (std::size_t i = 0; i < count; ++i) {
    allocator::Operation operation;
    operation.slot = stream.slots++;
    operation.request.bytes = 1 + random() % (most / 20);
    while (!live.empty() && bytes + operation.request.bytes > most) free_one();
    if (!live.empty() && random() % 3 == 0) free_one();
    bytes += operation.request.bytes;
    live.emplace_back(operation.slot, operation.request.bytes);
    stream.operations.push_back(operation);
  }
  stream.answers.resize(stream.operations.size());
  return stream;
}

// What a job with these settings would have left behind.
class Recorded {
 public:
  Recorded(allocator::RequestStream requests, const allocator::SetupWords& words, bool with_device = true)
      : stream_(std::move(requests)), setup_(allocator::set_up(words)) {
    if (with_device) stream_.config.upstream = setup_->upstream;
    recorder_.emplace("job", setup_->options, allocator::pool_name_of(setup_->options, 0), stream_, nullptr);
    allocator::Watcher* watchers[] = {&*recorder_};
    allocator::play(stream_, setup_->options, {setup_->upstream, watchers});
    trace_ = &recorder_->close();
  }
  operator const Trace&() const { return *trace_; }

 private:
  allocator::RequestStream stream_;
  tl::expected<allocator::Setup, std::string> setup_;
  std::optional<ReplayRecorder> recorder_;
  const Trace* trace_ = nullptr;
};

}  // namespace hbmscope
