// The job's side of the shared memory (collector/wire/ring_layout.h): writes rows, and counts those that do not fit as
// lost. Only driver calls, which take a microsecond and more, wait for room. There is one object per process, because a
// thread has one ring whichever library its events come from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "collector/wire/ring_layout.h"

// From glibc, since 2.18. A pthread key is not used because its symbols moved in 2.34. Null with another C library,
// where rings are not opened.
extern "C" __attribute__((weak)) int __cxa_thread_atexit_impl(void (*at_exit)(void*), void* argument, void* library);

namespace hbmscope::inject {

// A lock for rare operations: definitions, listings. Never held while foreign code runs, except for a listing.
class SpinLock {
 public:
  bool try_lock() { return !is_held_.exchange(true, std::memory_order_acquire); }
  void lock();
  void unlock() { is_held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_held_{false};
};

// Data of a thread that has reported something. It is outside the thread's ring, because the ring's memory may be
// unmapped.
struct alignas(128) ThreadSlot {
  wire::RingHeader* ring = nullptr;
  std::uint64_t session = 0;  // The session that `ring` belongs to.
  std::uint64_t thread = 0;   // 0: free to be taken.
  ThreadSlot* own = nullptr;  // For a lent slot: the thread's own slot, if it has or had one.
  std::uint32_t is_busy = 0;  // The thread is writing, or is checking whether it may.
  std::uint32_t stack = 0;    // The current freeing call's.
  std::uint32_t tag = 0;      // For blocks that the thread allocates from a pool.
  // Waiting at the full ring: since this time, for a second, so long.
  std::uint64_t waiting_second = 0, waited_ns = 0;
};

// All data that a thread stores for us: the address of its slot, and in the lowest bits, which are zero in an address,
// whether it is inside a driver call (through our entry point, or reported by CUPTI, cupti_callbacks.cpp), whether
// CUPTI has reported a call since that bit was last read, and whether it is inside a call of a framework's pool.
extern __thread std::uintptr_t thread_word __attribute__((tls_model("initial-exec"), visibility("hidden")));
constexpr std::uintptr_t in_driver_call = 1, cupti_call_step = 2, cupti_call = 30, cupti_has_reported = 32,
                         in_pool_call = 64;
constexpr std::uintptr_t thread_flags = in_driver_call | cupti_call | cupti_has_reported | in_pool_call;

// The number that the kernel gave the thread, which is in the number of its clock: once it was prepared, no
// system call is made for it, which a sandbox may forbid.
void prepare_thread_numbers();
std::uint64_t number_of_thread();

// The time stamp counter, or nanoseconds of the monotonic clock if the counter does not run evenly.
std::uint64_t read_ticks(bool are_ns);

constexpr std::uint64_t row_bytes(std::size_t struct_bytes, std::size_t text_bytes = 0) {
  return (sizeof(wire::RowHeader) + struct_bytes + text_bytes + 7) / 8 * 8;
}

// Returns the size of the row. Defined in the header, so that sizes are constants where events are written.
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
  // Creates the shared memory and hands it to the observer at that socket. Returns null, or the error as a sentence. If
  // `link` is given, the observer learns that this is an attach and must answer, and the connection stays open; `link`
  // receives its descriptor.
  const char* open(const char* observer_path, int* link = nullptr);
  // Stops recording. Waits for threads that are writing, for as long as they are not scheduled; then unmaps the memory.
  void close();
  // Called in a child after fork(): the memory is the parent's, so nothing may be written to it.
  void forget();
  bool is_open() const { return __atomic_load_n(&is_open_, __ATOMIC_ACQUIRE); }

  // What the shared memory may take; it takes less until it is written.
  std::uint64_t bytes_max() const { return bytes_count_; }
  // What the process's control groups left before it was made.
  std::uint64_t group_bytes_left() const { return group_bytes_left_; }

  // Writes an event of this thread, now. False: it was lost, and counted.
  template <class Record>
  bool add(const Record& record) {
    return add_row(record, 0, false);
  }

  // Writes an event of a driver call. Waits for room while the observer makes some, and for a ring if all are in use;
  // for a ring no more than a tenth of the time, however many threads there are.
  // `ticks` is when it took effect, and 0 is now.
  template <class Record>
  bool add_of_driver(const Record& record, std::uint64_t ticks = 0) {
    return add_row(record, ticks, true);
  }
  // A quarter of the space for definitions is reserved for heaps, tags and markers.
  bool has_room_for_stacks() const {
    return is_open() && std::atomic_ref(header_->definitions_end).load(std::memory_order_relaxed) <
                            header_->definitions_bytes / 4 * 3;
  }
  // Called around a call that frees memory: events of other threads in between are not drained before its row. Returns
  // the time stamp. `stack`: that of the call, taken before, because other threads are held up.
  std::uint64_t begin_freeing(std::uint32_t stack);
  std::uint32_t freeing_stack() const;  // 0: none.
  void end_freeing();

  // The text, by its id, that the thread's blocks from pools are marked with; returns the one before.
  std::uint32_t set_tag(std::uint32_t tag) {
    ThreadSlot* mine = slot_of_thread();
    if (mine == nullptr) return 0;
    const std::uint32_t before = mine->tag;
    mine->tag = tag;
    return before;
  }
  std::uint32_t tag() {
    const ThreadSlot* mine = slot_of_thread();
    return mine != nullptr ? mine->tag : 0;
  }

