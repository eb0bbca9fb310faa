#include "analysis/write/trace_table_blocks.h"

#include <unordered_map>

#include "analysis/query/allocation_times.h"
#include "analysis/trace/pass.h"

namespace hbmscope {
namespace {

using wire::RecordKind;

// How a block ended; `event` and `time_ns` if known.
struct End {
  std::string_view state;
  TraceTableLines::Number event;
  std::optional<std::int64_t> time_ns;
};

class BlockLines {
 public:
  explicit BlockLines(TraceTableLines& lines) : lines_(lines) {}

  void take(const StreamState& state, const HeapChange& change) {
    const RecordPlace& place = change.place;
    if (change.what == HeapChange::What::allocated)
      times_.add(place.event, change.time_ns, state);
    else if (change.what == HeapChange::What::freed)
      write(*change.block, times_.take(change.block->event), {"freed", place.event, place.time_ns});
    else if (place.kind == RecordKind::physical_create)
      made_.emplace(place.event, change.time_ns);
    // A block that is missing in a new listing was freed at an unknown earlier time; this is the latest possible one.
    const bool is_heap_gone = place.kind == RecordKind::heap_gone;
    const End with_heap{"heap_gone", place.event, place.time_ns}, unseen{"freed_unseen", {}, change.time_ns};
    for (const LiveBlock& went : change.went) write(went, times_.take(went.event), is_heap_gone ? with_heap : unseen);
    for (const PhysicalHandle& handle : change.ended)
      if (!handle.is_imported) write(handle, is_heap_gone ? with_heap : End{"freed", place.event, place.time_ns});
  }

  void write_live(const StreamState& end) {
    for (const LiveBlock& block : end.slots())
      if (block.is_live()) write(block, times_.find(block.event), {block.is_pending() ? "pending" : "live", {}, {}});
    for (const PhysicalHandle& handle : end.physical().handles())
      if (handle.is_live() && !handle.is_imported) write(handle, {"live", {}, {}});
  }

 private:
  using Number = TraceTableLines::Number;

  void write(const LiveBlock& block, std::optional<std::int64_t> begin_ns, const End& end) {
    const Number allocation = block.event == wire::before_the_stream ? Number() : block.event;
    const Number requested = block.requested == wire::unknown_bytes ? Number() : block.requested;
    const Number address = block.has_address() ? block.address : Number();
    begin_line(allocation, block.heap, address, block.size, requested, block.stream);
    end_line(begin_ns, end, block.tag, block.stack, "block", {});
  }

  // A handle has exactly the requested size, and no address of its own.
  void write(const PhysicalHandle& handle, const End& end) {
    begin_line(handle.event, handle.heap, {}, handle.size, handle.size, {});
    const auto begin = made_.find(handle.event);
    end_line(begin == made_.end() ? std::nullopt : std::optional(begin->second), end, 0, handle.stack, "handle",
             handle.number);
    if (end.event) made_.erase(handle.event);
  }

  void begin_line(const Number& allocation, std::uint32_t heap, const Number& address, std::uint64_t size,
                  const Number& requested, const Number& device_stream) {
    lines_.begin();
    lines_.add(allocation);
    lines_.add_heap(heap);
    lines_.add_address(heap, address);
    for (const Number& number : {Number(size), requested, device_stream}) lines_.add(number);
  }
  void end_line(std::optional<std::int64_t> begin_ns, const End& end, std::uint32_t tag, std::uint32_t stack,
                std::string_view kind, const Number& handle) {
    lines_.add_time(begin_ns);
    lines_.add(end.event);
    lines_.add_time(end.time_ns);
    lines_.add_word(end.state);
    lines_.add_string(tag);
    lines_.add_user_code(stack);
    lines_.add_word(kind);
    lines_.add_hexadecimal(handle);
    lines_.end();
  }

  TraceTableLines& lines_;
  AllocationTimes times_;
  std::unordered_map<std::uint64_t, std::int64_t> made_;  // Creation times of live handles, by allocation id.
};

}  // namespace

bool write_block_lines(const Stream& stream, const StreamState& end, TraceTableLines& lines, PassControl& control) {
  BlockLines blocks(lines);
  const bool is_whole = pass_over_heaps(
      stream, end.position(), &control,
      [&](const StreamState& state, const HeapChange& change, const wire::DecodedBlock&) {
        blocks.take(state, change);
      },
      [](const wire::DecodedBlock&, const RecordPlace&) {});
  if (is_whole) blocks.write_live(end);
  return is_whole;
}

}  // namespace hbmscope
