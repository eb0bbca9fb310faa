// An allocator for programs whose work runs on streams. The allocators here decide in the order of calls, and know
// nothing of when the device gets there: a block that was freed behind a kernel can be in use for a while yet.
//
// A block of 4 MiB, freed on stream A, goes back to the allocator at once, and an event is recorded on A. Who asks on
// stream A gets it right away, as it would have been: A itself keeps the order. Who asks on stream B gets other memory
// while there is some; what the allocator would have chosen is put by for the time of the request. Where there is none,
// the call waits for the event. A block that another stream was said to use (record_stream) stays taken after its free
// until that stream's event is done.
//
// On one stream all answers are those of the allocator alone. A stream that is destroyed, and another one that gets
// its handle while the first one's work still runs, are taken for one. Not safe to be called from two threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "allocator/catalog/catalog.h"
#include "allocator/stream_order/pending_ranges.h"
#include "allocator/stream_order/streams.h"

namespace hbmscope::allocator {

class StreamOrdered {
 public:
  // Both must outlive it. Options must be possible (catalog.h).
  StreamOrdered(const AllocatorOptions& options, Upstream& upstream, Streams& streams);
  ~StreamOrdered();  // Waits for all streams; all regions go back.
  StreamOrdered(const StreamOrdered&) = delete;
  StreamOrdered& operator=(const StreamOrdered&) = delete;

  // The request's stream is set here, by the stream's number.
  Allocation allocate(Request request, Stream stream);
  // The stream's work so far may use the block, and nothing else will, but for what was said by record_stream. While
  // the stream is capturing the block stays taken.
  FreeOutcome free(std::uint64_t address, Stream stream);
  // False: there is no such block.
  bool record_stream(std::uint64_t address, Stream stream);
  bool is_capturing(Stream stream) { return streams_.is_capturing(stream); }
  // Streams are counted from 1 as they come; the default one is 0.
  std::uint32_t number_of(Stream stream) { return known(stream).number; }

  // Told when a block can be taken again: at its free, or later. It is the allocator's again right afterwards.
  void set_on_freed(std::function<void(std::uint64_t address)> on_freed) { on_freed_ = std::move(on_freed); }
  bool has_block(std::uint64_t address) const { return blocks_.count(address) > 0; }
  bool is_deferred(std::uint64_t address) const;  // Freed, and still taken.

  Allocator& allocator() { return *allocator_; }
  std::uint64_t waits() const { return waits_; }  // Requests that had to wait for another stream.

 private:
  // Memory goes back to the driver only when nothing is pending in it.
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
    Stream stream = nullptr;    // That it was asked for on.
    std::vector<Stream> users;  // Other streams.
    bool is_deferred = false;
    bool is_kept = false;  // For good: not all of its streams could be remembered.
  };
  struct Mark {
    EventLine* line;
    std::uint64_t event;
  };
  struct Deferred {
    std::uint64_t address;
    Stream stream;            // It was freed on.
    std::vector<Mark> marks;  // Of the others, and that of its own stream last.
    bool has_marks = false;   // Not while a stream was capturing.
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
  std::map<Stream, Known> known_;  // Never moved: marks point to lines.
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
