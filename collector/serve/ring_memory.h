// The observer's side of a job's shared memory (collector/wire/ring_layout.h). All its bytes are untrusted: the job may
// write anything anywhere at any time. So every value is read once, checked, and used from our own copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/wire/ring_layout.h"

namespace hbmscope::serve {

// One row, copied out.
struct Row {
  wire::RecordKind kind{};
  std::uint64_t ticks = 0;
  std::size_t struct_bytes = 0;
  std::string text;
  alignas(8) std::uint8_t fields[128] = {};

  // The record, with defaults for fields that an older writer did not have. The row must be of this kind.
  template <class Record>
  Record as() const {
    Record record;
    std::memcpy(static_cast<void*>(&record), fields, struct_bytes < sizeof(Record) ? struct_bytes : sizeof(Record));
    return record;
  }
};

class RingMemory {
 public:
  ~RingMemory();
  RingMemory(const RingMemory&) = delete;
  RingMemory& operator=(const RingMemory&) = delete;

  // Takes over the file descriptor. Returns null, with the reason in `wrong`, if it is not shared memory of this
  // version, or could shrink while it is read.
  static std::unique_ptr<RingMemory> map(int memory, std::string& wrong);

  // For a process into which nothing is loaded: there are never any rows. Null: out of memory.
  static std::unique_ptr<RingMemory> of_nothing();

  std::uint32_t rings() const { return rings_; }
  std::uint64_t ring_bytes() const { return ring_bytes_; }
  bool ticks_are_ns() const { return ticks_are_ns_; }
  // The rings that may have been written to.
  std::vector<std::uint32_t> used_rings() const;
  std::uint64_t head(std::uint32_t ring) const;
  std::uint64_t lost(std::uint32_t ring) const;
  std::uint64_t freeing_since(std::uint32_t ring) const;
  std::uint64_t events_without_ring() const;
  std::uint64_t stacks_lost() const;
  bool has_sandbox() const;

  // The row at `at` of a ring; advances `at` to the next one, and past padding. No value at `head`. An invalid row also
  // returns no value, moves `at` to `head`, because the position of the next row is unknown, and sets `is_broken`.
  std::optional<Row> next(std::uint32_t ring, std::uint64_t& at, std::uint64_t head, bool& is_broken) const;
  void set_tail(std::uint32_t ring, std::uint64_t tail);

  using Visit = std::function<void(const Row&)>;
  // Visits the definitions that arrived since the last call.
  void take_definitions(const Visit& visit, bool& is_broken);
  // Visits the contents of the waiting listing; then the job may write the next one.
  void take_listing(const Visit& visit, bool& is_broken);
  void ask_for_listings();

 private:
  RingMemory(std::uint8_t* bytes, std::uint64_t size) : bytes_(bytes), size_(size) {}
  bool read_layout(std::string& wrong);
  const wire::RingsHeader& header() const { return *reinterpret_cast<const wire::RingsHeader*>(bytes_); }
  wire::RingHeader& ring(std::uint32_t number) const;
  void visit_rows(std::uint64_t begin, std::uint64_t end, const Visit& visit, bool& is_broken) const;

  std::uint8_t* bytes_;
  std::uint64_t size_;
  std::uint32_t rings_ = 0;
  std::uint64_t ring_bytes_ = 0, rings_offset_ = 0;
  std::uint64_t definitions_offset_ = 0, definitions_bytes_ = 0, definitions_read_ = 0;
  std::uint64_t listing_offset_ = 0, listing_bytes_ = 0;
  bool ticks_are_ns_ = false;
};

}  // namespace hbmscope::serve
