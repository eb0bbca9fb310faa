// Plays a request stream into an allocator, one operation after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocator/catalog/catalog.h"
#include "allocator/replay/request_stream.h"

namespace hbmscope::allocator {

// Knows which address is in which slot of a stream. Both must outlive it.
class Player {
 public:
  Player(const RequestStream& stream, Allocator& allocator)
      : allocator_(allocator), addresses_(stream.slots, nowhere) {}

  // Frees of what was never allocated, or refused, do nothing and answer unknown_address.
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
  std::vector<std::uint64_t> addresses_;  // One a slot.
};

// A request that was not served, as it was at that moment.
struct ReplayFailure {
  std::uint64_t operation = 0;  // From 0.
  std::uint32_t line = 0;
  Request request;
  std::uint64_t rounded_bytes = 0;
  Fault fault = Fault::none;  // none: out of memory.
  Statistics statistics;
  std::uint64_t free_bytes = 0;            // In the pool.
  std::uint64_t largest_usable_bytes = 0;  // Of what the request's memory space may take.
  std::uint64_t driver_left_bytes = 0;     // Up to the limit, and what the device has left; no_limit: neither is known.
  // What the driver was asked for and refused during this request, first and last; 0: nothing.
  std::uint64_t first_refused_bytes = 0, last_refused_bytes = 0;
};

struct ReplayResult {
  std::uint64_t operations = 0, allocations = 0, frees = 0, zero_requests = 0, refused = 0;
  std::uint64_t driver_claims = 0, driver_refusals = 0, driver_releases = 0;
  std::uint64_t in_use_bytes = 0, requested_bytes = 0;            // At the end.
  std::uint64_t peak_in_use_bytes = 0, peak_requested_bytes = 0;  // Each at its own moment.
  std::uint64_t peak_operation = 0;                               // After so many operations it was in use first.
  std::optional<ReplayFailure> first_failure;
  Fault fault = Fault::none;  // Where it ended before the end of the stream.
  Statistics statistics;
  std::uint64_t chunks = 0;
};

struct ReplayBlock {
  std::uint64_t address = 0, bytes = 0, requested_bytes = 0;  // 0 bytes: none.
  std::uint32_t stream = 0;
  bool is_at_upper_end = false;
};

// Sees the allocator behind each operation that had an effect, and its regions as they come and go: in the order in
// which they could have happened, so regions that a free gave back come after it.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_operation(std::uint64_t /*number*/) {}  // From 0; before all that follows from it.
  virtual void on_allocated(const Allocator&, const ReplayBlock&) {}
  virtual void on_freed(const Allocator&, const ReplayBlock&) {}
  virtual void on_refused(const Allocator&, const Request&) {}
  virtual void on_region_claimed(const Claim&) {}
  virtual void on_region_released(const Claim&) {}
  virtual void on_claim_refused(std::uint64_t /*asked_bytes*/) {}
};

// To the end of the stream, or to a fault, over addresses with no memory as the stream's configuration has them.
ReplayResult play(const RequestStream& stream, const AllocatorOptions& options,
                  std::span<Watcher* const> watchers = {});

struct ReplaySpeed {
  double ns_per_operation = 0;
  std::uint64_t largest_free_sum = 0;  // Over all operations, modulo 2^64: so that it must be known after each.
};
// What one operation costs, largest free block included: the best of so many passes, each with a new allocator, only
// the operations inside the clock. Absent for a stream without operations.
std::optional<ReplaySpeed> measure_speed(const RequestStream& stream, const AllocatorOptions& options, int passes = 3);

}  // namespace hbmscope::allocator
