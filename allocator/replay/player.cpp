#include "allocator/replay/player.h"

#include <algorithm>
#include <chrono>

namespace hbmscope::allocator {
namespace {

class CountingSink final : public xla_gpu::Sink {
 public:
  explicit CountingSink(ReplayResult& result) : result_(result) {}
  void on_region_claimed(std::uint32_t, const Claim&, std::uint64_t) override { ++result_.driver_claims; }
  void on_claim_refused(std::uint64_t) override { ++result_.driver_refusals; }
  void on_region_released(std::uint32_t, const Claim&) override { ++result_.driver_releases; }

 private:
  ReplayResult& result_;
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

}  // namespace

ReplayResult play(const RequestStream& stream, const xla_gpu::Options& options) {
  ReplayResult result;
  CountingSink sink(result);
  Player player(stream, options, &sink);
  std::vector<std::uint64_t> requested(stream.slots);  // Of what lives in a slot; 0: nothing.
  for (std::uint64_t i = 0; i < stream.operations.size() && result.fault == xla_gpu::Fault::none; ++i) {
    const Operation& operation = stream.operations[i];
    ++result.operations;
    if (operation.is_free) {
      const xla_gpu::FreeOutcome outcome = player.free(operation);
      result.requested_bytes -= requested[operation.slot];
      requested[operation.slot] = 0;
      if (outcome == xla_gpu::FreeOutcome::freed) ++result.frees;
      result.fault = player.allocator().fault();
      continue;
    }
    const xla_gpu::Allocation answer = player.allocate(operation);
    switch (answer.outcome) {
      case xla_gpu::Outcome::allocated: {
        ++result.allocations;
        requested[operation.slot] = operation.request.bytes;
        result.requested_bytes += operation.request.bytes;
        result.peak_requested_bytes = std::max(result.peak_requested_bytes, result.requested_bytes);
        const std::uint64_t peak = player.allocator().statistics().peak_in_use_bytes;
        if (peak > result.peak_in_use_bytes) result.peak_operation = i + 1;
        result.peak_in_use_bytes = peak;
        break;
      }
      case xla_gpu::Outcome::zero_bytes: ++result.zero_requests; break;
      case xla_gpu::Outcome::out_of_memory:
      case xla_gpu::Outcome::fault:
        ++result.refused;
        if (!result.first_failure) result.first_failure = failure_of(player, i, answer.fault);
        result.fault = answer.fault;
    }
  }
  result.statistics = player.allocator().statistics();
  result.in_use_bytes = result.statistics.in_use_bytes;
  result.chunks = player.allocator().chunks();
  return result;
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
