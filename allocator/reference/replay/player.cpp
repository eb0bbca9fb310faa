#include "allocator/reference/replay/player.h"

#include <algorithm>
#include <chrono>

namespace hbmscope::allocator {
namespace {

class Run final : public Sink {
 public:
  Run(const RequestStream& stream, const AllocatorOptions& options, const PlayOptions& how)
      : stream_(stream),
        how_(how),
        upstream_(how.upstream),
        allocator_(make_allocator(options, upstream_)),
        player_(stream, *allocator_),
        blocks_(stream.slots) {
    allocator_->set_sink(this);
  }

  ReplayResult run() {
    constexpr std::uint64_t between_looks = 4096;
    const std::uint64_t end = std::min<std::uint64_t>(stream_.operations.size(), how_.operations_max);
    for (at_ = 0; at_ < end && result_.fault == Fault::none; ++at_) {
      if (at_ % between_looks == 0 && how_.cancelled != nullptr && *how_.cancelled) break;
      const Operation& operation = stream_.operations[at_];
      take_samples();
      if (how_.skipped != nullptr && !operation.is_free && (*how_.skipped)[at_]) continue;
      ++result_.operations;
      first_refused_bytes_ = last_refused_bytes_ = 0;
      notify([&](Watcher& watcher) { watcher.on_operation(at_); });
      if (operation.is_free)
        free(operation);
      else
        allocate(operation);
      result_.fault = allocator_->fault();
    }
    take_samples();
    result_.statistics = allocator_->statistics();
    result_.chunks = allocator_->chunks();
    allocator_->set_sink(nullptr);
    return result_;
  }

  void on_region_claimed(std::uint32_t, const Claim& claim, std::uint64_t) override {
    ++result_.driver_claims;
    notify([&](Watcher& watcher) { watcher.on_region_claimed(claim); });
  }
  void on_claim_refused(std::uint64_t requested_bytes) override {
    ++result_.driver_refusals;
    if (first_refused_bytes_ == 0) first_refused_bytes_ = requested_bytes;
    last_refused_bytes_ = requested_bytes;
    notify([&](Watcher& watcher) { watcher.on_claim_refused(requested_bytes); });
  }
  void on_region_released(std::uint32_t, const Claim& claim) override {
    ++result_.driver_releases;
    if (is_freeing_)
      released_.push_back(claim);
    else
      notify([&](Watcher& watcher) { watcher.on_region_released(claim); });
  }

 private:
  template <class What>
  void notify(const What& what) {
    for (Watcher* watcher : how_.watchers) what(*watcher);
  }

  // Samples are of the state after at_ operations, between the early frees there.
  void take_samples() {
    free_early(false);
    while (result_.samples.size() < how_.sample_after.size() && how_.sample_after[result_.samples.size()] <= at_)
      result_.samples.push_back(
          {allocator_->statistics().pool_bytes, result_.in_use_bytes, result_.requested_bytes, result_.refused});
    free_early(true);
  }

  void free_early(bool also_after_samples) {
    for (; next_early_ < how_.early_frees.size(); ++next_early_) {
      const EarlyFree& early = how_.early_frees[next_early_];
      if (early.before_operation > at_ || (early.is_after_samples && !also_after_samples)) break;
      Operation operation;
      operation.is_free = true;
      operation.slot = early.slot;
      free(operation);
    }
  }

  void free(const Operation& operation) {
    ReplayBlock& block = blocks_[operation.slot];
    if (block.bytes == 0) return;
    is_freeing_ = true;
    const bool is_freed = player_.free(operation) == FreeOutcome::freed;
    is_freeing_ = false;
    result_.requested_bytes -= block.requested_bytes;
    result_.in_use_bytes -= block.bytes;
    if (is_freed) {
      ++result_.frees;
      notify([&](Watcher& watcher) { watcher.on_freed(*allocator_, block); });
    }
    for (const Claim& claim : released_) notify([&](Watcher& watcher) { watcher.on_region_released(claim); });
    released_.clear();
    block = {};
  }

