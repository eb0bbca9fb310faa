// Plays a request stream into an allocator, one operation after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/replay/request_stream.h"

namespace hbmscope::allocator {

// The allocator of a stream, over addresses with no memory. The stream must outlive it.
class Player {
 public:
  Player(const RequestStream& stream, const xla_gpu::Options& options, xla_gpu::Sink* sink = nullptr)
      : stream_(stream),
        upstream_(stream.config.upstream),
        allocator_(upstream_, options, sink),
        addresses_(stream.slots, nowhere) {}

  // Frees of what was never allocated, or refused, do nothing and answer unknown_address.
  xla_gpu::Allocation allocate(const Operation& operation) {
    const xla_gpu::Allocation answer = allocator_.allocate(operation.request);
    addresses_[operation.slot] = answer.outcome == xla_gpu::Outcome::allocated ? answer.address : nowhere;
    return answer;
  }
  xla_gpu::FreeOutcome free(const Operation& operation) {
    const std::uint64_t address = addresses_[operation.slot];
    if (address == nowhere) return xla_gpu::FreeOutcome::unknown_address;
    addresses_[operation.slot] = nowhere;
    return allocator_.free(address);
  }

  // What a free of this operation would give back; nothing where its slot is empty.
  const xla_gpu::Chunk* find_block(const Operation& operation) const {
    const std::uint64_t address = addresses_[operation.slot];
    if (address == nowhere) return nullptr;
    const xla_gpu::ChunkIndex chunk = allocator_.find_block(address);
    return chunk == xla_gpu::no_chunk ? nullptr : &allocator_.chunk(chunk);
  }

  const xla_gpu::Bfc& allocator() const { return allocator_; }
  const RequestStream& stream() const { return stream_; }

 private:
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  const RequestStream& stream_;
  VirtualAddresses upstream_;
  xla_gpu::Bfc allocator_;
  std::vector<std::uint64_t> addresses_;  // One a slot.
};

// A request that was not served, as it was at that moment.
struct ReplayFailure {
  std::uint64_t operation = 0;  // From 0.
  std::uint32_t line = 0;
  xla_gpu::Request request;
  xla_gpu::Fault fault = xla_gpu::Fault::none;  // none: out of memory.
  xla_gpu::Statistics statistics;
  std::uint64_t free_bytes = 0;            // In the pool.
  std::uint64_t largest_usable_bytes = 0;  // Of what the request's memory space may take.
  std::uint64_t driver_left_bytes = 0;     // Up to the limit, and what the device has left if that is known.
};

struct ReplayResult {
  std::uint64_t operations = 0, allocations = 0, frees = 0, zero_requests = 0, refused = 0;
  std::uint64_t driver_claims = 0, driver_refusals = 0, driver_releases = 0;
  std::uint64_t in_use_bytes = 0, requested_bytes = 0;            // At the end.
  std::uint64_t peak_in_use_bytes = 0, peak_requested_bytes = 0;  // Each at its own moment.
  std::uint64_t peak_operation = 0;                               // After so many operations it was in use first.
  std::optional<ReplayFailure> first_failure;
  xla_gpu::Fault fault = xla_gpu::Fault::none;  // Where it ended before the end of the stream.
  xla_gpu::Statistics statistics;
  std::uint64_t chunks = 0;
};

// Sees the allocator behind each operation that had an effect, and its regions as they come and go.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_operation(std::uint64_t /*number*/) {}  // From 0; before all that follows from it.
  virtual void on_allocated(const xla_gpu::Bfc& allocator, const xla_gpu::Chunk& block) = 0;
  virtual void on_freed(const xla_gpu::Bfc& allocator, const xla_gpu::Chunk& block) = 0;  // As it was before.
  virtual void on_refused(const xla_gpu::Bfc& allocator, const xla_gpu::Request& request) = 0;
  virtual void on_region_claimed(const Claim&) {}
  virtual void on_region_released(const Claim&) {}
  virtual void on_claim_refused(std::uint64_t /*asked_bytes*/) {}
};

// To the end of the stream, or to a fault.
ReplayResult play(const RequestStream& stream, const xla_gpu::Options& options, Watcher* watcher = nullptr);

struct ReplaySpeed {
  double ns_per_operation = 0;
  std::uint64_t largest_free_sum = 0;  // Over all operations, modulo 2^64: so that it must be known after each.
};
// What one operation costs, largest free block included: the best of so many passes, each with a new allocator, only
// the operations inside the clock. Absent for a stream without operations.
std::optional<ReplaySpeed> measure_speed(const RequestStream& stream, const xla_gpu::Options& options, int passes = 3);

}  // namespace hbmscope::allocator
