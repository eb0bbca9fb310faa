// An allocator for programs that work on streams. The other allocators decide in the order of calls and know nothing of
// the device's progress: a block that was freed behind a kernel may stay in use for a while.
//
// A block of 4 MiB, freed on stream A, returns to the allocator at once, and an event is recorded on A. A request on
// stream A can get it right away, because A keeps the order. A request on stream B gets other memory as long as there
// is some; blocks that the allocator would have chosen are set aside during the request. If there is no other memory,
// the call waits for the event. If a block was recorded for another stream (record_stream), it stays taken after its
// free until that stream's event is done.
//
// With one stream, all answers equal those of the allocator without this class. If a stream is destroyed and a new one
// gets its handle while the old one's work still runs, both are treated as one stream. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "allocator/reference/catalog/catalog.h"
#include "allocator/reference/stream_order/pending_ranges.h"
#include "allocator/reference/stream_order/streams.h"

namespace hbmscope::allocator {

class StreamOrdered {
 public:
  // `upstream` and `streams` must outlive it. Options must be valid (catalog.h).
  StreamOrdered(const AllocatorOptions& options, Upstream& upstream, Streams& streams);
  ~StreamOrdered();  // Waits for all streams, then releases all regions.
  StreamOrdered(const StreamOrdered&) = delete;
  StreamOrdered& operator=(const StreamOrdered&) = delete;

  // Sets the request's stream to the number of `stream`.
  Allocation allocate(Request request, Stream stream);
  // Work already on the stream may still use the block; work on other streams only if record_stream named them. While
  // the stream is being captured, the block stays taken.
  FreeOutcome free(std::uint64_t address, Stream stream);
  // False: no block at this address.
  bool record_stream(std::uint64_t address, Stream stream);
  bool is_capturing(Stream stream) { return streams_.is_capturing(stream); }
  // Streams are numbered from 1 in the order of their first use; the default stream is 0.
  std::uint32_t number_of(Stream stream) { return known(stream).number; }

  // Called when a block becomes reusable: at its free, or later. It belongs to the allocator again right after the
  // call.
  void set_on_freed(std::function<void(std::uint64_t address)> on_freed) { on_freed_ = std::move(on_freed); }
  bool has_block(std::uint64_t address) const { return blocks_.count(address) > 0; }
  bool is_deferred(std::uint64_t address) const;  // Freed, but still taken.

  Allocator& allocator() { return *allocator_; }
  std::uint64_t waits() const { return waits_; }  // Requests that had to wait for another stream.

 private:
  // Returns memory to the driver only when nothing is pending in it.
  class Guarded final : public Upstream {
   public:
    Guarded(Upstream& upstream, PendingRanges& pending) : upstream_(upstream), pending_(pending) {}
    std::optional<Claim> claim(std::uint64_t bytes) override { return upstream_.claim(bytes); }
    void release(const Claim& claim) override;
    std::optional<std::uint64_t> reserve(std::uint64_t bytes) override { return upstream_.reserve(bytes); }
    void unreserve(const Claim& addresses) override { upstream_.unreserve(addresses); }
    bool map(const Claim& addresses) override { return upstream_.map(addresses); }
    void unmap(const Claim& addresses) override;

   private:
    Upstream& upstream_;
    PendingRanges& pending_;
  };
  struct Block {
    std::uint64_t bytes = 0;
    Stream stream = nullptr;    // The stream of the request.
    std::vector<Stream> users;  // Other streams.
    bool is_deferred = false;
    bool is_kept = false;  // Forever, because not all of its streams could be recorded.
  };
  struct Mark {
    EventLine* line;
    std::uint64_t event;
  };
  struct Deferred {
    std::uint64_t address;
    Stream stream;            // The stream of the free.
    std::vector<Mark> marks;  // Marks of the other streams, and last that of its own.
    bool has_marks = false;   // False while a stream was being captured.
  };

  struct Known {
    Known(Streams& streams, Stream stream, std::uint32_t its_number) : line(streams, stream), number(its_number) {}
    EventLine line;
    std::uint32_t number;
  };
  Known& known(Stream stream);
  EventLine& line_of(Stream stream) { return known(stream).line; }
  bool mark(Deferred& deferred);
  bool is_done(Deferred& deferred);
  void give_back(std::uint64_t address, const Mark& own);
  void give_back_what_is_done();
  bool wait_for_a_deferred();
  Allocation take_free_of_others(const Request& request, EventLine& line, std::vector<Allocation>& put_by);

  Streams& streams_;
  std::map<Stream, Known> known_;  // Elements never move: marks point to their lines.
  PendingRanges pending_;
  std::unordered_map<std::uint64_t, Block> blocks_;  // By address.
  std::vector<Deferred> deferred_;                   // In the order of their frees.
  std::function<void(std::uint64_t)> on_freed_;
  std::uint32_t streams_numbered_ = 0;
  std::uint64_t waits_ = 0;
  Guarded guarded_;
  std::unique_ptr<Allocator> allocator_;
};

}  // namespace hbmscope::allocator