  void allocate(const Operation& operation) {
    const Allocation answer = player_.allocate(operation);
    ReplayBlock& block = blocks_[operation.slot];
    block = {};
    if (answer.outcome == Outcome::zero_bytes) {
      ++result_.zero_requests;
      return;
    }
    if (answer.outcome != Outcome::allocated) {
      ++result_.refused;
      if (!result_.first_failure) result_.first_failure = failure_of(operation, answer.fault);
      if (answer.outcome == Outcome::out_of_memory)
        notify([&](Watcher& watcher) { watcher.on_refused(*allocator_, operation.request); });
      return;
    }
    block = {answer.address, answer.bytes, operation.request.bytes, operation.request.stream, answer.is_at_upper_end};
    ++result_.allocations;
    result_.requested_bytes += block.requested_bytes;
    result_.peak_requested_bytes = std::max(result_.peak_requested_bytes, result_.requested_bytes);
    result_.in_use_bytes += block.bytes;
    if (result_.in_use_bytes > result_.peak_in_use_bytes) result_.peak_operation = at_ + 1;
    result_.peak_in_use_bytes = std::max(result_.peak_in_use_bytes, result_.in_use_bytes);
    notify([&](Watcher& watcher) { watcher.on_allocated(*allocator_, block); });
  }

  ReplayFailure failure_of(const Operation& failed, Fault fault) const {
    const Statistics statistics = allocator_->statistics();
    ReplayFailure failure;
    failure.operation = at_;
    failure.line = failed.line;
    failure.request = failed.request;
    failure.rounded_bytes = failed.request.bytes > request_bytes_max ? failed.request.bytes
                                                                     : allocator_->rounded_bytes(failed.request.bytes);
    failure.fault = fault;
    failure.statistics = statistics;
    failure.free_bytes = statistics.pool_bytes - statistics.in_use_bytes;
    failure.largest_usable_bytes = allocator_->largest_usable_bytes(failed.request.space);
    const auto left = [&](std::uint64_t bytes) {
      if (bytes == no_limit) return no_limit;
      return bytes > statistics.pool_bytes ? bytes - statistics.pool_bytes : 0;
    };
    failure.driver_left_bytes =
        std::min(left(statistics.limit_bytes), left(how_.upstream.device_bytes.value_or(no_limit)));
    failure.first_refused_bytes = first_refused_bytes_;
    failure.last_refused_bytes = last_refused_bytes_;
    return failure;
  }

  const RequestStream& stream_;
  const PlayOptions& how_;
  ReplayResult result_;
  VirtualAddresses upstream_;
  std::unique_ptr<Allocator> allocator_;
  Player player_;
  std::vector<ReplayBlock> blocks_;  // One per slot.
  std::uint64_t at_ = 0, first_refused_bytes_ = 0, last_refused_bytes_ = 0;
  std::size_t next_early_ = 0;
  bool is_freeing_ = false;
  std::vector<Claim> released_;  // During the current free.
};

}  // namespace

ReplayResult play(const RequestStream& stream, const AllocatorOptions& options, const PlayOptions& how) {
  return Run(stream, options, how).run();
}

ReplayResult play(const RequestStream& stream, const AllocatorOptions& options, std::span<Watcher* const> watchers) {
  return play(stream, options, PlayOptions{stream.config.upstream, watchers});
}

std::optional<ReplaySpeed> measure_speed(const RequestStream& stream, const AllocatorOptions& options, int passes) {
  if (stream.operations.empty()) return {};
  std::optional<ReplaySpeed> best;
  for (int pass = 0; pass < passes; ++pass) {
    VirtualAddresses upstream(stream.config.upstream);
    const std::unique_ptr<Allocator> allocator = make_allocator(options, upstream);
    Player player(stream, *allocator);
    std::uint64_t largest_sum = 0;
    const auto start = std::chrono::steady_clock::now();
    for (const Operation& operation : stream.operations) {
      if (operation.is_free)
        player.free(operation);
      else
        player.allocate(operation);
      largest_sum += allocator->largest_free_bytes();
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    const double ns = took.count() / static_cast<double>(stream.operations.size());
    if (!best || ns < best->ns_per_operation) best = ReplaySpeed{ns, largest_sum};
  }
  return best;
}

}  // namespace hbmscope::allocator