  // The number of the thread's slot, which it keeps until it ends, and the thread's number; `rings_wanted` if it has
  // none.
  std::uint32_t own_slot(std::uint64_t& thread);

  // Definitions. Their ids are 0 if there was no room. Long texts are cut off.
  std::uint32_t define_string(const char* text);
  std::uint32_t define_frame(const char* function, const char* file, std::uint32_t line);
  std::uint32_t define_code_frame(std::uint64_t address, std::uint32_t module);
  std::uint32_t define_module(wire::ModuleRecord module, const char* path, const char* build_id);
  std::uint32_t define_stack(std::uint32_t parent, std::uint32_t frame);
  std::uint32_t define_heap(wire::HeapRecord heap, const char* name, const char* memory_kind);
  void define_job_fact(const char* key, const char* value);
  void note_sandbox();  // The process has set up a sandbox (sandbox.h).
  void note_stack_lost() { std::atomic_ref(header_->stacks_lost).fetch_add(1, std::memory_order_relaxed); }
  // When this changes, earlier ids are invalid.
  std::uint64_t session() const { return __atomic_load_n(&session_, __ATOMIC_RELAXED); }

  // A heap not listed since this number was raised must be listed again.
  std::uint32_t listing_round() const {
    return std::atomic_ref(header_->listing_round).load(std::memory_order_relaxed);
  }
  // One listing at a time: begin_listing() returns false while another one is being written or has not been read, and
  // while the thread's ring is full. Rows added between the two calls are state, not events. end_listing() returns
  // false if the listing did not fit.
  bool begin_listing();
  template <class Record>
  void add_to_listing(const Record& record) {
    if (std::uint8_t* row = begin_listed(row_bytes(sizeof(Record)))) put_row(row, 0, record);
  }
  bool end_listing(std::uint32_t heap);

 private:
  wire::RingHeader* ring(std::uint32_t number) const;
  // Null: there is no ring for the thread.
  ThreadSlot* slot_of_thread() {
    auto* mine = reinterpret_cast<ThreadSlot*>(thread_word & ~thread_flags);
    return __builtin_expect(mine != nullptr && mine->session == session_, 1) ? mine : take_ring();
  }
  // Between enter and leave the memory stays mapped. close() makes its change visible to all threads before it checks
  // which are busy (membarrier(2)), so no fence is needed here.
  bool enter(ThreadSlot& mine) {
    std::atomic_ref(mine.is_busy).store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // A session may have ended and the next one begun since the slot was read.
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
      row = begin_event(*mine, row_bytes(sizeof(Record)), may_wait);
      if (row != nullptr) publish(*mine->ring, put_row(row, ticks == 0 ? read_ticks(ticks_are_ns_) : ticks, record));
      leave(*mine);
    }
    if (is_lent) return_slot(*mine);
    return row != nullptr;
  }
  ThreadSlot* take_ring();
  static void give_slot_back(void* slot);
  // For one event or one freeing call of a thread without its own slot. Null: none is left.
  ThreadSlot* borrow_slot(bool may_wait);
  ThreadSlot* try_borrowing(std::uint64_t thread);
  static bool is_lent_slot(const ThreadSlot& slot);
  static void return_slot(ThreadSlot& slot);
  bool use_ring(ThreadSlot& mine);  // False: closed meanwhile, or there are fewer rings.
  void reclaim_slots();
  void end_freeing_in(ThreadSlot& slot);
  bool note_no_ring();
  void look_for_observer();
  std::uint8_t* begin_event(ThreadSlot& slot, std::uint64_t bytes, bool may_wait);
  std::uint8_t* find_room(wire::RingHeader& mine, std::uint64_t bytes);
  std::uint8_t* wait_for_room(ThreadSlot& slot, std::uint64_t bytes);
  void publish(wire::RingHeader& mine, std::uint64_t bytes) {  // The observer may read what was written.
    std::atomic_ref(mine.head).store(mine.head + bytes, std::memory_order_release);
  }
  bool has_room_for_listing();
  std::uint8_t* begin_listed(std::uint64_t bytes);
  template <class Record>
  std::uint32_t define(Record record, std::uint32_t& last, const char* text = "", std::size_t text_bytes = 0);

  bool is_open_ = false;                 // Also becomes false when the observer has died.
  bool is_mapped_ = false;               // From open() to close().
  wire::RingsHeader* header_ = nullptr;  // Its page stays mapped after close(), because a thread may be in a call.
  std::uint8_t* bytes_ = nullptr;
  std::uint64_t bytes_count_ = 0, group_bytes_left_ = 0, ring_bytes_ = 0, session_ = 0;
  std::uint32_t own_rings_ = 0, lent_rings_ = 0;
  bool ticks_are_ns_ = false;
  int observer_ = 0;                                   // The observer's process, or 0 if it is unknown.
  std::atomic<std::uint64_t> no_waiting_until_ns_{0};  // For a ring that is lent.
  SpinLock definitions_lock_, listing_lock_;
  std::uint32_t strings_ = 0, frames_ = 0, stacks_ = 0, heaps_ = 0, modules_ = 0;  // The last number of each.
  std::uint64_t listed_bytes_ = 0;
  bool is_listing_cut_ = false;
};

extern Rings rings;

}  // namespace hbmscope::inject
