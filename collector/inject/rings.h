// The job's side of the shared memory (collector/wire/ring_layout.h): rows go in, what does not fit is counted; only
// calls of the driver, which take a microsecond and more, wait for room. One for the process, because a thread has one
// ring whatever library its events come from.
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

// What is ours of a thread that has told something, beside its ring, whose memory may go.
struct alignas(64) ThreadSlot {
  wire::RingHeader* ring = nullptr;
  std::uint64_t session = 0;  // Of the rings that `ring` is of.
  std::uint64_t thread = 0;   // 0: free to be taken.
  ThreadSlot* own = nullptr;  // Of one that is lent: what its thread has beside it, or had.
  std::uint32_t is_busy = 0;  // It is writing, or about to find that it may not.
  std::uint32_t stack = 0;    // Of the call that gives memory back, in which it is.
};

// All that a thread has of us: its slot, and in the lowest bits, which a slot's address has not, whether it is inside a
// call of the driver's: one that came through our own entry point, or one that CUPTI has told of (cupti_callbacks.cpp);
// and whether CUPTI has told of one since that was last looked at.
extern __thread std::uintptr_t thread_word __attribute__((tls_model("initial-exec"), visibility("hidden")));
constexpr std::uintptr_t in_driver_call = 1, cupti_call_step = 2, cupti_call = 30, cupti_has_told = 32;
constexpr std::uintptr_t thread_flags = in_driver_call | cupti_call | cupti_has_told;

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
  // Makes the shared memory and hands it to the observer at that socket. Null, or what went wrong, in words. Where
  // `link` is given the observer is told that it attached, it has to answer, and the connection stays open: its
  // descriptor.
  const char* open(const char* observer_path, int* link = nullptr);
  // Nothing is told any more. Waits for threads that are writing, which may take as long as they are kept from running;
  // then the memory is given back.
  void close();
  // In a child after fork(): the memory is the parent's, so nothing may be written any more.
  void forget();
  bool is_open() const { return __atomic_load_n(&is_open_, __ATOMIC_ACQUIRE); }

  // Of an event of this thread, at this moment. False: it was lost, and counted.
  template <class Record>
  bool add(const Record& record) {
    return add_row(record, 0, false);
  }

  // Of a call of the driver's: waits for room while the observer makes some, and for a ring where all are taken.
  // `ticks`: when it took effect; 0: now.
  template <class Record>
  bool add_of_driver(const Record& record, std::uint64_t ticks = 0) {
    return add_row(record, ticks, true);
  }
  // Around a call that gives memory back: what others do meanwhile is not taken out before its row. Returns the stamp.
  // `stack`: of the call; taken before, as others are held up.
  // A quarter of the definitions' room is for heaps, tags and marks.
  bool has_room_for_stacks() const {
    return is_open() && std::atomic_ref(header_->definitions_end).load(std::memory_order_relaxed) <
                            header_->definitions_bytes / 4 * 3;
  }
  std::uint64_t begin_giving(std::uint32_t stack);
  std::uint32_t giving_stack() const;  // 0: none.
  void end_giving();

  // The number of the thread's slot, which it has until it ends, and the thread's number; `rings_wanted`: it has none.
  std::uint32_t own_slot(std::uint64_t& thread);

  // Definitions; 0 where there was no room. Long texts are cut.
  std::uint32_t define_string(const char* text);
  std::uint32_t define_frame(const char* function, const char* file, std::uint32_t line);
  std::uint32_t define_code_frame(std::uint64_t address, std::uint32_t module);
  std::uint32_t define_module(wire::ModuleRecord module, const char* path, const char* build_id);
  std::uint32_t define_stack(std::uint32_t parent, std::uint32_t frame);
  std::uint32_t define_heap(wire::HeapRecord heap, const char* name, const char* memory_kind);
  void define_job_fact(const char* key, const char* value);
  void note_stack_lost() { std::atomic_ref(header_->stacks_lost).fetch_add(1, std::memory_order_relaxed); }
  // Ids of before it changed mean nothing.
  std::uint64_t session() const { return __atomic_load_n(&session_, __ATOMIC_RELAXED); }

  // Heaps that were not listed since this number was raised want to be.
  std::uint32_t listing_round() const {
    return std::atomic_ref(header_->listing_round).load(std::memory_order_relaxed);
  }
  // One listing at a time: false while another one is being made or has not been read, and while the thread's ring is
  // full. What is added between the two calls is state, not events. end_listing() is false where it did not fit.
  bool begin_listing();
  template <class Record>
  void add_to_listing(const Record& record) {
    if (std::uint8_t* row = begin_listed(row_bytes(sizeof(Record)))) put_row(row, 0, record);
  }
  bool end_listing(std::uint32_t heap);

 private:
  wire::RingHeader* ring(std::uint32_t number) const;
  // Null: there is no ring for it.
  ThreadSlot* slot_of_thread() {
    auto* mine = reinterpret_cast<ThreadSlot*>(thread_word & ~thread_flags);
    return __builtin_expect(mine != nullptr && mine->session == session_, 1) ? mine : take_ring();
  }
  // Between the two the memory stays. Who closes makes all threads see that before it looks who is busy
  // (membarrier(2)), so that this needs no fence.
  bool enter(ThreadSlot& mine) {
    std::atomic_ref(mine.is_busy).store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // A session may have ended and the next one begun since the slot was looked at.
    if (__builtin_expect(is_open() && mine.session == session_, 1)) return true;
    leave(mine);
    return false;
  }
  static void leave(ThreadSlot& mine) { std::atomic_ref(mine.is_busy).store(0, std::memory_order_release); }
  template <class Record>
  bool add_row(const Record& record, std::uint64_t ticks, bool may_wait) {
    ThreadSlot* mine = slot_of_thread();
    const bool is_lent = mine == nullptr;
    if (is_lent && (mine = borrow_slot(may_wait)) == nullptr) return note_no_ring();
    std::uint8_t* row = nullptr;
    if (enter(*mine)) {
      row = begin_event(*mine->ring, row_bytes(sizeof(Record)), may_wait);
      if (row != nullptr) publish(*mine->ring, put_row(row, ticks == 0 ? read_ticks(ticks_are_ns_) : ticks, record));
      leave(*mine);
    }
    if (is_lent) return_slot(*mine);
    return row != nullptr;
  }
  ThreadSlot* take_ring();
  static void give_slot_back(void* slot);
  // For one event, or for a call that gives back, of a thread that finds no slot of its own. Null: none is left.
  ThreadSlot* borrow_slot(bool may_wait);
  ThreadSlot* try_borrowing(std::uint64_t thread);
  static bool is_lent_slot(const ThreadSlot& slot);
  static void return_slot(ThreadSlot& slot);
  bool use_ring(ThreadSlot& mine);  // False: closed meanwhile, or there are not so many.
  void reclaim_slots();
  void end_giving_in(ThreadSlot& slot);
  bool note_no_ring();
  std::uint8_t* begin_event(wire::RingHeader& mine, std::uint64_t bytes, bool may_wait);
  std::uint8_t* find_room(wire::RingHeader& mine, std::uint64_t bytes);
  std::uint8_t* wait_for_room(wire::RingHeader& mine, std::uint64_t bytes);
  void publish(wire::RingHeader& mine, std::uint64_t bytes) {  // What was put there may be read.
    std::atomic_ref(mine.head).store(mine.head + bytes, std::memory_order_release);
  }
  bool has_room_for_listing();
  std::uint8_t* begin_listed(std::uint64_t bytes);
  template <class Record>
  std::uint32_t define(Record record, std::uint32_t& last, const char* text = "", std::size_t text_bytes = 0);

  bool is_open_ = false;
  wire::RingsHeader* header_ = nullptr;  // Its page stays when closed: a thread may be in a call.
  std::uint8_t* bytes_ = nullptr;
  std::uint64_t bytes_count_ = 0, ring_bytes_ = 0, session_ = 0;
  std::uint32_t own_rings_ = 0, lent_rings_ = 0;
  bool ticks_are_ns_ = false;
  int observer_ = 0;  // Its process; 0: not known.
  SpinLock definitions_lock_, listing_lock_;
  std::uint32_t strings_ = 0, frames_ = 0, stacks_ = 0, heaps_ = 0, modules_ = 0;  // The last number of each.
  std::uint64_t listed_bytes_ = 0;
  bool is_listing_cut_ = false;
};

extern Rings rings;

}  // namespace hbmscope::inject
