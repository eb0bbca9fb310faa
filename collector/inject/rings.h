// The job's side of the shared memory (collector/wire/ring_layout.h): rows go in, nothing waits, what does not fit is
// counted. One for the process, because a thread has one ring whatever library its events come from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "collector/wire/ring_layout.h"

namespace hbmscope::inject {

// A lock of our own, for what is rare: definitions, listings. Never held while foreign code runs, but for a listing.
class SpinLock {
 public:
  bool try_lock() { return !is_held_.exchange(true, std::memory_order_acquire); }
  void lock();
  void unlock() { is_held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_held_{false};
};

// The time stamp counter, or nanoseconds of the monotonic clock where it does not run evenly.
std::uint64_t read_ticks(bool are_ns);

constexpr std::uint64_t row_bytes(std::size_t struct_bytes, std::size_t text_bytes = 0) {
  return (sizeof(wire::RowHeader) + struct_bytes + text_bytes + 7) / 8 * 8;
}

// Returns what the row takes. In the header, so that the sizes are constants where events are written.
template <class Record>
std::uint64_t put_row(std::uint8_t* at, std::uint64_t ticks, const Record& record, const char* text = "",
                      std::size_t text_bytes = 0) {
  const std::uint64_t bytes = row_bytes(sizeof(Record), text_bytes);
  wire::RowHeader header;
  header.words = static_cast<std::uint16_t>(bytes / 8);
  header.kind = Record::kind;
  header.struct_bytes = sizeof(Record);
  header.text_bytes = static_cast<std::uint16_t>(text_bytes);
  header.time_ns = static_cast<std::int64_t>(ticks);
  std::memcpy(at, &header, sizeof(header));
  std::memcpy(at + sizeof(header), &record, sizeof(record));
  std::memcpy(at + sizeof(header) + sizeof(record), text, text_bytes);
  return bytes;
}

class Rings {
 public:
  // Makes the shared memory and hands it to the observer at that socket. Null, or what went wrong, in words.
  const char* open(const char* observer_path);
  // In a child after fork(): the memory is the parent's, so nothing may be written any more.
  void forget();
  bool is_open() const { return header_ != nullptr; }

  // Of an event of this thread, at this moment. False: it was lost, and counted.
  template <class Record>
  bool add(const Record& record) {
    std::uint8_t* row = begin_event(row_bytes(sizeof(Record)));
    if (row == nullptr) return false;
    publish(put_row(row, read_ticks(ticks_are_ns_), record));
    return true;
  }

  // Definitions; 0 where there was no room. Long texts are cut.
  std::uint32_t define_string(const char* text);
  std::uint32_t define_frame(const char* function, const char* file, std::uint32_t line);
  std::uint32_t define_stack(std::uint32_t parent, std::uint32_t frame);
  std::uint32_t define_heap(wire::HeapRecord heap, const char* name, const char* memory_kind);

  // Heaps that were not listed since this number was raised want to be.
  std::uint32_t listing_round() const {
    return std::atomic_ref(header_->listing_round).load(std::memory_order_relaxed);
  }
  // One listing at a time: false while another one is being made or has not been read. What is added between the two
  // calls is state, not events. end_listing() is false where it did not fit.
  bool begin_listing();
  template <class Record>
  void add_to_listing(const Record& record) {
    if (std::uint8_t* row = begin_listed(row_bytes(sizeof(Record)))) put_row(row, 0, record);
  }
  bool end_listing(std::uint32_t heap);

 private:
  wire::RingHeader* ring(std::uint32_t number) const;
  wire::RingHeader* take_ring();
  std::uint8_t* begin_event(std::uint64_t bytes);
  std::uint8_t* find_room(std::uint64_t bytes);  // In this thread's ring.
  void publish(std::uint64_t bytes);             // What was put there may be read.
  std::uint8_t* begin_listed(std::uint64_t bytes);
  template <class Record>
  std::uint32_t define(Record record, std::uint32_t& last, const char* text = "", std::size_t text_bytes = 0);

  wire::RingsHeader* header_ = nullptr;
  std::uint8_t* bytes_ = nullptr;
  std::uint64_t ring_bytes_ = 0;
  bool ticks_are_ns_ = false;
  SpinLock definitions_lock_, listing_lock_;
  std::uint32_t strings_ = 0, frames_ = 0, stacks_ = 0, heaps_ = 0;  // The last number of each.
  std::uint64_t listed_bytes_ = 0;
  bool is_listing_cut_ = false;
};

extern Rings rings;

}  // namespace hbmscope::inject
