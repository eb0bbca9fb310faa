#include "allocator/replay/player.h"

#include <algorithm>
#include <chrono>

namespace hbmscope::allocator {
namespace {

// Counts what happens to regions, and tells the watcher.
class CountingSink final : public xla_gpu::Sink {
 public:
  CountingSink(ReplayResult& result, Watcher* watcher) : result_(result), watcher_(watcher) {}
  void on_region_claimed(std::uint32_t, const Claim& claim, std::uint64_t) override {
    ++result_.driver_claims;
    if (watcher_) watcher_->on_region_claimed(claim);
  }
  void on_claim_refused(std::uint64_t asked_bytes) override {
    ++result_.driver_refusals;
    if (watcher_) watcher_->on_claim_refused(asked_bytes);
  }
  void on_region_released(std::uint32_t, const Claim& claim) override {
    ++result_.driver_releases;
    if (watcher_) watcher_->on_region_released(claim);
  }

 private:
  ReplayResult& result_;
  Watcher* watcher_;
};

ReplayFailure failure_of(const Player& player, std::uint64_t operation, xla_gpu::Fault fault) {
  const Operation& failed = player.stream().operations[operation];
  const xla_gpu::Statistics statistics = player.allocator().statistics();
  ReplayFailure failure;
  failure.operation = operation;
  failure.line = failed.line;
  failure.request = failed.request;
  failure.fault = fault;
  failure.statistics = statistics;
  failure.free_bytes = statistics.pool_bytes - statistics.in_use_bytes;
  failure.largest_usable_bytes = player.allocator().largest_free_bytes(failed.request.space);
  const auto left = [&](std::uint64_t bytes) {
    return bytes > statistics.pool_bytes ? bytes - statistics.pool_bytes : 0;
  };
  failure.driver_left_bytes = left(statistics.limit_bytes);
  if (const auto device = player.stream().config.upstream.device_bytes)
    failure.driver_left_bytes = std::min(failure.driver_left_bytes, left(*device));
  return failure;
}

class Run {
 public:
  Run(const RequestStream& stream, const xla_gpu::Options& options, Watcher* watcher)
      : stream_(stream), sink_(result_, watcher), player_(stream, options, &sink_), watcher_(watcher) {}

  ReplayResult run() {
    for (at_ = 0; at_ < stream_.operations.size() && result_.fault == xla_gpu::Fault::none; ++at_) {
      const Operation& operation = stream_.operations[at_];
      ++result_.operations;
      if (watcher_) watcher_->on_operation(at_);
      if (operation.is_free)
        free(operation);
      else
        allocate(operation);
      result_.fault = player_.allocator().fault();
    }
    result_.statistics = player_.allocator().statistics();
    result_.in_use_bytes = result_.statistics.in_use_bytes;
    result_.chunks = player_.allocator().chunks();
    return result_;
  }

 private:
  void free(const Operation& operation) {
    const xla_gpu::Chunk* found = player_.find_block(operation);
    if (found == nullptr) return;
    const xla_gpu::Chunk block = *found;
    result_.requested_bytes -= block.requested_bytes;
    if (player_.free(operation) != xla_gpu::FreeOutcome::freed) return;
    ++result_.frees;
    if (watcher_) watcher_->on_freed(player_.allocator(), block);
  }

  void allocate(const Operation& operation) {
    const xla_gpu::Allocation answer = player_.allocate(operation);
    if (answer.outcome == xla_gpu::Outcome::zero_bytes) {
      ++result_.zero_requests;
      return;
    }
    if (answer.outcome != xla_gpu::Outcome::allocated) {
      ++result_.refused;
      if (!result_.first_failure) result_.first_failure = failure_of(player_, at_, answer.fault);
      if (watcher_ && answer.outcome == xla_gpu::Outcome::out_of_memory)
        watcher_->on_refused(player_.allocator(), operation.request);
      return;
    }
    ++result_.allocations;
    result_.requested_bytes += operation.request.bytes;
    result_.peak_requested_bytes = std::max(result_.peak_requested_bytes, result_.requested_bytes);
    const std::uint64_t peak = player_.allocator().peak_in_use_bytes();
    if (peak > result_.peak_in_use_bytes) result_.peak_operation = at_ + 1;
    result_.peak_in_use_bytes = peak;
    if (watcher_) watcher_->on_allocated(player_.allocator(), *player_.find_block(operation));
  }

  const RequestStream& stream_;
  ReplayResult result_;
  CountingSink sink_;
  Player player_;
  Watcher* watcher_;
  std::uint64_t at_ = 0;
};

}  // namespace

ReplayResult play(const RequestStream& stream, const xla_gpu::Options& options, Watcher* watcher) {
  return Run(stream, options, watcher).run();
}

std::optional<ReplaySpeed> measure_speed(const RequestStream& stream, const xla_gpu::Options& options, int passes) {
  if (stream.operations.empty()) return {};
  std::optional<ReplaySpeed> best;
  for (int pass = 0; pass < passes; ++pass) {
    Player player(stream, options);
    std::uint64_t largest_sum = 0;
    const auto start = std::chrono::steady_clock::now();
    for (const Operation& operation : stream.operations) {
      if (operation.is_free)
        player.free(operation);
      else
        player.allocate(operation);
      largest_sum += player.allocator().largest_free_bytes();
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    const double ns = took.count() / static_cast<double>(stream.operations.size());
    if (!best || ns < best->ns_per_operation) best = ReplaySpeed{ns, largest_sum};
  }
  return best;
}

}  // namespace hbmscope::allocator
