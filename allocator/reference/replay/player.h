// Plays a request stream into an allocator, one operation after another.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocator/reference/catalog/catalog.h"
#include "allocator/reference/replay/request_stream.h"

namespace hbmscope::allocator {

// Keeps the address in each slot of a stream. The stream and the allocator must outlive it.
class Player {
 public:
  Player(const RequestStream& stream, Allocator& allocator)
      : allocator_(allocator), addresses_(stream.slots, nowhere) {}

  // Freeing a slot that was never allocated, or whose request was refused, does nothing and returns unknown_address.
  Allocation allocate(const Operation& operation) {
    const Allocation answer = allocator_.allocate(operation.request);
    addresses_[operation.slot] = answer.outcome == Outcome::allocated ? answer.address : nowhere;
    return answer;
  }
  FreeOutcome free(const Operation& operation) {
    const std::uint64_t address = addresses_[operation.slot];
    if (address == nowhere) return FreeOutcome::unknown_address;
    addresses_[operation.slot] = nowhere;
    return allocator_.free(address);
  }

 private:
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  Allocator& allocator_;
  std::vector<std::uint64_t> addresses_;  // One per slot.
};

// A request that was not served, and the state at that time.
struct ReplayFailure {
  std::uint64_t operation = 0;  // From 0.
  std::uint32_t line = 0;
  Request request;
  std::uint64_t rounded_bytes = 0;
  Fault fault = Fault::none;  // none: out of memory.
  Statistics statistics;
  std::uint64_t free_bytes = 0;            // In the pool.
  std::uint64_t largest_usable_bytes = 0;  // In the part of the pool that the request's memory space may use.
  // What the pool may still claim: up to its limit and what is free on the device. no_limit: neither is known.
  std::uint64_t driver_left_bytes = 0;
  // Requests to the driver that it refused during this request: the first and the last one. 0: none.
  std::uint64_t first_refused_bytes = 0, last_refused_bytes = 0;
};

// The state after a number of operations.
struct ReplaySample {
  std::uint64_t pool_bytes = 0, in_use_bytes = 0, requested_bytes = 0, refused = 0;
};

struct ReplayResult {
  std::uint64_t operations = 0, allocations = 0, frees = 0, zero_requests = 0, refused = 0;
  std::uint64_t driver_claims = 0, driver_refusals = 0, driver_releases = 0;
  std::uint64_t in_use_bytes = 0, requested_bytes = 0;            // At the end.
  std::uint64_t peak_in_use_bytes = 0, peak_requested_bytes = 0;  // Each at its own time.
  std::uint64_t peak_operation = 0;  // The number of operations after which peak_in_use_bytes was first reached.
  std::optional<ReplayFailure> first_failure;
  Fault fault = Fault::none;  // Set if the allocator stopped before the end of the stream.
  Statistics statistics;
  std::uint64_t chunks = 0;
  std::vector<ReplaySample> samples;  // One per PlayOptions::sample_after that was reached.
};

struct ReplayBlock {
  std::uint64_t address = 0, bytes = 0, requested_bytes = 0;  // 0 bytes: no block.
  std::uint32_t stream = 0;
  bool is_at_upper_end = false;
};

// Observes the allocator after each operation that had an effect, and its regions as they come and go. Calls arrive in
// an order in which they could have happened: regions that a free released follow that free.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_operation(std::uint64_t /*number*/) {}  // From 0. Called before all events of that operation.
  virtual void on_allocated(const Allocator&, const ReplayBlock&) {}
  virtual void on_freed(const Allocator&, const ReplayBlock&) {}
  virtual void on_refused(const Allocator&, const Request&) {}
  virtual void on_region_claimed(const Claim&) {}
  virtual void on_region_released(const Claim&) {}
  virtual void on_claim_refused(std::uint64_t /*requested_bytes*/) {}
};

// A block that is freed earlier than in the stream, after all operations before this one; its own free then frees
// nothing.
struct EarlyFree {
  std::uint64_t before_operation = 0;
  std::uint32_t slot = 0;
  bool is_after_samples = false;  // The position is one of PlayOptions::sample_after.
};

struct PlayOptions {
  VirtualOptions upstream;  // The device.
  std::span<Watcher* const> watchers = {};
  // Operations to play, at most. The result is then that of a shorter stream.
  std::uint64_t operations_max = ~std::uint64_t{0};
  // By operation: requests that are not made. Their frees then free nothing. Null: none.
  const std::vector<bool>* skipped = nullptr;
  std::span<const EarlyFree> early_frees = {};       // By operation; there, those after samples last.
  std::span<const std::uint64_t> sample_after = {};  // Numbers of operations, ascending.
  // Set by another thread; looked at now and then. The result is then that of what was played by then.
  const std::atomic<bool>* cancelled = nullptr;
};
// Plays to the end of the stream, or to a fault, over addresses without memory.
ReplayResult play(const RequestStream& stream, const AllocatorOptions& options, const PlayOptions& how);
// On the device of the stream's configuration.
ReplayResult play(const RequestStream& stream, const AllocatorOptions& options,
                  std::span<Watcher* const> watchers = {});

struct ReplaySpeed {
  double ns_per_operation = 0;
  // Over all operations, modulo 2^64. Forces the value to be computed after each one.
  std::uint64_t largest_free_sum = 0;
};
// The cost of one operation, including the query for the largest free block. The best of `passes` runs, each with a new
// allocator; only the operations are timed. No value for a stream without operations.
std::optional<ReplaySpeed> measure_speed(const RequestStream& stream, const AllocatorOptions& options, int passes = 3);

}  // namespace hbmscope::allocator
