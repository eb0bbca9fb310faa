// The observer's side of a job's shared memory (collector/wire/ring_layout.h). All bytes in it are hostile: the job may
// write anything anywhere at any time. So every figure is read once, checked, and used from our own copy.
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

  // The record, with defaults for what an older writer did not have. Nothing where the kind is another one.
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

  // Takes the file descriptor. Null, with the reason in `wrong`, where it is no shared memory of this version, or could
  // be made smaller while it is read.
  static std::unique_ptr<RingMemory> map(int memory, std::string& wrong);

  // Of a process that has nothing of ours in it: one where nothing ever comes. Null: there is no memory for it.
  static std::unique_ptr<RingMemory> of_nothing();

  std::uint32_t rings() const { return rings_; }
  bool ticks_are_ns() const { return ticks_are_ns_; }
  // Of the rings: those that may have been written to.
  std::vector<std::uint32_t> used_rings() const;
  std::uint64_t head(std::uint32_t ring) const;
  std::uint64_t lost(std::uint32_t ring) const;
  std::uint64_t giving_since(std::uint32_t ring) const;
  std::uint64_t events_without_ring() const;
  std::uint64_t stacks_lost() const;

  // The row at `at` of a ring, and where the next begins; `at` passes padding. Nothing at `head`. A row that makes no
  // sense: nothing too, and `at` is `head`, because where the next one begins can't be known; `is_broken` says so.
  std::optional<Row> next(std::uint32_t ring, std::uint64_t& at, std::uint64_t head, bool& is_broken) const;
  void set_tail(std::uint32_t ring, std::uint64_t tail);

  using Visit = std::function<void(const Row&)>;
  // Definitions that came since the last call.
  void take_definitions(const Visit& visit, bool& is_broken);
  // What the waiting listing holds; the next one may be written then.
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
